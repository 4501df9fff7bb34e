//! The matrix product under every layer.
//!
//! The left side are rows (tiles, cells or positions) in blocks of 16 numbers, `[block][row][16]`; the right side
//! are weights in panels of 16 outputs, `[input][16]`; the result has the form of the left side. Six rows of a panel
//! take twelve vector registers, two more hold a line of weights, one the number it is multiplied with: all that a
//! processor with sixteen of them has.

use super::lanes::{Isa, Job, LANES, Lanes};
use super::{BLOCK, blocks};

/// Rows computed at once.
const ROWS: usize = 6;

/// Where a panel of 16 outputs finds its inputs and weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel {
    /// The block of inputs it starts with.
    pub(crate) first_block: usize,
    /// How many inputs it reads.
    pub(crate) depth: usize,
    /// Where its weights start.
    pub(crate) offset: usize,
}

impl Panel {
    /// Numbers of weights.
    pub(crate) fn len(&self) -> usize {
        self.depth * BLOCK
    }
}

/// `out[panel] = rows x weights[panel]` for every panel.
pub(crate) struct Gemm<'a> {
    /// From the first row of the first block on.
    pub(crate) input: &'a [f32],
    /// From one block of inputs to the next.
    pub(crate) input_stride: usize,
    /// From the first row of the first panel on.
    pub(crate) output: &'a mut [f32],
    /// From one panel of outputs to the next.
    pub(crate) output_stride: usize,
    pub(crate) rows: usize,
    pub(crate) panels: &'a [Panel],
    /// All panels of this product and whatever comes after them.
    pub(crate) weights: &'a [f32],
}

impl Gemm<'_> {
    pub(crate) fn run(self, isa: Isa) {
        if self.rows == 0 {
            return;
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let last_block = panel.first_block + blocks(panel.depth);
            assert!(
                last_block > 0
                    && (last_block - 1) * self.input_stride + self.rows * BLOCK <= self.input.len()
            );
            assert!(panel.offset + panel.len() <= self.weights.len());
            assert!(index * self.output_stride + self.rows * BLOCK <= self.output.len());
        }
        isa.run(self);
    }
}

impl Job for Gemm<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let strips = self.rows.div_ceil(ROWS);
        // Strips of nearly equal height: a strip of one or two rows would wait for its own sums.
        let (height, taller) = (self.rows / strips, self.rows % strips);
        for (index, panel) in self.panels.iter().enumerate() {
            let lines_ahead = BLOCK.div_ceil(strips);
            let mut row = 0;
            for strip in 0..strips {
                let strip_rows = height + usize::from(strip < taller);
                let input = &self.input[panel.first_block * self.input_stride + row * BLOCK..];
                let output = &mut self.output[index * self.output_stride + row * BLOCK..];
                let weights = &self.weights[panel.offset..];
                let task = Strip {
                    depth: panel.depth,
                    input: input.as_ptr(),
                    input_stride: self.input_stride,
                    weights: weights.as_ptr(),
                    // The next panel, one share of it during each strip of this one.
                    ahead: weights
                        .as_ptr()
                        .wrapping_add(panel.len() + strip * lines_ahead * BLOCK),
                    lines_ahead,
                    lines_step: strips * lines_ahead * BLOCK,
                    output: output.as_mut_ptr(),
                };
                // SAFETY: `Gemm::run` has checked that all rows of every block, the panel's weights and the rows of
                // its outputs lie within the three slices.
                unsafe {
                    match strip_rows {
                        1 => task.run::<L, 1>(),
                        2 => task.run::<L, 2>(),
                        3 => task.run::<L, 3>(),
                        4 => task.run::<L, 4>(),
                        5 => task.run::<L, 5>(),
                        _ => task.run::<L, ROWS>(),
                    }
                }
                row += strip_rows;
            }
        }
    }
}

struct Strip {
    depth: usize,
    input: *const f32,
    input_stride: usize,
    weights: *const f32,
    ahead: *const f32,
    lines_ahead: usize,
    lines_step: usize,
    output: *mut f32,
}

impl Strip {
    /// # Safety
    ///
    /// `R` rows of every block that `depth` inputs reach, the weights and `R` rows of output lie in memory that may
    /// be read or written.
    #[inline(always)]
    unsafe fn run<L: Lanes, const R: usize>(self) {
        let mut sums = [[L::splat(0.0); 2]; R];
        let mut input = self.input;
        let mut weights = self.weights;
        let mut ahead = self.ahead;
        for _ in 0..self.depth / BLOCK {
            for line in 0..self.lines_ahead {
                L::prefetch(ahead.wrapping_add(line * BLOCK));
            }
            for k in 0..BLOCK {
                // SAFETY: input `k` of the block and its line of weights exist, see above.
                unsafe { step(&mut sums, input.add(k), weights.add(k * BLOCK)) };
            }
            input = input.wrapping_add(self.input_stride);
            weights = weights.wrapping_add(BLOCK * BLOCK);
            ahead = ahead.wrapping_add(self.lines_step);
        }
        for k in 0..self.depth % BLOCK {
            // SAFETY: input `k` of the block and its line of weights exist, see above.
            unsafe { step(&mut sums, input.add(k), weights.add(k * BLOCK)) };
        }
        for (row, sum) in sums.iter().enumerate() {
            // SAFETY: `R` rows of output may be written.
            unsafe {
                sum[0].store(self.output.add(row * BLOCK));
                sum[1].store(self.output.add(row * BLOCK + LANES));
            }
        }
    }
}

/// Adds one input of every row, times its line of weights.
///
/// # Safety
///
/// `R` rows of blocks can be read at `input`, one line of weights at `weights`.
#[inline(always)]
unsafe fn step<L: Lanes, const R: usize>(
    sums: &mut [[L; 2]; R],
    input: *const f32,
    weights: *const f32,
) {
    // SAFETY: the caller says so.
    unsafe {
        let left = L::load(weights);
        let right = L::load(weights.add(LANES));
        for (row, sum) in sums.iter_mut().enumerate() {
            let number = L::splat(*input.add(row * BLOCK));
            sum[0] = number.mul_add(left, sum[0]);
            sum[1] = number.mul_add(right, sum[1]);
        }
    }
}
