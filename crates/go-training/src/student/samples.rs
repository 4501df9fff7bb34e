//! All labelled positions in memory.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use base::mix;
use go::{Color, Game, Move, PointSet};
use learn::Shuffle;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::sample::Sample;
use crate::label::{Label, LabelError, LabelledGame, is_from_record, read_labels};

/// One game of so many is kept out for tests.
const TEST_SHARE: u64 = 24;
/// Positions of one game record have numbers that follow each other: so many in a row are kept out together, which
/// whole games fit into as long as 1, 2, 3, 4 or 6 positions of each are taken.
const RECORD_BLOCK: u64 = 48;

/// What to learn from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudentData {
    /// Files of labels.
    pub labels: Vec<PathBuf>,
    /// How often labels of a size are taken, if not once as often as those of other sizes.
    pub shares: Vec<SizeShare>,
}

/// How often labels of a size are taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// The side of the board.
    pub size: usize,
    /// How often in a round: 0 for never, 0.5 for one label of two.
    pub share: f64,
}

/// The samples with the order in which they come.
pub(super) struct Samples {
    train: Vec<Arc<Sample>>,
    test: Vec<Arc<Sample>>,
    /// A round of the training: places in `train`, some more than once.
    round: Vec<u32>,
    order: Option<Shuffle>,
    test_order: Option<Shuffle>,
    /// Games in the files.
    pub games: usize,
}

impl Samples {
    /// Reads all files.
    pub fn read(data: &StudentData, seed: u64) -> Result<Samples, LabelError> {
        let (mut train, mut test) = (Vec::new(), Vec::new());
        let mut games = 0;
        for file in &data.labels {
            let read = read_labels(file)?;
            games += read.len();
            let packed: Vec<(bool, Vec<Sample>)> = read
                .par_iter()
                .map(|game| (is_kept_out(game.number), samples(game)))
                .collect();
            for (is_test, samples) in packed {
                let part = if is_test { &mut test } else { &mut train };
                part.extend(samples.into_iter().map(Arc::new));
            }
        }
        let share = |side: usize| {
            let found = data.shares.iter().find(|share| share.size == side);
            found.map_or(1.0, |share| share.share.max(0.0))
        };
        let mut round = Vec::new();
        let mut owed: BTreeMap<usize, f64> = BTreeMap::new();
        for (place, sample) in (0..).zip(&train) {
            let side = sample.size.get();
            let owed = owed.entry(side).or_default();
            *owed += share(side);
            while *owed >= 1.0 {
                round.push(place);
                *owed -= 1.0;
            }
        }
        Ok(Samples::in_order(train, test, round, seed, games))
    }

    /// Samples in memory, each as often as any other.
    pub fn of(train: Vec<Arc<Sample>>, test: Vec<Arc<Sample>>, seed: u64) -> Samples {
        let round = (0..train.len() as u32).collect();
        Samples::in_order(train, test, round, seed, 0)
    }

    fn in_order(
        train: Vec<Arc<Sample>>,
        test: Vec<Arc<Sample>>,
        round: Vec<u32>,
        seed: u64,
        games: usize,
    ) -> Samples {
        let shuffled = |length: usize, seed| {
            let length = length as u64;
            (length > 0).then(|| Shuffle::new(length, seed))
        };
        Samples {
            order: shuffled(round.len(), mix(seed)),
            test_order: shuffled(test.len(), 0),
            train,
            test,
            round,
            games,
        }
    }

    /// The sample of a place in the endless order of the training.
    pub fn train(&self, place: u64) -> Option<&Sample> {
        let index = self.order?.at(place);
        Some(&self.train[self.round[index as usize] as usize])
    }

    /// The sample of a place among those kept out; nothing after the last.
    pub fn test(&self, place: u64) -> Option<&Sample> {
        let order = self.test_order?;
        let is_there = place < self.test.len() as u64;
        is_there.then(|| &*self.test[order.at(place) as usize])
    }

    /// Samples to learn from, and those kept out.
    pub fn counts(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }

    /// Samples of each size to learn from.
    pub fn by_size(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        for sample in &self.train {
            *counts.entry(sample.size.get()).or_default() += 1;
        }
        counts
    }
}

/// Whether a game is kept out for tests.
pub(super) fn is_kept_out(number: u64) -> bool {
    let key = match is_from_record(number) {
        Some(position) => !(position / RECORD_BLOCK),
        None => number,
    };
    mix(key).is_multiple_of(TEST_SHARE)
}

/// The samples of a game; those before the first move that cannot be played, if there is one.
fn samples(game: &LabelledGame) -> Vec<Sample> {
    let mut samples = Vec::with_capacity(game.labels.len());
    each_position(game, |position, label| {
        samples.push(Sample::new(position, label))
    });
    samples
}

/// Plays a game once and stops at each label.
pub(super) fn each_position(labelled: &LabelledGame, mut each: impl FnMut(&Game, &Label)) {
    let Some(first) = labelled.labels.first() else {
        return;
    };
    let mut game = Game::new(labelled.size, first.komi);
    game.set_rules(labelled.rules);
    if game
        .set_up(&labelled.setup[0], &labelled.setup[1], &PointSet::EMPTY)
        .is_err()
    {
        return;
    }
    game.set_handicap(labelled.handicap);
    game.set_to_move(labelled.first);
    let mut moves: std::slice::Iter<'_, (Color, Move)> = labelled.moves.iter();
    for label in &labelled.labels {
        while game.move_number() < label.turn {
            let Some(&(color, mv)) = moves.next() else {
                return;
            };
            if game.force(color, mv).is_err() {
                return;
            }
        }
        game.set_komi(label.komi);
        each(&game, label);
    }
}
