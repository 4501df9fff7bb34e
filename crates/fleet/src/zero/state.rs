//! What a run has done so far. It is written whole after every step, and what a crash can take
//! from it, the games of the current round, is in the logs.

use serde::{Deserialize, Serialize};

use crate::Score;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The network file the run began with, if it did not begin with a network of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_from: Option<String>,
    /// Trainings finished.
    pub rounds: u64,
    /// The network that plays: the hash of its text.
    pub best: String,
    /// The network that was trained last and is the start of the next training.
    pub newest: String,
    /// A network whose match is not decided yet.
    pub candidate: Option<String>,
    /// Elo of the best network; the first one has 0.
    pub elo: f64,
    /// Decided matches, oldest first.
    pub matches: Vec<MatchLine>,
    /// Losses of each training.
    pub trainings: Vec<TrainingLine>,
    /// Seconds spent, over all starts.
    pub seconds: Seconds,
}

/// A decided match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchLine {
    /// The round of the new network.
    pub round: u64,
    /// The new network.
    pub network: String,
    /// Its score against the best one.
    pub score: Score,
    /// Whether it took over.
    pub promoted: bool,
    /// Elo of the new network, by this match.
    pub elo: f64,
    /// Games of self-play when the match was played.
    pub games: u64,
    /// Seconds since the run began.
    pub at_seconds: f64,
}

/// A finished training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingLine {
    /// The round.
    pub round: u64,
    /// Cross-entropy of the policy on positions kept out.
    pub policy_loss: Option<f64>,
    /// Squared error of the value on positions kept out.
    pub value_error: Option<f64>,
    /// Positions learned from.
    pub positions: usize,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// Self-play.
    pub selfplay: f64,
    /// Training.
    pub training: f64,
    /// Matches.
    pub matches: f64,
}

impl Seconds {
    /// All together.
    pub fn total(self) -> f64 {
        self.selfplay + self.training + self.matches
    }
}
