//! Where planes and transformed tiles lie in memory.

use super::tiling::Tiling;
use super::{BLOCK, padded_rows};

/// Where the numbers of a batch of transformed tiles lie: `[point][block][tile][16]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLayout {
    pub(crate) block_stride: usize,
    pub(crate) point_stride: usize,
}

/// Cache lines between points, odd so that the points of a tile fall into different cache sets.
const POINT_GAP: usize = 5 * BLOCK;

impl TileLayout {
    pub(crate) fn new(tiling: &Tiling, blocks: usize, batch: usize) -> Self {
        let block_stride = padded_rows(tiling.tiles.len() * batch) * BLOCK;
        let lines = blocks * block_stride;
        // An even number of lines plus an odd gap is odd.
        let point_stride = if (lines / BLOCK).is_multiple_of(2) {
            lines + POINT_GAP
        } else {
            lines
        };
        Self {
            block_stride,
            point_stride,
        }
    }

    /// Room for any layout of at most so many blocks and boards; [`len`](Self::len) alone may shrink as they grow.
    pub(crate) fn capacity(tiling: &Tiling, blocks: usize, batch: usize) -> usize {
        let block_stride = padded_rows(tiling.tiles.len() * batch) * BLOCK;
        tiling.points() * (blocks * block_stride + POINT_GAP)
    }

    /// Numbers of the whole batch.
    pub(crate) fn len(&self, tiling: &Tiling) -> usize {
        tiling.points() * self.point_stride
    }
}

/// Where activations lie: `[board][block][row][column][16]`, with a border of zeros round each plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneLayout {
    pub(crate) row_stride: usize,
    pub(crate) plane_len: usize,
}

impl PlaneLayout {
    pub(crate) fn new(height: usize, width: usize) -> Self {
        let row_stride = (width + 2) * BLOCK;
        Self {
            row_stride,
            plane_len: (height + 2) * row_stride,
        }
    }

    /// Where a cell of a block lies.
    pub(crate) fn cell(&self, row: usize, column: usize) -> usize {
        (row + 1) * self.row_stride + (column + 1) * BLOCK
    }
}
