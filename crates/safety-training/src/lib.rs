//! What labelled positions teach about the safety of groups: examples, network designs and losses.
#![forbid(unsafe_code)]

mod example;
mod model;
mod task;

pub use model::{SafetyDesign, SafetyShape, build};
pub use task::{SafetySettings, SafetyTask, find_files};
