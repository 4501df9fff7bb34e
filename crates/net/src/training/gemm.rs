//! Matrix products for training: `C = A·B` or `C += A·B`, single-threaded.
//!
//! `B` is always packed in panels of sixteen columns so that the inner loop streams it; `A` is read
//! in place through two or three strides, which covers plain, transposed and channel-blocked
//! operands without copying them.

use std::ops::Range;

use crate::kernels::gemm::{PanelProduct, keep, step};
use crate::kernels::lanes::{Isa, Job, LANES, Lanes};
use crate::kernels::{BLOCK, blocks, padded_rows};

/// Columns of one packed panel: two vectors.
pub const PANEL: usize = BLOCK;
/// Rows of the register tile: 6 rows of 2 vectors leave registers for the operands.
const TILE_ROWS: usize = 6;

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
    /// The numbers.
    pub values: &'a [f32],
    /// Distance between rows.
    pub row_stride: usize,
    /// Distance between neighbours along the summed dimension.
    pub depth_stride: usize,
}

/// `C = A·B`, or `C += A·B` with `accumulate`; row `i` of `C` starts at `i * c_stride` and holds the columns, rounded
/// up to a multiple of eight if the stride has room for that (the surplus columns receive zeros).
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
        Isa::detect().run(Blocked {
            rows,
            left,
            right,
            c,
            c_stride,
            width,
            accumulate,
        });
        return;
    }
    Isa::detect().run(Product {
        rows,
        width,
        depth: Depth {
            inner: depth,
            outer: 1,
            outer_stride: 0,
        },
        a: left.values.as_ptr(),
        a_row: left.row_stride,
        a_depth: left.depth_stride,
        b: right.panels.as_ptr(),
        c: c.as_mut_ptr(),
        c_row: c_stride,
        accumulate,
    });
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

impl Job for Blocked<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self) {
        let Self {
            right, c_stride, ..
        } = self;
        let most_rows = self.rows.min(ROWS_AT_ONCE);
        let most_depth = right.depth.min(DEPTH_AT_ONCE);
        let mut piece = vec![0.0; blocks(most_depth) * padded_rows(most_rows) * BLOCK];
        let panel_length = right.depth * PANEL;
        // Without a summed dimension there is one empty stretch of it, which clears the result.
        for start in (0..right.depth.max(1)).step_by(DEPTH_AT_ONCE) {
            let depth = DEPTH_AT_ONCE.min(right.depth - start);
            let accumulate = self.accumulate || start > 0;
            for first in (0..self.rows).step_by(ROWS_AT_ONCE) {
                let rows = ROWS_AT_ONCE.min(self.rows - first);
                let stride = padded_rows(rows) * BLOCK;
                self.left.copy(
                    first..first + rows,
                    start..start + depth,
                    stride,
                    &mut piece,
                );
                for column in (0..self.width).step_by(PANEL) {
                    let at = first * c_stride + column;
                    let weights =
                        right.panels[column / PANEL * panel_length + start * PANEL..].as_ptr();
                    let mut product = PanelProduct {
                        rows,
                        depth,
                        input: piece.as_ptr(),
                        input_stride: stride,
                        weights,
                        next_weights: weights.wrapping_add(panel_length),
                        output: self.c[at..].as_mut_ptr(),
                        output_stride: c_stride,
                        accumulate,
                    };
                    let width = PANEL.min(self.width - column);
                    if width == PANEL {
                        // SAFETY: the piece holds `rows` rows of `depth` numbers, the panel `depth` lines from here;
                        // `gemm` has checked that `c` holds `width` columns of all rows.
                        unsafe { product.run::<V>() };
                        continue;
                    }
                    let mut last = [0.0; ROWS_AT_ONCE * PANEL];
                    product.output = last.as_mut_ptr();
                    product.output_stride = PANEL;
                    product.accumulate = false;
                    // SAFETY: as above, with room for all rows in `last`.
                    unsafe { product.run::<V>() };
                    for (row, sums) in last.chunks_exact(PANEL).enumerate().take(rows) {
                        let targets = &mut self.c[at + row * c_stride..][..width];
                        for (target, &sum) in targets.iter_mut().zip(sums) {
                            *target = if accumulate { *target + sum } else { sum };
                        }
                    }
                }
            }
        }
    }
}

impl Left<'_> {
    /// Copies a piece in blocks, `[depth / 16][row][16]`.
    #[inline(always)]
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

/// The summed dimension of the left operand, possibly cut into outer blocks.
#[derive(Clone, Copy)]
pub(crate) struct Depth {
    pub inner: usize,
    pub outer: usize,
    pub outer_stride: usize,
}

/// One product over raw operands, sizes already checked by whoever builds it.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    pub rows: usize,
    /// Columns to write, a multiple of eight.
    pub width: usize,
    pub depth: Depth,
    pub a: *const f32,
    pub a_row: usize,
    pub a_depth: usize,
    /// Panels of sixteen columns, each `depth.inner * depth.outer` rows long.
    pub b: *const f32,
    pub c: *mut f32,
    pub c_row: usize,
    pub accumulate: bool,
}

impl Job for Product {
    #[inline(always)]
    fn run<V: Lanes>(self) {
        // SAFETY: `gemm` and the convolution check the operand sizes before they build a product.
        unsafe { self.multiply::<V>() }
    }
}

impl Product {
    /// # Safety
    /// The pointers must cover the operands the sizes and strides describe.
    #[inline(always)]
    pub(crate) unsafe fn multiply<V: Lanes>(self) {
        let blocks = self.rows.div_ceil(TILE_ROWS);
        let panel_length = self.depth.inner * self.depth.outer * PANEL;
        let mut column = 0;
        while column < self.width {
            let half = self.width - column == LANES;
            let b = self.b.wrapping_add(column / PANEL * panel_length);
            let mut row = 0;
            for block in 0..blocks {
                // Rows are spread evenly over the blocks: 25 rows are five fives, not four sixes and a one.
                let next = (block + 1) * self.rows / blocks;
                let tile = Tile {
                    depth: self.depth,
                    a: self.a.wrapping_add(row * self.a_row),
                    a_row: self.a_row,
                    a_depth: self.a_depth,
                    b,
                    c: self.c.wrapping_add(row * self.c_row + column),
                    c_row: self.c_row,
                    accumulate: self.accumulate,
                };
                // SAFETY: rows `row..next` and sixteen (or the last eight) columns lie inside the operands.
                unsafe {
                    match (next - row, half) {
                        (6, false) => tile.multiply::<V, 6, 2>(),
                        (5, false) => tile.multiply::<V, 5, 2>(),
                        (4, false) => tile.multiply::<V, 4, 2>(),
                        (3, false) => tile.multiply::<V, 3, 2>(),
                        (2, false) => tile.multiply::<V, 2, 2>(),
                        (1, false) => tile.multiply::<V, 1, 2>(),
                        (6, true) => tile.multiply::<V, 6, 1>(),
                        (5, true) => tile.multiply::<V, 5, 1>(),
                        (4, true) => tile.multiply::<V, 4, 1>(),
                        (3, true) => tile.multiply::<V, 3, 1>(),
                        (2, true) => tile.multiply::<V, 2, 1>(),
                        _ => tile.multiply::<V, 1, 1>(),
                    }
                }
                row = next;
            }
            column += PANEL;
        }
    }
}

/// One register tile of the result.
#[derive(Clone, Copy)]
struct Tile {
    depth: Depth,
    a: *const f32,
    a_row: usize,
    a_depth: usize,
    b: *const f32,
    c: *mut f32,
    c_row: usize,
    accumulate: bool,
}

impl Tile {
    /// # Safety
    /// The pointers must cover `R` rows and `N` vectors of columns of the operands.
    #[inline(always)]
    unsafe fn multiply<V: Lanes, const R: usize, const N: usize>(self) {
        // SAFETY: every access stays within the rows and columns the caller vouches for.
        unsafe {
            let mut sums = [[V::zero(); N]; R];
            let mut b = self.b;
            for outer in 0..self.depth.outer {
                let mut a = self.a.add(outer * self.depth.outer_stride);
                for _ in 0..self.depth.inner {
                    step(&mut sums, a, self.a_row, b);
                    a = a.wrapping_add(self.a_depth);
                    b = b.add(PANEL);
                }
            }
            keep(&sums, self.c, self.c_row, self.accumulate);
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
                        gemm(rows, plain, &packed, &mut c, stride, false);
                        gemm(rows, plain, &packed, &mut c, stride, true);
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
            gemm(rows, left, &packed, &mut expected, stride, false);

            let (a_t, b_t) = (transpose(&a, rows, depth), transpose(&b, depth, columns));
            let mut packed_t = Packed::default();
            packed_t.transposed(&b_t, depth, columns);
            let mut got = vec![0.0; rows * stride];
            let left_t = Left {
                values: &a_t,
                row_stride: 1,
                depth_stride: rows,
            };
            gemm(rows, left_t, &packed_t, &mut got, stride, false);
            assert_eq!(got, expected);
        }
    }
}
