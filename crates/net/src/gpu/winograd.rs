//! 3x3 convolutions by Winograd's method, where numbers are stored in f32: a quarter of the multiplications.
//!
//! The board is cut into tiles of 4x4. Planes become 36 times as many planes of one number a tile, which 36 products of
//! matrices turn into those of the result (one dispatch of `conv.wgsl` with 36 groups of 1x1), and these become planes again. In f16
//! the transforms would magnify the rounding twentyfold, so there the direct product stays.

use super::step::Storage;
use crate::network::Conv;
use crate::weights::Weights;

/// Cells of a tile along one side, and of what it reads.
pub(super) const TILE: usize = 4;
const SIDE: usize = 6;
/// Products for one tile.
pub(super) const POINTS: usize = SIDE * SIDE;
/// With fewer planes on either side the transforms cost more than they save.
const FEWEST_PLANES: usize = 16;

/// What weights are multiplied with from both sides, for the points 0, 1, -1, 2, -2 and infinity (Lavin and Gray 2015).
const WEIGHT_TRANSFORM: [[f64; 3]; SIDE] = [
    [1.0 / 4.0, 0.0, 0.0],
    [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    [0.0, 0.0, 1.0],
];

/// Whether a convolution is done this way.
pub(super) fn pays(conv: &Conv, storage: Storage, height: usize, width: usize) -> bool {
    storage == Storage::F32
        && conv.kernel == 3
        && conv.groups.len() == 1
        && conv.inputs().min(conv.outputs()) >= FEWEST_PLANES
        && height.min(width) >= TILE
}

/// The weights as `[point][output][input]`.
pub(super) fn transform(conv: &Conv) -> Weights {
    let (inputs, outputs) = (conv.inputs(), conv.outputs());
    let mut transformed = vec![0.0; POINTS * outputs * inputs];
    for (pair, kernel) in conv.weights.chunks_exact(9).enumerate() {
        let mut half = [[0.0; 3]; SIDE];
        for (row, factors) in half.iter_mut().zip(&WEIGHT_TRANSFORM) {
            for (column, sum) in row.iter_mut().enumerate() {
                *sum = (0..3)
                    .map(|k| factors[k] * f64::from(kernel[k * 3 + column]))
                    .sum();
            }
        }
        for (i, row) in half.iter().enumerate() {
            for (j, factors) in WEIGHT_TRANSFORM.iter().enumerate() {
                let sum: f64 = row.iter().zip(factors).map(|(a, b)| a * b).sum();
                transformed[(i * SIDE + j) * outputs * inputs + pair] = sum as f32;
            }
        }
    }
    transformed.into()
}
