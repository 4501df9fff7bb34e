//! What to place in a Dr. Mario position, and the examples to learn from.
#![forbid(unsafe_code)]

pub mod features;

pub mod heuristic;
