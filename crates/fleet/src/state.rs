//! What a run has done so far. It is written whole after every step, and what a crash can take
//! from it, the games of the current round, is in the logs.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{MatchGame, MatchScore, Ratings};

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The network file the run began with, if it did not begin with a network of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_from: Option<String>,
    /// The network that the ratings are measured from: the first one that played. Runs of earlier versions did not
    /// write it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub first: String,
    /// A new best network whose rating matches are not all played yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_rate: Option<String>,
    /// Trainings finished.
    pub rounds: u64,
    /// The network that plays: the hash of its text.
    pub best: String,
    /// The network that was trained last and is the start of the next training.
    pub newest: String,
    /// A network whose match is not decided yet.
    pub candidate: Option<String>,
    /// Elo of the best network over the first, fitted over all match games of the run.
    pub elo: f64,
    /// Half the 95 % interval of that Elo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elo_error: Option<f64>,
    /// Decided matches, oldest first.
    pub matches: Vec<MatchLine>,
    /// Losses of each training.
    pub trainings: Vec<TrainingLine>,
    /// Seconds spent, over all starts.
    pub seconds: Seconds,
}

/// A gating match that came to its end; one row of the report's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchLine {
    /// The round of the new network.
    pub round: u64,
    pub network: String,
    /// Its score against the best one.
    pub score: MatchScore,
    /// Whether it took over.
    pub promoted: bool,
    /// Elo of the new network over the first when the match was decided.
    pub elo: f64,
    /// Games of self-play when the match was played.
    pub games: u64,
    /// Seconds since the run began.
    pub at_seconds: f64,
}

/// A training that came to its end; one row of the report's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingLine {
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
    pub selfplay: f64,
    pub training: f64,
    pub matches: f64,
}

/// What the first network is called in ratings where its name is not known any more.
const FIRST: &str = "first";

impl State {
    /// The networks that were best, oldest first, the first network included.
    pub fn best_chain(&self) -> Vec<&str> {
        let promoted = self.matches.iter().filter(|line| line.promoted);
        let mut chain: Vec<&str> = vec![self.reference()];
        for line in promoted {
            if chain.last() != Some(&line.network.as_str()) {
                chain.push(&line.network);
            }
        }
        chain
    }

    /// The networks that are still of use: those that were best, those of the newest `rounds` rounds, and whatever the
    /// run is at work with.
    pub fn networks_in_use(&self, rounds: u64) -> HashSet<&str> {
        let recent = self
            .matches
            .iter()
            .filter(|line| line.round + rounds > self.rounds)
            .map(|line| line.network.as_str());
        let at_work = [&self.best, &self.newest, &self.first];
        let mut used: HashSet<&str> = self.best_chain().into_iter().chain(recent).collect();
        used.extend(at_work.into_iter().map(String::as_str));
        used.extend(
            self.candidate
                .iter()
                .chain(&self.to_rate)
                .map(String::as_str),
        );
        used
    }

    /// The ratings of all networks and anchors, from all match games of the run.
    pub fn ratings(&self, games: &[MatchGame]) -> Ratings {
        Ratings::fit(&self.with_opponents(games), self.reference())
    }

    fn reference(&self) -> &str {
        let has_promoted = self.matches.iter().any(|line| line.promoted);
        match self.first.as_str() {
            "" if has_promoted => FIRST,
            "" => &self.best,
            first => first,
        }
    }

    /// The games with the opponents that the first runs did not write: the best network of each match's time.
    fn with_opponents(&self, games: &[MatchGame]) -> Vec<MatchGame> {
        let mut opponents = std::collections::HashMap::new();
        let mut best = self.reference();
        for line in &self.matches {
            opponents.insert(line.network.as_str(), best);
            if line.promoted {
                best = &line.network;
            }
        }
        games
            .iter()
            .map(|game| match game.second.as_str() {
                "" => {
                    let opponent = opponents.get(game.first.as_str()).unwrap_or(&best);
                    MatchGame {
                        second: (*opponent).to_owned(),
                        ..game.clone()
                    }
                }
                _ => game.clone(),
            })
            .collect()
    }
}

impl Seconds {
    /// All together.
    pub fn total(self) -> f64 {
        self.selfplay + self.training + self.matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_were_never_best_go_after_some_rounds() {
        let line = |round: u64, promoted| MatchLine {
            round,
            network: format!("n{round}"),
            score: MatchScore::default(),
            promoted,
            elo: 0.0,
            games: 0,
            at_seconds: 0.0,
        };
        let state = State {
            first: "n0".into(),
            best: "n2".into(),
            newest: "n6".into(),
            candidate: Some("n6".into()),
            rounds: 6,
            matches: (1..=5).map(|round| line(round, round == 2)).collect(),
            ..State::default()
        };
        let used = state.networks_in_use(2);
        let all = (0..=6).map(|round| format!("n{round}"));
        let gone: Vec<String> = all.filter(|name| !used.contains(name.as_str())).collect();
        assert_eq!(gone, ["n1", "n3", "n4"]);
    }
}
