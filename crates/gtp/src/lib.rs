//! The text protocol: parse a line, call the player, print the answer.
#![forbid(unsafe_code)]

pub mod line;
pub mod tags;
