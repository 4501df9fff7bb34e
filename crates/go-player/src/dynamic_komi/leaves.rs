//! Leaves under dynamic komi: positions are collected for an adjustment, and values that do not count are withheld.

use go::Move;
use search::{Evaluate, EvaluateError, Evaluations, Game as _, SearchRng};

use super::Collector;
use crate::{
    leaves::Leaves,
    outlook::{ScoreMeans, ScoreUtility},
    position::{Position, side},
};

/// A judge of leaves whose winrates count for one colour's turns only, at some komi.
pub(crate) struct KomiLeaves<'a> {
    pub plain: Leaves<'a>,
    pub collector: &'a Collector,
}

impl KomiLeaves<'_> {
    /// The value of a root whose own winrate does not count, for Black: the best move's is taken.
    fn borrowed_value(
        &self,
        root: &Position,
        priors: &[(Move, f32)],
    ) -> Result<Option<f64>, EvaluateError> {
        let Some(best) = priors.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(None);
        };
        let mut child = root.clone();
        child.play(best.0);
        if !child.is_trusted() {
            return Ok(None);
        }
        let judge = self.plain.judge;
        let winrate = match self.plain.symmetry {
            Some(symmetry) => judge.opinion(&child, symmetry)?.winrate,
            None => judge.mean_opinion(&child)?.winrate,
        };
        Ok(Some(side(child.to_move()).view(f64::from(winrate))))
    }
}

impl Evaluate<Position> for KomiLeaves<'_> {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<Position>,
    ) -> Result<(), EvaluateError> {
        let opinions = self.plain.opinions(leaves, rng)?;
        if self.collector.is_open() {
            for (leaf, (symmetry, opinion)) in leaves.iter().zip(&opinions) {
                self.collector.offer(leaf, *symmetry, opinion.winrate);
            }
        }
        for (leaf, (_, opinion)) in leaves.iter().zip(&opinions) {
            let mut evaluation = self.plain.evaluation(leaf, opinion);
            if !leaf.is_trusted() {
                evaluation.value = if leaf.is_root() {
                    self.borrowed_value(leaf, &evaluation.priors)?
                } else {
                    None
                };
            }
            evaluations.push(evaluation);
        }
        Ok(())
    }

    fn utility(&self, root: &Position, means: &ScoreMeans) -> ScoreUtility {
        self.plain.utility(root, means)
    }
}
