//! What Dr. Mario teaches: examples, two network designs, their losses, and the learning loop's games.
#![forbid(unsafe_code)]

// The network and its training.
#[cfg(feature = "trainer")]
pub mod loss;
#[cfg(feature = "trainer")]
pub mod model;
#[cfg(feature = "trainer")]
pub mod task;

// Self-play into a file.
mod selfplay;

// Dr. Mario in the learning loop.
mod deal;
mod player;
mod zero;

pub use player::MarioPlayer;
pub use selfplay::{PillSource, SelfPlayError, SelfPlayReport, SelfPlaySettings, self_play};
pub use zero::{DrMario, MarioGame, MarioHead, RoundTally, ZeroSettings};
