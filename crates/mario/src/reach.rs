//! Where a pill can come to rest: three models, from coarse to exact.
//!
//! | model | what it knows |
//! | --- | --- |
//! | [`boxes`] | columns joined along the top row, then straight down; no tucks |
//! | [`flood`] | every move and turn, but no clock: right at 14 frames a row and slower |
//! | [`timed`] | the console frame by frame, with the fastest buttons for each place |
//!
//! [`presses`] gives the fewest button presses in the untimed model.

mod boxes;
mod flood;
mod presses;
pub mod timed;

pub use boxes::boxes;
pub use flood::flood;
pub use presses::{Button, presses};

use crate::board::cells_of;
use crate::pill::{Pill, Placement};

/// Resting poses, as two sets of bottom-or-left cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Resting {
    /// Left cells of horizontal pills.
    pub horizontal: u128,
    /// Bottom cells of upright pills.
    pub vertical: u128,
}

impl Resting {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.horizontal | self.vertical == 0
    }

    /// The number of different placements of `pill`: half as many for a double.
    pub fn count(&self, pill: Pill) -> u32 {
        let poses = self.horizontal.count_ones() + self.vertical.count_ones();
        if pill.is_double() { poses } else { 2 * poses }
    }

    /// Whether `placement` is among them.
    pub fn contains(&self, placement: Placement) -> bool {
        let set = if placement.is_vertical() {
            self.vertical
        } else {
            self.horizontal
        };
        placement.x < 8
            && placement.y < 16
            && set & crate::board::bit(placement.x, placement.y) != 0
    }

    /// The placements of `pill`: turns 0 and 1 only when it is a double, since half a turn
    /// changes nothing then.
    pub fn placements(self, pill: Pill) -> impl Iterator<Item = Placement> {
        let turns = if pill.is_double() { 2 } else { 4 };
        (0..turns).flat_map(move |turns| {
            let set = if turns & 1 == 1 {
                self.vertical
            } else {
                self.horizontal
            };
            cells_of(set).map(move |(x, y)| Placement::new(turns, x, y))
        })
    }
}
