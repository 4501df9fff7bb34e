//! Counting labels.

use std::collections::{BTreeMap, HashMap};

use crate::problem::LabelledPosition;
use crate::problem::Side;

/// Safe and unsafe positions of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Positions with a safe target.
    pub safe: usize,
    /// Positions with an unsafe one.
    pub unsafe_: usize,
}

impl Counts {
    fn add(&mut self, is_safe: bool) {
        if is_safe {
            self.safe += 1;
        } else {
            self.unsafe_ += 1;
        }
    }
}

/// Labels by the number of moves available.
pub fn count_by_size<'a>(
    positions: impl IntoIterator<Item = &'a LabelledPosition>,
) -> BTreeMap<usize, Counts> {
    let mut sizes: BTreeMap<usize, Counts> = BTreeMap::new();
    for position in positions {
        let counts = sizes.entry(position.size).or_default();
        counts.add(position.is_safe);
    }
    sizes
}

/// A predictor that knows no Go: the usual answer for a problem's name, the difference in stones,
/// and who starts. Whatever it scores is not reading.
#[derive(Default)]
pub struct StoneDifference {
    labels: HashMap<(String, i32, bool), Counts>,
}

impl StoneDifference {
    /// Learns from positions.
    pub fn fit<'a>(positions: impl IntoIterator<Item = &'a LabelledPosition>) -> StoneDifference {
        let mut fitted = StoneDifference::default();
        for position in positions {
            fitted.add(position);
        }
        fitted
    }

    /// Learns from one more position.
    pub fn add(&mut self, position: &LabelledPosition) {
        self.labels
            .entry(Self::key(position))
            .or_default()
            .add(position.is_safe);
    }

    /// Its answer; unsafe where it has seen nothing.
    pub fn is_safe(&self, position: &LabelledPosition) -> bool {
        let counts = self.labels.get(&Self::key(position));
        counts.is_some_and(|counts| counts.safe > counts.unsafe_)
    }

    /// How it scores on what it has learnt from.
    pub fn score(&self) -> Accuracy {
        let mut score = Accuracy::default();
        for counts in self.labels.values() {
            let says_safe = counts.safe > counts.unsafe_;
            score.safe.0 += counts.safe;
            score.unsafe_.0 += counts.unsafe_;
            if says_safe {
                score.safe.1 += counts.safe;
            } else {
                score.unsafe_.1 += counts.unsafe_;
            }
        }
        score
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
pub struct Accuracy {
    /// Safe positions and how many of them were called safe.
    pub safe: (usize, usize),
    /// Unsafe positions and how many of them were called unsafe.
    pub unsafe_: (usize, usize),
}

impl Accuracy {
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
