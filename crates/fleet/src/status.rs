//! Where a run stands, and what a step of it came to.

use crate::{MatchLine, MatchScore, TrainingLine};

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The best network plays itself.
    SelfPlay,
    /// The newest network learns.
    Training,
    /// The candidate plays the best network.
    Match,
    /// The new best network plays older ones and fixed opponents.
    Rating,
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
    /// Its Elo over the first network.
    pub elo: f64,
    /// Half the 95 % interval of that Elo.
    pub elo_error: Option<f64>,
    /// The match under way, or the last one.
    pub last_match: Option<MatchScore>,
    /// Training steps done and due.
    pub steps: Option<(u64, u64)>,
}

/// What a step came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Enough games for the next training.
    Played,
    Trained(TrainingLine),
    Decided(MatchLine),
    /// The best network's rating games are played: its Elo over the first network, and half the 95 % interval.
    Rated(f64, Option<f64>),
    /// `stop` was set.
    Stopped,
}
