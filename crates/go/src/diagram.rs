//! Boards as text: to look at in a terminal, to write in tests.

use std::fmt;

use thiserror::Error;

use crate::{Board, BoardSize, Color, Point, PointSet, SetupError, column_letter, star_points};

/// Boards have a star point drawn on these.
const STAR: char = '+';
const EMPTY: char = '.';

/// A drawing of a board with coordinates, to print with `{}`.
///
/// ```
/// use go::{Board, BoardSize, Color, Diagram};
///
/// let mut board = Board::new(BoardSize::new(5).unwrap());
/// board.play("C3".parse()?, Color::Black);
/// board.play("D3".parse()?, Color::White);
/// let drawing = Diagram::new(&board).mark("D4".parse()?, 'a').to_string();
/// let rows: Vec<&str> = drawing.lines().collect();
/// assert_eq!(rows[0], "   A B C D E");
/// assert_eq!(rows[2], " 4 . . . a . 4");
/// assert_eq!(rows[3], " 3 . . # O . 3");
/// # Ok::<(), go::VertexError>(())
/// ```
pub struct Diagram<'a> {
    board: &'a Board,
    marks: Vec<(Point, char)>,
    last_move: Option<Point>,
    is_colored: bool,
}

impl<'a> Diagram<'a> {
    /// A plain drawing: `#` for Black, `O` for White.
    pub fn new(board: &'a Board) -> Diagram<'a> {
        Diagram {
            board,
            marks: Vec::new(),
            last_move: None,
            is_colored: false,
        }
    }

    /// Draws a letter, digit or sign on a point, over what is there.
    pub fn mark(mut self, point: Point, sign: char) -> Diagram<'a> {
        self.marks.push((point, sign));
        self
    }

    /// Puts brackets around a point.
    pub fn last_move(mut self, point: Option<Point>) -> Diagram<'a> {
        self.last_move = point;
        self
    }

    /// Draws with the colours of a terminal that understands ANSI codes.
    pub fn colored(mut self, is_colored: bool) -> Diagram<'a> {
        self.is_colored = is_colored;
        self
    }

    fn sign(&self, point: Point, stars: &[Point]) -> char {
        let mark = self.marks.iter().rev().find(|(marked, _)| *marked == point);
        match (mark, self.board.stone(point)) {
            (Some(&(_, sign)), _) => sign,
            (None, Some(color)) => stone_sign(color),
            (None, None) if stars.contains(&point) => STAR,
            (None, None) => EMPTY,
        }
    }

    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("  ")?;
        for x in 0..self.board.size().get() {
            write!(f, " {}", column_letter(x))?;
        }
        writeln!(f)
    }

    fn write_cell(&self, f: &mut fmt::Formatter<'_>, point: Point, stars: &[Point]) -> fmt::Result {
        const RESET: &str = "\x1b[0m";
        const WOOD: &str = "\x1b[48;5;179m";
        const BLACK: &str = "\x1b[38;5;16m";
        const WHITE: &str = "\x1b[38;5;231m";
        const LINES: &str = "\x1b[38;5;94m";
        const MARK: &str = "\x1b[38;5;160m";
        let sign = self.sign(point, stars);
        let before = if self.last_move == Some(point) {
            '('
        } else {
            self.after(point)
        };
        if !self.is_colored {
            return write!(f, "{before}{sign}");
        }
        let is_marked = self.marks.iter().any(|(marked, _)| *marked == point);
        let (ink, sign) = match (is_marked, self.board.stone(point)) {
            (true, None) => (MARK, sign),
            (true, Some(Color::Black)) => (BLACK, sign),
            (true, Some(Color::White)) => (WHITE, sign),
            (false, Some(Color::Black)) => (BLACK, '●'),
            (false, Some(Color::White)) => (WHITE, '●'),
            (false, None) => (LINES, sign),
        };
        write!(f, "{WOOD}{MARK}{before}{ink}{sign}{RESET}")
    }

    /// What stands before a point: the bracket behind the point to its left, or a blank.
    fn after(&self, point: Point) -> char {
        let follows_last_move = self
            .last_move
            .is_some_and(|last| last.y() == point.y() && last.x() + 1 == point.x());
        if follows_last_move { ')' } else { ' ' }
    }
}

impl fmt::Display for Diagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = self.board.size().get();
        let stars = star_points(self.board.size());
        self.write_columns(f)?;
        for y in (0..side).rev() {
            write!(f, "{:>2}", y + 1)?;
            for x in 0..side {
                self.write_cell(f, Point::new(x, y), &stars)?;
            }
            let ends_on_last = self.last_move == Some(Point::new(side - 1, y));
            writeln!(f, "{}{}", if ends_on_last { ')' } else { ' ' }, y + 1)?;
        }
        self.write_columns(f)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", Diagram::new(self))
    }
}

/// Why a diagram is not a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiagramError {
    /// The number of rows or of signs in a row is not the board's side.
    #[error("a {size} diagram has {size} signs, not this many rows or columns")]
    WrongShape {
        /// The size asked for.
        size: BoardSize,
    },
    /// A sign that stands for nothing.
    #[error("`{0}` is no sign of a diagram: expected `#` or `X`, `O`, `.` or `+`")]
    UnknownSign(char),
    /// The stones make no position.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl Board {
    /// Reads a position from rows of signs, the top row first: `#` or `X` for Black, `O` for
    /// White, `.` or `+` for empty points. Blanks between signs do not matter.
    pub fn from_diagram(size: BoardSize, rows: &str) -> Result<Board, DiagramError> {
        let rows: Vec<Vec<char>> = rows
            .lines()
            .map(|row| {
                row.chars()
                    .filter(|sign| !sign.is_whitespace())
                    .collect::<Vec<_>>()
            })
            .filter(|row| !row.is_empty())
            .collect();
        let side = size.get();
        if rows.len() != side || rows.iter().any(|row| row.len() != side) {
            return Err(DiagramError::WrongShape { size });
        }
        let mut stones = [PointSet::EMPTY; 2];
        for (y_from_top, row) in rows.iter().enumerate() {
            for (x, &sign) in row.iter().enumerate() {
                let color = match sign {
                    '#' | 'X' | 'x' => Color::Black,
                    'O' | 'o' => Color::White,
                    EMPTY | STAR => continue,
                    _ => return Err(DiagramError::UnknownSign(sign)),
                };
                stones[color.index()].insert(Point::new(x, side - 1 - y_from_top));
            }
        }
        let [black, white] = &stones;
        Ok(Board::with_stones(size, black, white)?)
    }
}

fn stone_sign(color: Color) -> char {
    match color {
        Color::Black => '#',
        Color::White => 'O',
    }
}
