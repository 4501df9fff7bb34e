//! Ladder moves that were played in a game, and whether they worked.

use go::sgf::Tree;
use go::{Color, LadderReader};
use serde::Serialize;

use crate::positions::{Kind, questions, truth};

/// How the ladder moves of one side turned out, by the exact reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Extensions that escape.
    pub good_escapes: usize,
    /// Extensions of strings that are caught all the same: running in a lost ladder.
    pub bad_escapes: usize,
    /// Ataris that capture.
    pub good_chases: usize,
    /// Ataris that let the string get away: starting a broken ladder.
    pub bad_chases: usize,
}

/// Counts the ladder moves of Black and of White on the main line. What cannot be replayed ends the count.
pub fn played(tree: &Tree) -> [Played; 2] {
    let mut counts = [Played::default(); 2];
    let mut reader = LadderReader::default();
    let line = tree.main_line();
    for pair in line.windows(2) {
        let Ok(game) = tree.game_at(pair[0]) else {
            break;
        };
        let Ok(moves) = tree.moves(pair[1]) else {
            break;
        };
        for (color, mv) in moves {
            let board = game.board();
            let asked = questions(board)
                .into_iter()
                .find(|question| question.to_move == color && Some(question.point) == mv.point());
            let Some(question) = asked else { continue };
            let works = truth(&mut reader, board, &question);
            let count = &mut counts[usize::from(color == Color::White)];
            *match (question.kind, works) {
                (Kind::Escape, true) => &mut count.good_escapes,
                (Kind::Escape, false) => &mut count.bad_escapes,
                (Kind::Chase, true) => &mut count.good_chases,
                (Kind::Chase, false) => &mut count.bad_chases,
            } += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_a_lost_ladder_is_counted_against_the_runner() {
        // White is in atari and extends on an empty board; Black's atari before it captures.
        let record = "(;SZ[19];B[dp];W[do];B[co];W[cp];B[cn];W[cq];B[eo];W[dn];B[dm];W[en];B[fn];W[em];B[el])";
        let tree = &go::sgf::read(record.as_bytes()).unwrap().games[0];
        let [black, white] = played(tree);
        assert!(white.bad_escapes >= 1, "{white:?}");
        assert_eq!(white.good_escapes, 0);
        assert!(black.good_chases >= 1, "{black:?}");
    }
}
