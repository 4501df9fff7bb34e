//! The bottle: 8 columns by 16 rows, kept as six 128-bit sets.
//!
//! Bit `8 * y + x` is the cell in column x (from the left) and row y (from the bottom). Right and
//! top halves are not stored: they are where a left or bottom half says its partner is. Four in a
//! row, falling and reachability are then a handful of shifts each, which is what makes more
//! than a million placements a second possible.

use std::fmt;

use crate::cell::{Cell, Color, Shape};

/// Columns.
pub const WIDTH: u8 = 8;

/// Rows.
pub const HEIGHT: u8 = 16;

pub const CELLS: usize = 128;

/// The leftmost column.
const FIRST_COLUMN: u128 = 0x0101_0101_0101_0101_0101_0101_0101_0101;

/// Every cell with at least three cells to its right: where a horizontal run of four can start.
const FIRST_FIVE_COLUMNS: u128 = FIRST_COLUMN * 0b1_1111;

pub(crate) const BOTTOM_ROW: u128 = 0xff;

pub(crate) const TOP_ROW: u128 = 0xff << 120;

/// The two cells a pill is launched into.
pub(crate) const THROAT: u128 = 0b1_1000 << 120;

/// A board. Halves always have their partners; reading a board text refuses others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Board {
    colors: [u128; 3],
    viruses: u128,
    left_halves: u128,
    bottom_halves: u128,
}

/// The bit of a cell.
#[inline]
pub fn bit(x: u8, y: u8) -> u128 {
    1 << (8 * u32::from(y) + u32::from(x))
}

/// The cells of a set, lowest row first, as (x, y).
pub fn cells_of(mut set: u128) -> impl Iterator<Item = (u8, u8)> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let index = set.trailing_zeros() as u8;
        set &= set - 1;
        Some((index & 7, index >> 3))
    })
}

impl Board {
    /// An empty board.
    pub const fn new() -> Self {
        Self {
            colors: [0; 3],
            viruses: 0,
            left_halves: 0,
            bottom_halves: 0,
        }
    }

    /// All cells that hold something.
    #[inline]
    pub fn occupied(&self) -> u128 {
        self.colors[0] | self.colors[1] | self.colors[2]
    }

    /// All cells of one colour, viruses and halves alike.
    #[inline]
    pub fn of_color(&self, color: Color) -> u128 {
        self.colors[color as usize]
    }

    /// All viruses.
    #[inline]
    pub fn viruses(&self) -> u128 {
        self.viruses
    }

    /// All cells of one shape.
    pub fn of_shape(&self, shape: Shape) -> u128 {
        match shape {
            Shape::Virus => self.viruses,
            Shape::Left => self.left_halves,
            Shape::Right => self.left_halves << 1,
            Shape::Bottom => self.bottom_halves,
            Shape::Top => self.bottom_halves << 8,
            Shape::Single => {
                let joined = self.left_halves
                    | self.left_halves << 1
                    | self.bottom_halves
                    | self.bottom_halves << 8;
                self.occupied() & !(self.viruses | joined)
            }
        }
    }

    /// The number of viruses.
    #[inline]
    pub fn viruses_left(&self) -> u32 {
        self.viruses.count_ones()
    }

    /// What (x, y) holds; `None` when empty or outside the board.
    pub fn cell(&self, x: u8, y: u8) -> Option<Cell> {
        if x >= WIDTH || y >= HEIGHT {
            return None;
        }
        let here = bit(x, y);
        let color = Color::ALL
            .into_iter()
            .find(|&color| self.of_color(color) & here != 0)?;
        let shape = Shape::ALL
            .into_iter()
            .find(|&shape| self.of_shape(shape) & here != 0)?;
        Some(Cell { color, shape })
    }

    /// Whether the next pill cannot be launched.
    #[inline]
    pub fn is_topped_out(&self) -> bool {
        self.occupied() & THROAT != 0
    }

    /// Writes one cell. A right or top half is marked through its partner, so a whole pill
    /// needs both of its halves set.
    pub(crate) fn set(&mut self, x: u8, y: u8, cell: Cell) {
        let here = bit(x, y);
        self.colors[cell.color as usize] |= here;
        match cell.shape {
            Shape::Virus => self.viruses |= here,
            Shape::Left => self.left_halves |= here,
            Shape::Bottom => self.bottom_halves |= here,
            Shape::Single | Shape::Right | Shape::Top => {}
        }
    }

    /// Marks a horizontal pill whose left half lies at `here`.
    #[inline]
    pub(crate) fn add_horizontal(&mut self, here: u128, left: Color, right: Color) {
        self.colors[left as usize] |= here;
        self.colors[right as usize] |= here << 1;
        self.left_halves |= here;
    }

    /// Marks a vertical pill whose bottom half lies at `here`; in the top row only that half
    /// stays, without a partner.
    #[inline]
    pub(crate) fn add_vertical(&mut self, here: u128, bottom: Color, top: Color) {
        self.colors[bottom as usize] |= here;
        if here & TOP_ROW == 0 {
            self.colors[top as usize] |= here << 8;
            self.bottom_halves |= here;
        }
    }

    /// Every cell that belongs to a run of four or more of its colour.
    #[inline]
    pub fn runs(&self) -> u128 {
        let mut marked = 0;
        for set in self.colors {
            let pairs = set & set >> 8;
            let starts = pairs & pairs >> 16;
            marked |= starts | starts << 8 | starts << 16 | starts << 24;
            let pairs = set & set >> 1;
            let starts = pairs & pairs >> 2 & FIRST_FIVE_COLUMNS;
            marked |= starts | starts << 1 | starts << 2 | starts << 3;
        }
        marked
    }

    /// Empties cells; a half whose partner goes becomes single.
    pub(crate) fn remove(&mut self, gone: u128) {
        for set in &mut self.colors {
            *set &= !gone;
        }
        self.viruses &= !gone;
        self.left_halves &= !(gone | gone >> 1);
        self.bottom_halves &= !(gone | gone >> 8);
    }

    /// Everything that cannot fall: viruses, the bottom row, what rests on such a cell, and both
    /// halves of a horizontal pill as soon as one of them is held.
    #[inline]
    pub(crate) fn supported(&self) -> u128 {
        let occupied = self.occupied();
        let mut held = self.viruses | occupied & BOTTOM_ROW;
        loop {
            let before = held;
            // Fill upward through occupied cells, doubling the reach each time.
            let mut path = occupied;
            for distance in [8, 16, 32, 64] {
                held |= path & held << distance;
                path &= path << distance;
            }
            held |= held >> 1 & self.left_halves;
            held |= (held & self.left_halves) << 1;
            if held == before {
                return held;
            }
        }
    }

    /// Moves every unsupported cell one row down; false when nothing moved.
    #[inline]
    pub(crate) fn fall_one_row(&mut self) -> bool {
        let held = self.supported();
        if held == self.occupied() {
            return false;
        }
        for set in &mut self.colors {
            *set = *set & held | (*set & !held) >> 8;
        }
        self.left_halves = self.left_halves & held | (self.left_halves & !held) >> 8;
        self.bottom_halves = self.bottom_halves & held | (self.bottom_halves & !held) >> 8;
        true
    }

    /// The board seen in a mirror: column x becomes column 7 - x.
    pub fn mirrored(&self) -> Self {
        Self {
            colors: self.colors.map(mirror_columns),
            viruses: mirror_columns(self.viruses),
            left_halves: mirror_columns(self.left_halves << 1),
            bottom_halves: mirror_columns(self.bottom_halves),
        }
    }

    /// The board with each colour replaced by another: colour c becomes `to[c]`.
    pub fn recolored(&self, to: [Color; 3]) -> Self {
        let mut colors = [0; 3];
        for (from, target) in to.into_iter().enumerate() {
            colors[target as usize] = self.colors[from];
        }
        Self { colors, ..*self }
    }
}

/// Reverses the bits of each byte: a left-right mirror.
fn mirror_columns(set: u128) -> u128 {
    set.reverse_bits().swap_bytes()
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for y in (0..HEIGHT).rev() {
            let row: String = (0..WIDTH)
                .map(|x| self.cell(x, y).map_or('.', |cell| char::from(cell.code())))
                .collect();
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}
