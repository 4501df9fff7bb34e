//! Training: data sets, models, losses, loops, checkpoints and curves.
#![forbid(unsafe_code)]
