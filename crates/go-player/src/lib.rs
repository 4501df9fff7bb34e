//! What to play in a Go position: planes, clocks, passing, resigning, analysis.
#![forbid(unsafe_code)]

pub mod dynamic_komi;
