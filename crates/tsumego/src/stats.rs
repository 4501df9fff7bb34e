//! Counting labels.

use std::collections::{BTreeMap, HashMap};

use crate::problem::Side;
use crate::record::LabelledPosition;

/// Safe and unsafe positions of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Positions with a safe target.
    pub safe: usize,
    /// Positions with an unsafe one.
    pub unsafe_: usize,
}

/// Labels by the number of moves available.
pub fn count_by_size<'a>(
    positions: impl IntoIterator<Item = &'a LabelledPosition>,
) -> BTreeMap<usize, Counts> {
    let mut sizes: BTreeMap<usize, Counts> = BTreeMap::new();
    for position in positions {
        let counts = sizes.entry(position.size).or_default();
        if position.is_safe {
            counts.safe += 1;
        } else {
            counts.unsafe_ += 1;
        }
    }
    sizes
}

/// A predictor that knows no Go: the usual answer for a problem's name, the difference in stones,
/// and who starts. Whatever it scores is not reading.
#[derive(Default)]
pub struct StoneDifference {
    votes: HashMap<(String, i32, bool), i32>,
}

impl StoneDifference {
    /// Learns from positions.
    pub fn fit<'a>(positions: impl IntoIterator<Item = &'a LabelledPosition>) -> StoneDifference {
        let mut votes = HashMap::new();
        for position in positions {
            let vote = if position.is_safe { 1 } else { -1 };
            *votes.entry(Self::key(position)).or_insert(0) += vote;
        }
        StoneDifference { votes }
    }

    /// Its answer; unsafe where it has seen nothing.
    pub fn is_safe(&self, position: &LabelledPosition) -> bool {
        self.votes.get(&Self::key(position)).is_some_and(|&v| v > 0)
    }

    fn key(position: &LabelledPosition) -> (String, i32, bool) {
        let board = position.problem.board();
        let stones = |side| board.stone_set(position.problem.color(side)).len() as i32;
        let difference = stones(Side::Defender) - stones(Side::Attacker);
        let defended = position.first == Side::Defender;
        (position.source.clone(), difference, defended)
    }
}

/// Right and wrong answers by class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Safe positions and how many of them were called safe.
    pub safe: (usize, usize),
    /// Unsafe positions and how many of them were called unsafe.
    pub unsafe_: (usize, usize),
}

impl Score {
    /// Adds an answer.
    pub fn add(&mut self, is_safe: bool, said_safe: bool) {
        let class = if is_safe {
            &mut self.safe
        } else {
            &mut self.unsafe_
        };
        class.0 += 1;
        class.1 += usize::from(is_safe == said_safe);
    }

    /// Positions scored.
    pub fn count(&self) -> usize {
        self.safe.0 + self.unsafe_.0
    }

    /// Share of right answers.
    pub fn accuracy(&self) -> f64 {
        (self.safe.1 + self.unsafe_.1) as f64 / (self.count().max(1)) as f64
    }

    /// The mean of both classes' shares: a constant answer scores one half.
    pub fn balanced_accuracy(&self) -> f64 {
        let share = |(all, right): (usize, usize)| right as f64 / all.max(1) as f64;
        match (self.safe.0, self.unsafe_.0) {
            (0, _) => share(self.unsafe_),
            (_, 0) => share(self.safe),
            _ => (share(self.safe) + share(self.unsafe_)) / 2.0,
        }
    }
}
