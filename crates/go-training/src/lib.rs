//! What Go teaches: positions and their truth, networks of Leela Zero's kind, losses, and the learning loop's games.
//!
//! A [`GoTask`] is a training that [`learn::trainer::train`] runs:
//!
//! ```
//! use go_training::{GoShape, GoSettings, GoTask};
//! use learn::trainer::train;
//!
//! let folder = tempfile::tempdir()?;
//! let game = "(;GM[1]SZ[5]RE[B+R];B[cc];W[cb];B[bb];W[db];B[dc];W[bc];B[cd];W[ec];B[ba];W[bd];B[ab];W[eb])";
//! std::fs::write(folder.path().join("game.sgf"), game)?;
//!
//! let mut settings = GoSettings { network: GoShape { size: 5, blocks: 1, filters: 8 }, ..GoSettings::default() };
//! settings.data.games = vec![folder.path().to_owned()];
//! settings.data.test_share = 0.0;
//! settings.training.steps = 3;
//! settings.training.batch = 4;
//! let mut task = GoTask::new(settings.clone())?;
//! let outcome = train(&mut task, &settings.training, folder.path(), &mut |report| {
//!     println!("{} of {}", report.step, report.steps);
//!     true
//! })?;
//! assert!(outcome.network.ends_with("network.txt.gz"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// Where positions come from.
#[cfg(feature = "trainer")]
mod chunks;
#[cfg(feature = "trainer")]
mod example;
#[cfg(feature = "trainer")]
mod games;
#[cfg(feature = "trainer")]
pub mod label;
#[cfg(feature = "trainer")]
mod owners;

// The network and its training.
#[cfg(feature = "trainer")]
mod model;
#[cfg(feature = "trainer")]
pub mod student;
#[cfg(feature = "trainer")]
mod task;

// Go in the learning loop.
mod anchor;
mod scored;
mod selfplay;
mod stock;
mod zero;

// Matches between programs.
mod contest;
mod program;
mod referee;

pub use anchor::GoPlayer;
pub use contest::{Contest, ContestError, Contestant, Entry, Outcome};
#[cfg(feature = "trainer")]
pub use model::{GoShape, PRESETS, build};
pub use program::{PATIENCE, Program, ProgramError};
pub use referee::{Ending, Played, RefereeError, Rules, referee};
pub use scored::{ScoredGame, ScoredGo, ScoredHead, ScoredPlayer, ScoredSettings};
pub use selfplay::{Load, self_play};
pub use stock::StockGo;
#[cfg(feature = "trainer")]
pub use task::{GoSettings, GoTask};
pub use zero::{
    GatePart, Go, Head, RatingPart, ResignTally, SelfPlayPart, StoredGame, TrainingPart,
    ZeroSettings,
};
