//! Where a run stands, and what a step of it came to.

use crate::{
    Score,
    zero::{MatchLine, TrainingLine},
};

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The best network plays itself.
    SelfPlay,
    /// The newest network learns.
    Training,
    /// The candidate plays the best network.
    Match,
}

/// Where a run stands, for a status line.
#[derive(Clone, Debug)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Trainings finished.
    pub round: u64,
    /// Games of self-play.
    pub games: u64,
    /// The games at which self-play pauses for training.
    pub games_wanted: u64,
    /// Positions recorded.
    pub positions: u64,
    /// Games of self-play an hour, over the whole run.
    pub games_per_hour: f64,
    /// The network that plays, shortened.
    pub best: String,
    /// Its Elo.
    pub elo: f64,
    /// The match under way, or the last one.
    pub last_match: Option<Score>,
    /// Training steps done and due.
    pub steps: Option<(u64, u64)>,
}

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Enough games for the next training.
    Played,
    /// A new network.
    Trained(TrainingLine),
    /// A decided match.
    Decided(MatchLine),
    /// `stop` was set.
    Stopped,
}
