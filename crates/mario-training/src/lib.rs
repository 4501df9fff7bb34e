//! What Dr. Mario teaches: examples, two network designs, their losses, and the learning loop's games.
#![forbid(unsafe_code)]

pub mod loss;
pub mod model;
pub mod task;
