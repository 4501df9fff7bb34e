//! The heuristic player: the best weighted count after this pill, or after this and the next.

use std::collections::BTreeMap;
use std::fmt;

use mario::{Board, Pill, Placement, flood};
use search::EvaluateError;
use thiserror::Error;

use crate::features::{FEATURE_NAMES, FEATURES, Features, features};
use crate::player::{Decision, Player, View};

/// The score of a board without viruses, above anything the counts add up to.
pub(crate) const WON: f32 = 1e6;

/// The score of a board whose throat is blocked.
pub(crate) const LOST: f32 = -1e6;

/// Points that make a placement e times as likely as another in a record.
const SOFT_CHOICE: f32 = 20.0;

/// A weight for each number that describes a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights(pub [f32; FEATURES]);

/// Why a text is not a set of weights.
#[derive(Debug, Error)]
pub enum WeightsError {
    /// Not a JSON object of numbers.
    #[error("the weights are no JSON object of numbers: {0}")]
    Json(#[from] serde_json::Error),
    /// A count the player does not know, or one without a weight.
    #[error("the weights name {0:?}, expected exactly the known counts")]
    Name(String),
}

/// The tuned weights: `cargo run --release -p mario-player --example tune` found them.
const TUNED: &str = include_str!("weights.json");

impl Default for Weights {
    fn default() -> Self {
        Self::from_json(TUNED).expect("the weights compiled in are well formed")
    }
}

impl Weights {
    /// The score of a board: higher is better, won and lost beyond all others.
    #[inline]
    pub fn score(&self, board: &Board) -> f32 {
        if board.viruses_left() == 0 {
            return WON;
        }
        if board.is_topped_out() {
            return LOST;
        }
        self.weigh(&features(board))
    }

    /// The weighted sum of counts.
    #[inline]
    pub fn weigh(&self, counts: &Features) -> f32 {
        self.0
            .iter()
            .zip(counts)
            .map(|(weight, count)| weight * count)
            .sum()
    }

    /// Reads a JSON object from names to numbers.
    pub fn from_json(text: &str) -> Result<Self, WeightsError> {
        let mut named: BTreeMap<String, f32> = serde_json::from_str(text)?;
        let mut weights = [0.0; FEATURES];
        for (name, weight) in FEATURE_NAMES.iter().zip(&mut weights) {
            *weight = named
                .remove(*name)
                .ok_or_else(|| WeightsError::Name((*name).to_owned()))?;
        }
        match named.into_keys().next() {
            Some(unknown) => Err(WeightsError::Name(unknown)),
            None => Ok(Self(weights)),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{{")?;
        for (index, (name, weight)) in FEATURE_NAMES.iter().zip(self.0).enumerate() {
            let comma = if index + 1 < FEATURES { "," } else { "" };
            writeln!(f, "  \"{name}\": {weight}{comma}")?;
        }
        writeln!(f, "}}")
    }
}

/// Every placement of `pill` with the score of the board after it.
pub fn scored(board: &Board, pill: Pill, weights: &Weights) -> Vec<(Placement, f32)> {
    flood(board)
        .placements(pill)
        .map(|placement| {
            let mut after = *board;
            after.play(pill, placement);
            (placement, weights.score(&after))
        })
        .collect()
}

/// Every placement of `pill` with the best score once `next` is placed too.
pub fn scored_with_next(
    board: &Board,
    pill: Pill,
    next: Pill,
    weights: &Weights,
) -> Vec<(Placement, f32)> {
    flood(board)
        .placements(pill)
        .map(|placement| {
            let mut after = *board;
            after.play(pill, placement);
            if after.viruses_left() == 0 {
                return (placement, WON);
            }
            let best = flood(&after)
                .placements(next)
                .map(|placement| {
                    let mut last = after;
                    last.play(next, placement);
                    weights.score(&last)
                })
                .fold(LOST, f32::max);
            (placement, best)
        })
        .collect()
}

/// The heuristic as a player.
#[derive(Clone, Debug)]
pub struct Heuristic {
    weights: Weights,
    /// Whether the next pill is looked at too, when it is shown.
    uses_next: bool,
}

impl Heuristic {
    /// Looks one pill ahead.
    pub fn one_ply(weights: Weights) -> Self {
        Self {
            weights,
            uses_next: false,
        }
    }

    /// Looks two pills ahead where the next one is shown.
    pub fn two_plies(weights: Weights) -> Self {
        Self {
            weights,
            uses_next: true,
        }
    }
}

impl Player for Heuristic {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        let scores = match view.next.filter(|_| self.uses_next) {
            Some(next) => scored_with_next(&view.board, view.pill, next, &self.weights),
            None => scored(&view.board, view.pill, &self.weights),
        };
        let best = scores.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((placement, best)) = best else {
            return Ok(None);
        };
        // As a record weights must not be negative: the share a soft choice would give them.
        let weights = scores
            .iter()
            .map(|&(at, score)| (at, f64::from((score - best) / SOFT_CHOICE).exp()))
            .collect();
        Ok(Some(Decision {
            placement,
            weights,
            positions: scores.len() as u64,
        }))
    }
}
