//! What makes a match this match and no other: everything that a game's result depends on.

use go::KoRule;
use serde::{Deserialize, Serialize};

use crate::Contest;

/// A match, as it is written down beside its log.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    first: String,
    second: String,
    size: usize,
    komi: f32,
    handicap: usize,
    max_moves: usize,
    /// Matches of earlier versions had positional superko.
    #[serde(default = "positional")]
    ko: String,
    scorer: Option<String>,
    /// The moves of each, as GTP writes them.
    openings: Vec<String>,
}

impl Identity {
    pub(super) fn of(contest: &Contest) -> Identity {
        let rules = &contest.rules;
        let openings = contest.openings.iter().map(|moves| {
            let moves: Vec<String> = moves.iter().map(ToString::to_string).collect();
            moves.join(" ")
        });
        Identity {
            first: contest.first.name.clone(),
            second: contest.second.name.clone(),
            size: rules.size.get(),
            komi: rules.komi.points_for_white(),
            handicap: rules.handicap,
            max_moves: rules.max_moves,
            ko: ko_name(rules.ko).to_owned(),
            scorer: contest.scorer.clone(),
            openings: openings.collect(),
        }
    }

    /// The first thing in which `other` is another match, in words that follow "the match".
    pub(super) fn difference(&self, other: &Identity) -> Option<String> {
        let players = |identity: &Identity| format!("{} and {}", identity.first, identity.second);
        let scorer = |identity: &Identity| match &identity.scorer {
            Some(command) => command.clone(),
            None => "the referee".to_owned(),
        };
        let differences = [
            (
                self.first != other.first || self.second != other.second,
                format!("is between {}, not {}", players(self), players(other)),
            ),
            (
                self.size != other.size,
                format!("is on a {0}x{0} board, not {1}x{1}", self.size, other.size),
            ),
            (
                self.komi != other.komi,
                format!("has komi {}, not {}", self.komi, other.komi),
            ),
            (
                self.handicap != other.handicap,
                format!(
                    "has {} handicap stones, not {}",
                    self.handicap, other.handicap
                ),
            ),
            (
                self.max_moves != other.max_moves,
                format!(
                    "has at most {} moves a game, not {}",
                    self.max_moves, other.max_moves
                ),
            ),
            (
                self.ko != other.ko,
                format!("has the ko rule {}, not {}", self.ko, other.ko),
            ),
            (
                self.scorer != other.scorer,
                format!("is scored by {}, not by {}", scorer(self), scorer(other)),
            ),
            (
                self.openings != other.openings,
                "has other openings".to_owned(),
            ),
        ];
        let first = differences.into_iter().find(|(differs, _)| *differs);
        first.map(|(_, words)| words)
    }
}

fn positional() -> String {
    ko_name(KoRule::Positional).to_owned()
}

fn ko_name(ko: KoRule) -> &'static str {
    match ko {
        KoRule::Simple => "simple",
        KoRule::Positional => "positional",
        KoRule::Situational => "situational",
    }
}
