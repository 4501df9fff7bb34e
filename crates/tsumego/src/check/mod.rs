//! The slow solver, and the fast one held against it.

mod brute;
mod crosscheck;
#[cfg(test)]
mod probes;

pub use brute::{BruteForce, Situation};
pub use crosscheck::{Agreement, NODES, compare, random_problem};
