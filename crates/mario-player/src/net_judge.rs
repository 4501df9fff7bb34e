//! The network as a judge of leaves, its moves masked to the legal ones.

use mario::{Pill, Placement, flood};
use net::Evaluator;
use search::{Evaluate, EvaluateError, Evaluation, SearchRng};

use crate::network::{CLEARED, DURATION, INPUT, MOVES, MOVES_LEN, NetworkError, WON};
use crate::planes::{INPUT_LEN, write_planes};
use crate::position::{Move, Position};

/// A network behind [`Evaluator`], checked to be one for this game.
pub struct NetJudge<E> {
    evaluator: E,
    won: usize,
    cleared: usize,
    duration: usize,
    moves: usize,
}

/// What the network says of one position, legal moves only.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// -1 lost to 1 won.
    pub won: f32,
    /// Viruses that will be cleared from here on.
    pub cleared: f32,
    /// Pills that will be placed from here on.
    pub duration: f32,
    /// The chance of each legal placement; they sum to 1.
    pub moves: Vec<(Placement, f32)>,
}

impl<E: Evaluator> NetJudge<E> {
    /// Takes a network with the design's input and outputs.
    pub fn new(evaluator: E) -> Result<Self, NetworkError> {
        let shape = evaluator.shape();
        if shape.input != INPUT {
            let found = format!("it reads {:?}, expected {INPUT:?}", shape.input);
            return Err(NetworkError::Shape(found));
        }
        let find = |name: &str, len: usize| {
            shape
                .output(name)
                .filter(|range| range.len() == len)
                .map(|range| range.start)
                .ok_or_else(|| NetworkError::Shape(format!("it has no output {name:?} of {len}")))
        };
        let (won, cleared, duration) = (find(WON, 1)?, find(CLEARED, 1)?, find(DURATION, 1)?);
        let moves = find(MOVES, MOVES_LEN)?;
        Ok(Self {
            evaluator,
            won,
            cleared,
            duration,
            moves,
        })
    }

    /// The network's opinion of each position, or why it has none.
    pub fn opinions(
        &self,
        positions: &[(mario::Board, Pill)],
    ) -> Result<Vec<Opinion>, EvaluateError> {
        let mut planes = vec![0.0; positions.len() * INPUT_LEN];
        for ((board, pill), planes) in positions.iter().zip(planes.chunks_exact_mut(INPUT_LEN)) {
            write_planes(board, *pill, planes);
        }
        let row = self.evaluator.shape().output_len();
        let mut outputs = vec![0.0; positions.len() * row];
        let evaluated = self.evaluator.evaluate(&planes, &mut outputs);
        evaluated.map_err(EvaluateError::new)?;
        let opinion = |((board, pill), output): (&(mario::Board, Pill), &[f32])| Opinion {
            won: output[self.won],
            cleared: output[self.cleared],
            duration: output[self.duration],
            moves: masked(board, *pill, &output[self.moves..self.moves + MOVES_LEN]),
        };
        Ok(positions
            .iter()
            .zip(outputs.chunks_exact(row))
            .map(opinion)
            .collect())
    }
}

/// The legal placements with their chances made to sum to 1. A double's two half turns are one
/// placement. When the network gives all of them nothing, they are alike.
pub fn masked(board: &mario::Board, pill: Pill, chances: &[f32]) -> Vec<(Placement, f32)> {
    let chance = |placement: Placement| {
        let mut chance = chances[placement.index()];
        if pill.is_double() {
            chance += chances[placement.for_swapped_pill().index()];
        }
        chance.max(0.0)
    };
    let mut legal: Vec<(Placement, f32)> = flood(board)
        .placements(pill)
        .map(|placement| (placement, chance(placement)))
        .collect();
    let total: f32 = legal.iter().map(|(_, chance)| chance).sum();
    let count = legal.len() as f32;
    for (_, chance) in &mut legal {
        *chance = if total > 0.0 {
            *chance / total
        } else {
            1.0 / count
        };
    }
    legal
}

impl<E: Evaluator> Evaluate<Position> for NetJudge<E> {
    fn evaluate(
        &self,
        leaves: &[Position],
        _rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<Move>>,
    ) -> Result<(), EvaluateError> {
        // Chance passes straight through in this search, so every leaf has its pill.
        let positions: Vec<(mario::Board, Pill)> = leaves
            .iter()
            .map(|leaf| (*leaf.board(), leaf.pill().unwrap_or(Pill::from_index(0))))
            .collect();
        for (leaf, opinion) in leaves.iter().zip(self.opinions(&positions)?) {
            let win = f64::midpoint(1.0, f64::from(opinion.won)).clamp(0.0, 1.0);
            let value = win * leaf.win_value(f64::from(opinion.duration))
                + (1.0 - win) * leaf.loss_value(f64::from(opinion.cleared));
            let priors = match leaf.pill() {
                Some(_) => opinion
                    .moves
                    .into_iter()
                    .map(|(at, chance)| (Move::Place(at), chance))
                    .collect(),
                None => Vec::new(),
            };
            evaluations.push(Evaluation {
                value: Some(value.clamp(0.0, 1.0)),
                priors,
                outlook: (),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mario::{Board, Color};

    #[test]
    fn masking_keeps_legal_moves_only_and_sums_to_one() {
        let board = Board::new();
        let mut chances = vec![0.5; MOVES_LEN];
        chances[Placement::new(1, 0, 0).index()] = 2.0;
        for pill in Pill::all() {
            let legal = masked(&board, pill, &chances);
            assert_eq!(legal.len(), if pill.is_double() { 15 } else { 30 });
            assert!((legal.iter().map(|(_, chance)| chance).sum::<f32>() - 1.0).abs() < 1e-5);
            let best = legal.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert_eq!(best.0, Placement::new(1, 0, 0));
        }
        let none = masked(&board, Pill::new(Color::Red, Color::Red), &[0.0; MOVES_LEN]);
        assert!(
            none.iter()
                .all(|(_, chance)| (chance - 1.0 / 15.0).abs() < 1e-6)
        );
    }
}
