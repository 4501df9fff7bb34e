//! How the search walks: copies, moves, the end, the way from an earlier position.

use std::sync::Arc;

use go::{Color, Move};
use search::{Side, Turn};

use super::{PASSES_TO_END, PastBoard, Played, Position, past::repetition};
use crate::outlook::Outlook;

impl Clone for Position {
    fn clone(&self) -> Position {
        Position {
            root: self.root.clone(),
            board: self.board.clone(),
            to_move: self.to_move,
            passes: self.passes,
            line: self.line.clone(),
        }
    }

    fn clone_from(&mut self, source: &Position) {
        if !Arc::ptr_eq(&self.root, &source.root) {
            self.root = source.root.clone();
        }
        self.board.clone_from(&source.board);
        self.to_move = source.to_move;
        self.passes = source.passes;
        self.line.clone_from(&source.line);
    }
}

impl search::Game for Position {
    type Move = Move;
    type Outlook = Outlook;

    fn turn(&self) -> Turn {
        if !self.is_over() {
            return Turn::Player(side(self.to_move));
        }
        let lead = self.lead(Color::Black);
        Turn::Over(if lead > 0.0 {
            1.0
        } else if lead < 0.0 {
            0.0
        } else {
            0.5
        })
    }

    fn moves(&self, moves: &mut Vec<Move>) {
        let empty = self.board.empty_set();
        let plays = empty.iter().map(Move::Play);
        moves.extend(plays.filter(|&mv| self.is_legal(mv)));
        moves.push(Move::Pass);
    }

    fn play(&mut self, mv: Move) {
        match mv {
            Move::Play(point) => {
                let _ = self.board.play(point, self.to_move);
                self.passes = 0;
            }
            Move::Pass => {
                let _ = self.board.pass();
                self.passes += 1;
            }
        }
        self.to_move = self.to_move.opponent();
        let after = PastBoard::of(&self.board);
        self.line.push(Played {
            mv,
            repetition: repetition(self.root.rules.ko, after.hash, self.to_move),
            after,
        });
    }

    fn final_outlook(&self) -> Outlook {
        Outlook::of_end(f64::from(self.lead(Color::Black)), self.owners().into())
    }

    fn path_from(&self, earlier: &Position) -> Option<Vec<Move>> {
        let (now, then) = (&self.root, &earlier.root);
        let same_game = now.assumptions == then.assumptions
            && now.rules == then.rules
            && now.komi == then.komi
            && now.anchor == then.anchor
            && self.size() == earlier.size()
            && self.line.is_empty()
            && earlier.line.is_empty();
        if !same_game {
            return None;
        }
        let since = now.moves.strip_prefix(then.moves.as_slice())?;
        // The tree knows alternating moves only, and counts the passes from its root.
        let mut turn = then.to_move;
        let mut passes = then.passes;
        for &(color, mv) in since {
            if color != turn {
                return None;
            }
            turn = turn.opponent();
            passes = if mv.is_pass() { passes + 1 } else { 0 };
        }
        let same_end = turn == now.to_move && passes.min(PASSES_TO_END) == now.passes;
        // Where the game goes on after two passes, the tree has only its end.
        let was_end = now.assumptions.plays_on && now.passes >= PASSES_TO_END && !since.is_empty();
        (same_end && !was_end).then(|| since.iter().map(|&(_, mv)| mv).collect())
    }
}

/// The search's name for a colour: Black is the first player.
pub fn side(color: Color) -> Side {
    match color {
        Color::Black => Side::First,
        Color::White => Side::Second,
    }
}
