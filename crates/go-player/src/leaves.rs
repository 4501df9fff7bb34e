//! A judge as a search asks it: which way the board is seen, and what is maximised.

use std::sync::Arc;

use go::{Move, Symmetry};
use rand::RngExt;
use search::{Evaluate, EvaluateError, Evaluation, Evaluations, SearchRng};

use crate::{
    encoder::Opinion,
    judge::{Judge, candidates},
    ladders::Ladders,
    outlook::{Outlook, ScoreMeans, ScoreUtility, UtilityFactors},
    position::{Position, side},
};

/// A judge, and what one player wants of it.
#[derive(Clone, Copy)]
pub(crate) struct Leaves<'a> {
    pub judge: &'a Judge,
    /// Always looks at the board this way, instead of a way drawn at random.
    pub symmetry: Option<Symmetry>,
    /// What a search by utility plays for.
    pub factors: UtilityFactors,
    /// Whether ladders are read exactly.
    pub ladders: Ladders,
}

impl<'a> Leaves<'a> {
    pub fn new(judge: &'a Judge) -> Leaves<'a> {
        Leaves {
            judge,
            symmetry: None,
            factors: UtilityFactors::default(),
            ladders: Ladders::Off,
        }
    }

    /// The network's opinions, each with the symmetry it was asked through.
    pub fn opinions(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
    ) -> Result<Vec<(Symmetry, Arc<Opinion>)>, EvaluateError> {
        let mut draw = || {
            self.symmetry
                .unwrap_or_else(|| Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)])
        };
        let asked: Vec<_> = leaves.iter().map(|leaf| (leaf, draw())).collect();
        let opinions = self.judge.opinions(&asked)?;
        let symmetries = asked.into_iter().map(|(_, symmetry)| symmetry);
        Ok(symmetries.zip(opinions).collect())
    }

    /// What an opinion tells a search; the value counts for Black.
    pub fn evaluation(&self, leaf: &Position, opinion: &Arc<Opinion>) -> Evaluation<Move, Outlook> {
        let mut evaluation = Evaluation {
            value: Some(side(leaf.to_move()).view(f64::from(opinion.winrate))),
            priors: candidates(leaf, opinion),
            outlook: Outlook::of(opinion, leaf.to_move()),
        };
        self.ladders.correct(leaf, &mut evaluation);
        evaluation
    }
}

impl Evaluate<Position> for Leaves<'_> {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<Position>,
    ) -> Result<(), EvaluateError> {
        let opinions = self.opinions(leaves, rng)?;
        let judged = leaves.iter().zip(&opinions);
        evaluations.extend(judged.map(|(leaf, (_, opinion))| self.evaluation(leaf, opinion)));
        Ok(())
    }

    fn utility(&self, root: &Position, means: &ScoreMeans) -> ScoreUtility {
        ScoreUtility::new(self.factors, root.size(), means.score_mean)
    }
}
