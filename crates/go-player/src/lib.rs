//! What to play in a Go position: planes, clocks, passing, resigning, analysis.
#![forbid(unsafe_code)]

pub mod dynamic_komi;

pub mod clock;
pub mod planes;
pub mod record;
mod restriction;

pub use restriction::{Restrictions, Rule, RuleKind};
