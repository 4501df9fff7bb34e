//! Training: data sets, models, losses, loops, checkpoints and curves.
#![forbid(unsafe_code)]

pub mod batch;

pub mod param;

pub mod layer;
