//! The backward pass of a 3x3 convolution: weight gradient and input gradient from one transform of the
//! output gradient, with batch norm, activation and residual sum folded in at both ends.
//!
//! Forward, a tile is `Y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ x B)]A`. The backward pass runs the same maps transposed: `dM = A dY Aᵀ`,
//! then `dV = Uᵀ dM` and `dU = Vᵀ dM` are the matrix products, `dx = B dV Bᵀ` with overlapping tiles added,
//! `dw = Gᵀ dU G`. So the transformed output gradient serves both gradients.

use super::conv::{
    Affine, Board, ConvWeights, Enter, Group, Scratch, Source, Sums, multiply, padded, vectors,
};
use crate::kernels::gemm::Strided;
use crate::kernels::lanes::{Job, Lanes};
use crate::kernels::layout::{PlaneLayout, TileLayout};
use crate::kernels::passes::{self, HALVES, Place};
use crate::kernels::tiling::Tiling;
use crate::kernels::{BLOCK, Isa};

/// The gradient of a convolution's output.
pub enum OutputGradient<'a> {
    /// `dL/dz` as it is.
    Plain(&'a [f32]),
    /// Through batch norm: `dz = by_gradient·g + by_output·z + constant`, three numbers a channel.
    Normalised {
        /// Gradient of the normalised output.
        gradient: &'a [f32],
        /// The convolution's raw output.
        z: &'a [f32],
        /// Factors of the gradient and constants.
        line: &'a Affine,
        /// Factors of the raw output.
        by_output: &'a [f32],
    },
}

/// What becomes of the gradient of a convolution's input.
pub enum Sink<'a> {
    /// Nobody asks.
    None,
    /// Stored as it is.
    Plain(&'a mut [f32]),
    /// Through the activation of [`Source::Normalised`]: stored as the gradient of `scale·z + shift`; `Σg` and `Σg·x̂` are added.
    Activation {
        /// Receives the gradient.
        gradient: &'a mut [f32],
        /// The previous convolution's raw output.
        z: &'a [f32],
        /// Its batch norm.
        norm: &'a Affine,
        /// `x̂ = scale·z + shift`.
        standard: &'a Affine,
        /// Slope of the activation below zero.
        slope: f32,
        /// Receives the sums.
        sums: &'a mut Sums,
    },
    /// Through the activation of [`Source::Kept`]: `gradient` comes in as the gradient that reached the same
    /// activations on the residual branch and goes out as the gradient before the activation.
    Residual {
        /// In: gradient along the branch. Out: gradient of the sum.
        gradient: &'a mut [f32],
        activations: &'a [f32],
        /// The raw output that the activations were made of.
        z: &'a [f32],
        /// `x̂ = scale·z + shift`.
        standard: &'a Affine,
        /// Slope of the activation below zero.
        slope: f32,
        /// Receives the sums.
        sums: &'a mut Sums,
    },
}

/// The backward pass of [`forward`](super::conv::forward): adds the weight gradient (transformed domain) to `gradient` and passes the
/// input gradient to `sink`.
///
/// # Panics
/// If a buffer has the wrong length, or the weights are of another board.
pub fn backward(
    board: Board,
    weights: &ConvWeights,
    output: OutputGradient<'_>,
    mut source: Source<'_>,
    mut sink: Sink<'_>,
    gradient: &mut [f32],
    scratch: &mut Scratch,
) {
    assert_eq!(board, weights.board);
    let (wide_in, wide_out) = (padded(weights.inputs), padded(weights.outputs));
    let (sample_in, sample_out) = (board.sample(weights.inputs), board.sample(weights.outputs));
    let length = output.check(wide_out);
    assert_eq!(length % sample_out, 0, "whole samples");
    let samples = length / sample_out;
    source.check(samples * sample_in, wide_in);
    sink.check(samples * sample_in, wide_in);
    assert_eq!(gradient.len(), weights.gradient_length());
    let group = Group::new(weights, samples);
    scratch.fit(board, &group);
    let isa = weights.isa;
    for first in (0..samples).step_by(group.most) {
        let batch = group.most.min(samples - first);
        let (layout_in, layout_out) = group.layouts(batch);
        isa.run(EnterGradient {
            board,
            tiling: group.tiling,
            output: &output,
            first,
            batch,
            blocks: group.out_blocks,
            plane: &mut scratch.flat,
            tiles: &mut scratch.tiles_out,
        });
        if first > 0 && !matches!(sink, Sink::None) {
            // The last group has left its gradients in the border.
            scratch.bordered.fill(0.0);
        }
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
        weight_gradient(
            isa,
            weights,
            batch,
            (&scratch.tiles_in, layout_in),
            (&scratch.tiles_out, layout_out),
            gradient,
        );
        if matches!(sink, Sink::None) {
            continue;
        }
        // The transformed inputs have served, their gradients take their place.
        multiply(
            isa,
            (group.tiling, batch),
            (&scratch.tiles_out, layout_out),
            &weights.backward,
            (&mut scratch.tiles_in, layout_in),
        );
        isa.run(LeaveGradient {
            board,
            tiling: group.tiling,
            first,
            batch,
            blocks: group.in_blocks,
            tiles: &scratch.tiles_in,
            plane: &mut scratch.bordered,
            sink: &mut sink,
        });
    }
}

/// Adds `Vᵀ dM` of every point, in the layout of the forward weights.
fn weight_gradient(
    isa: Isa,
    weights: &ConvWeights,
    batch: usize,
    (inputs, layout_in): (&[f32], TileLayout),
    (outputs, layout_out): (&[f32], TileLayout),
    gradient: &mut [f32],
) {
    let panels = &weights.forward.panels;
    for point in 0..weights.tiling.points() {
        let places = weights.tiling.places_at(point, batch);
        let first = places.start * BLOCK;
        for input in (0..weights.inputs).step_by(BLOCK) {
            let block = input / BLOCK * layout_in.block_stride;
            Strided {
                rows: BLOCK.min(weights.inputs - input),
                depth: places.len(),
                left: &inputs[point * layout_in.point_stride + block + first..],
                row_stride: 1,
                depth_stride: BLOCK,
                right: &outputs[point * layout_out.point_stride + first..],
                right_stride: layout_out.block_stride,
                panels: panels.len(),
                sums: &mut gradient[point * weights.forward.point_len + input * BLOCK..],
                sums_row: BLOCK,
                sums_stride: weights.inputs * BLOCK,
                accumulate: true,
            }
            .run(isa);
        }
    }
}

impl OutputGradient<'_> {
    /// Returns its length.
    fn check(&self, channels: usize) -> usize {
        match self {
            OutputGradient::Plain(dz) => dz.len(),
            OutputGradient::Normalised {
                gradient,
                z,
                line,
                by_output,
            } => {
                assert_eq!(gradient.len(), z.len());
                line.check(channels);
                assert!(by_output.len() >= channels);
                z.len()
            }
        }
    }

    /// Writes plane `index` of `dz`.
    #[inline(always)]
    fn read_plane<L: Lanes>(&self, board: Board, index: usize, block: usize, plane: &mut [f32]) {
        let length = board.block_len();
        let start = index * length;
        match self {
            OutputGradient::Plain(dz) => {
                plane[..length].copy_from_slice(&dz[start..start + length]);
            }
            OutputGradient::Normalised {
                gradient,
                z,
                line,
                by_output,
            } => {
                let (by_gradient, constant) = line.block::<L>(block);
                let by_output = vectors::<L>(&by_output[block * BLOCK..]);
                let gradient = gradient[start..start + length].chunks_exact(BLOCK);
                let z = z[start..start + length].chunks_exact(BLOCK);
                for ((to, gradient), z) in plane.chunks_exact_mut(BLOCK).zip(gradient).zip(z) {
                    for half in (0..BLOCK).step_by(L::WIDTH) {
                        let vector = half / L::WIDTH;
                        let from_output =
                            L::read(&z[half..]).mul_add(by_output[vector], constant[vector]);
                        L::read(&gradient[half..])
                            .mul_add(by_gradient[vector], from_output)
                            .write(&mut to[half..]);
                    }
                }
            }
        }
    }
}

/// Reads the output gradients of a few samples and moves them to the points.
struct EnterGradient<'a> {
    board: Board,
    tiling: &'a Tiling,
    output: &'a OutputGradient<'a>,
    first: usize,
    batch: usize,
    blocks: usize,
    plane: &'a mut [f32],
    tiles: &'a mut [f32],
}

impl Job for EnterGradient<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let mut scratch = passes::Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (self.first + board) * self.blocks + block;
                self.output
                    .read_plane::<L>(self.board, index, block, self.plane);
                let place = Place {
                    tiling: self.tiling,
                    batch: self.batch,
                    board,
                    layout,
                };
                let tiles = &mut self.tiles[block * layout.block_stride..];
                passes::enter_gradient::<L>(place, self.plane, tiles, &mut scratch);
            }
        }
    }
}

/// Moves the gradients of a few samples back from the points and hands them to the sink.
struct LeaveGradient<'a, 'sink> {
    board: Board,
    tiling: &'a Tiling,
    first: usize,
    batch: usize,
    blocks: usize,
    tiles: &'a [f32],
    /// A plane with a border.
    plane: &'a mut [f32],
    sink: &'a mut Sink<'sink>,
}

impl Job for LeaveGradient<'_, '_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let plane_len = PlaneLayout::new(self.board.height, self.board.width).plane_len;
        let mut scratch = passes::Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let place = Place {
                    tiling: self.tiling,
                    batch: self.batch,
                    board,
                    layout,
                };
                let tiles = &self.tiles[block * layout.block_stride..];
                self.plane[..plane_len].fill(0.0);
                passes::leave_gradient::<L>(place, tiles, self.plane, &mut scratch);
                let index = (self.first + board) * self.blocks + block;
                self.sink
                    .write_plane::<L>(self.board, index, block, self.plane);
            }
        }
    }
}

impl Sink<'_> {
    fn check(&self, length: usize, channels: usize) {
        match self {
            Sink::None => {}
            Sink::Plain(gradient) => assert_eq!(gradient.len(), length),
            Sink::Activation {
                gradient,
                z,
                norm,
                standard,
                sums,
                ..
            } => {
                assert_eq!((gradient.len(), z.len()), (length, length));
                norm.check(channels);
                standard.check(channels);
                assert!(sums.first.len() >= channels);
            }
            Sink::Residual {
                gradient,
                activations,
                z,
                standard,
                sums,
                ..
            } => {
                assert_eq!((gradient.len(), z.len()), (length, length));
                assert_eq!(activations.len(), length);
                standard.check(channels);
                assert!(sums.first.len() >= channels);
            }
        }
    }

    /// Takes plane `index` of the input gradient.
    #[inline(always)]
    fn write_plane<L: Lanes>(&mut self, board: Board, index: usize, block: usize, plane: &[f32]) {
        let row = board.width * BLOCK;
        let planes = PlaneLayout::new(board.height, board.width);
        let mut added = [(L::zero(), L::zero()); HALVES];
        for y in 0..board.height {
            let start = index * board.block_len() + y * row;
            let range = start..start + row;
            let incoming = plane[planes.cell(y, 0)..][..row].chunks_exact(BLOCK);
            match self {
                Sink::None => {}
                Sink::Plain(gradient) => {
                    gradient[range].copy_from_slice(&plane[planes.cell(y, 0)..][..row]);
                }
                Sink::Activation {
                    gradient,
                    z,
                    norm,
                    standard,
                    slope,
                    ..
                } => {
                    let (scale, shift) = norm.block::<L>(block);
                    let (standard_scale, standard_shift) = standard.block::<L>(block);
                    let slope = L::splat(*slope);
                    let to = gradient[range.clone()].chunks_exact_mut(BLOCK);
                    let z = z[range].chunks_exact(BLOCK);
                    for ((incoming, to), z) in incoming.zip(to).zip(z) {
                        for half in (0..BLOCK).step_by(L::WIDTH) {
                            let vector = half / L::WIDTH;
                            let z = L::read(&z[half..]);
                            let incoming = L::read(&incoming[half..]);
                            let through = z
                                .mul_add(scale[vector], shift[vector])
                                .where_positive(incoming, incoming.mul(slope));
                            through.write(&mut to[half..]);
                            let standardised =
                                z.mul_add(standard_scale[vector], standard_shift[vector]);
                            let (sum, product) = &mut added[vector];
                            *sum = sum.add(through);
                            *product = through.mul_add(standardised, *product);
                        }
                    }
                }
                Sink::Residual {
                    gradient,
                    activations,
                    z,
                    standard,
                    slope,
                    ..
                } => {
                    let (standard_scale, standard_shift) = standard.block::<L>(block);
                    let slope = L::splat(*slope);
                    let to = gradient[range.clone()].chunks_exact_mut(BLOCK);
                    let activations = activations[range.clone()].chunks_exact(BLOCK);
                    let z = z[range].chunks_exact(BLOCK);
                    for (((incoming, to), z), activation) in
                        incoming.zip(to).zip(z).zip(activations)
                    {
                        for half in (0..BLOCK).step_by(L::WIDTH) {
                            let vector = half / L::WIDTH;
                            let incoming = L::read(&incoming[half..]).add(L::read(&to[half..]));
                            let through = L::read(&activation[half..])
                                .where_positive(incoming, incoming.mul(slope));
                            through.write(&mut to[half..]);
                            let standardised = L::read(&z[half..])
                                .mul_add(standard_scale[vector], standard_shift[vector]);
                            let (sum, product) = &mut added[vector];
                            *sum = sum.add(through);
                            *product = through.mul_add(standardised, *product);
                        }
                    }
                }
            }
        }
        if let Sink::Activation { sums, .. } | Sink::Residual { sums, .. } = self {
            sums.add_block(block, added);
        }
    }
}
