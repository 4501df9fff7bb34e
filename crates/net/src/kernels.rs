//! The inner loops: everything that is written for speed, and the only place with `unsafe` code.
//!
//! **Winograd.** A 3x3 convolution of a tile of m x m cells takes 9 m² multiplications a pair of planes when done
//! directly, and (m + 2)² when the tile and the weights are first moved to values of polynomials at m + 2 points
//! (Winograd 1980, Lavin and Gray 2016). A board is cut into the fewest tiles of at most 5x5, of two neighbouring
//! sizes: 19 = 5+5+5+4. The points of the smaller size are among those of the larger, so that both sizes use the
//! same transformed weights; 19x19 then costs 27² = 729 multiplications instead of 3249.
//!
//! **Layout.** Planes go in blocks of 16. Activations are `[block][row][column][16]` with a border of zeros, the
//! transformed tiles `[point][block][tile][16]`, the weights `[point][panel of 16 outputs][input][16]`. All of them
//! are read and written in whole cache lines, and one matrix kernel (6 rows by 16 columns, or 12 by 32 with AVX-512)
//! serves convolutions, 1x1 convolutions and dense layers, in evaluation and in training.

mod isa;
pub(crate) mod lanes;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

pub(crate) mod activation;
pub(crate) mod attention;
pub(crate) mod gemm;
pub(crate) mod layout;
pub(crate) mod memory;
pub(crate) mod passes;
pub(crate) mod pointwise;
pub(crate) mod sparse;
pub(crate) mod tile;
pub(crate) mod tiling;
pub(crate) mod weights;
pub(crate) mod winograd;

pub use isa::{Arithmetic, INSTRUCTIONS_VARIABLE, Isa, IsaError};

/// Planes, inputs and outputs are handled this many at a time: one cache line of f32.
pub(crate) const BLOCK: usize = 16;

/// Blocks that hold `count` planes.
pub(crate) fn blocks(count: usize) -> usize {
    count.div_ceil(BLOCK)
}

/// A number of rows whose blocks do not all start in the same cache set.
pub(crate) fn padded_rows(rows: usize) -> usize {
    rows | 1
}
