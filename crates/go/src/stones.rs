//! Stones without their blocks: what a position is made of.

use thiserror::Error;

use crate::{Color, Point, PointSet};

/// Why a set of stones is not a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// A stone would lie off the board.
    #[error("there is no point {0} on this board")]
    OffBoard(Point),
    /// A point would hold a stone of each colour.
    #[error("{0} would hold stones of both colours")]
    BothColors(Point),
    /// A stone would be put on another.
    #[error("{0} is occupied")]
    Occupied(Point),
    /// A block would stand without liberties.
    #[error("the stone at {0} would have no liberty")]
    NoLiberty(Point),
}

/// The stones of a position, and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stones([PointSet; 2]);

impl Stones {
    /// The stones of one colour.
    #[inline]
    pub fn of(&self, color: Color) -> &PointSet {
        &self.0[color.index()]
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, color: Color) -> &mut PointSet {
        &mut self.0[color.index()]
    }
}
