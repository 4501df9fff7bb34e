//! From nothing to a player: self-play, training, a match, promotion, again and again.
//!
//! A run lives in a folder. Finished games go to logs that survive a crash at any moment; the
//! state, the settings and the networks are files written whole. Whatever a crash interrupts is
//! found again: [`Run::open`] reads the folder and [`Run::step`] does what is due next.
//!
//! The loop is one; a game enters it through [`Discipline`].

mod discipline;
mod error;
mod folder;
mod games;
mod gate;
mod go;
mod mario;
mod report;
mod run;
mod state;
mod status;

pub use discipline::{Discipline, Lesson, Pace, Table, Trained};
pub use error::{BadSetting, ZeroError};
pub use folder::{Folder, NewNetwork};
pub use games::Games;
pub use gate::{Gate, Winner};
pub use go::{
    GatePart, Go, Head, SelfPlayPart, StoredGame, TEMPLATE, TrainingPart, ZeroSettings, report,
};
pub use mario::{DrMario, MarioGame, MarioHead, MarioSettings, RoundTally};
pub use run::Run;
pub use state::{MatchLine, Seconds, State, TrainingLine};
pub use status::{Event, Phase, Status};

/// A run that learns Go.
pub type GoRun = Run<Go>;

/// A run that learns Dr. Mario.
pub type MarioRun = Run<DrMario>;
