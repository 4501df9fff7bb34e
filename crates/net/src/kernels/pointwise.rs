//! Passes over planes or vectors that look at every number once: scales with activations, sums over the board,
//! normalisation, products.

use super::BLOCK;
use super::activation::Act;
use super::isa::Isa;
use super::lanes::{Job, Lanes};
use super::layout::PlaneLayout;

/// Where the numbers of one position lie: `[block][row][column][16]` with gaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// From the start of a block to its first number.
    pub(crate) first: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) row_stride: usize,
    pub(crate) block_stride: usize,
}

impl Grid {
    /// The inside of planes, without their borders.
    pub(crate) fn planes(height: usize, width: usize) -> Self {
        let layout = PlaneLayout::new(height, width);
        Self {
            first: layout.cell(0, 0),
            rows: height,
            columns: width,
            row_stride: layout.row_stride,
            block_stride: layout.plane_len,
        }
    }

    /// One vector of a batch, `[block][position][16]`.
    pub(crate) fn vector(position: usize, block_stride: usize) -> Self {
        Self {
            first: position * BLOCK,
            rows: 1,
            columns: 1,
            row_stride: BLOCK,
            block_stride,
        }
    }

    /// Where the lines of one row of a block lie.
    #[inline(always)]
    fn row(&self, block: usize, row: usize) -> std::ops::Range<usize> {
        let start = block * self.block_stride + self.first + row * self.row_stride;
        start..start + self.columns * BLOCK
    }
}

/// `act(scale * (x + added) + bias)` for every number, with a scale and a bias for every plane.
pub(crate) struct Activate<'a> {
    pub(crate) grid: Grid,
    pub(crate) blocks: usize,
    /// One number per plane, blocks padded with zeros.
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
    /// One number per plane that is added first.
    pub(crate) added: Option<&'a [f32]>,
    pub(crate) act: Act,
    /// `None` if `to` is changed in place.
    pub(crate) from: Option<&'a [f32]>,
    pub(crate) to: &'a mut [f32],
}

impl Activate<'_> {
    pub(crate) fn run(self, isa: Isa) {
        isa.run(self);
    }
}

impl Job for Activate<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for block in 0..self.blocks {
            for half in (0..BLOCK).step_by(L::WIDTH) {
                let plane = block * BLOCK + half;
                let scale = L::read(&self.scale[plane..]);
                let mut bias = L::read(&self.bias[plane..]);
                if let Some(added) = self.added {
                    bias = L::read(&added[plane..]).mul_add(scale, bias);
                }
                for row in 0..self.grid.rows {
                    let range = self.grid.row(block, row);
                    match self.from {
                        Some(from) => {
                            let from = from[range.clone()].chunks_exact(BLOCK);
                            let to = self.to[range].chunks_exact_mut(BLOCK);
                            for (from, to) in from.zip(to) {
                                let x = L::read(&from[half..]).mul_add(scale, bias);
                                self.act.apply(x).write(&mut to[half..]);
                            }
                        }
                        None => {
                            for line in self.to[range].chunks_exact_mut(BLOCK) {
                                let x = L::read(&line[half..]).mul_add(scale, bias);
                                self.act.apply(x).write(&mut line[half..]);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Sums and maxima of planes, `[block][16]` each.
pub(crate) struct SumAndMax<'a> {
    pub(crate) grid: Grid,
    pub(crate) planes: &'a [f32],
    pub(crate) sums: &'a mut [f32],
    pub(crate) maxima: &'a mut [f32],
}

impl SumAndMax<'_> {
    pub(crate) fn run(self, isa: Isa) {
        isa.run(self);
    }
}

impl Job for SumAndMax<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let both = self.sums.chunks_exact_mut(BLOCK);
        let both = both.zip(self.maxima.chunks_exact_mut(BLOCK));
        for (block, (sums, maxima)) in both.enumerate() {
            for half in (0..BLOCK).step_by(L::WIDTH) {
                let (mut sum, mut max) = (L::zero(), L::splat(f32::NEG_INFINITY));
                for row in 0..self.grid.rows {
                    for line in self.planes[self.grid.row(block, row)].chunks_exact(BLOCK) {
                        let x = L::read(&line[half..]);
                        sum = sum.add(x);
                        max = max.max(x);
                    }
                }
                sum.write(&mut sums[half..]);
                max.write(&mut maxima[half..]);
            }
        }
    }
}

/// Sums of squares over all planes: one per point, `[row][column]`.
pub(crate) struct SquareSums<'a> {
    pub(crate) grid: Grid,
    pub(crate) blocks: usize,
    pub(crate) planes: &'a [f32],
    pub(crate) sums: &'a mut [f32],
}

impl SquareSums<'_> {
    pub(crate) fn run(self, isa: Isa) {
        isa.run(self);
    }
}

impl Job for SquareSums<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let columns = self.grid.columns;
        for (cell, total) in self.sums.iter_mut().enumerate() {
            let (row, column) = (cell / columns, cell % columns);
            let mut sum = L::zero();
            for block in 0..self.blocks {
                let start = self.grid.row(block, row).start + column * BLOCK;
                let line = &self.planes[start..start + BLOCK];
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    let x = L::read(&line[half..]);
                    sum = x.mul_add(x, sum);
                }
            }
            *total = total_of(sum);
        }
    }
}

/// The sum of all lanes.
#[inline(always)]
pub(crate) fn total_of<L: Lanes>(sum: L) -> f32 {
    let mut lanes = [0.0; BLOCK];
    sum.write(&mut lanes);
    lanes[..L::WIDTH].iter().sum()
}

#[inline(always)]
pub(crate) fn largest_of<L: Lanes>(max: L) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; BLOCK];
    max.write(&mut lanes);
    lanes.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// `act(x * factor of the point * scale + bias)` for every number.
pub(crate) struct Normalize<'a> {
    pub(crate) grid: Grid,
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
    /// One per point, `[row][column]`.
    pub(crate) factors: &'a [f32],
    pub(crate) act: Act,
    pub(crate) from: &'a [f32],
    pub(crate) to: &'a mut [f32],
}

impl Normalize<'_> {
    pub(crate) fn run(self, isa: Isa) {
        isa.run(self);
    }
}

impl Job for Normalize<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let both = self
            .scale
            .chunks_exact(BLOCK)
            .zip(self.bias.chunks_exact(BLOCK));
        for (block, (scale, bias)) in both.enumerate() {
            for half in (0..BLOCK).step_by(L::WIDTH) {
                let (scale, bias) = (L::read(&scale[half..]), L::read(&bias[half..]));
                let factors = self.factors.chunks_exact(self.grid.columns);
                for (row, factors) in factors.enumerate() {
                    let range = self.grid.row(block, row);
                    let from = self.from[range.clone()].chunks_exact(BLOCK);
                    let to = self.to[range].chunks_exact_mut(BLOCK);
                    for ((from, to), &factor) in from.zip(to).zip(factors) {
                        let x = L::read(&from[half..]).mul(L::splat(factor));
                        self.act
                            .apply(x.mul_add(scale, bias))
                            .write(&mut to[half..]);
                    }
                }
            }
        }
    }
}

/// `to *= by`, number by number.
pub(crate) struct Multiply<'a> {
    pub(crate) by: &'a [f32],
    pub(crate) to: &'a mut [f32],
}

impl Multiply<'_> {
    pub(crate) fn run(self, isa: Isa) {
        assert!(self.by.len() == self.to.len() && self.to.len().is_multiple_of(BLOCK));
        isa.run(self);
    }
}

impl Job for Multiply<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let by = self.by.chunks_exact(L::WIDTH);
        for (by, to) in by.zip(self.to.chunks_exact_mut(L::WIDTH)) {
            L::read(by).mul(L::read(to)).write(to);
        }
    }
}
