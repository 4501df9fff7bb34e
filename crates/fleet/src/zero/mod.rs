//! From nothing to a player: self-play, training, a match, promotion, again and again.
//!
//! A run lives in a folder. Finished games go to logs that survive a crash at any moment; the
//! state, the settings and the networks are files written whole. Whatever a crash interrupts is
//! found again: [`GoRun::open`] reads the folder and [`GoRun::step`] does what is due next.

mod gate;
mod report;
mod run;
mod settings;
mod state;
mod stored;

pub use gate::GateError;
pub use report::report;
pub use run::{Event, GoRun, Phase, Status, ZeroError};
pub use settings::{BadSetting, GatePart, SelfPlayPart, TEMPLATE, TrainingPart, ZeroSettings};
pub use state::{MatchLine, Seconds, State, TrainingLine};
pub use stored::{Head, StoredGame};
