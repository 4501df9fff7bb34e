//! The slow solver, and the fast one held against it.

mod brute;
mod crosscheck;

pub use brute::{BruteForce, Situation};
pub use crosscheck::{Agreement, NODES, compare, random_problem};
