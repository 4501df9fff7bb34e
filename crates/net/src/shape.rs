//! What goes into a network and what comes out of it, as numbers of numbers.

use std::ops::Range;

/// A stack of planes: `planes` of `height` rows by `width` columns, row-major, plane after plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneShape {
    /// Number of planes.
    pub planes: usize,
    /// Rows of one plane.
    pub height: usize,
    /// Columns of one plane.
    pub width: usize,
}

impl PlaneShape {
    /// Cells of one plane.
    pub fn area(&self) -> usize {
        self.height * self.width
    }

    /// Numbers in the whole stack.
    pub fn len(&self) -> usize {
        self.planes * self.area()
    }

    /// True when the stack holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whose chance of winning a value output speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Perspective {
    /// The side to move (Leela Zero version 1, and every network of our own).
    #[default]
    SideToMove,
    /// The player who moves first in the game: Black in Go (Leela Zero version 2).
    FirstPlayer,
}

/// One named stretch of a result row, such as `policy` or `value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputShape {
    /// The name a caller looks it up by.
    pub name: String,
    /// Where it lies in a result row.
    pub range: Range<usize>,
}

/// The shape of an evaluator's door: one input row in, one output row out, per position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoShape {
    /// The input planes of one position.
    pub input: PlaneShape,
    /// Numbers about the whole position, such as the komi; they follow the planes in an input row.
    pub globals: usize,
    /// The stretches of one output row, in order, without gaps.
    pub outputs: Vec<OutputShape>,
    /// Whose chance of winning the value speaks of.
    pub perspective: Perspective,
}

impl IoShape {
    /// Numbers in the input row of one position: its planes, then its globals.
    pub fn input_len(&self) -> usize {
        self.input.len() + self.globals
    }

    /// Numbers in the output row of one position.
    pub fn output_len(&self) -> usize {
        self.outputs.last().map_or(0, |output| output.range.end)
    }

    /// Where the output called `name` lies in a row, if the network has it.
    pub fn output(&self, name: &str) -> Option<Range<usize>> {
        let found = self.outputs.iter().find(|output| output.name == name)?;
        Some(found.range.clone())
    }
}
