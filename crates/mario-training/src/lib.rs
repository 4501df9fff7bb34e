//! What Dr. Mario teaches: examples, two network designs, their losses, and the learning loop's games.
#![forbid(unsafe_code)]

// The network and its training.
#[cfg(feature = "trainer")]
mod loss;
#[cfg(feature = "trainer")]
mod model;
#[cfg(feature = "trainer")]
mod task;

// Self-play into a file.
mod selfplay;

// Dr. Mario in the learning loop.
mod deal;
mod player;
mod zero;

#[cfg(feature = "trainer")]
pub use model::{MarioDesign, MarioShape, build};
pub use player::MarioPlayer;
pub use selfplay::{PillSource, SelfPlayError, SelfPlayReport, SelfPlaySettings, self_play};
#[cfg(feature = "trainer")]
pub use task::{MarioSettings, MarioTask};
pub use zero::{DrMario, MarioGame, MarioHead, RoundTally, ZeroSettings};
