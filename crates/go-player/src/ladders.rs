//! Ladders read exactly at the leaves: priors and values that a network without deep reading gets wrong.
//!
//! A network sees a ladder a few steps far; the exact reader sees its end and takes a fraction of the network's time. Its
//! verdicts multiply the priors of ladder moves and shift the value by the stones that are decided. How much, was fitted
//! on games of strong amateurs with `tengen ladder fit`; see `docs/ladder.md`.

use go::{LadderReader, Move};
use ladder::{Kind, LadderMove, MOVE_SORTS, STRING_SORTS, decided_strings, ladder_moves};
use search::Evaluation;

use crate::{
    outlook::Outlook,
    position::{Position, side},
};

/// Nodes for one ladder; what takes more is left to the network.
const NODES: usize = 2_000;
/// Keeps a winning chance from being sure.
const LEAST_CHANCE: f64 = 1e-4;
/// Where failing moves are dropped, they are about at least so many stones: one stone is often a good sacrifice.
const STONES_TO_PRUNE: usize = 2;

/// What the reader's verdicts may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ladders {
    /// Nothing: the network is left alone.
    #[default]
    Off,
    /// Priors and values.
    On,
    /// The same, and extensions of two or more stones that are caught are not searched at all.
    Prune,
}

/// Added to the logit of a ladder move, by [sort](ladder::sort_name).
#[rustfmt::skip]
const POLICY_GAINS: [f32; MOVE_SORTS] = [
    0.43, 0.78, 1.46, // escapes that work: one stone, two, more
    -0.61, -0.81, -1.30, // escapes that fail
    0.0, 0.0, 0.0, // chases are left to the network
    0.0, 0.0, 0.0,
];

/// Added to the value before the logistic function, a stone, by [sort](ladder::string_sort_name).
#[rustfmt::skip]
const VALUE_GAINS: [f64; STRING_SORTS] = [
    0.0, 0.0, -0.18, // mine that are lost: one stone, two, more
    0.0, 0.0, 0.13, // theirs that I can take
];

impl Ladders {
    /// Changes what a network said of a leaf.
    pub(crate) fn correct(self, leaf: &Position, evaluation: &mut Evaluation<Move, Outlook>) {
        if self == Ladders::Off {
            return;
        }
        let mut reader = LadderReader::new(NODES);
        let moves = ladder_moves(&mut reader, leaf.board(), leaf.to_move());
        for (mv, prior) in &mut evaluation.priors {
            let gain = |ladder: &LadderMove| POLICY_GAINS[ladder.sort()];
            let about = moves
                .iter()
                .filter(|ladder| mv.point() == Some(ladder.point));
            let gain: f32 = about.map(gain).sum();
            *prior *= gain.exp();
        }
        if self == Ladders::Prune {
            prune(&moves, &mut evaluation.priors);
        }
        let stones = decided_strings(&mut reader, leaf.board(), leaf.to_move());
        let shift: f64 = VALUE_GAINS
            .iter()
            .zip(stones)
            .map(|(gain, stones)| gain * stones as f64)
            .sum();
        if let Some(value) = &mut evaluation.value {
            let mine = side(leaf.to_move());
            *value = mine.view(shifted(mine.view(*value), shift));
        }
    }
}

/// Drops extensions that are caught, unless the same move works for another string, or nothing else would be left.
fn prune(moves: &[LadderMove], priors: &mut Vec<(Move, f32)>) {
    let is_lost = |mv: &Move| {
        let mut about = moves
            .iter()
            .filter(|ladder| mv.point() == Some(ladder.point))
            .peekable();
        about.peek().is_some()
            && about.all(|ladder| {
                ladder.kind == Kind::Escape && !ladder.works && ladder.stones >= STONES_TO_PRUNE
            })
    };
    if priors.iter().any(|(mv, _)| !is_lost(mv)) {
        priors.retain(|(mv, _)| !is_lost(mv));
    }
}

/// A winning chance with something added to its logit.
fn shifted(chance: f64, shift: f64) -> f64 {
    if shift == 0.0 {
        return chance;
    }
    let chance = chance.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE);
    1.0 / (1.0 + (-(chance / (1.0 - chance)).ln() - shift).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three black stones in atari whose only extension is caught, and what an even-handed network says.
    fn lost_ladder() -> (Position, Evaluation<Move, Outlook>) {
        let diagram = ". . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . O . . . . . . .
             O O # O . . . . .
             O # # O . . . . .";
        let board = go::Board::from_diagram(go::BoardSize::NINE, diagram).unwrap();
        let game = go::Game::from_board(board, go::Color::Black, go::Komi::SEVEN_AND_A_HALF);
        let position = Position::new(&game, crate::position::Assumptions::default());
        let empty = position.board().empty_set();
        let evaluation = Evaluation {
            value: Some(0.5),
            priors: empty.iter().map(|point| (Move::Play(point), 0.1)).collect(),
            outlook: Outlook::default(),
        };
        (position, evaluation)
    }

    #[test]
    fn a_lost_ladder_lowers_its_own_prior_and_the_value_or_is_not_searched() {
        let (leaf, untouched) = lost_ladder();
        let extension = Move::Play("C3".parse().unwrap());
        let prior = |evaluation: &Evaluation<Move, Outlook>, wanted: Move| {
            let mut priors = evaluation.priors.iter();
            priors
                .find(|(mv, _)| *mv == wanted)
                .map(|(_, prior)| *prior)
        };
        let corrected = |ladders: Ladders| {
            let mut evaluation = untouched.clone();
            ladders.correct(&leaf, &mut evaluation);
            evaluation
        };
        assert_eq!(corrected(Ladders::Off), untouched);
        let on = corrected(Ladders::On);
        assert!(prior(&on, extension).is_some_and(|prior| prior < 0.05));
        let elsewhere = Move::Play("G7".parse().unwrap());
        assert_eq!(prior(&on, elsewhere), Some(0.1));
        assert!(on.value.is_some_and(|value| value < 0.45), "{:?}", on.value);
        let pruned = corrected(Ladders::Prune);
        assert_eq!(prior(&pruned, extension), None);
        assert_eq!(pruned.priors.len(), untouched.priors.len() - 1);
    }

    #[test]
    fn a_shift_is_undone_by_its_opposite_and_none_changes_nothing() {
        for chance in [0.02, 0.4, 0.97] {
            assert_eq!(shifted(chance, 0.0), chance);
            let there_and_back = shifted(shifted(chance, 0.7), -0.7);
            assert!((there_and_back - chance).abs() < 1e-12);
            assert!(shifted(chance, 0.7) > chance);
        }
    }

    #[test]
    fn only_lost_extensions_of_several_stones_are_dropped_and_never_the_last_move() {
        let point = |x| go::Point::new(x, 0);
        let lost = |x, stones| LadderMove {
            kind: Kind::Escape,
            point: point(x),
            works: false,
            stones,
        };
        let works = LadderMove {
            works: true,
            ..lost(2, 3)
        };
        let moves = [lost(0, 1), lost(1, 2), lost(2, 2), works];
        let mut priors: Vec<(Move, f32)> = (0..4).map(|x| (Move::Play(point(x)), 0.25)).collect();
        prune(&moves, &mut priors);
        let left: Vec<Move> = priors.iter().map(|(mv, _)| *mv).collect();
        assert_eq!(left, [0, 2, 3].map(|x| Move::Play(point(x))));
        let mut only = vec![(Move::Play(point(1)), 1.0)];
        prune(&moves, &mut only);
        assert_eq!(only.len(), 1);
    }
}
