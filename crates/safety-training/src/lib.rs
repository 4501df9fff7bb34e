//! What labelled positions teach about the safety of groups: examples, network designs and losses.
#![forbid(unsafe_code)]

pub mod example;
pub mod model;
pub mod task;
