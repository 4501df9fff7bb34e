//! Self-play and matches: who plays whom, when a match is decided, which network is promoted.
//!
//! ```
//! use fleet::{Score, Sprt, Verdict};
//!
//! let gate = Sprt::default();
//! assert_eq!(gate.verdict(Score::new(180, 120)), Verdict::Pass);
//! assert_eq!(gate.verdict(Score::new(62, 40)), Verdict::Open);
//! ```
#![forbid(unsafe_code)]

mod contest;
mod program;
mod referee;
mod score;
mod sprt;
mod worker;
pub mod zero;

pub use contest::{Contest, ContestError, Contestant, Entry, Outcome};
pub use program::{PATIENCE, Program, ProgramError};
pub use referee::{Ending, Played, RefereeError, Rules, referee};
pub use score::{Elo, Interval, Score};
pub use sprt::{Limits, Sprt, Verdict};
pub use worker::{Load, play_games};
