//! What to play in a Go position.
//!
//! A [`Player`] holds a game, clocks, a network and a search tree. It is told what happened, and asked
//! for moves and analyses; it decides how long to think, when to pass and when to resign, and keeps
//! training records. How a protocol spells all this is not its business.
//!
//! ```
//! use go_player::{Decision, LoadedNetwork, Options, Player, Request, StopMode};
//! use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};
//!
//! let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 4), 1);
//! let network = LoadedNetwork::from_leela(&random, "random".as_ref())?;
//! let options = Options { visits: Some(20), stop_mode: StopMode::Off, ..Options::default() };
//! let mut player = Player::new(network, options)?;
//! player.play(go::Color::Black, "E5".parse()?)?;
//! let thought = player.generate(go::Color::White, &Request::default(), &mut ())?;
//! assert!(matches!(thought.decision, Decision::Move(_)));
//! assert_eq!(thought.report.visits, 20);
//! assert_eq!(player.game().move_number(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// What the network sees, and what it says.
mod any_size;
mod encoder;
mod judge;
mod leaves;
mod network;
mod network_view;
mod outlook;
pub mod planes;
mod position;
mod shipped;

// How long to think, and what to do with the result.
mod adjusting;
mod by_score;
mod choice;
pub mod clock;
mod decide;
pub mod dynamic_komi;
mod guard;
mod handicap;
mod ladders;
mod options;
mod player;
mod prepare;
mod rank;
mod restriction;
mod think;
mod view;

// What is kept.
pub mod record;
pub mod selfplay;
pub mod supervised;

// What is told to people.
pub mod bench;
pub mod doctor;
mod exhibition;
mod graph;
mod review;
mod scoring;

pub use by_score::Temperature;
pub use choice::{ResignPolicy, is_eye};
pub use encoder::{
    Encoder, HumanProfile, KataEncoder, KataScales, KataTraits, LeelaEncoder, NotForGo, Opinion,
    SCORE_UNIT, ScoreOpinion, ShortTermErrors, TengenEncoder, TengenFeatures,
};
pub use exhibition::exhibition;
pub use graph::{ownership_svg, review_svg};
pub use guard::{Choice, Guarded};
pub use judge::{Judge, candidates};
pub use ladders::Ladders;
pub use network::{LoadedNetwork, NetworkError, Origin, default_file, default_place};
pub use network_view::NetworkView;
pub use options::{
    AtStart, Contradiction, Memory, MemoryError, MemoryShares, OPTION_GROUPS, OptionGroup,
    OptionRow, OptionValue, Options, OptionsError, WrongValue, option_rows, options_markdown,
};
pub use outlook::{Outlook, ScoreMeans, ScoreUtility, UtilityFactors};
pub use player::{Player, PlayerError};
pub use position::{Assumptions, PastBoard, Position};
pub use prepare::{Adjusted, Preparation};
pub use rank::{Level, Rank, RankError};
pub use restriction::{Restrictions, Rule, RuleKind};
pub use review::{Review, ReviewError, Reviewed, ReviewedScore, Swing};
pub use scoring::{LifeReader, Settled, Status};
pub use search::{EvaluateError, FpuBase, SearchReport, StopMode, StopReason, TreeShape, Weighed};
pub use think::{Decision, Observer, Request, RootMove, Snapshot, Thought};
pub use view::{Ownership, View};
