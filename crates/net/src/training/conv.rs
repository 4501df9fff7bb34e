//! 3x3 convolutions for training, forward and backward, with everything that touches their operands
//! element by element folded in.
//!
//! On a processor the arithmetic of a Winograd convolution is so cheap that walking the activations
//! once more for batch norm, activation, residual sum or statistics would cost a good part of it.
//! So the forward pass reads the *previous* convolution's raw output and normalises it on the way in
//! ([`Source`]), and gathers the statistics of its own output on the way out; the backward pass does the
//! same with gradients ([`gradient`](super::gradient)).
//!
//! Buffers are blocked: `[sample][channel / 8][y][x][8]`, channels padded with zeros to a multiple of eight.

use std::ops::Range;

use super::gemm::{Depth, PANEL, Product};
use super::winograd::{self, POINTS, TILE, WINDOW};
use crate::kernels::lanes::{Isa, Job, LANES, Lanes};

/// Tiles transformed together: enough to reuse the weights, few enough to stay in the second-level cache. Measured best
/// on boards of 8x16 and 19x19.
const TILES_AT_ONCE: usize = 24;

/// A board and its cut into tiles.
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

    pub(super) fn tiles_down(self) -> usize {
        self.height.div_ceil(TILE)
    }

    pub(super) fn tiles_across(self) -> usize {
        self.width.div_ceil(TILE)
    }

    pub(super) fn tiles(self) -> usize {
        self.tiles_down() * self.tiles_across()
    }

    /// Samples transformed together.
    pub(super) fn group(self) -> usize {
        ((TILES_AT_ONCE + self.tiles() / 2) / self.tiles()).max(1)
    }

    /// Width of the zero-bordered scratch board.
    pub(super) fn bordered_width(self) -> usize {
        self.tiles_across() * TILE + 2
    }

    pub(super) fn bordered_points(self) -> usize {
        (self.tiles_down() * TILE + 2) * self.bordered_width()
    }
}

/// Channels rounded up to whole blocks.
pub fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// The weights of one 3x3 convolution in the transformed domain, packed for both directions.
#[derive(Clone, Debug)]
pub struct ConvWeights {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// `[point][output panel][input][16]`.
    forward: Vec<f32>,
    /// `[point][input panel][output, padded to whole panels][16]`.
    pub(super) backward: Vec<f32>,
}

impl ConvWeights {
    /// Room for a convolution from `inputs` to `outputs` channels; all zero until [`Self::set`].
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let (wide_in, wide_out) = (padded(inputs), padded(outputs));
        Self {
            inputs,
            outputs,
            forward: vec![0.0; POINTS * wide_out.next_multiple_of(PANEL) * wide_in],
            backward: vec![
                0.0;
                POINTS
                    * wide_in.next_multiple_of(PANEL)
                    * wide_out.next_multiple_of(PANEL)
            ],
        }
    }

    /// Transforms weights in `[output][input][3][3]` order.
    ///
    /// # Panics
    /// If the length is not `outputs * inputs * 9`.
    pub fn set(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.outputs * self.inputs * 9);
        let (wide_in, wide_out) = (padded(self.inputs), padded(self.outputs));
        let forward_point = wide_out.next_multiple_of(PANEL) * wide_in;
        let deep_out = wide_out.next_multiple_of(PANEL);
        let backward_point = wide_in.next_multiple_of(PANEL) * deep_out;
        let (kernels, _) = weights.as_chunks::<9>();
        for (index, kernel) in kernels.iter().enumerate() {
            let (output, input) = (index / self.inputs, index % self.inputs);
            let forward = (output / PANEL * wide_in + input) * PANEL + output % PANEL;
            let backward = (input / PANEL * deep_out + output) * PANEL + input % PANEL;
            for (point, value) in winograd::weights(kernel).into_iter().enumerate() {
                self.forward[point * forward_point + forward] = value;
                self.backward[point * backward_point + backward] = value;
            }
        }
    }

    /// Floats of a gradient in the transformed domain, as [`backward`](super::gradient::backward) accumulates it.
    pub fn gradient_length(&self) -> usize {
        POINTS * padded(self.inputs) * padded(self.outputs)
    }

    /// Adds transformed gradients, which several threads made of their samples, to the rows `outputs` of one in
    /// `[output][input][3][3]` order; `rows` holds those rows alone, so that threads can share the work.
    pub fn add_gradient(&self, transformed: &[Vec<f32>], outputs: Range<usize>, rows: &mut [f32]) {
        let (wide_in, wide_out) = (padded(self.inputs), padded(self.outputs));
        let (kernels, _) = rows.as_chunks_mut::<9>();
        for input in 0..self.inputs {
            for (row, output) in outputs.clone().enumerate() {
                let at = input * wide_out + output;
                let points = std::array::from_fn(|point| {
                    let index = point * wide_in * wide_out + at;
                    transformed.iter().map(|gradient| gradient[index]).sum()
                });
                let reduced = winograd::weights_transposed(&points);
                for (target, value) in kernels[row * self.inputs + input].iter_mut().zip(reduced) {
                    *target += value;
                }
            }
        }
    }
}

/// Two numbers a channel: `y = scale·z + shift`.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    /// Factor a channel.
    pub scale: Vec<f32>,
    /// Addend a channel.
    pub shift: Vec<f32>,
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
    pub(super) fn add_block(&mut self, block: usize, first: [f32; LANES], second: [f32; LANES]) {
        for lane in 0..LANES {
            self.first[block * LANES + lane] += f64::from(first[lane]);
            self.second[block * LANES + lane] += f64::from(second[lane]);
        }
    }
}

/// Working memory of one thread; grows to what the largest convolution needs.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) tiles_in: Vec<f32>,
    pub(super) tiles_out: Vec<f32>,
    pub(super) bordered: Vec<f32>,
    pub(super) aligned: Vec<f32>,
    pub(super) overlap: Vec<f32>,
}

impl Scratch {
    pub(super) fn fit(&mut self, board: Board, inputs: usize, outputs: usize) {
        let rows = POINTS * board.group() * board.tiles();
        grow(&mut self.tiles_in, rows * padded(inputs));
        grow(
            &mut self.tiles_out,
            rows * padded(outputs).next_multiple_of(PANEL),
        );
        self.bordered.clear();
        self.bordered.resize(board.bordered_points() * LANES, 0.0);
        self.aligned.clear();
        self.aligned
            .resize(board.tiles() * TILE * TILE * LANES, 0.0);
        grow(&mut self.overlap, board.bordered_points() * LANES);
    }
}

fn grow(buffer: &mut Vec<f32>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
}

/// Convolves every sample of `source` into `z` and adds `Σz` and `Σz²` of each channel to `sums`.
///
/// # Panics
/// If a buffer does not hold the same number of whole samples as `z`.
pub fn forward(
    board: Board,
    weights: &ConvWeights,
    mut source: Source<'_>,
    z: &mut [f32],
    sums: &mut Sums,
    scratch: &mut Scratch,
) {
    let (sample_in, sample_out) = (board.sample(weights.inputs), board.sample(weights.outputs));
    assert_eq!(z.len() % sample_out, 0, "whole samples");
    let samples = z.len() / sample_out;
    source.check(samples * sample_in, padded(weights.inputs));
    assert!(sums.first.len() >= padded(weights.outputs));
    scratch.fit(board, weights.inputs, weights.outputs);
    Isa::detect().run(Forward {
        board,
        weights,
        source: &mut source,
        z,
        sums,
        scratch,
    });
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
}

impl Affine {
    pub(super) fn check(&self, channels: usize) {
        assert!(self.scale.len() >= channels && self.shift.len() >= channels);
    }
}

struct Forward<'a, 'b> {
    board: Board,
    weights: &'a ConvWeights,
    source: &'a mut Source<'b>,
    z: &'a mut [f32],
    sums: &'a mut Sums,
    scratch: &'a mut Scratch,
}

impl Job for Forward<'_, '_> {
    #[inline(always)]
    fn run<V: Lanes>(self) {
        let Self {
            board,
            weights,
            source,
            z,
            sums,
            scratch,
        } = self;
        let (wide_in, wide_out) = (padded(weights.inputs), padded(weights.outputs));
        let sample_out = board.sample(weights.outputs);
        let samples = z.len() / sample_out;
        let forward_point = wide_out.next_multiple_of(PANEL) * wide_in;
        let mut first = 0;
        while first < samples {
            let group = board.group().min(samples - first);
            let rows = group * board.tiles();
            for member in 0..group {
                for block in 0..wide_in / LANES {
                    read_block::<V>(
                        board,
                        source,
                        first + member,
                        wide_in,
                        block,
                        &mut scratch.bordered,
                    );
                    // SAFETY: `Scratch::fit` made the bordered board and `rows * wide_in` floats a point.
                    unsafe {
                        input_tiles::<V>(
                            board,
                            &scratch.bordered,
                            scratch
                                .tiles_in
                                .as_mut_ptr()
                                .add(member * board.tiles() * wide_in + block * LANES),
                            rows * wide_in,
                            wide_in,
                        );
                    }
                }
            }
            for point in 0..POINTS {
                let product = Product {
                    rows,
                    width: wide_out,
                    depth: Depth {
                        inner: wide_in,
                        outer: 1,
                        outer_stride: 0,
                    },
                    a: scratch.tiles_in[point * rows * wide_in..].as_ptr(),
                    a_row: wide_in,
                    a_depth: 1,
                    b: weights.forward[point * forward_point..].as_ptr(),
                    c: scratch.tiles_out[point * rows * wide_out..].as_mut_ptr(),
                    c_row: wide_out,
                    accumulate: false,
                };
                // SAFETY: each point owns `rows * wide_in` and `rows * wide_out` floats and `forward_point` weights.
                unsafe { product.multiply::<V>() };
            }
            for member in 0..group {
                let sample = &mut z[(first + member) * sample_out..][..sample_out];
                for (block, out) in sample.chunks_exact_mut(board.points() * LANES).enumerate() {
                    // SAFETY: `rows * wide_out` floats a point, this member's tiles, this block's channels.
                    let (sum, square) = unsafe {
                        output_tiles::<V>(
                            board,
                            scratch
                                .tiles_out
                                .as_ptr()
                                .add(member * board.tiles() * wide_out + block * LANES),
                            rows * wide_out,
                            wide_out,
                            out,
                        )
                    };
                    sums.add_block(block, sum.to_array(), square.to_array());
                }
            }
            first += group;
        }
    }
}

/// Writes one channel block of one sample of `source` inside the zero border.
#[inline(always)]
pub(super) fn read_block<V: Lanes>(
    board: Board,
    source: &mut Source<'_>,
    sample: usize,
    channels: usize,
    block: usize,
    bordered: &mut [f32],
) {
    let length = board.points() * LANES;
    let start = sample * channels * board.points() + block * length;
    let row = board.width * LANES;
    let bordered_row = board.bordered_width() * LANES;
    assert!(bordered.len() >= (board.height + 1) * bordered_row + LANES + row);
    // SAFETY: `Source::check` made sure that every buffer holds the block `start..start + length` and every
    // norm its channels; the assertion covers the writes.
    unsafe {
        match source {
            Source::Plain(x) => {
                let x = x[start..start + length].as_ptr();
                for y in 0..board.height {
                    let target = bordered.as_mut_ptr().add((y + 1) * bordered_row + LANES);
                    for at in (0..row).step_by(LANES) {
                        V::load(x.add(y * row + at)).store(target.add(at));
                    }
                }
            }
            Source::Normalised { z, norm, slope } => {
                let z = z[start..start + length].as_ptr();
                let (scale, shift) = norm.block::<V>(block);
                let slope = V::splat(*slope);
                for y in 0..board.height {
                    let target = bordered.as_mut_ptr().add((y + 1) * bordered_row + LANES);
                    for at in (0..row).step_by(LANES) {
                        let value = V::load(z.add(y * row + at)).mul_add(scale, shift);
                        value
                            .where_positive(value, value.mul(slope))
                            .store(target.add(at));
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
                let z = z[start..start + length].as_ptr();
                let skip = skip.map(|skip| skip[start..start + length].as_ptr());
                let out = out[start..start + length].as_mut_ptr();
                let (scale, shift) = norm.block::<V>(block);
                let slope = V::splat(*slope);
                for y in 0..board.height {
                    let target = bordered.as_mut_ptr().add((y + 1) * bordered_row + LANES);
                    for at in (0..row).step_by(LANES) {
                        let mut value = V::load(z.add(y * row + at)).mul_add(scale, shift);
                        if let Some(skip) = skip {
                            value = value.add(V::load(skip.add(y * row + at)));
                        }
                        let value = value.where_positive(value, value.mul(slope));
                        value.store(target.add(at));
                        value.store(out.add(y * row + at));
                    }
                }
            }
        }
    }
}

impl Affine {
    /// # Safety
    /// Both vectors must hold the block.
    #[inline(always)]
    pub(super) unsafe fn block<V: Lanes>(&self, block: usize) -> (V, V) {
        // SAFETY: promised by the caller.
        unsafe {
            (
                V::load(self.scale.as_ptr().add(block * LANES)),
                V::load(self.shift.as_ptr().add(block * LANES)),
            )
        }
    }
}

/// Transforms every tile of one bordered channel block: point `p` of tile `t` goes to
/// `target + p·point + t·tile`.
///
/// # Safety
/// `target` must be valid for those writes.
#[inline(always)]
pub(super) unsafe fn input_tiles<V: Lanes>(
    board: Board,
    bordered: &[f32],
    target: *mut f32,
    point: usize,
    tile: usize,
) {
    let row = board.bordered_width() * LANES;
    assert!(bordered.len() >= board.bordered_points() * LANES);
    let mut target = target;
    for tile_y in 0..board.tiles_down() {
        for tile_x in 0..board.tiles_across() {
            // SAFETY: the window of every tile lies inside the bordered board, asserted above.
            unsafe {
                let corner = bordered
                    .as_ptr()
                    .add(tile_y * TILE * row + tile_x * TILE * LANES);
                let mut half = [[V::zero(); WINDOW]; WINDOW];
                for x in 0..WINDOW {
                    let mut column = [V::zero(); WINDOW];
                    for y in 0..WINDOW {
                        column[y] = V::load(corner.add(y * row + x * LANES));
                    }
                    let column = winograd::input(column);
                    for y in 0..WINDOW {
                        half[y][x] = column[y];
                    }
                }
                for y in 0..WINDOW {
                    let line = winograd::input(half[y]);
                    for x in 0..WINDOW {
                        line[x].store(target.add((y * WINDOW + x) * point));
                    }
                }
                target = target.add(tile);
            }
        }
    }
}

/// The way back: tiles of one channel block to a board, with its sum and sum of squares.
///
/// # Safety
/// `source` must be valid for reads of every point of every tile.
#[inline(always)]
unsafe fn output_tiles<V: Lanes>(
    board: Board,
    source: *const f32,
    point: usize,
    tile: usize,
    out: &mut [f32],
) -> (V, V) {
    assert_eq!(out.len(), board.points() * LANES);
    let (mut sum, mut square) = (V::zero(), V::zero());
    let mut source = source;
    for tile_y in 0..board.tiles_down() {
        let rows = TILE.min(board.height - tile_y * TILE);
        for tile_x in 0..board.tiles_across() {
            let columns = TILE.min(board.width - tile_x * TILE);
            // SAFETY: reads are promised by the caller; writes stay on the board.
            unsafe {
                let mut half = [[V::zero(); WINDOW]; TILE];
                for x in 0..WINDOW {
                    let mut column = [V::zero(); WINDOW];
                    for y in 0..WINDOW {
                        column[y] = V::load(source.add((y * WINDOW + x) * point));
                    }
                    let column = winograd::output(column);
                    for y in 0..TILE {
                        half[y][x] = column[y];
                    }
                }
                source = source.add(tile);
                for y in 0..rows {
                    let line = winograd::output(half[y]);
                    let target = out
                        .as_mut_ptr()
                        .add(((tile_y * TILE + y) * board.width + tile_x * TILE) * LANES);
                    for x in 0..TILE {
                        if x < columns {
                            line[x].store(target.add(x * LANES));
                            sum = sum.add(line[x]);
                            square = line[x].mul_add(line[x], square);
                        }
                    }
                }
            }
        }
    }
    (sum, square)
}
