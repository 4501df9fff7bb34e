//! How a target stands over all ko rules, best result first.
//!
//! Threats are counted, never endless: a side with endless threats goes round in circles that no
//! game allows, and would call a plain kill a ko. A result that holds against [`MOST_THREATS`]
//! threats of the loser counts as unconditional.

use std::fmt;

use go::Move;

use super::{Solver, Verdict};
use crate::problem::{Ko, Problem, Side, Threats};

/// Threats are counted up to this number; a ko that needs more of them is not told apart.
pub const MOST_THREATS: usize = 4;

/// How a target stands over all ko rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Safe without a ko, or by one that the attacker wins with no number of threats tried.
    Safe,
    /// Captured without a ko, or by one that the defender wins with no number of threats tried.
    Unsafe,
    /// Lives unless the attacker has this many threats more.
    KoForAttacker(usize),
    /// Dies unless the defender has this many threats more.
    KoForDefender(usize),
    /// A limit was reached.
    Unknown,
}

impl Status {
    /// Whether it depends on ko threats.
    pub fn is_ko(self) -> bool {
        matches!(self, Status::KoForAttacker(_) | Status::KoForDefender(_))
    }

    /// The ko rule under which `side` just reaches this result: every move that wins under it
    /// gives the side the stated result. `None` if the result is the opponent's without a ko.
    pub fn rule_for(self, side: Side) -> Option<Ko> {
        let attacker = |count| Ko {
            attacker: Threats::new(count),
            ..Ko::NOBODY
        };
        let defender = |count| Ko {
            defender: Threats::new(count),
            ..Ko::NOBODY
        };
        match (self, side) {
            (Status::Unsafe, Side::Attacker) => Some(defender(MOST_THREATS)),
            (Status::KoForDefender(count), Side::Attacker) => Some(defender(count - 1)),
            (Status::KoForAttacker(count), Side::Attacker) => Some(attacker(count)),
            (Status::Safe, Side::Defender) => Some(attacker(MOST_THREATS)),
            (Status::KoForAttacker(count), Side::Defender) => Some(attacker(count - 1)),
            (Status::KoForDefender(count), Side::Defender) => Some(defender(count)),
            _ => None,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs = |f: &mut fmt::Formatter<'_>, side: &str, threats: usize| match threats {
            1 => write!(f, "ko ({side} needs 1 threat)"),
            count => write!(f, "ko ({side} needs {count} threats)"),
        };
        match *self {
            Status::Safe => f.write_str("safe"),
            Status::Unsafe => f.write_str("unsafe"),
            Status::KoForAttacker(threats) => needs(f, "the attacker", threats),
            Status::KoForDefender(threats) => needs(f, "the defender", threats),
            Status::Unknown => f.write_str("unknown"),
        }
    }
}

impl Solver {
    /// How the target stands over all ko rules, with `first` to move.
    pub fn status(&mut self, problem: &Problem, first: Side) -> Status {
        let mut verdict = |ko| self.solve(problem, first, ko).verdict;
        match verdict(Ko::NOBODY) {
            Verdict::Unknown => Status::Unknown,
            Verdict::Safe => {
                let with = |count| Ko {
                    attacker: Threats::new(count),
                    ..Ko::NOBODY
                };
                let fewest = fewest_threats(Verdict::Unsafe, |count| verdict(with(count)));
                fewest.map_or(Status::Unknown, |count| {
                    count.map_or(Status::Safe, Status::KoForAttacker)
                })
            }
            Verdict::Unsafe => {
                let with = |count| Ko {
                    defender: Threats::new(count),
                    ..Ko::NOBODY
                };
                let fewest = fewest_threats(Verdict::Safe, |count| verdict(with(count)));
                fewest.map_or(Status::Unknown, |count| {
                    count.map_or(Status::Unsafe, Status::KoForDefender)
                })
            }
        }
    }

    /// Every move that gives `first` the result `status`, the pass too if that is enough: without
    /// a ko if there is such a result, else by the ko that needs fewest threats. `None` if a limit
    /// was reached.
    pub fn best_moves(
        &mut self,
        problem: &Problem,
        first: Side,
        status: Status,
    ) -> Option<Vec<Move>> {
        match status.rule_for(first) {
            Some(ko) => self.winning_moves(problem, first, ko),
            None if status == Status::Unknown => None,
            None => Some(Vec::new()),
        }
    }
}

/// The fewest threats with which the verdict is the wanted one, nothing inside if all that are
/// tried are too few; nothing at all if a limit was reached before the question was answered.
fn fewest_threats(
    wanted: Verdict,
    mut verdict: impl FnMut(usize) -> Verdict,
) -> Option<Option<usize>> {
    // More threats never hurt, so the largest number is asked about first.
    match verdict(MOST_THREATS) {
        Verdict::Unknown => return None,
        found if found != wanted => return Some(None),
        _ => {}
    }
    for count in 1..MOST_THREATS {
        match verdict(count) {
            Verdict::Unknown => return None,
            found if found == wanted => return Some(Some(count)),
            _ => {}
        }
    }
    Some(Some(MOST_THREATS))
}
