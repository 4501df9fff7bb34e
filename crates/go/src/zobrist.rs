//! One random number for each stone on each point; a position's hash is their exclusive or.

use crate::{Color, point::GRID};

const SEED: u64 = 0x7e6e_6e00_2026_0001;

static KEYS: [[u64; GRID]; 2] = keys();

/// The number for a stone of `color` at a grid index.
#[inline]
pub(crate) fn stone(color: Color, grid_index: usize) -> u64 {
    KEYS[color.index()][grid_index]
}

/// The number for the side to move, where positions with different turns are to differ.
#[inline]
pub(crate) const fn turn(color: Color) -> u64 {
    base::mix(0x5175_6174_696f_6e00 + color.index() as u64)
}

const fn keys() -> [[u64; GRID]; 2] {
    let mut keys = [[0; GRID]; 2];
    let mut color = 0;
    while color < 2 {
        let mut index = 0;
        while index < GRID {
            keys[color][index] = base::nth_seed(SEED, (color * GRID + index) as u64);
            index += 1;
        }
        color += 1;
    }
    keys
}
