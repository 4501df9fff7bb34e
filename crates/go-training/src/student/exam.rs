//! Any network that knows scores beside the teacher's labels: a student, or the teacher itself on the turned board,
//! which is the floor that no student of these labels needs to beat.

use std::{collections::BTreeMap, path::PathBuf};

use go::{BoardSize, Game, Symmetry};
use go_player::{Assumptions, Judge, LoadedNetwork, Opinion, Position};
use learn::loss::Tally;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::samples::{each_position, is_kept_out};
use crate::label::{Label, LabelError, read_labels};

/// Positions asked about together.
const TOGETHER: usize = 32;
/// A move that the network calls impossible costs no more than this.
const LEAST_CHANCE: f32 = 1e-6;

/// How far a network is from the teacher on one size of board. All but the first are means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// How often its best move is the teacher's.
    pub top_1: Tally,
    /// Divergence of its policy from the teacher's, in nats.
    pub divergence: Tally,
    /// Error of the winning chance.
    pub win: Tally,
    /// Error of the lead in points.
    pub lead: Tally,
    /// Error of the ownership of a point, which lies in -1..=1.
    pub ownership: Tally,
}

/// The marks on every size of board.
pub type Exam = BTreeMap<usize, Mark>;

/// Asks a network about the positions of games kept out of the training, at most `most` of each size, each seen
/// through a symmetry drawn at random.
pub fn examine(
    network: &LoadedNetwork,
    labels: &[PathBuf],
    most: usize,
    seed: u64,
) -> Result<Exam, LabelError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut asked: BTreeMap<BoardSize, Vec<(Game, Label)>> = BTreeMap::new();
    for file in labels {
        for game in read_labels(file)? {
            if !is_kept_out(game.number) {
                continue;
            }
            let asked = asked.entry(game.size).or_default();
            each_position(&game, |position, label| {
                asked.push((position.clone(), label.clone()));
            });
        }
    }
    let mut exam = Exam::new();
    for (size, mut positions) in asked {
        while positions.len() > most {
            positions.swap_remove(rng.random_range(0..positions.len()));
        }
        let network = network.for_size(size).ok_or_else(|| {
            let what = format!("{} cannot play on {size}", network.name());
            LabelError::Settings(what)
        })?;
        let judge = network.judge(0);
        let mark = exam.entry(size.get()).or_default();
        for batch in positions.chunks(TOGETHER) {
            for (opinion, (_, label)) in opinions(&judge, batch, &mut rng)?.iter().zip(batch) {
                mark.add(opinion, label)?;
            }
        }
    }
    Ok(exam)
}

fn opinions(
    judge: &Judge,
    batch: &[(Game, Label)],
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Vec<Opinion>, LabelError> {
    let positions: Vec<Position> = batch
        .iter()
        .map(|(game, _)| Position::new(game, Assumptions::default()))
        .collect();
    let asked: Vec<(&Position, Symmetry)> = positions
        .iter()
        .map(|position| {
            (
                position,
                Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)],
            )
        })
        .collect();
    judge
        .evaluate_anew(&asked)
        .map_err(|error| LabelError::Teacher(error.to_string()))
}

impl Mark {
    fn add(&mut self, opinion: &Opinion, label: &Label) -> Result<(), LabelError> {
        let (Some(score), Some(ownership)) = (&opinion.score, &opinion.ownership) else {
            let what = "this network does not say score and ownership, as labels do";
            return Err(LabelError::Settings(what.into()));
        };
        let chances = label.policy.iter().zip(&opinion.policy);
        let divergence: f64 = chances
            .filter(|&(&truth, _)| truth > 0.0)
            .map(|(&truth, &chance)| {
                f64::from(truth) * f64::from(truth / chance.max(LEAST_CHANCE)).ln()
            })
            .sum();
        self.divergence.add(divergence);
        let is_same = best(&label.policy) == best(&opinion.policy);
        self.top_1.add(f64::from(is_same));
        self.win
            .add(f64::from((opinion.winrate - label.winrate).abs()));
        self.lead.add(f64::from((score.lead - label.lead).abs()));
        let errors = ownership.iter().zip(&label.ownership);
        let error: f32 = errors.map(|(owner, truth)| (owner - truth).abs()).sum();
        self.ownership
            .add(f64::from(error) / ownership.len().max(1) as f64);
        Ok(())
    }
}

fn best(policy: &[f32]) -> Option<usize> {
    let places = policy.iter().enumerate();
    places.max_by(|a, b| a.1.total_cmp(b.1)).map(|best| best.0)
}
