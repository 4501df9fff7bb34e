//! Matrix products for training: `C = A·B` or `C += A·B`, single-threaded.
//!
//! `B` is always packed in panels of sixteen columns so that the inner loop streams it; `A` is read
//! in place through two strides, which covers plain and transposed operands.

use std::ops::Range;

use super::LANES;
use crate::kernels::gemm::{Gemm, Panel, Strided};
use crate::kernels::{BLOCK, Isa, blocks, padded_rows};

/// Columns of one packed panel.
pub const PANEL: usize = BLOCK;

/// The right operand of a product, in panels of sixteen columns, the last one filled with zeros.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    panels: Vec<f32>,
    depth: usize,
    columns: usize,
}

/// Lines of a panel that a transposition writes together.
const LINES_AT_ONCE: usize = 64;

impl Packed {
    /// Packs a row-major `depth x columns` matrix whose rows are `stride` floats apart.
    pub fn rows(&mut self, matrix: &[f32], depth: usize, columns: usize, stride: usize) {
        self.resize(depth, columns);
        for (index, panel) in self
            .panels
            .chunks_exact_mut((depth * PANEL).max(1))
            .enumerate()
        {
            let first = index * PANEL;
            let width = PANEL.min(columns - first);
            for (row, target) in panel.chunks_exact_mut(PANEL).enumerate() {
                let start = row * stride + first;
                target[..width].copy_from_slice(&matrix[start..start + width]);
                target[width..].fill(0.0);
            }
        }
    }

    /// Packs the transpose of a row-major `columns x depth` matrix.
    pub fn transposed(&mut self, matrix: &[f32], depth: usize, columns: usize) {
        self.resize(depth, columns);
        for (index, panel) in self
            .panels
            .chunks_exact_mut((depth * PANEL).max(1))
            .enumerate()
        {
            let first = index * PANEL;
            let width = PANEL.min(columns - first);
            // A few lines at a time, so that all columns find them in the nearest cache.
            for (piece, lines) in panel.chunks_mut(LINES_AT_ONCE * PANEL).enumerate() {
                if width < PANEL {
                    lines.fill(0.0);
                }
                for column in 0..width {
                    let row = &matrix[(first + column) * depth..(first + column + 1) * depth];
                    let row = &row[piece * LINES_AT_ONCE..];
                    for (target, &value) in lines[column..].iter_mut().step_by(PANEL).zip(row) {
                        *target = value;
                    }
                }
            }
        }
    }

    fn resize(&mut self, depth: usize, columns: usize) {
        self.depth = depth;
        self.columns = columns;
        self.panels
            .resize(columns.div_ceil(PANEL) * depth * PANEL, 0.0);
    }

    /// Rows of the packed matrix.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Columns of the packed matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// How the left operand is laid out: element `(row, k)` sits at `row * row_stride + k * depth_stride`.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    pub values: &'a [f32],
    /// Distance between rows.
    pub row_stride: usize,
    /// Distance between neighbours along the summed dimension.
    pub depth_stride: usize,
}

/// `C = A·B`, or `C += A·B` with `accumulate`; row `i` of `C` starts at `i * c_stride` and holds the columns, rounded
/// up to a multiple of sixteen if the stride has room for that (the surplus columns receive zeros).
///
/// # Panics
/// If an operand is too short for the sizes given.
pub fn gemm(
    rows: usize,
    left: Left<'_>,
    right: &Packed,
    c: &mut [f32],
    c_stride: usize,
    accumulate: bool,
) {
    gemm_on(Isa::detect(), rows, left, right, c, c_stride, accumulate);
}

fn gemm_on(
    isa: Isa,
    rows: usize,
    left: Left<'_>,
    right: &Packed,
    c: &mut [f32],
    c_stride: usize,
    accumulate: bool,
) {
    let depth = right.depth;
    if rows == 0 || right.columns == 0 {
        return;
    }
    let wide = right.columns.next_multiple_of(LANES);
    let width = wide.min(c_stride);
    assert!(
        right.columns <= width && c.len() >= (rows - 1) * c_stride + width,
        "result too short"
    );
    assert!(
        depth == 0
            || left.values.len() > (rows - 1) * left.row_stride + (depth - 1) * left.depth_stride,
        "left operand too short"
    );
    if width < wide || right.columns > FEW_COLUMNS {
        Blocked {
            rows,
            left,
            right,
            c,
            c_stride,
            width,
            accumulate,
        }
        .run(isa);
        return;
    }
    Strided {
        rows,
        depth,
        left: left.values,
        row_stride: left.row_stride,
        depth_stride: left.depth_stride,
        right: &right.panels,
        right_stride: depth * PANEL,
        panels: width / PANEL,
        sums: c,
        sums_row: c_stride,
        sums_stride: PANEL,
        accumulate,
    }
    .run(isa);
}

/// With so few columns, copying the left operand costs more than reading it in place.
const FEW_COLUMNS: usize = 2 * PANEL;
/// The stretch of the summed dimension that is worked on at a time: its part of a panel takes half of a first-level
/// cache of 32 KiB.
const DEPTH_AT_ONCE: usize = 256;
/// Rows of the left operand that stay in the second-level cache meanwhile.
const ROWS_AT_ONCE: usize = 96;

/// A product large enough to be cut into pieces that fit the caches.
struct Blocked<'a> {
    rows: usize,
    left: Left<'a>,
    right: &'a Packed,
    c: &'a mut [f32],
    c_stride: usize,
    width: usize,
    accumulate: bool,
}

impl Blocked<'_> {
    fn run(self, isa: Isa) {
        let Self {
            right, c_stride, ..
        } = self;
        let most_rows = self.rows.min(ROWS_AT_ONCE);
        let most_depth = right.depth.min(DEPTH_AT_ONCE);
        let mut piece = vec![0.0; blocks(most_depth) * padded_rows(most_rows) * BLOCK];
        // Without a summed dimension there is one empty stretch of it, which clears the result.
        for start in (0..right.depth.max(1)).step_by(DEPTH_AT_ONCE) {
            let depth = DEPTH_AT_ONCE.min(right.depth - start);
            let accumulate = self.accumulate || start > 0;
            let panels: Vec<Panel> = (0..self.width.div_ceil(PANEL))
                .map(|index| Panel {
                    first_block: 0,
                    depth,
                    offset: (index * right.depth + start) * PANEL,
                })
                .collect();
            let (whole, partial) = panels.split_at(self.width / PANEL);
            for first in (0..self.rows).step_by(ROWS_AT_ONCE) {
                let rows = ROWS_AT_ONCE.min(self.rows - first);
                let stride = padded_rows(rows) * BLOCK;
                self.left.copy(
                    first..first + rows,
                    start..start + depth,
                    stride,
                    &mut piece,
                );
                let c = &mut self.c[first * c_stride..];
                Gemm {
                    input: &piece,
                    input_stride: stride,
                    output: &mut *c,
                    output_stride: PANEL,
                    rows,
                    panels: whole,
                    weights: &right.panels,
                }
                .run_into(isa, c_stride, accumulate);
                if partial.is_empty() {
                    continue;
                }
                let mut last = [0.0; ROWS_AT_ONCE * PANEL];
                Gemm {
                    input: &piece,
                    input_stride: stride,
                    output: &mut last,
                    output_stride: PANEL,
                    rows,
                    panels: partial,
                    weights: &right.panels,
                }
                .run(isa);
                let first_column = whole.len() * PANEL;
                for (row, sums) in last.chunks_exact(PANEL).enumerate().take(rows) {
                    let targets = &mut c[row * c_stride..][first_column..self.width];
                    for (target, &sum) in targets.iter_mut().zip(sums) {
                        *target = if accumulate { *target + sum } else { sum };
                    }
                }
            }
        }
    }
}

impl Left<'_> {
    /// Copies a piece in blocks, `[depth / 16][row][16]`.
    fn copy(&self, rows: Range<usize>, depth: Range<usize>, stride: usize, piece: &mut [f32]) {
        let row_count = rows.len();
        for (block, first) in depth.clone().step_by(BLOCK).enumerate() {
            let width = BLOCK.min(depth.end - first);
            let block = &mut piece[block * stride..][..row_count * BLOCK];
            let start = rows.start * self.row_stride + first * self.depth_stride;
            if self.depth_stride == 1 {
                for (row, line) in block.chunks_exact_mut(BLOCK).enumerate() {
                    let from = &self.values[start + row * self.row_stride..][..width];
                    line[..width].copy_from_slice(from);
                }
                continue;
            }
            for k in 0..width {
                let from = self.values[start + k * self.depth_stride..].iter();
                let places = block[k..].iter_mut().step_by(BLOCK);
                for (place, &value) in places.zip(from.step_by(self.row_stride)) {
                    *place = value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(length: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32 - 0.5
            })
            .collect()
    }

    #[test]
    fn product_equals_the_triple_loop_in_f64_for_all_remainders() {
        for isa in Isa::available() {
            println!("products on {isa}");
            product_equals_the_triple_loop(isa);
        }
    }

    fn product_equals_the_triple_loop(isa: Isa) {
        for rows in [1, 2, 5, 6, 7, 13, 25, 97] {
            for columns in [1, 7, 8, 9, 16, 17, 31, 40, 69] {
                for depth in [1, 3, 18, 259] {
                    let a = noise(rows * depth, 1);
                    let b = noise(depth * columns, 2);
                    let mut packed = Packed::default();
                    packed.rows(&b, depth, columns, columns);
                    for stride in [columns, columns.next_multiple_of(LANES), columns + 9] {
                        let mut c = vec![1.0; rows * stride];
                        let plain = Left {
                            values: &a,
                            row_stride: depth,
                            depth_stride: 1,
                        };
                        gemm_on(isa, rows, plain, &packed, &mut c, stride, false);
                        gemm_on(isa, rows, plain, &packed, &mut c, stride, true);
                        let written = columns.next_multiple_of(LANES).min(stride);
                        for (row, line) in c.chunks_exact(stride).enumerate() {
                            for (column, &got) in line.iter().enumerate() {
                                if column >= columns {
                                    let untouched = column >= written;
                                    assert_eq!(got, f32::from(u8::from(untouched)));
                                    continue;
                                }
                                let exact: f64 = (0..depth)
                                    .map(|k| {
                                        f64::from(a[row * depth + k])
                                            * f64::from(b[k * columns + column])
                                    })
                                    .sum();
                                let got = f64::from(got);
                                assert!((got - 2.0 * exact).abs() < 3e-5, "{got} {exact}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn transposed_operands_give_the_same_product() {
        Isa::available().into_iter().for_each(transposed_operands);
    }

    fn transposed_operands(isa: Isa) {
        for (rows, depth, columns) in [(11, 7, 19), (130, 300, 70)] {
            let a = noise(rows * depth, 3);
            let b = noise(depth * columns, 4);
            let transpose = |matrix: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..rows * columns)
                    .map(|index| matrix[index % rows * columns + index / rows])
                    .collect()
            };
            let mut packed = Packed::default();
            packed.rows(&b, depth, columns, columns);
            let stride = columns.next_multiple_of(LANES);
            let mut expected = vec![0.0; rows * stride];
            let left = Left {
                values: &a,
                row_stride: depth,
                depth_stride: 1,
            };
            gemm_on(isa, rows, left, &packed, &mut expected, stride, false);

            let (a_t, b_t) = (transpose(&a, rows, depth), transpose(&b, depth, columns));
            let mut packed_t = Packed::default();
            packed_t.transposed(&b_t, depth, columns);
            let mut got = vec![0.0; rows * stride];
            let left_t = Left {
                values: &a_t,
                row_stride: 1,
                depth_stride: rows,
            };
            gemm_on(isa, rows, left_t, &packed_t, &mut got, stride, false);
            assert_eq!(got, expected);
        }
    }
}
