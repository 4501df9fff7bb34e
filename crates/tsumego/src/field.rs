//! The part of the board a fight can touch, and play on it, as sets of cells.
//!
//! A [`Field`] is the window around the zone with everything that cannot change: its walls, the
//! points outside the zone that stay empty for ever. A [`Position`] is a few words that are copied
//! for each move, so nothing is ever taken back.

use go::{Board, Color, Move, Point};

use crate::bits::Bits;
use crate::ko::{Ko, Threats};
use crate::problem::{Goal, Problem, Side};

/// A cell index that is no cell: no ban, or a pass.
pub(crate) const NO_CELL: u16 = u16::MAX;

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
    points: Vec<Point>,
    stone_keys: [Vec<u128>; 2],
}

/// Stones and ko state, without whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position<B> {
    pub stones: [B; 2],
    /// Where the side to move may not retake now.
    pub ban: u16,
    /// A bit for each target block that was never captured.
    pub standing: u8,
    pub threats: [Threats; 2],
    stones_key: u128,
}

/// What a move led to.
pub(crate) struct Played<B> {
    pub position: Position<B>,
    pub captured: bool,
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
        Field {
            width: width as u32,
            cells: set(&|_| true),
            not_first_column: !column(0),
            not_last_column: !column(width - 1),
            zone: set(&in_zone),
            wall: Side::BOTH.map(|side| set(&|point| immortal(point, problem.color(side)))),
            open: set(&|point| board.is_empty(point) && !in_zone(point)),
            targets: problem.target().iter().filter_map(cell_of).collect(),
            goal: problem.goal(),
            stone_keys: [0, 1].map(|side| {
                (0..points.len() as u64)
                    .map(|cell| wide_hash(cell << 1 | side))
                    .collect()
            }),
            points,
        }
    }

    /// The problem's position as seen by `to_move` under a ko rule.
    pub fn position(&self, problem: &Problem, to_move: Side, ko: Ko) -> Position<B> {
        let board = problem.board();
        let side_at = |point: Point| {
            let color = board.stone(point)?;
            Some(if color == problem.defender() {
                Side::Defender
            } else {
                Side::Attacker
            })
        };
        let standing: Vec<bool> = self
            .targets
            .iter()
            .map(|&cell| board.is_stone(self.points[cell], problem.defender()))
            .collect();
        let ban = banned_point(board, problem.color(to_move));
        self.position_of(side_at, to_move, ban, &standing, ko)
    }

    /// A position from its parts.
    pub fn position_of(
        &self,
        side_at: impl Fn(Point) -> Option<Side>,
        to_move: Side,
        ban: Option<Point>,
        standing: &[bool],
        ko: Ko,
    ) -> Position<B> {
        let mut position = Position {
            stones: [B::NONE; 2],
            ban: NO_CELL,
            standing: 0,
            threats: [ko.attacker, ko.defender],
            stones_key: 0,
        };
        for (cell, &point) in self.points.iter().enumerate() {
            if let Some(side) = side_at(point) {
                position.stones[index(side)] |= B::cell(cell);
            }
        }
        for (bit, &stands) in standing.iter().enumerate() {
            position.standing |= u8::from(stands) << bit;
        }
        position.stones_key = self.stones_key(position.stones);
        if let Some(point) = ban {
            self.set_ban(&mut position, to_move, self.cell(point));
        }
        position
    }

    fn stones_key(&self, stones: [B; 2]) -> u128 {
        let side_key = |side: usize| {
            stones[side]
                .iter()
                .fold(0, |key, cell| key ^ self.stone_keys[side][cell])
        };
        side_key(0) ^ side_key(1)
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

    /// The empty cells of the window, also those outside the zone.
    #[inline]
    pub fn empty(&self, position: &Position<B>) -> B {
        self.cells.without(position.stones[0] | position.stones[1])
    }

    /// The stones of a side that can never be captured because of a liberty outside the zone.
    #[inline]
    pub fn immortal(&self, position: &Position<B>, side: Side) -> B {
        let own = position.stones[index(side)];
        let seeds = (self.wall[index(side)] | self.beside(self.open)) & own;
        self.flood(seeds, own)
    }

    /// Identifies the position with the side to move.
    #[inline]
    pub fn key(&self, position: &Position<B>, to_move: Side) -> u128 {
        let state = u64::from(position.ban)
            | u64::from(position.standing) << 16
            | u64::from(position.threats[0].byte()) << 24
            | u64::from(position.threats[1].byte()) << 32
            | (index(to_move) as u64) << 40
            | STATE_TAG;
        position.stones_key ^ wide_hash(state)
    }

    /// Plays a stone; `None` if the point is not playable or the move is suicide or banned.
    #[inline]
    pub fn play(&self, position: &Position<B>, side: Side, cell: usize) -> Option<Played<B>> {
        let stone = B::cell(cell);
        let (own, other) = (index(side), 1 - index(side));
        if (stone & self.zone.without(position.stones[0] | position.stones[1])).none() {
            return None;
        }
        let mut next = *position;
        if position.ban == cell as u16 {
            next.threats[own] = position.threats[own].spend()?;
        }
        next.stones[own] |= stone;
        next.stones_key ^= self.stone_keys[own][cell];
        let around = self.beside(stone);
        let empty = self.empty(&next);
        let mut captured = B::NONE;
        let mut touched = around & next.stones[other];
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), next.stones[other]);
            touched = touched.without(block);
            let outlives = (self.beside(block) & empty).any() || (block & self.wall[other]).any();
            if !outlives {
                captured |= block;
            }
        }
        if captured.any() {
            next.stones[other] = next.stones[other].without(captured);
            for stone in captured.iter() {
                next.stones_key ^= self.stone_keys[other][stone];
            }
            if other == index(Side::Defender) {
                self.strike_targets(&mut next, captured);
            }
        } else if (around & empty).none() {
            let block = self.flood(stone, next.stones[own]);
            if (self.beside(block) & empty).none() && (block & self.wall[own]).none() {
                return None;
            }
        }
        let retakable = captured.is_single()
            && (around & next.stones[own]).none()
            && (around & self.empty(&next)).is_single();
        self.set_ban(
            &mut next,
            side.opponent(),
            retakable.then(|| captured.first()),
        );
        Some(Played {
            position: next,
            captured: captured.any(),
        })
    }

    /// Plays a pass: the ban lapses.
    pub fn pass(&self, position: &Position<B>) -> Position<B> {
        Position {
            ban: NO_CELL,
            ..*position
        }
    }

    /// Whether the attacker has reached the goal.
    #[inline]
    pub fn is_captured(&self, position: &Position<B>) -> bool {
        match self.goal {
            Goal::All => position.standing == 0,
            Goal::Any => position.standing.count_ones() < self.targets.len() as u32,
        }
    }

    /// The cells of the targets that were never captured.
    #[inline]
    pub fn standing_targets(&self, position: &Position<B>) -> impl Iterator<Item = usize> + '_ {
        let standing = position.standing;
        self.targets
            .iter()
            .enumerate()
            .filter(move |(bit, _)| standing >> bit & 1 == 1)
            .map(|(_, &cell)| cell)
    }

    fn strike_targets(&self, position: &mut Position<B>, captured: B) {
        for (bit, &cell) in self.targets.iter().enumerate() {
            if captured.has(cell) {
                position.standing &= !(1 << bit);
            }
        }
    }

    /// A ban that binds nobody is not kept, so that equal situations have equal keys.
    #[inline]
    fn set_ban(&self, position: &mut Position<B>, to_move: Side, cell: Option<usize>) {
        position.ban = match cell {
            Some(cell)
                if position.threats[index(to_move)] != Threats::ENDLESS && self.zone.has(cell) =>
            {
                cell as u16
            }
            _ => NO_CELL,
        };
    }
}

/// Set in the state half of a key, so that it never meets a stone's number.
const STATE_TAG: u64 = 1 << 63;

/// A 128-bit hash of a small number, from two steps of the SplitMix64 generator.
fn wide_hash(number: u64) -> u128 {
    let low = split_mix(number);
    let high = split_mix(low ^ number.rotate_left(32));
    u128::from(high) << 64 | u128::from(low)
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
#[inline]
pub(crate) fn split_mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The ko point of a board, if the ban is on `color`: the stones around it are the opponent's.
fn banned_point(board: &Board, color: Color) -> Option<Point> {
    board.ko_point().filter(|point| {
        point
            .neighbors()
            .iter()
            .any(|&n| board.is_stone(n, color.opponent()))
    })
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
