//! One random number for each stone on each point; a position's hash is their exclusive or.

use crate::{Color, point::GRID};

static KEYS: [[u64; GRID]; 2] = keys();

/// The number for a stone of `color` at a grid index.
#[inline]
pub(crate) fn stone(color: Color, grid_index: usize) -> u64 {
    KEYS[color.index()][grid_index]
}

const fn keys() -> [[u64; GRID]; 2] {
    let mut keys = [[0; GRID]; 2];
    let mut state = 0x7e6e_6e00_2026_0001;
    let mut color = 0;
    while color < 2 {
        let mut index = 0;
        while index < GRID {
            state = u64::wrapping_add(state, 0x9e37_79b9_7f4a_7c15);
            keys[color][index] = mix(state);
            index += 1;
        }
        color += 1;
    }
    keys
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
