//! Moves, and how GTP writes points: a letter without I, then the row from the bottom.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::{BoardSize, Point};

/// The column letters; I is left out because it looks like J.
const COLUMNS: &[u8; BoardSize::MAX as usize] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";

/// What a player does in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Move {
    /// Puts a stone on a point.
    Play(Point),
    /// Puts no stone on the board.
    Pass,
}

impl Move {
    /// The point of a play; nothing for a pass.
    #[inline]
    pub const fn point(self) -> Option<Point> {
        match self {
            Move::Play(point) => Some(point),
            Move::Pass => None,
        }
    }

    /// Whether the move is a pass.
    #[inline]
    pub const fn is_pass(self) -> bool {
        matches!(self, Move::Pass)
    }
}

impl From<Point> for Move {
    fn from(point: Point) -> Move {
        Move::Play(point)
    }
}

/// Why a move may not be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Illegal {
    /// The point is not on this board.
    #[error("the point is not on the board")]
    OffBoard,
    /// There is a stone already.
    #[error("the point is occupied")]
    Occupied,
    /// The move would leave its own block without liberties.
    #[error("the move is suicide")]
    Suicide,
    /// The move retakes a ko at once.
    #[error("the move retakes the ko")]
    Ko,
    /// The move repeats an earlier position of the game.
    #[error("the move repeats an earlier position")]
    Superko,
}

/// A text that names no point.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a vertex: expected a letter from A to Z without I, then a row from 1 to 25")]
pub struct VertexError(String);

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", column_letter(self.x()), self.y() + 1))
    }
}

/// The letter GTP gives a column, counted from the left.
pub fn column_letter(x: usize) -> char {
    COLUMNS[x] as char
}

impl FromStr for Point {
    type Err = VertexError;

    fn from_str(text: &str) -> Result<Point, VertexError> {
        parse_vertex(text).ok_or_else(|| VertexError(text.to_owned()))
    }
}

fn parse_vertex(text: &str) -> Option<Point> {
    let letter = text.bytes().next()?.to_ascii_uppercase();
    let x = COLUMNS.iter().position(|&column| column == letter)?;
    let row = &text[1..];
    if row.starts_with(['0', '+']) {
        return None;
    }
    let y = row.parse::<usize>().ok()?.checked_sub(1)?;
    (y < BoardSize::MAX as usize).then(|| Point::new(x, y))
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Play(point) => point.fmt(f),
            Move::Pass => f.pad("pass"),
        }
    }
}

impl FromStr for Move {
    type Err = VertexError;

    fn from_str(text: &str) -> Result<Move, VertexError> {
        if text.eq_ignore_ascii_case("pass") {
            return Ok(Move::Pass);
        }
        text.parse().map(Move::Play)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_reads_back_from_its_vertex_in_either_case() {
        for point in BoardSize::new(25).unwrap().points() {
            let vertex = point.to_string();
            assert_eq!(vertex.parse(), Ok(point));
            assert_eq!(vertex.to_lowercase().parse(), Ok(Move::Play(point)));
        }
        assert_eq!("PASS".parse(), Ok(Move::Pass));
    }

    #[test]
    fn known_vertices_have_known_coordinates() {
        assert_eq!("A1".parse(), Ok(Point::new(0, 0)));
        assert_eq!("H9".parse(), Ok(Point::new(7, 8)));
        assert_eq!("J9".parse(), Ok(Point::new(8, 8)));
        assert_eq!("T19".parse(), Ok(Point::new(18, 18)));
        assert_eq!("Z25".parse(), Ok(Point::new(24, 24)));
    }

    #[test]
    fn what_is_no_vertex_is_refused() {
        for text in [
            "", "I5", "A0", "A01", "A26", "A+1", "A-1", "4D", "A", "AA1", "é4", "A1 ",
        ] {
            assert!(text.parse::<Point>().is_err(), "{text:?}");
        }
    }
}
