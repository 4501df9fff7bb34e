//! Two judges of leaves that need no network: random games, and the heuristic.

use mario::{Pill, boxes, flood};
use rand::RngExt;
use search::{Evaluate, EvaluateError, Evaluation, Game, SearchRng, Turn};

use crate::heuristic::{LOST, WON, Weights};
use crate::position::{Move, Position};

/// Round 0's judge: one random game, pills alike, placements of the box model alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomGames;

impl Evaluate<Position> for RandomGames {
    fn evaluate(
        &self,
        leaves: &[Position],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<Move>>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            let value = random_game(leaf.clone(), rng);
            let mut priors = Vec::new();
            if let Some(pill) = leaf.pill() {
                let moves = flood(leaf.board()).placements(pill);
                priors.extend(moves.map(|placement| (Move::Place(placement), 1.0)));
            }
            evaluations.push(Evaluation {
                value: Some(value),
                priors,
                outlook: (),
            });
        }
        Ok(())
    }
}

fn random_game(mut position: Position, rng: &mut SearchRng) -> f64 {
    loop {
        match (position.turn(), position.pill()) {
            (Turn::Over(value), _) => return value,
            (_, None) => position.play(Move::Draw(Pill::from_index(rng.random_range(0..9)))),
            (_, Some(pill)) => {
                // An open throat always leaves a placement.
                let resting = boxes(position.board());
                let chosen = rng.random_range(0..resting.count(pill) as usize);
                let placement = resting.placements(pill).nth(chosen);
                position.play(Move::Place(placement.expect("counted above")));
            }
        }
    }
}

/// The heuristic as a judge: every placement of the leaf's pill is scored. The best one is the
/// leaf's value, against the score at the root; all of them together are the priors.
#[derive(Clone, Debug)]
pub struct Scores<'a> {
    pub weights: &'a Weights,
    /// The score that is worth one half.
    pub even: f32,
    /// Points that take a value from one half to about three quarters.
    pub scale: f32,
    /// Points that make a placement e times as likely as another.
    pub temperature: f32,
}

/// Values of unfinished games keep this distance from those of lost and won ones.
const MARGIN: f64 = 0.02;

/// The largest value of an unfinished game: a win, however late, is better.
const BEST_UNFINISHED: f64 = 0.88;

impl Scores<'_> {
    /// A score as a value between lost and won.
    pub fn value(&self, score: f32) -> f64 {
        let share = 1.0 / (1.0 + f64::from((self.even - score) / self.scale).exp());
        MARGIN + (BEST_UNFINISHED - MARGIN) * share
    }
}

impl Evaluate<Position> for Scores<'_> {
    fn evaluate(
        &self,
        leaves: &[Position],
        _rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<Move>>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            let Some(pill) = leaf.pill() else {
                let value = self.value(self.weights.score(leaf.board()));
                evaluations.push(Evaluation {
                    value: Some(value),
                    priors: Vec::new(),
                    outlook: (),
                });
                continue;
            };
            let scored = crate::heuristic::scored(leaf.board(), pill, self.weights);
            let best = scored.iter().map(|&(_, score)| score).fold(LOST, f32::max);
            let value = if best >= WON {
                1.0
            } else if best <= LOST {
                0.0
            } else {
                self.value(best)
            };
            let priors = scored
                .into_iter()
                .map(|(at, score)| (Move::Place(at), ((score - best) / self.temperature).exp()))
                .collect();
            evaluations.push(Evaluation {
                value: Some(value),
                priors,
                outlook: (),
            });
        }
        Ok(())
    }
}
