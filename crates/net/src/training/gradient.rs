//! The backward pass of a 3x3 convolution: weight gradient and input gradient from one transform of the
//! output gradient, with batch norm, activation and residual sum folded in at both ends.

use super::conv::{Affine, Board, ConvWeights, Scratch, Source, Sums, padded};
use super::conv::{input_tiles, read_block};
use super::gemm::{Depth, PANEL, Product};
use super::winograd::{self, POINTS, TILE, WINDOW};
use crate::kernels::lanes::{Isa, Job, LANES, Lanes};

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
        /// The activations.
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
/// If a buffer has the wrong length.
pub fn backward(
    board: Board,
    weights: &ConvWeights,
    output: OutputGradient<'_>,
    mut source: Source<'_>,
    mut sink: Sink<'_>,
    gradient: &mut [f32],
    scratch: &mut Scratch,
) {
    let (wide_in, wide_out) = (padded(weights.inputs), padded(weights.outputs));
    let (sample_in, sample_out) = (board.sample(weights.inputs), board.sample(weights.outputs));
    let length = match &output {
        OutputGradient::Plain(dz) => dz.len(),
        OutputGradient::Normalised {
            gradient,
            z,
            line,
            by_output,
        } => {
            assert_eq!(gradient.len(), z.len());
            line.check(wide_out);
            assert!(by_output.len() >= wide_out);
            z.len()
        }
    };
    assert_eq!(length % sample_out, 0, "whole samples");
    let samples = length / sample_out;
    source.check(samples * sample_in, wide_in);
    sink.check(samples * sample_in, wide_in);
    assert_eq!(gradient.len(), weights.gradient_length());
    scratch.fit(board, weights.inputs, weights.outputs);
    Isa::detect().run(Backward {
        board,
        weights,
        samples,
        output: &output,
        source: &mut source,
        sink: &mut sink,
        gradient,
        scratch,
    });
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
}

struct Backward<'a, 'source, 'sink> {
    board: Board,
    weights: &'a ConvWeights,
    samples: usize,
    output: &'a OutputGradient<'a>,
    source: &'a mut Source<'source>,
    sink: &'a mut Sink<'sink>,
    gradient: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl Job for Backward<'_, '_, '_> {
    #[inline(always)]
    fn run<V: Lanes>(self) {
        let Self {
            board,
            weights,
            samples,
            output,
            source,
            sink,
            gradient,
            scratch,
        } = self;
        let (wide_in, wide_out) = (padded(weights.inputs), padded(weights.outputs));
        let panels_out = wide_out.div_ceil(PANEL);
        let backward_point = wide_in.next_multiple_of(PANEL) * panels_out * PANEL;
        let wants_input = !matches!(sink, Sink::None);
        let mut first = 0;
        while first < samples {
            let group = board.group().min(samples - first);
            let rows = group * board.tiles();
            // Gradient tiles are kept as `[point][output panel][row][16]`: packed for `dU`, strided for `dV`.
            let gradient_point = panels_out * rows * PANEL;
            for member in 0..group {
                for block in 0..wide_out / LANES {
                    read_gradient::<V>(
                        board,
                        output,
                        first + member,
                        wide_out,
                        block,
                        &mut scratch.aligned,
                    );
                    let panel = block * LANES / PANEL;
                    let at =
                        (panel * rows + member * board.tiles()) * PANEL + block * LANES % PANEL;
                    // SAFETY: `Scratch::fit` made `rows` rows of whole panels a point.
                    unsafe {
                        gradient_tiles::<V>(
                            board,
                            &scratch.aligned,
                            scratch.tiles_out.as_mut_ptr().add(at),
                            gradient_point,
                        );
                    }
                }
                for block in 0..wide_in / LANES {
                    read_block::<V>(
                        board,
                        source,
                        first + member,
                        wide_in,
                        block,
                        &mut scratch.bordered,
                    );
                    // SAFETY: as in the forward pass.
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
                let inputs = scratch.tiles_in[point * rows * wide_in..].as_mut_ptr();
                let outputs = scratch.tiles_out[point * gradient_point..].as_ptr();
                let weight_gradient = Product {
                    rows: wide_in,
                    width: wide_out,
                    depth: Depth {
                        inner: rows,
                        outer: 1,
                        outer_stride: 0,
                    },
                    a: inputs,
                    a_row: 1,
                    a_depth: wide_in,
                    b: outputs,
                    c: gradient[point * wide_in * wide_out..].as_mut_ptr(),
                    c_row: wide_out,
                    accumulate: true,
                };
                // SAFETY: each point owns `rows * wide_in` inputs, `gradient_point` packed gradients and
                // `wide_in * wide_out` results.
                unsafe { weight_gradient.multiply::<V>() };
                if wants_input {
                    // An unused last half panel meets weights that are zero.
                    let depth = Depth {
                        inner: PANEL,
                        outer: panels_out,
                        outer_stride: rows * PANEL,
                    };
                    let input_gradient = Product {
                        rows,
                        width: wide_in,
                        depth,
                        a: outputs,
                        a_row: PANEL,
                        a_depth: 1,
                        b: weights.backward[point * backward_point..].as_ptr(),
                        c: inputs,
                        c_row: wide_in,
                        accumulate: false,
                    };
                    // SAFETY: the input tiles of this point were consumed above and may be overwritten.
                    unsafe { input_gradient.multiply::<V>() };
                }
            }
            if wants_input {
                for member in 0..group {
                    for block in 0..wide_in / LANES {
                        // SAFETY: `rows * wide_in` floats a point, this member's tiles, this block's channels.
                        unsafe {
                            scatter_tiles::<V>(
                                board,
                                scratch
                                    .tiles_in
                                    .as_ptr()
                                    .add(member * board.tiles() * wide_in + block * LANES),
                                rows * wide_in,
                                wide_in,
                                &mut scratch.overlap,
                            );
                        }
                        write_gradient::<V>(
                            board,
                            sink,
                            first + member,
                            wide_in,
                            block,
                            &scratch.overlap,
                        );
                    }
                }
            }
            first += group;
        }
    }
}

/// Writes one channel block of one sample of `dz`, with zeros beyond the board up to whole tiles.
#[inline(always)]
fn read_gradient<V: Lanes>(
    board: Board,
    output: &OutputGradient<'_>,
    sample: usize,
    channels: usize,
    block: usize,
    aligned: &mut [f32],
) {
    let length = board.points() * LANES;
    let start = sample * channels * board.points() + block * length;
    let row = board.width * LANES;
    let aligned_row = board.tiles_across() * TILE * LANES;
    assert!(aligned.len() >= board.height * aligned_row);
    // SAFETY: `backward` checked every buffer and every channel vector; the assertion covers the writes.
    unsafe {
        match output {
            OutputGradient::Plain(dz) => {
                let dz = dz[start..start + length].as_ptr();
                for y in 0..board.height {
                    let target = aligned.as_mut_ptr().add(y * aligned_row);
                    for at in (0..row).step_by(LANES) {
                        V::load(dz.add(y * row + at)).store(target.add(at));
                    }
                }
            }
            OutputGradient::Normalised {
                gradient,
                z,
                line,
                by_output,
            } => {
                let gradient = gradient[start..start + length].as_ptr();
                let z = z[start..start + length].as_ptr();
                let (by_gradient, constant) = line.block::<V>(block);
                let by_output = V::load(by_output.as_ptr().add(block * LANES));
                for y in 0..board.height {
                    let target = aligned.as_mut_ptr().add(y * aligned_row);
                    for at in (0..row).step_by(LANES) {
                        let from_output = V::load(z.add(y * row + at)).mul_add(by_output, constant);
                        V::load(gradient.add(y * row + at))
                            .mul_add(by_gradient, from_output)
                            .store(target.add(at));
                    }
                }
            }
        }
    }
}

/// `A dY Aᵀ` of every tile: point `p` of tile `t` goes to `target + p·point + t·16`.
///
/// # Safety
/// `target` must be valid for those writes.
#[inline(always)]
unsafe fn gradient_tiles<V: Lanes>(board: Board, aligned: &[f32], target: *mut f32, point: usize) {
    let row = board.tiles_across() * TILE * LANES;
    assert!(aligned.len() >= board.tiles_down() * TILE * row);
    let mut target = target;
    for tile_y in 0..board.tiles_down() {
        for tile_x in 0..board.tiles_across() {
            // SAFETY: every tile lies inside the aligned board, asserted above.
            unsafe {
                let corner = aligned
                    .as_ptr()
                    .add(tile_y * TILE * row + tile_x * TILE * LANES);
                let mut half = [[V::zero(); TILE]; WINDOW];
                for x in 0..TILE {
                    let mut column = [V::zero(); TILE];
                    for y in 0..TILE {
                        column[y] = V::load(corner.add(y * row + x * LANES));
                    }
                    let column = winograd::output_transposed(column);
                    for y in 0..WINDOW {
                        half[y][x] = column[y];
                    }
                }
                for y in 0..WINDOW {
                    let line = winograd::output_transposed(half[y]);
                    for x in 0..WINDOW {
                        line[x].store(target.add((y * WINDOW + x) * point));
                    }
                }
                target = target.add(PANEL);
            }
        }
    }
}

/// Adds `B dV Bᵀ` of every tile into a bordered board that starts at zero.
///
/// # Safety
/// `source` must be valid for reads of every point of every tile.
#[inline(always)]
unsafe fn scatter_tiles<V: Lanes>(
    board: Board,
    source: *const f32,
    point: usize,
    tile: usize,
    overlap: &mut [f32],
) {
    let row = board.bordered_width() * LANES;
    let overlap = &mut overlap[..board.bordered_points() * LANES];
    overlap.fill(0.0);
    let mut source = source;
    for tile_y in 0..board.tiles_down() {
        for tile_x in 0..board.tiles_across() {
            // SAFETY: reads are promised by the caller; the window of every tile lies inside the bordered board.
            unsafe {
                let corner = overlap
                    .as_mut_ptr()
                    .add(tile_y * TILE * row + tile_x * TILE * LANES);
                let mut half = [[V::zero(); WINDOW]; WINDOW];
                for x in 0..WINDOW {
                    let mut column = [V::zero(); WINDOW];
                    for y in 0..WINDOW {
                        column[y] = V::load(source.add((y * WINDOW + x) * point));
                    }
                    let column = winograd::input_transposed(column);
                    for y in 0..WINDOW {
                        half[y][x] = column[y];
                    }
                }
                source = source.add(tile);
                for y in 0..WINDOW {
                    let line = winograd::input_transposed(half[y]);
                    for x in 0..WINDOW {
                        let target = corner.add(y * row + x * LANES);
                        V::load(target).add(line[x]).store(target);
                    }
                }
            }
        }
    }
}

/// Hands one channel block of one sample of the input gradient to the sink.
#[inline(always)]
fn write_gradient<V: Lanes>(
    board: Board,
    sink: &mut Sink<'_>,
    sample: usize,
    channels: usize,
    block: usize,
    bordered: &[f32],
) {
    let length = board.points() * LANES;
    let start = sample * channels * board.points() + block * length;
    let row = board.width * LANES;
    let bordered_row = board.bordered_width() * LANES;
    assert!(bordered.len() >= (board.height + 1) * bordered_row + LANES + row);
    let inside = bordered[bordered_row + LANES..].as_ptr();
    // SAFETY: `Sink::check` made sure that every buffer holds the block and every norm its channels; the
    // assertion covers the reads.
    unsafe {
        match sink {
            Sink::None => {}
            Sink::Plain(gradient) => {
                let gradient = gradient[start..start + length].as_mut_ptr();
                for y in 0..board.height {
                    for at in (0..row).step_by(LANES) {
                        V::load(inside.add(y * bordered_row + at))
                            .store(gradient.add(y * row + at));
                    }
                }
            }
            Sink::Activation {
                gradient,
                z,
                norm,
                standard,
                slope,
                sums,
            } => {
                let gradient = gradient[start..start + length].as_mut_ptr();
                let z = z[start..start + length].as_ptr();
                let (scale, shift) = norm.block::<V>(block);
                let (standard_scale, standard_shift) = standard.block::<V>(block);
                let slope = V::splat(*slope);
                let (mut sum, mut product) = (V::zero(), V::zero());
                for y in 0..board.height {
                    for at in (0..row).step_by(LANES) {
                        let z = V::load(z.add(y * row + at));
                        let incoming = V::load(inside.add(y * bordered_row + at));
                        let through = z
                            .mul_add(scale, shift)
                            .where_positive(incoming, incoming.mul(slope));
                        through.store(gradient.add(y * row + at));
                        sum = sum.add(through);
                        product =
                            through.mul_add(z.mul_add(standard_scale, standard_shift), product);
                    }
                }
                sums.add_block(block, sum.to_array(), product.to_array());
            }
            Sink::Residual {
                gradient,
                activations,
                z,
                standard,
                slope,
                sums,
            } => {
                let gradient = gradient[start..start + length].as_mut_ptr();
                let activations = activations[start..start + length].as_ptr();
                let z = z[start..start + length].as_ptr();
                let (standard_scale, standard_shift) = standard.block::<V>(block);
                let slope = V::splat(*slope);
                let (mut sum, mut product) = (V::zero(), V::zero());
                for y in 0..board.height {
                    for at in (0..row).step_by(LANES) {
                        let target = gradient.add(y * row + at);
                        let incoming =
                            V::load(inside.add(y * bordered_row + at)).add(V::load(target));
                        let through = V::load(activations.add(y * row + at))
                            .where_positive(incoming, incoming.mul(slope));
                        through.store(target);
                        sum = sum.add(through);
                        let standardised =
                            V::load(z.add(y * row + at)).mul_add(standard_scale, standard_shift);
                        product = through.mul_add(standardised, product);
                    }
                }
                sums.add_block(block, sum.to_array(), product.to_array());
            }
        }
    }
}
