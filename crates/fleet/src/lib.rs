//! The learning loop: self-play, training, a match, promotion, again and again. It knows no game and no trainer.
//!
//! A run lives in a [`Store`], on one machine a folder ([`FolderStore`]). Finished games are kept before anything is
//! counted, the state and the networks are written whole, so whatever a crash interrupts is found again: [`Run::open`]
//! reads the store and [`Run::step`] does what is due next.
//!
//! A game enters through two traits. [`Game`] says how networks play: all that a worker needs. [`Learner`] adds how a
//! network is trained. `tests/third_game.rs` has a whole game in a few lines.
//!
//! ```
//! use fleet::{MatchScore, Sprt, MatchVerdict};
//!
//! let gate = Sprt::default();
//! assert_eq!(gate.verdict(MatchScore::new(180, 120)), MatchVerdict::Pass);
//! assert_eq!(gate.verdict(MatchScore::new(62, 40)), MatchVerdict::Open);
//! ```
#![forbid(unsafe_code)]

// What a game brings.
mod error;
mod game;
mod settings;

// Games and matches.
mod matches;
mod ratings;
mod score;
mod selfplay;
mod sprt;

// What is kept.
mod folder;
mod state;
mod store;
mod window;

// Many machines.
mod accounts;
mod check;
mod desk;
mod ledger;
mod service;
pub mod wire;

// The loop, and how it shows itself.
mod beginning;
mod publish;
mod report;
mod run;
mod status;

pub use accounts::Account;
pub use beginning::Beginning;
pub use check::{Checked, check_game, check_selfplay, id_of, is_played_by, selfplay_task};
pub use error::{BadSetting, GameError, RunError};
pub use folder::FolderStore;
pub use game::{
    Anchor, CHECKPOINT_EXTENSION, Game, Learner, MatchRecord, NewNetwork, PlayerFor, Schedule,
    SelfPlayTask, Trained, TrainedElsewhere, TrainingOrder, TrainingProgress, TrainingRequest,
    TrainsElsewhere, Winner,
};
pub use ledger::{Ledger, LedgerError, Refusal, RefusalKind, ServeOptions};
pub use matches::{MatchTask, Rule, play_match};
pub use ratings::{Rating, Ratings};
pub use report::{Join, Page, chart};
pub use run::Run;
pub use score::{Elo, Interval, MatchScore};
pub use selfplay::play_games;
pub use service::{Order, Service, StockGames, StockOptions};
pub use settings::{Setting, check_settings_table, read_settings, settings_file};
pub use sprt::{Limits, MatchVerdict, Sprt};
pub use state::{MatchLine, Seconds, State, TrainingLine};
pub use status::{Event, Phase, Status};
pub use store::{Appended, MatchGame, Store, StoreError, Unreadable};
pub use window::{Games, RoundCount};
