//! What to place in a Dr. Mario position, and the examples to learn from.
#![forbid(unsafe_code)]

pub mod player;

pub mod features;
pub mod heuristic;

pub mod judges;
pub mod position;
pub mod tree;

pub mod network;
pub mod planes;

pub mod net_judge;

pub mod lineup;

pub mod evaluate;
pub mod selfplay;
pub mod solve;
