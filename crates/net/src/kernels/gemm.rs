//! The matrix product under every layer.
//!
//! The left side are rows (tiles, cells or positions) in blocks of 16 numbers, `[block][row][16]`; the right side
//! are weights in panels of 16 outputs, `[input][16]`; the result has the form of the left side. With AVX2, six rows
//! of a panel take twelve vector registers, two more hold a line of weights, one the number it is multiplied with:
//! all that a processor with sixteen of them has. With AVX-512, twelve rows of two panels take 24 of its 32 registers.

use super::isa::Isa;
use super::lanes::{Job, Lanes};
use super::{BLOCK, blocks};

/// Rows computed at once: of one panel with vectors of 8, of two with vectors of 16.
const ROWS: usize = 6;
const WIDE_ROWS: usize = 12;

/// Rows a kernel of these lanes computes at once.
#[inline(always)]
const fn most_rows<L: Lanes>() -> usize {
    if L::WIDTH == BLOCK { WIDE_ROWS } else { ROWS }
}

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
    /// Writes rows of 16 that follow one another.
    pub(crate) fn run(self, isa: Isa) {
        self.run_into(isa, BLOCK, false);
    }

    /// The same for inputs and weights of bf16: every number of either holds two of them, so that a block of 16 is one
    /// of 32 inputs, and a panel's depth counts pairs.
    pub(crate) fn run_pairs(self, isa: Isa) {
        if self.check(BLOCK) {
            isa.run_pairs(CheckedGemm::<true> {
                gemm: self,
                output_row: BLOCK,
                accumulate: false,
            });
        }
    }

    /// Writes rows that lie `output_row` apart, or adds to what is there.
    pub(crate) fn run_into(self, isa: Isa, output_row: usize, accumulate: bool) {
        if self.check(output_row) {
            isa.run(CheckedGemm::<false> {
                gemm: self,
                output_row,
                accumulate,
            });
        }
    }

    /// Returns whether there is anything to do.
    fn check(&self, output_row: usize) -> bool {
        if self.rows == 0 {
            return false;
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let last_block = panel.first_block + blocks(panel.depth);
            assert!(
                panel.depth == 0
                    || (last_block - 1) * self.input_stride + self.rows * BLOCK <= self.input.len()
            );
            assert!(panel.offset + panel.len() <= self.weights.len());
            let last_row = index * self.output_stride + (self.rows - 1) * output_row;
            assert!(last_row + BLOCK <= self.output.len());
        }
        true
    }
}

/// A product whose operands are known to be long enough.
struct CheckedGemm<'a, const PAIRS: bool> {
    gemm: Gemm<'a>,
    output_row: usize,
    accumulate: bool,
}

impl<const PAIRS: bool> Job for CheckedGemm<'_, PAIRS> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let gemm = self.gemm;
        let mut index = 0;
        while let Some(panel) = gemm.panels.get(index) {
            let weights = gemm.weights[panel.offset..].as_ptr();
            let output = gemm.output[index * gemm.output_stride..].as_mut_ptr();
            // Two panels that read the same inputs share every number that is read of them.
            let second = gemm.panels.get(index + 1).filter(|second| {
                L::WIDTH == BLOCK
                    && second.first_block == panel.first_block
                    && second.depth == panel.depth
            });
            let count = 1 + usize::from(second.is_some());
            let task = PanelProduct {
                rows: gemm.rows,
                depth: panel.depth,
                input: gemm.input[panel.first_block * gemm.input_stride..].as_ptr(),
                input_stride: gemm.input_stride,
                weights,
                ahead: weights.wrapping_add(count * panel.len()),
                output,
                output_stride: self.output_row,
                accumulate: self.accumulate,
            };
            // SAFETY: `Gemm::run_into` has checked that all rows of every block, each panel's weights and the rows of
            // its outputs lie within the three slices.
            unsafe {
                match second {
                    Some(second) => task.run_two::<L, PAIRS>(
                        gemm.weights[second.offset..].as_ptr(),
                        output.wrapping_add(gemm.output_stride),
                    ),
                    None => task.run_one::<L, PAIRS>(),
                }
            }
            index += count;
        }
    }
}

/// The product of some rows with one panel, or with two.
struct PanelProduct {
    rows: usize,
    depth: usize,
    /// `[block][row][16]`.
    input: *const f32,
    /// From one block of inputs to the next.
    input_stride: usize,
    /// `[input][16]`.
    weights: *const f32,
    /// The panels that are needed after this one or these two: they are asked for meanwhile.
    ahead: *const f32,
    output: *mut f32,
    /// From one row of outputs to the next.
    output_stride: usize,
    /// Add to what is there.
    accumulate: bool,
}

impl PanelProduct {
    /// # Safety
    ///
    /// All rows of every block that `depth` inputs reach, the weights and a line for every row of output lie in memory
    /// that may be read or written.
    #[inline(always)]
    unsafe fn run_one<L: Lanes, const PAIRS: bool>(self) {
        let (weights, output) = (self.weights, self.output);
        // SAFETY: a panel is one vector of 16 numbers or two of 8.
        unsafe {
            if L::WIDTH == BLOCK {
                self.strips::<L, 1, PAIRS>([weights], [output]);
            } else {
                self.strips::<L, 2, PAIRS>(
                    [weights, weights.wrapping_add(L::WIDTH)],
                    [output, output.wrapping_add(L::WIDTH)],
                );
            }
        }
    }

    /// The same for two panels at once, if the lanes are as wide as a panel.
    ///
    /// # Safety
    ///
    /// As above, for the second panel as well.
    #[inline(always)]
    unsafe fn run_two<L: Lanes, const PAIRS: bool>(self, weights: *const f32, output: *mut f32) {
        assert!(L::WIDTH == BLOCK);
        let (weights, output) = ([self.weights, weights], [self.output, output]);
        // SAFETY: the caller says so.
        unsafe { self.strips::<L, 2, PAIRS>(weights, output) }
    }

    #[inline(always)]
    unsafe fn strips<L: Lanes, const N: usize, const PAIRS: bool>(
        self,
        weights: [*const f32; N],
        outputs: [*mut f32; N],
    ) {
        let strips = self.rows.div_ceil(most_rows::<L>());
        // Strips of nearly equal height: a strip of one or two rows would wait for its own sums.
        let (height, taller) = (self.rows / strips, self.rows % strips);
        // The next panels, one share of them during each strip of this one.
        let lines_ahead = (N * L::WIDTH).div_ceil(strips);
        let mut row = 0;
        for strip in 0..strips {
            let strip_rows = height + usize::from(strip < taller);
            let task = Strip {
                depth: self.depth,
                input: self.input.wrapping_add(row * BLOCK),
                input_stride: self.input_stride,
                weights,
                ahead: self.ahead.wrapping_add(strip * lines_ahead * BLOCK),
                lines_ahead,
                lines_step: strips * lines_ahead * BLOCK,
                outputs: outputs.map(|output| output.wrapping_add(row * self.output_stride)),
                output_stride: self.output_stride,
                accumulate: self.accumulate,
            };
            // SAFETY: these rows are among those that the caller speaks of.
            unsafe {
                match strip_rows {
                    1 => task.run::<L, PAIRS, 1>(),
                    2 => task.run::<L, PAIRS, 2>(),
                    3 => task.run::<L, PAIRS, 3>(),
                    4 => task.run::<L, PAIRS, 4>(),
                    5 => task.run::<L, PAIRS, 5>(),
                    6 => task.run::<L, PAIRS, 6>(),
                    7 if L::WIDTH == BLOCK => task.run::<L, PAIRS, 7>(),
                    8 if L::WIDTH == BLOCK => task.run::<L, PAIRS, 8>(),
                    9 if L::WIDTH == BLOCK => task.run::<L, PAIRS, 9>(),
                    10 if L::WIDTH == BLOCK => task.run::<L, PAIRS, 10>(),
                    11 if L::WIDTH == BLOCK => task.run::<L, PAIRS, 11>(),
                    _ if L::WIDTH == BLOCK => task.run::<L, PAIRS, WIDE_ROWS>(),
                    _ => unreachable!("a strip has at most {ROWS} rows"),
                }
            }
            row += strip_rows;
        }
    }
}

/// A few rows by `N` vectors.
struct Strip<const N: usize> {
    depth: usize,
    input: *const f32,
    input_stride: usize,
    weights: [*const f32; N],
    ahead: *const f32,
    lines_ahead: usize,
    lines_step: usize,
    outputs: [*mut f32; N],
    output_stride: usize,
    accumulate: bool,
}

impl<const N: usize> Strip<N> {
    /// # Safety
    ///
    /// `R` rows of every block that `depth` inputs reach, the weights and `R` rows of output lie in memory that may
    /// be read or written.
    #[inline(always)]
    unsafe fn run<L: Lanes, const PAIRS: bool, const R: usize>(self) {
        let mut sums = [[L::zero(); N]; R];
        let mut input = self.input;
        let mut weights = self.weights;
        let mut ahead = self.ahead;
        for _ in 0..self.depth / BLOCK {
            for line in 0..self.lines_ahead {
                L::prefetch(ahead.wrapping_add(line * BLOCK));
            }
            for k in 0..BLOCK {
                // SAFETY: input `k` of the block and its line of weights exist, see above.
                unsafe {
                    step::<L, PAIRS, R, N>(&mut sums, input.add(k), BLOCK, weights, k * BLOCK)
                };
            }
            input = input.wrapping_add(self.input_stride);
            weights = weights.map(|weights| weights.wrapping_add(BLOCK * BLOCK));
            ahead = ahead.wrapping_add(self.lines_step);
        }
        for k in 0..self.depth % BLOCK {
            // SAFETY: input `k` of the block and its line of weights exist, see above.
            unsafe { step::<L, PAIRS, R, N>(&mut sums, input.add(k), BLOCK, weights, k * BLOCK) };
        }
        // SAFETY: `R` rows of output may be written.
        unsafe { keep(&sums, self.outputs, self.output_stride, self.accumulate) };
    }
}

/// Adds one input of every row, times its line of weights: the innermost of all loops here.
///
/// # Safety
///
/// A number can be read at `input` and at `R - 1` strides from it, a vector at `line` numbers from each of `weights`.
#[inline(always)]
unsafe fn step<L: Lanes, const PAIRS: bool, const R: usize, const N: usize>(
    sums: &mut [[L; N]; R],
    input: *const f32,
    row_stride: usize,
    weights: [*const f32; N],
    line: usize,
) {
    // SAFETY: the caller says so.
    unsafe {
        let mut lines = [L::zero(); N];
        for (numbers, weights) in lines.iter_mut().zip(weights) {
            *numbers = L::load(weights.add(line));
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            let number = L::splat(*input.add(row * row_stride));
            for (sum, &numbers) in sums.iter_mut().zip(&lines) {
                *sum = if PAIRS {
                    sum.dot_pairs(number, numbers)
                } else {
                    number.mul_add(numbers, *sum)
                };
            }
        }
    }
}

/// Writes the sums of a strip, or adds them to what is there.
///
/// # Safety
///
/// A vector can be read and written at each of `outputs` and at `R - 1` strides from it.
#[inline(always)]
unsafe fn keep<L: Lanes, const R: usize, const N: usize>(
    sums: &[[L; N]; R],
    outputs: [*mut f32; N],
    row_stride: usize,
    accumulate: bool,
) {
    for (row, sums) in sums.iter().enumerate() {
        for (&sum, output) in sums.iter().zip(outputs) {
            // SAFETY: the caller says so.
            unsafe {
                let to = output.add(row * row_stride);
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

/// `sums[panel] (+)= left x right[panel]` with a left side that is read through strides: element `(row, k)` lies at
/// `row * row_stride + k * depth_stride`. For left sides that are transposed, or too narrow to be worth a copy.
pub(crate) struct Strided<'a> {
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    pub(crate) left: &'a [f32],
    pub(crate) row_stride: usize,
    pub(crate) depth_stride: usize,
    /// Panels of `depth` lines of 16.
    pub(crate) right: &'a [f32],
    /// From one panel to the next.
    pub(crate) right_stride: usize,
    pub(crate) panels: usize,
    pub(crate) sums: &'a mut [f32],
    /// From one row of sums to the next.
    pub(crate) sums_row: usize,
    /// From the sums of one panel to those of the next.
    pub(crate) sums_stride: usize,
    /// Add to what is there.
    pub(crate) accumulate: bool,
}

impl Strided<'_> {
    pub(crate) fn run(self, isa: Isa) {
        if self.rows == 0 || self.panels == 0 {
            return;
        }
        let last = self.panels - 1;
        assert!(last * self.right_stride + self.depth * BLOCK <= self.right.len());
        assert!(
            last * self.sums_stride + (self.rows - 1) * self.sums_row + BLOCK <= self.sums.len()
        );
        assert!(
            self.depth == 0
                || (self.rows - 1) * self.row_stride + (self.depth - 1) * self.depth_stride
                    < self.left.len()
        );
        isa.run(self);
    }
}

impl Job for Strided<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut panel = 0;
        while panel < self.panels {
            let right = self.right[panel * self.right_stride..].as_ptr();
            let sums = self.sums[panel * self.sums_stride..].as_mut_ptr();
            // SAFETY: `Strided::run` has checked that the left side, each panel and its sums lie within the slices.
            unsafe {
                if L::WIDTH < BLOCK {
                    let halves = right.wrapping_add(L::WIDTH);
                    self.strips::<L, 2>([right, halves], [sums, sums.wrapping_add(L::WIDTH)]);
                } else if panel + 1 < self.panels {
                    let second = right.wrapping_add(self.right_stride);
                    self.strips::<L, 2>(
                        [right, second],
                        [sums, sums.wrapping_add(self.sums_stride)],
                    );
                    panel += 1;
                } else {
                    self.strips::<L, 1>([right], [sums]);
                }
            }
            panel += 1;
        }
    }
}

impl Strided<'_> {
    #[inline(always)]
    unsafe fn strips<L: Lanes, const N: usize>(&self, right: [*const f32; N], sums: [*mut f32; N]) {
        let most = if L::WIDTH == BLOCK { 8 } else { ROWS };
        let strips = self.rows.div_ceil(most);
        let mut row = 0;
        for strip in 0..strips {
            // Rows are spread evenly: 25 rows are five fives, not four sixes and a one.
            let next = (strip + 1) * self.rows / strips;
            let sums = sums.map(|sums| sums.wrapping_add(row * self.sums_row));
            // SAFETY: rows `row..next` exist, as the caller has checked.
            unsafe {
                match next - row {
                    1 => self.strip::<L, 1, N>(row, right, sums),
                    2 => self.strip::<L, 2, N>(row, right, sums),
                    3 => self.strip::<L, 3, N>(row, right, sums),
                    4 => self.strip::<L, 4, N>(row, right, sums),
                    5 => self.strip::<L, 5, N>(row, right, sums),
                    6 => self.strip::<L, 6, N>(row, right, sums),
                    7 if L::WIDTH == BLOCK => self.strip::<L, 7, N>(row, right, sums),
                    _ if L::WIDTH == BLOCK => self.strip::<L, 8, N>(row, right, sums),
                    _ => unreachable!("a strip has at most {ROWS} rows"),
                }
            }
            row = next;
        }
    }

    #[inline(always)]
    unsafe fn strip<L: Lanes, const R: usize, const N: usize>(
        &self,
        row: usize,
        right: [*const f32; N],
        outputs: [*mut f32; N],
    ) {
        let mut sums = [[L::zero(); N]; R];
        let mut left = self.left.as_ptr().wrapping_add(row * self.row_stride);
        for k in 0..self.depth {
            // SAFETY: element `k` of these rows and line `k` of the panels exist, as the caller has checked.
            unsafe { step::<L, false, R, N>(&mut sums, left, self.row_stride, right, k * BLOCK) };
            left = left.wrapping_add(self.depth_stride);
        }
        // SAFETY: as above, for the sums of these rows.
        unsafe { keep(&sums, outputs, self.sums_row, self.accumulate) };
    }
}
