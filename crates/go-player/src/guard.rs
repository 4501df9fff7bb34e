//! A second look, at the komi that is played for, before a leader makes a move found at another.
//!
//! With komi against it, a leader takes risks to win by more. At a komi it cannot reach, every move
//! is about as good as any other, and the one that loses the game is played as soon as the one that
//! ends it. So a second tree is grown at the true komi, and of the moves that the search likes, the first is made that
//! this tree finds natural and no riskier than the safest one.

use std::time::{Duration, Instant};

use go::Move;
use search::{EvaluateError, Restrict, Task};

use crate::{
    by_score::Twins,
    dynamic_komi::{Purpose, TurnKomi, is_against, is_as_safe},
    player::Player,
    think::{Bound, Deadline, Request, RootMove, Snapshot},
};

/// The guard's tree has this part of the visits that a move has.
const LIMIT_SHARE: u64 = 2;
/// What is left of the time for the search itself, when there will be a guard: two parts of three.
const TIME_PARTS: (u32, u32) = (2, 3);
/// A move is sound if it has at least this part of the most visits there, so that the network does not only
/// find it harmless, but natural: what it does not understand, it often still answers by habit.
const SOUND_SHARE: u32 = 4;
/// A candidate has at least this part of the best move's visits in the search.
const CANDIDATE_SHARE: u32 = 10;
/// The guard's tree may take this part of the memory for trees.
const GUARD_MEMORY_PART: usize = 3;

/// Bytes that trees may take.
pub(crate) struct TreeLimits {
    pub search: usize,
    pub guard: usize,
}

/// What a second look found.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarded {
    /// The komi it was made with.
    pub komi: f64,
    /// The move to be made.
    pub choice: Choice,
    /// Positions given to the network on the way.
    pub evaluations: u64,
}

/// A move that is made, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub mv: Move,
    /// Moves that the search likes better, with their winrates in the second tree, if they were visited there.
    pub refused: Vec<(Move, Option<f64>)>,
    /// The safest move there, with its winrate.
    pub safest: (Move, f64),
}

impl Player {
    /// How much memory each tree may take: without a second one, the first has it all.
    pub(crate) fn tree_limits(&self) -> TreeLimits {
        let all = self.memory_shares().tree_bytes;
        let settings = &self.controller.settings;
        let guard = if settings.guard && settings.is_nonslack() {
            all / GUARD_MEMORY_PART
        } else {
            0
        };
        TreeLimits {
            search: all - guard,
            guard,
        }
    }

    /// Whether the side to move leads, and plays with komi against it.
    pub(crate) fn is_guarded(&self) -> bool {
        let settings = &self.controller.settings;
        let komi = self.controller.komi;
        settings.guard
            && settings.is_nonslack()
            && is_against(komi, settings.target_komi, self.game.to_move())
    }

    /// The part of the time that the search may take, if a second look is to come.
    pub(crate) fn time_before_guard(&self, time: Duration) -> Duration {
        if self.is_guarded() {
            time * TIME_PARTS.0 / TIME_PARTS.1
        } else {
            time
        }
    }

    /// Looks at the moves a search likes, at the komi that is played for. None if there is no need.
    pub(crate) fn look_again(
        &self,
        found: &Snapshot,
        request: &Request,
        start: Instant,
        time: Duration,
    ) -> Result<Option<Guarded>, EvaluateError> {
        if !self.is_guarded() || found.moves.len() < 2 {
            return Ok(None);
        }
        let komi = self.controller.settings.target_komi;
        let root = self.position_at(TurnKomi::both(komi), request);
        let restrictions = &request.restrictions;
        let bound = Bound {
            restrictions,
            move_number: self.game.move_number(),
            twins: Twins::default(),
        };
        let limit = |limit: Option<u64>| limit.map(|limit| limit.div_ceil(LIMIT_SHARE));
        let task = Task {
            visits: limit(self.options.visits),
            playouts: limit(self.options.playouts),
            control: Some(&Deadline::new(start, Some(time))),
            restrict: (!restrictions.is_empty()).then_some(&bound as &dyn Restrict<Move>),
            ..Task::default()
        };
        let settings = self.search_settings(Purpose::Move, self.tree_limits().guard);
        let leaves = self.controller.leaves(self.leaves());
        let report = self
            .controller
            .guard
            .run(&root, &leaves, &settings, &task)?;
        let choice = first_sound(&found.moves, &self.controller.guard.snapshot().moves);
        Ok(choice.map(|choice| Guarded {
            komi,
            choice,
            evaluations: report.evaluations,
        }))
    }
}

/// Of the moves that a search found, best first, the first that is sound in the second tree, or else
/// the safest there. None if nothing was visited in it.
fn first_sound(found: &[RootMove], seen: &[RootMove]) -> Option<Choice> {
    let most = |moves: &[RootMove]| moves.iter().map(|entry| entry.visits).max();
    let least_found = most(found)?.div_ceil(CANDIDATE_SHARE);
    let least_seen = most(seen)?.div_ceil(SOUND_SHARE);
    let best = seen.first()?;
    let safest = (best.mv, best.winrate?);
    let mut refused = Vec::new();
    for entry in found.iter().filter(|entry| entry.visits >= least_found) {
        let again = seen.iter().find(|other| other.mv == entry.mv);
        let winrate = again.and_then(|other| other.winrate);
        let is_natural = again.is_some_and(|other| other.visits >= least_seen);
        let is_sound = is_natural && winrate.is_some_and(|rate| is_as_safe(rate, safest.1));
        if is_sound || entry.mv == safest.0 {
            return Some(Choice {
                mv: entry.mv,
                refused,
                safest,
            });
        }
        refused.push((entry.mv, winrate));
    }
    Some(Choice {
        mv: safest.0,
        refused,
        safest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(vertex: &str, visits: u32, winrate: f64) -> RootMove {
        RootMove {
            mv: vertex.parse().unwrap(),
            visits,
            winrate: (visits > 0).then_some(winrate),
            prior: 0.1,
            lcb: None,
            order: 0,
            pv: Vec::new(),
            pv_visits: Vec::new(),
            weighed: None,
        }
    }

    fn chosen(found: &[RootMove], seen: &[RootMove]) -> (String, Vec<String>) {
        let choice = first_sound(found, seen).unwrap();
        let refused = choice.refused.iter().map(|(mv, _)| mv.to_string());
        (choice.mv.to_string(), refused.collect())
    }

    #[test]
    fn the_first_of_the_search_is_made_if_it_is_sound() {
        let found = [entry("A1", 100, 0.8), entry("B1", 90, 0.79)];
        let seen = [entry("B1", 60, 0.99), entry("A1", 15, 0.988)];
        assert_eq!(chosen(&found, &seen), ("A1".into(), vec![]));
    }

    #[test]
    fn what_is_risky_or_unnatural_is_refused() {
        let found = [
            entry("A1", 100, 0.8),
            entry("B1", 50, 0.79),
            entry("C1", 10, 0.7),
        ];
        let seen = [
            entry("C1", 60, 0.99),
            entry("A1", 40, 0.98),
            entry("B1", 14, 0.99),
        ];
        let refused = vec!["A1".to_owned(), "B1".into()];
        assert_eq!(chosen(&found, &seen), ("C1".into(), refused));
    }

    #[test]
    fn the_safest_is_made_if_the_search_likes_nothing_sound() {
        let found = [entry("A1", 100, 0.8), entry("C1", 9, 0.7)];
        let seen = [entry("D1", 60, 0.99), entry("C1", 30, 0.99)];
        assert_eq!(chosen(&found, &seen), ("D1".into(), vec!["A1".into()]));
        assert!(first_sound(&found, &[entry("D1", 0, 0.0)]).is_none());
    }
}
