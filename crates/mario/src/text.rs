//! The one-letter-a-cell text of boards and pills.
//!
//! A board is 128 letters, row by row from the top left; a pill content is two letters, the
//! bottom or left half first; a placed pill is `x y cc`. See [`Cell::code`] for the letters.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::board::{Board, CELLS, HEIGHT, WIDTH};
use crate::cell::{Cell, Color, EMPTY_CODE, Shape};
use crate::pill::{Content, Pill};

/// Why a text is not a board or a pill.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TextError {
    /// A board of the wrong length.
    #[error("a board has 128 letters, this one has {0}")]
    BoardLength(usize),
    /// A letter that no cell has.
    #[error(
        "letter {position} ({letter:?}) is no cell: expected one of a-c, d (empty), e-g, i-k, m-o, q-s, u-w"
    )]
    Letter {
        /// Counted from 1.
        position: usize,
        /// What was found.
        letter: char,
    },
    /// Half a pill without its other half.
    #[error("letter {position} ({letter:?}) is half a pill at ({x}, {y}) whose partner is missing")]
    Orphan {
        /// Counted from 1.
        position: usize,
        /// What was found.
        letter: char,
        /// Column of the cell.
        x: u8,
        /// Row of the cell, from the bottom.
        y: u8,
    },
    /// Two letters that are not the halves of one pill.
    #[error(
        "{0:?} is no pill: expected a bottom and a top half (like `im`) or a left and a right half (like `qv`)"
    )]
    Pill(String),
    /// A pill that should lie flat and does not.
    #[error("{0:?} is an upright pill: expected a horizontal one, like `qv`")]
    Upright(String),
    /// Not two colour letters.
    #[error("{0:?} is no colour pair: expected two of r, y, b")]
    ColorPair(String),
    /// A coordinate that is no number or outside the board.
    #[error("{text:?} is no {what}: expected 0..={largest}")]
    Coordinate {
        /// `column` or `row`.
        what: &'static str,
        /// What was found.
        text: String,
        /// The largest legal value.
        largest: u8,
    },
    /// A placed pill with too few or too many parts.
    #[error("{0:?} is no placed pill: expected a column, a row and two cells, like `3 1 qv`")]
    Placed(String),
}

/// The coordinates of the letter at `index` in a board text.
fn coordinates(index: usize) -> (u8, u8) {
    ((index % 8) as u8, HEIGHT - 1 - (index / 8) as u8)
}

impl FromStr for Board {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let letters = text.chars().count();
        if letters != CELLS {
            return Err(TextError::BoardLength(letters));
        }
        let mut board = Board::new();
        for (index, letter) in text.chars().enumerate() {
            if letter == char::from(EMPTY_CODE) {
                continue;
            }
            let cell =
                u8::try_from(letter)
                    .ok()
                    .and_then(Cell::from_code)
                    .ok_or(TextError::Letter {
                        position: index + 1,
                        letter,
                    })?;
            let (x, y) = coordinates(index);
            board.set(x, y, cell);
        }
        refuse_orphans(&board, text)?;
        Ok(board)
    }
}

fn refuse_orphans(board: &Board, text: &str) -> Result<(), TextError> {
    let at = |x: i8, y: i8| -> Option<Shape> {
        let inside = (0..WIDTH as i8).contains(&x) && (0..HEIGHT as i8).contains(&y);
        let index = 8 * (15 - y as usize % 16) + x as usize % 8;
        inside
            .then(|| Cell::from_code(text.as_bytes()[index]))?
            .map(|cell| cell.shape)
    };
    for (index, letter) in text.chars().enumerate() {
        let (x, y) = coordinates(index);
        let (column, row) = (x as i8, y as i8);
        let joined = match at(column, row) {
            Some(Shape::Left) => at(column + 1, row) == Some(Shape::Right),
            Some(Shape::Right) => at(column - 1, row) == Some(Shape::Left),
            Some(Shape::Bottom) => at(column, row + 1) == Some(Shape::Top),
            Some(Shape::Top) => at(column, row - 1) == Some(Shape::Bottom),
            _ => true,
        };
        if !joined {
            return Err(TextError::Orphan {
                position: index + 1,
                letter,
                x,
                y,
            });
        }
    }
    debug_assert_eq!(board.to_string(), text);
    Ok(())
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = (0..CELLS)
            .map(|index| {
                let (x, y) = coordinates(index);
                char::from(self.cell(x, y).map_or(EMPTY_CODE, Cell::code))
            })
            .collect();
        f.write_str(&text)
    }
}

impl FromStr for Content {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let bad = || TextError::Pill(text.to_owned());
        let [first, second] = text.as_bytes() else {
            return Err(bad());
        };
        let first = Cell::from_code(*first).ok_or_else(bad)?;
        let second = Cell::from_code(*second).ok_or_else(bad)?;
        Content::from_cells(first, second).ok_or_else(bad)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.cells().map(|cell| char::from(cell.code()));
        write!(f, "{first}{second}")
    }
}

/// A pill is written as it is launched, horizontally.
impl FromStr for Pill {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let content: Content = text.parse()?;
        if content.vertical {
            return Err(TextError::Upright(text.to_owned()));
        }
        Ok(content.pill())
    }
}

impl fmt::Display for Pill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.turned(0).fmt(f)
    }
}

impl Pill {
    /// The pill of two colour letters, like `rb`, as game input files list them.
    pub fn from_letters(text: &str) -> Result<Self, TextError> {
        let bad = || TextError::ColorPair(text.to_owned());
        let mut letters = text.chars();
        match (letters.next(), letters.next(), letters.next()) {
            (Some(left), Some(right), None) => Ok(Pill::new(
                Color::from_letter(left).ok_or_else(bad)?,
                Color::from_letter(right).ok_or_else(bad)?,
            )),
            _ => Err(bad()),
        }
    }

    /// The two colour letters, left first.
    pub fn letters(self) -> String {
        [self.left.letter(), self.right.letter()].iter().collect()
    }
}

/// A pill lying somewhere: written `x y cc`, position first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// Column of the bottom or left cell.
    pub x: u8,
    /// Row of the bottom or left cell.
    pub y: u8,
    /// The pill as it lies.
    pub content: Content,
}

impl FromStr for Placed {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let parts: Vec<&str> = text.split(' ').collect();
        let [x, y, content] = parts[..] else {
            return Err(TextError::Placed(text.to_owned()));
        };
        Ok(Self {
            x: coordinate("column", x, WIDTH - 1)?,
            y: coordinate("row", y, HEIGHT - 1)?,
            content: content.parse()?,
        })
    }
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.x, self.y, self.content)
    }
}

/// A decimal without sign or leading zeros, at most `largest`.
pub(crate) fn coordinate(what: &'static str, text: &str, largest: u8) -> Result<u8, TextError> {
    let canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse()
        .ok()
        .filter(|&value| canonical && value <= largest)
        .ok_or_else(|| TextError::Coordinate {
            what,
            text: text.to_owned(),
            largest,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_board_reads_and_prints() {
        let text = "d".repeat(120) + "addbdddd";
        let board: Board = text.parse().unwrap();
        assert_eq!(
            board.cell(0, 0),
            Some(Cell {
                color: Color::Red,
                shape: Shape::Virus
            })
        );
        assert_eq!(
            board.cell(3, 0),
            Some(Cell {
                color: Color::Yellow,
                shape: Shape::Virus
            })
        );
        assert_eq!(board.to_string(), text);
    }

    #[test]
    fn bad_boards_are_refused_with_position_and_reason() {
        for never in ["h", "l", "p", "t", "x", "é"] {
            let text = "d".repeat(100) + never + &"d".repeat(27);
            assert_eq!(
                text.parse::<Board>(),
                Err(TextError::Letter {
                    position: 101,
                    letter: never.chars().next().unwrap()
                })
            );
        }
        assert_eq!("dd".parse::<Board>(), Err(TextError::BoardLength(2)));
        for (orphans, position) in [("qd", 127), ("du", 128), ("qq", 127), ("id", 127)] {
            let text = "d".repeat(126) + orphans;
            assert!(
                matches!(text.parse::<Board>(), Err(TextError::Orphan { position: p, .. }) if p == position),
                "{orphans}"
            );
        }
        // A left half in the last column does not join the first column of the next row.
        let text = "d".repeat(7) + "qu" + &"d".repeat(119);
        assert!(matches!(
            text.parse::<Board>(),
            Err(TextError::Orphan { position: 8, .. })
        ));
    }

    #[test]
    fn pills_read_and_print() {
        assert_eq!("qv".parse(), Ok(Pill::new(Color::Red, Color::Yellow)));
        assert_eq!("im".parse::<Pill>(), Err(TextError::Upright("im".into())));
        for bad in ["", "q", "vq", "qm", "dd", "qvv", "ab", "é"] {
            assert!(bad.parse::<Content>().is_err(), "{bad}");
        }
        assert_eq!(
            Pill::from_letters("rb"),
            Ok(Pill::new(Color::Red, Color::Blue))
        );
        assert!(Pill::from_letters("rg").is_err());
        let placed: Placed = "3 1 qv".parse().unwrap();
        assert_eq!(placed.to_string(), "3 1 qv");
        for bad in [
            "8 0 qv", "0 16 qv", "-1 0 qv", "01 0 qv", "0  0 qv", "0 0", "0 0 qv ",
        ] {
            assert!(bad.parse::<Placed>().is_err(), "{bad}");
        }
    }
}
