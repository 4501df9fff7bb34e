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
                panel.depth == 0
                    || (last_block - 1) * self.input_stride + self.rows * BLOCK <= self.input.len()
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
        for (index, panel) in self.panels.iter().enumerate() {
            let weights = &self.weights[panel.offset..];
            let task = PanelProduct {
                rows: self.rows,
                depth: panel.depth,
                input: self.input[panel.first_block * self.input_stride..].as_ptr(),
                input_stride: self.input_stride,
                weights: weights.as_ptr(),
                next_weights: weights.as_ptr().wrapping_add(panel.len()),
                output: self.output[index * self.output_stride..].as_mut_ptr(),
                output_stride: BLOCK,
                accumulate: false,
            };
            // SAFETY: `Gemm::run` has checked that all rows of every block, the panel's weights and the rows of its
            // outputs lie within the three slices.
            unsafe { task.run::<L>() };
        }
    }
}

/// The product of some rows with one panel.
pub(crate) struct PanelProduct {
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    /// `[block][row][16]`.
    pub(crate) input: *const f32,
    /// From one block of inputs to the next.
    pub(crate) input_stride: usize,
    /// `[input][16]`.
    pub(crate) weights: *const f32,
    /// The panel that is needed after this one: it is asked for meanwhile.
    pub(crate) next_weights: *const f32,
    pub(crate) output: *mut f32,
    /// From one row of outputs to the next.
    pub(crate) output_stride: usize,
    /// Add to what is there.
    pub(crate) accumulate: bool,
}

impl PanelProduct {
    /// # Safety
    ///
    /// All rows of every block that `depth` inputs reach, the weights and a line for every row of output lie in memory
    /// that may be read or written.
    #[inline(always)]
    pub(crate) unsafe fn run<L: Lanes>(self) {
        let strips = self.rows.div_ceil(ROWS);
        // Strips of nearly equal height: a strip of one or two rows would wait for its own sums.
        let (height, taller) = (self.rows / strips, self.rows % strips);
        // The next panel, one share of it during each strip of this one.
        let lines_ahead = BLOCK.div_ceil(strips);
        let mut row = 0;
        for strip in 0..strips {
            let strip_rows = height + usize::from(strip < taller);
            let task = Strip {
                depth: self.depth,
                input: self.input.wrapping_add(row * BLOCK),
                input_stride: self.input_stride,
                weights: self.weights,
                ahead: self.next_weights.wrapping_add(strip * lines_ahead * BLOCK),
                lines_ahead,
                lines_step: strips * lines_ahead * BLOCK,
                output: self.output.wrapping_add(row * self.output_stride),
                output_stride: self.output_stride,
                accumulate: self.accumulate,
            };
            // SAFETY: these rows are among those that the caller speaks of.
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

struct Strip {
    depth: usize,
    input: *const f32,
    input_stride: usize,
    weights: *const f32,
    ahead: *const f32,
    lines_ahead: usize,
    lines_step: usize,
    output: *mut f32,
    output_stride: usize,
    accumulate: bool,
}

impl Strip {
    /// # Safety
    ///
    /// `R` rows of every block that `depth` inputs reach, the weights and `R` rows of output lie in memory that may
    /// be read or written.
    #[inline(always)]
    unsafe fn run<L: Lanes, const R: usize>(self) {
        let mut sums = [[L::zero(); 2]; R];
        let mut input = self.input;
        let mut weights = self.weights;
        let mut ahead = self.ahead;
        for _ in 0..self.depth / BLOCK {
            for line in 0..self.lines_ahead {
                L::prefetch(ahead.wrapping_add(line * BLOCK));
            }
            for k in 0..BLOCK {
                // SAFETY: input `k` of the block and its line of weights exist, see above.
                unsafe { step(&mut sums, input.add(k), BLOCK, weights.add(k * BLOCK)) };
            }
            input = input.wrapping_add(self.input_stride);
            weights = weights.wrapping_add(BLOCK * BLOCK);
            ahead = ahead.wrapping_add(self.lines_step);
        }
        for k in 0..self.depth % BLOCK {
            // SAFETY: input `k` of the block and its line of weights exist, see above.
            unsafe { step(&mut sums, input.add(k), BLOCK, weights.add(k * BLOCK)) };
        }
        // SAFETY: `R` rows of output may be written.
        unsafe { keep(&sums, self.output, self.output_stride, self.accumulate) };
    }
}

/// Adds one input of every row, times its line of weights: the innermost of all loops here.
///
/// # Safety
///
/// A number can be read at `input` and at `R - 1` strides from it, `N` vectors of weights at `weights`.
#[inline(always)]
pub(crate) unsafe fn step<L: Lanes, const R: usize, const N: usize>(
    sums: &mut [[L; N]; R],
    input: *const f32,
    row_stride: usize,
    weights: *const f32,
) {
    // SAFETY: the caller says so.
    unsafe {
        let mut line = [L::zero(); N];
        for (vector, numbers) in line.iter_mut().enumerate() {
            *numbers = L::load(weights.add(vector * LANES));
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            let number = L::splat(*input.add(row * row_stride));
            for (sum, &numbers) in sums.iter_mut().zip(&line) {
                *sum = number.mul_add(numbers, *sum);
            }
        }
    }
}

/// Writes the sums of a strip, or adds them to what is there.
///
/// # Safety
///
/// `N` vectors can be read and written at `output` and at `R - 1` strides from it.
#[inline(always)]
pub(crate) unsafe fn keep<L: Lanes, const R: usize, const N: usize>(
    sums: &[[L; N]; R],
    output: *mut f32,
    row_stride: usize,
    accumulate: bool,
) {
    for (row, sums) in sums.iter().enumerate() {
        for (vector, &sum) in sums.iter().enumerate() {
            // SAFETY: the caller says so.
            unsafe {
                let to = output.add(row * row_stride + vector * LANES);
                let sum = if accumulate {
                    sum.add(L::load(to))
                } else {
                    sum
                };
                sum.store(to);
            }
        }
    }
}
