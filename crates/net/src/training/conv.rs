//! 3x3 convolutions for training, forward and backward, with everything that touches their operands
//! element by element folded in.
//!
//! On a processor the arithmetic of a Winograd convolution is so cheap that walking the activations
//! once more for batch norm, activation, residual sum or statistics would cost a good part of it.
//! So the forward pass reads the *previous* convolution's raw output and normalises it on the way in
//! ([`Source`]), and gathers the statistics of its own output on the way out; the backward pass does the
//! same with gradients ([`gradient`](super::gradient)).
//!
//! Buffers are blocked: `[sample][channel / 16][y][x][16]`, channels padded with zeros to a multiple of sixteen.

use super::LANES;
pub use super::weights::ConvWeights;
use crate::kernels::gemm::Gemm;
use crate::kernels::lanes::{Job, Lanes};
use crate::kernels::layout::{PlaneLayout, TileLayout};
use crate::kernels::memory::Buffer;
use crate::kernels::passes::{self, HALVES, Place};
use crate::kernels::tiling::Tiling;
use crate::kernels::{BLOCK, Isa, blocks};

/// Tiles transformed together: enough to reuse the weights, few enough to stay in the second-level cache. Measured best
/// on boards of 9x9 and 19x19.
const TILES_AT_ONCE: usize = 64;

/// The size of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Board {
    /// A board of `height` rows and `width` columns.
    pub fn new(height: usize, width: usize) -> Self {
        Self { height, width }
    }

    /// Number of points.
    pub fn points(self) -> usize {
        self.height * self.width
    }

    /// Floats of one blocked sample with `channels` channels.
    pub fn sample(self, channels: usize) -> usize {
        padded(channels) * self.points()
    }

    /// Numbers of a plane without a border, in a block.
    pub(super) fn block_len(self) -> usize {
        self.points() * BLOCK
    }

    fn planes(self) -> PlaneLayout {
        PlaneLayout::new(self.height, self.width)
    }
}

/// Channels rounded up to whole blocks.
pub fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// Two numbers a channel: `y = scale·z + shift`.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    /// Factor a channel.
    pub scale: Vec<f32>,
    /// Addend a channel.
    pub shift: Vec<f32>,
}

impl Affine {
    pub(super) fn check(&self, channels: usize) {
        assert!(self.scale.len() >= channels && self.shift.len() >= channels);
    }

    /// The vectors of a block.
    #[inline(always)]
    pub(super) fn block<L: Lanes>(&self, block: usize) -> ([L; HALVES], [L; HALVES]) {
        (
            vectors(&self.scale[block * BLOCK..]),
            vectors(&self.shift[block * BLOCK..]),
        )
    }
}

/// The vectors of sixteen numbers; with lanes of sixteen the second one is not used.
#[inline(always)]
pub(super) fn vectors<L: Lanes>(numbers: &[f32]) -> [L; HALVES] {
    [L::read(numbers), L::read(&numbers[L::WIDTH % BLOCK..BLOCK])]
}

/// Where a convolution's input comes from.
pub enum Source<'a> {
    /// Activations as they are.
    Plain(&'a [f32]),
    /// `act(scale·z + shift)`, computed on the way in and not kept.
    Normalised {
        /// The previous convolution's raw output.
        z: &'a [f32],
        /// Its batch norm.
        norm: &'a Affine,
        /// Slope of the activation below zero.
        slope: f32,
    },
    /// `act(scale·z + shift + skip)`, computed on the way in and kept in `out`.
    Kept {
        /// The previous convolution's raw output.
        z: &'a [f32],
        /// Its batch norm.
        norm: &'a Affine,
        /// The residual branch, if there is one.
        skip: Option<&'a [f32]>,
        /// Slope of the activation below zero.
        slope: f32,
        /// Receives the activations.
        out: &'a mut [f32],
    },
}

impl Source<'_> {
    pub(super) fn check(&self, length: usize, channels: usize) {
        match self {
            Source::Plain(x) => assert_eq!(x.len(), length),
            Source::Normalised { z, norm, .. } => {
                assert_eq!(z.len(), length);
                norm.check(channels);
            }
            Source::Kept {
                z, norm, skip, out, ..
            } => {
                assert_eq!(z.len(), length);
                assert_eq!(out.len(), length);
                assert!(skip.is_none_or(|skip| skip.len() == length));
                norm.check(channels);
            }
        }
    }

    /// Writes plane `index` (a block of a sample, counted through) inside the zero border.
    #[inline(always)]
    fn read_plane<L: Lanes>(
        &mut self,
        board: Board,
        index: usize,
        block: usize,
        plane: &mut [f32],
    ) {
        let row = board.width * BLOCK;
        let planes = board.planes();
        for y in 0..board.height {
            let start = index * board.block_len() + y * row;
            let to = plane[planes.cell(y, 0)..][..row].chunks_exact_mut(BLOCK);
            match self {
                Source::Plain(x) => {
                    for (to, x) in to.zip(x[start..][..row].chunks_exact(BLOCK)) {
                        for half in (0..BLOCK).step_by(L::WIDTH) {
                            L::read(&x[half..]).write(&mut to[half..]);
                        }
                    }
                }
                Source::Normalised { z, norm, slope } => {
                    let (scale, shift) = norm.block::<L>(block);
                    let slope = L::splat(*slope);
                    for (to, z) in to.zip(z[start..][..row].chunks_exact(BLOCK)) {
                        for half in (0..BLOCK).step_by(L::WIDTH) {
                            let vector = half / L::WIDTH;
                            let value = L::read(&z[half..]).mul_add(scale[vector], shift[vector]);
                            let value = value.where_positive(value, value.mul(slope));
                            value.write(&mut to[half..]);
                        }
                    }
                }
                Source::Kept {
                    z,
                    norm,
                    skip,
                    slope,
                    out,
                } => {
                    let (scale, shift) = norm.block::<L>(block);
                    let slope = L::splat(*slope);
                    let z = &z[start..][..row];
                    let out = out[start..][..row].chunks_exact_mut(BLOCK);
                    let vectors = to.zip(z.chunks_exact(BLOCK)).zip(out);
                    // Without a branch the raw output stands in for it, times zero.
                    let share = L::splat(if skip.is_some() { 1.0 } else { 0.0 });
                    let skip = skip.map_or(z, |skip| &skip[start..][..row]);
                    for (((to, z), out), skip) in vectors.zip(skip.chunks_exact(BLOCK)) {
                        for half in (0..BLOCK).step_by(L::WIDTH) {
                            let vector = half / L::WIDTH;
                            let value = L::read(&z[half..]).mul_add(scale[vector], shift[vector]);
                            let value = L::read(&skip[half..]).mul_add(share, value);
                            let value = value.where_positive(value, value.mul(slope));
                            value.write(&mut to[half..]);
                            value.write(&mut out[half..]);
                        }
                    }
                }
            }
        }
    }
}

/// Two sums a channel, in f64 so that batches of any size keep their variance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Sum of the first quantity.
    pub first: Vec<f64>,
    /// Sum of the second quantity.
    pub second: Vec<f64>,
}

impl Sums {
    /// Zeros for `channels` channels.
    pub fn new(channels: usize) -> Self {
        Self {
            first: vec![0.0; padded(channels)],
            second: vec![0.0; padded(channels)],
        }
    }

    /// Adds another thread's sums.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.first.iter_mut().zip(&other.first) {
            *mine += theirs;
        }
        for (mine, theirs) in self.second.iter_mut().zip(&other.second) {
            *mine += theirs;
        }
    }

    #[inline(always)]
    pub(super) fn add_block<L: Lanes>(&mut self, block: usize, vectors: [(L, L); HALVES]) {
        for (vector, (first, second)) in vectors.into_iter().take(BLOCK / L::WIDTH).enumerate() {
            let (mut firsts, mut seconds) = ([0.0; BLOCK], [0.0; BLOCK]);
            first.write(&mut firsts);
            second.write(&mut seconds);
            let at = block * BLOCK + vector * L::WIDTH;
            for lane in 0..L::WIDTH {
                self.first[at + lane] += f64::from(firsts[lane]);
                self.second[at + lane] += f64::from(seconds[lane]);
            }
        }
    }
}

/// Working memory of one thread; grows to what the largest convolution needs.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Transformed inputs, later their gradients.
    pub(super) tiles_in: Buffer,
    /// Transformed outputs, or their gradients.
    pub(super) tiles_out: Buffer,
    /// A plane with its border of zeros.
    pub(super) bordered: Buffer,
    /// A plane without.
    pub(super) flat: Buffer,
}

impl Scratch {
    pub(super) fn fit(&mut self, board: Board, group: &Group<'_>) {
        let capacity = |blocks| TileLayout::capacity(group.tiling, blocks, group.most);
        grow(&mut self.tiles_in, capacity(group.in_blocks));
        grow(&mut self.tiles_out, capacity(group.out_blocks));
        // Borders lie elsewhere on another board.
        grow(&mut self.bordered, board.planes().plane_len);
        self.bordered.fill(0.0);
        grow(&mut self.flat, board.block_len());
    }
}

fn grow(buffer: &mut Buffer, length: usize) {
    if buffer.len() < length {
        *buffer = Buffer::zeroed(length);
    }
}

/// How samples are worked on: a few at a time.
pub(super) struct Group<'a> {
    pub(super) tiling: &'a Tiling,
    pub(super) in_blocks: usize,
    pub(super) out_blocks: usize,
    /// Samples at a time, at most.
    pub(super) most: usize,
}

impl<'a> Group<'a> {
    pub(super) fn new(weights: &'a ConvWeights, samples: usize) -> Self {
        let tiles = weights.tiling.tiles.len();
        // Groups of nearly equal size, so that the last one is not a single sample.
        let most = (TILES_AT_ONCE / tiles).clamp(1, samples.max(1));
        let groups = samples.div_ceil(most).max(1);
        Self {
            tiling: &weights.tiling,
            in_blocks: blocks(weights.inputs),
            out_blocks: blocks(weights.outputs),
            most: samples.div_ceil(groups).max(1),
        }
    }

    /// The layouts of inputs and outputs for so many samples.
    pub(super) fn layouts(&self, batch: usize) -> (TileLayout, TileLayout) {
        (
            TileLayout::new(self.tiling, self.in_blocks, batch),
            TileLayout::new(self.tiling, self.out_blocks, batch),
        )
    }
}

/// Convolves every sample of `source` into `z` and adds `Σz` and `Σz²` of each channel to `sums`.
///
/// # Panics
/// If a buffer does not hold the same number of whole samples as `z`, or the weights are of another board.
pub fn forward(
    board: Board,
    weights: &ConvWeights,
    mut source: Source<'_>,
    z: &mut [f32],
    sums: &mut Sums,
    scratch: &mut Scratch,
) {
    assert_eq!(board, weights.board);
    let (sample_in, sample_out) = (board.sample(weights.inputs), board.sample(weights.outputs));
    assert_eq!(z.len() % sample_out, 0, "whole samples");
    let samples = z.len() / sample_out;
    source.check(samples * sample_in, padded(weights.inputs));
    assert!(sums.first.len() >= padded(weights.outputs));
    let group = Group::new(weights, samples);
    scratch.fit(board, &group);
    let isa = weights.isa;
    for first in (0..samples).step_by(group.most) {
        let batch = group.most.min(samples - first);
        let (layout_in, layout_out) = group.layouts(batch);
        isa.run(Enter {
            board,
            tiling: group.tiling,
            source: &mut source,
            first,
            batch,
            blocks: group.in_blocks,
            plane: &mut scratch.bordered,
            tiles: &mut scratch.tiles_in,
        });
        multiply(
            isa,
            (group.tiling, batch),
            (&scratch.tiles_in, layout_in),
            &weights.forward,
            (&mut scratch.tiles_out, layout_out),
        );
        let z = &mut z[first * sample_out..][..batch * sample_out];
        isa.run(Leave {
            board,
            tiling: group.tiling,
            batch,
            products: &scratch.tiles_out,
            layout: layout_out,
            z,
            sums,
        });
    }
}

/// Multiplies transformed tiles with the weights of every point.
pub(super) fn multiply(
    isa: Isa,
    (tiling, batch): (&Tiling, usize),
    (input, layout_in): (&[f32], TileLayout),
    packed: &super::weights::Packed,
    (output, layout_out): (&mut [f32], TileLayout),
) {
    for point in 0..tiling.points() {
        let places = tiling.places_at(point, batch);
        let first = places.start * BLOCK;
        Gemm {
            input: &input[point * layout_in.point_stride + first..],
            input_stride: layout_in.block_stride,
            output: &mut output[point * layout_out.point_stride + first..],
            output_stride: layout_out.block_stride,
            rows: places.len(),
            panels: &packed.panels,
            weights: &packed.weights[point * packed.point_len..],
        }
        .run(isa);
    }
}

/// Reads a few samples and moves them to the points.
pub(super) struct Enter<'a, 'source> {
    pub(super) board: Board,
    pub(super) tiling: &'a Tiling,
    pub(super) source: &'a mut Source<'source>,
    pub(super) first: usize,
    pub(super) batch: usize,
    pub(super) blocks: usize,
    /// A plane whose border is zero.
    pub(super) plane: &'a mut [f32],
    pub(super) tiles: &'a mut [f32],
}

impl Job for Enter<'_, '_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let mut scratch = passes::Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (self.first + board) * self.blocks + block;
                self.source
                    .read_plane::<L>(self.board, index, block, self.plane);
                let place = Place {
                    tiling: self.tiling,
                    batch: self.batch,
                    board,
                    layout,
                };
                let tiles = &mut self.tiles[block * layout.block_stride..];
                passes::enter::<L, false>(place, self.plane, tiles, &mut scratch);
            }
        }
    }
}

/// Moves products back to the planes of a few samples.
struct Leave<'a> {
    board: Board,
    tiling: &'a Tiling,
    batch: usize,
    products: &'a [f32],
    layout: TileLayout,
    z: &'a mut [f32],
    sums: &'a mut Sums,
}

impl Job for Leave<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let planes = self.z.chunks_exact_mut(self.board.block_len());
        let blocks = planes.len() / self.batch;
        let mut scratch = passes::Scratch::new();
        for (index, plane) in planes.enumerate() {
            let (board, block) = (index / blocks, index % blocks);
            let place = Place {
                tiling: self.tiling,
                batch: self.batch,
                board,
                layout: self.layout,
            };
            let products = &self.products[block * self.layout.block_stride..];
            let vectors = passes::leave_summed::<L>(place, products, plane, &mut scratch);
            self.sums.add_block(block, vectors);
        }
    }
}
