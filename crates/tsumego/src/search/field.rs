//! The part of the board a fight can touch, as sets of cells.
//!
//! A [`Field`] is the window around the zone with everything that cannot change: its walls, the
//! points outside the zone that stay empty for ever.

use go::{Color, Move, Point};

use crate::problem::{Goal, Problem, Side};
use crate::search::bits::Bits;
use crate::search::position::{NO_CELL, wide_hash};

/// Kinds of random words: a stone of each side, a ban, a side to move.
const KEY_KINDS: u64 = 5;

/// Index of a side in tables.
#[inline]
pub(crate) const fn index(side: Side) -> usize {
    match side {
        Side::Attacker => 0,
        Side::Defender => 1,
    }
}

/// What does not change while a problem is played out.
pub(crate) struct Field<B> {
    width: u32,
    cells: B,
    not_first_column: B,
    not_last_column: B,
    /// Where both sides may play.
    pub zone: B,
    /// Stones of each side that belong to blocks with a liberty nobody can fill.
    pub wall: [B; 2],
    /// Empty points outside the zone: liberties for ever.
    pub open: B,
    /// A cell of each target block.
    pub targets: Vec<usize>,
    pub goal: Goal,
    /// The cells beside each cell.
    pub around: Vec<B>,
    points: Vec<Point>,
    /// Random words that make up the hash of a position: by stone, by banned cell, by turn.
    pub stone_keys: [Vec<u128>; 2],
    pub ban_keys: Vec<u128>,
    pub side_keys: [u128; 2],
}

/// The cells the window of a problem needs.
pub(crate) fn window_cells(problem: &Problem) -> usize {
    let (_, _, width, height) = window(problem);
    width * height
}

impl<B: Bits> Field<B> {
    pub fn new(problem: &Problem) -> Field<B> {
        let board = problem.board();
        let (left, bottom, width, height) = window(problem);
        assert!(width * height <= B::CELLS, "the window is too large");
        let points: Vec<Point> = (0..width * height)
            .map(|cell| Point::new(left + cell % width, bottom + cell / width))
            .collect();
        let set = |wanted: &dyn Fn(Point) -> bool| {
            points
                .iter()
                .enumerate()
                .filter(|&(_, &point)| wanted(point))
                .fold(B::NONE, |set, (cell, _)| set | B::cell(cell))
        };
        let in_zone = |point: Point| problem.zone().contains(&point);
        let immortal = |point: Point, color: Color| {
            board.is_stone(point, color) && board.liberties(point).any(|p| !in_zone(p))
        };
        let column = |x: usize| set(&|point| point.x() == left + x);
        let cell_of = |point: &Point| points.iter().position(|p| p == point);
        let keys = |kind: u64| -> Vec<u128> {
            let cells = 1..=points.len() as u64;
            cells
                .map(|cell| wide_hash(cell * KEY_KINDS + kind))
                .collect()
        };
        let mut field = Field {
            width: width as u32,
            cells: set(&|_| true),
            not_first_column: !column(0),
            not_last_column: !column(width - 1),
            zone: set(&in_zone),
            wall: Side::BOTH.map(|side| set(&|point| immortal(point, problem.color(side)))),
            open: set(&|point| board.is_empty(point) && !in_zone(point)),
            targets: problem.target().iter().filter_map(cell_of).collect(),
            goal: problem.goal(),
            around: Vec::new(),
            stone_keys: [0, 1].map(&keys),
            ban_keys: keys(2),
            side_keys: [wide_hash(KEY_KINDS - 2), wide_hash(KEY_KINDS - 1)],
            points,
        };
        field.around = (0..field.points.len())
            .map(|cell| field.beside(B::cell(cell)))
            .collect();
        field
    }

    /// The points of the cells.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The point of a cell.
    pub fn point(&self, cell: usize) -> Point {
        self.points[cell]
    }

    /// A cell, or [`NO_CELL`] for the pass, as a move.
    pub fn to_move(&self, cell: u16) -> Move {
        match cell {
            NO_CELL => Move::Pass,
            cell => Move::Play(self.points[cell as usize]),
        }
    }

    /// The cell of a point of the window.
    pub fn cell(&self, point: Point) -> Option<usize> {
        self.points.iter().position(|&p| p == point)
    }

    /// Every cell of the window.
    #[inline]
    pub fn everything(&self) -> B {
        self.cells
    }

    /// The cells beside a set (and perhaps cells of the set).
    #[inline]
    pub fn beside(&self, set: B) -> B {
        ((set & self.not_last_column).up(1)
            | (set & self.not_first_column).down(1)
            | set.up(self.width)
            | set.down(self.width))
            & self.cells
    }

    /// A set with the cells around it, diagonals included.
    #[inline]
    pub fn grown(&self, set: B) -> B {
        let row = set | (set & self.not_last_column).up(1) | (set & self.not_first_column).down(1);
        (row | row.up(self.width) | row.down(self.width)) & self.cells
    }

    /// All cells of `within` that are connected to `seed` through `within`.
    #[inline]
    pub fn flood(&self, seed: B, within: B) -> B {
        let mut filled = seed & within;
        loop {
            let grown = (filled | self.beside(filled)) & within;
            if grown == filled {
                return filled;
            }
            filled = grown;
        }
    }
}

/// Left column, bottom row, width and height of the part of the board that the zone's fight can
/// touch: the zone, the blocks that live by its points alone, and one point around.
fn window(problem: &Problem) -> (usize, usize, usize, usize) {
    let board = problem.board();
    let zone = problem.zone();
    let mut needed = zone.clone();
    for &point in zone {
        for color in Color::BOTH {
            for block in board.adjacent_blocks(point, color) {
                if board.liberties(block).all(|p| zone.contains(&p)) {
                    needed.extend(board.stones(block));
                }
            }
        }
    }
    let last = board.size().get() - 1;
    let (mut left, mut right, mut bottom, mut top) = (last, 0, last, 0);
    for point in needed {
        left = left.min(point.x().saturating_sub(1));
        right = right.max((point.x() + 1).min(last));
        bottom = bottom.min(point.y().saturating_sub(1));
        top = top.max((point.y() + 1).min(last));
    }
    (left, bottom, right - left + 1, top - bottom + 1)
}
