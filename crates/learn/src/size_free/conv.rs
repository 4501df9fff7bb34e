//! Convolutions over all groups of a batch: 3x3 on the Winograd kernels, 1x1 as products of matrices.

use net::training::LANES;
use net::training::conv::{self, Affine, Board, ConvWeights, Source, Sums, padded};
use net::training::gemm::{Left, Packed, gemm};
use net::training::gradient::{self, OutputGradient, Sink};
use rand::Rng;

use super::planes::{Group, Planes, total};
use crate::batch::{Workers, split, split_mut};
use crate::layer::norm::Norm;
use crate::param::Param;

/// Where the input of a 3x3 convolution comes from.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// Planes as they are.
    Plain(&'a Planes),
    /// Rectified batch norm of planes, computed on the way in.
    Normalised(&'a Planes, &'a Affine),
}

/// A 3x3 convolution without bias.
pub(super) struct Conv3 {
    pub(super) weights: Param,
    inputs: usize,
    outputs: usize,
    /// The weights transformed for each board met so far.
    boards: Vec<ConvWeights>,
    sizes: Vec<Board>,
    gradients: Vec<Vec<f32>>,
}

impl Conv3 {
    pub(super) fn new(
        name: &str,
        [inputs, outputs]: [usize; 2],
        share: f32,
        random: &mut impl Rng,
    ) -> Self {
        let deviation = share * (2.0 / (9 * inputs) as f32).sqrt();
        Self {
            weights: Param::normal(
                format!("{name}/conv"),
                &[outputs, inputs, 3, 3],
                deviation,
                random,
            ),
            inputs,
            outputs,
            boards: Vec::new(),
            sizes: Vec::new(),
            gradients: Vec::new(),
        }
    }

    /// Convolves all groups into `z` and returns `Σz` and `Σz²`.
    pub(super) fn forward(
        &mut self,
        groups: &[Group],
        input: Input<'_>,
        z: &mut Planes,
        workers: &mut Workers,
    ) -> Sums {
        z.fit(self.outputs, groups);
        let mut parts = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let board = group.board;
            let place = self.transformed(board);
            let weights = &self.boards[place];
            let shares = workers.shares(group.samples);
            let sources = sources(input, index, board.sample(self.inputs), &shares);
            let outputs = self.outputs;
            let jobs = sources
                .into_iter()
                .zip(split_mut(
                    &mut z.groups[index],
                    board.sample(outputs),
                    &shares,
                ))
                .collect();
            parts.extend(workers.each(jobs, |(source, z), scratch| {
                let mut sums = Sums::new(outputs);
                conv::forward(board, weights, source, z, &mut sums, scratch);
                sums
            }));
        }
        total(self.outputs, parts)
    }

    /// Adds the weights' gradient from that of the output. With `sink`, the planes and the norm of a normalised input,
    /// sets the gradient of the norm's output there and returns `Σg` and `Σg·x̂`.
    pub(super) fn backward(
        &mut self,
        groups: &[Group],
        dz: &Planes,
        input: Input<'_>,
        mut sink: Option<(&mut Planes, &Planes, &Norm)>,
        workers: &mut Workers,
    ) -> Sums {
        if let Some((target, ..)) = &mut sink {
            target.fit(self.inputs, groups);
        }
        let mut parts = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let board = group.board;
            let place = self.place(board);
            let weights = &self.boards[place];
            let shares = workers.shares(group.samples);
            self.gradients.resize_with(shares.len(), Vec::new);
            for gradient in &mut self.gradients {
                gradient.clear();
                gradient.resize(weights.gradient_length(), 0.0);
            }
            let (narrow, wide) = (board.sample(self.inputs), board.sample(self.outputs));
            let sources = sources(input, index, narrow, &shares);
            let gradients = split(&dz.groups[index], wide, &shares);
            let inputs = self.inputs;
            match &mut sink {
                None => {
                    let jobs = gradients
                        .into_iter()
                        .zip(sources)
                        .zip(&mut self.gradients)
                        .collect();
                    workers.each(
                        jobs,
                        |((dz, source), gradient): (_, &mut Vec<f32>), scratch| {
                            let dz = OutputGradient::Plain(dz);
                            gradient::backward(
                                board,
                                weights,
                                dz,
                                source,
                                Sink::None,
                                gradient,
                                scratch,
                            );
                        },
                    );
                }
                Some((target, z, norm)) => {
                    let (line, standard) = (&norm.line, &norm.standard);
                    let jobs = gradients
                        .into_iter()
                        .zip(sources)
                        .zip(&mut self.gradients)
                        .zip(split_mut(&mut target.groups[index], narrow, &shares))
                        .zip(split(&z.groups[index], narrow, &shares))
                        .collect();
                    parts.extend(workers.each(
                        jobs,
                        |((((dz, source), gradient), target), z): ((_, &mut [f32]), &[f32]),
                         scratch| {
                            let mut sums = Sums::new(inputs);
                            let sink = Sink::Activation {
                                gradient: target,
                                z,
                                norm: line,
                                standard,
                                slope: 0.0,
                                sums: &mut sums,
                            };
                            let dz = OutputGradient::Plain(dz);
                            let gradient: &mut Vec<f32> = gradient;
                            gradient::backward(board, weights, dz, source, sink, gradient, scratch);
                            sums
                        },
                    ));
                }
            }
            let outputs = workers.shares(self.outputs);
            let rows = self.weights.gradient.len() / self.outputs;
            let jobs = split_mut(&mut self.weights.gradient, rows, &outputs)
                .into_iter()
                .zip(outputs)
                .collect();
            let gradients = &self.gradients;
            workers.each(jobs, |(rows, outputs): (&mut [f32], _), _| {
                weights.add_gradient(gradients, outputs, rows);
            });
        }
        total(self.inputs, parts)
    }

    /// Transforms the weights for a board; the place of the result.
    fn transformed(&mut self, board: Board) -> usize {
        let place = self.place(board);
        self.boards[place].set(&self.weights.values);
        place
    }

    fn place(&mut self, board: Board) -> usize {
        match self.sizes.iter().position(|known| *known == board) {
            Some(place) => place,
            None => {
                self.sizes.push(board);
                self.boards
                    .push(ConvWeights::new(board, self.inputs, self.outputs));
                self.sizes.len() - 1
            }
        }
    }
}

fn sources<'a>(
    input: Input<'a>,
    group: usize,
    stride: usize,
    shares: &[std::ops::Range<usize>],
) -> Vec<Source<'a>> {
    match input {
        Input::Plain(x) => split(&x.groups[group], stride, shares)
            .into_iter()
            .map(Source::Plain)
            .collect(),
        Input::Normalised(z, norm) => split(&z.groups[group], stride, shares)
            .into_iter()
            .map(|z| Source::Normalised {
                z,
                norm,
                slope: 0.0,
            })
            .collect(),
    }
}

/// A 1x1 convolution with a bias.
pub(super) struct Conv1 {
    pub(super) weights: Param,
    pub(super) bias: Param,
    inputs: usize,
    outputs: usize,
}

impl Conv1 {
    pub(super) fn new(
        name: &str,
        [inputs, outputs]: [usize; 2],
        deviation: f32,
        random: &mut impl Rng,
    ) -> Self {
        Self {
            weights: Param::normal(
                format!("{name}/conv"),
                &[outputs, inputs, 1, 1],
                deviation,
                random,
            ),
            bias: Param::constant(format!("{name}/bias"), &[outputs], 0.0, false),
            inputs,
            outputs,
        }
    }

    fn blocks(&self) -> (usize, usize) {
        (padded(self.inputs) / LANES, padded(self.outputs) / LANES)
    }

    /// Weights between one block of inputs and one of outputs, or transposed.
    fn block(&self, input: usize, output: usize, transposed: bool) -> Packed {
        let mut block = [0.0; LANES * LANES];
        for i in 0..LANES.min(self.inputs - input * LANES) {
            for o in 0..LANES.min(self.outputs - output * LANES) {
                let at = if transposed {
                    o * LANES + i
                } else {
                    i * LANES + o
                };
                block[at] =
                    self.weights.values[(output * LANES + o) * self.inputs + input * LANES + i];
            }
        }
        let mut packed = Packed::default();
        packed.rows(&block, LANES, LANES, LANES);
        packed
    }

    pub(super) fn forward(
        &self,
        groups: &[Group],
        x: &Planes,
        z: &mut Planes,
        workers: &mut Workers,
    ) {
        z.fit(self.outputs, groups);
        let (blocks_in, blocks_out) = self.blocks();
        let packed: Vec<Packed> = (0..blocks_out * blocks_in)
            .map(|index| self.block(index % blocks_in, index / blocks_in, false))
            .collect();
        let mut bias = self.bias.values.clone();
        bias.resize(padded(self.outputs), 0.0);
        super::planes::each(groups, z, x, workers, |board, z, x| {
            let length = board.points() * LANES;
            for (x, z) in x
                .chunks_exact(blocks_in * length)
                .zip(z.chunks_exact_mut(blocks_out * length))
            {
                for (output, z) in z.chunks_exact_mut(length).enumerate() {
                    for (input, x) in x.chunks_exact(length).enumerate() {
                        let weights = &packed[output * blocks_in + input];
                        gemm(board.points(), by_points(x), weights, z, LANES, input > 0);
                    }
                    let bias: &[f32; LANES] =
                        bias[output * LANES..].first_chunk().expect("a whole block");
                    for point in z.as_chunks_mut::<LANES>().0 {
                        for lane in 0..LANES {
                            point[lane] += bias[lane];
                        }
                    }
                }
            }
        });
    }

    /// Adds the parameters' gradients, and adds the input's gradient to `dx`.
    pub(super) fn backward(
        &mut self,
        groups: &[Group],
        x: &Planes,
        dz: &Planes,
        dx: &mut Planes,
        workers: &mut Workers,
    ) {
        let (blocks_in, blocks_out) = self.blocks();
        let wide = padded(self.outputs);
        for row in super::planes::sum_rows(groups, dz).chunks_exact(wide) {
            self.bias
                .gradient
                .iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
        }
        let packed: Vec<Packed> = (0..blocks_in * blocks_out)
            .map(|index| self.block(index / blocks_out, index % blocks_out, true))
            .collect();
        super::planes::each(groups, dx, dz, workers, |board, dx, dz| {
            let length = board.points() * LANES;
            for (dx, dz) in dx
                .chunks_exact_mut(blocks_in * length)
                .zip(dz.chunks_exact(blocks_out * length))
            {
                for (input, dx) in dx.chunks_exact_mut(length).enumerate() {
                    for (output, dz) in dz.chunks_exact(length).enumerate() {
                        let weights = &packed[input * blocks_out + output];
                        gemm(board.points(), by_points(dz), weights, dx, LANES, true);
                    }
                }
            }
        });
        for (index, group) in groups.iter().enumerate() {
            let board = group.board;
            let length = board.points() * LANES;
            let shares = workers.shares(group.samples);
            let jobs = split(&x.groups[index], blocks_in * length, &shares)
                .into_iter()
                .zip(split(&dz.groups[index], blocks_out * length, &shares))
                .collect();
            let parts = workers.each(jobs, |(x, dz): (&[f32], &[f32]), _| {
                let mut dw = vec![0.0; blocks_in * blocks_out * LANES * LANES];
                let mut right = Packed::default();
                for (x, dz) in x
                    .chunks_exact(blocks_in * length)
                    .zip(dz.chunks_exact(blocks_out * length))
                {
                    for (output, dz) in dz.chunks_exact(length).enumerate() {
                        right.rows(dz, board.points(), LANES, LANES);
                        for (input, x) in x.chunks_exact(length).enumerate() {
                            let left = Left {
                                values: x,
                                row_stride: 1,
                                depth_stride: LANES,
                            };
                            let target = &mut dw[(input * blocks_out + output) * LANES * LANES..];
                            gemm(LANES, left, &right, target, LANES, true);
                        }
                    }
                }
                dw
            });
            for dw in parts {
                for output in 0..self.outputs {
                    for input in 0..self.inputs {
                        let block = input / LANES * blocks_out + output / LANES;
                        self.weights.gradient[output * self.inputs + input] +=
                            dw[(block * LANES + input % LANES) * LANES + output % LANES];
                    }
                }
            }
        }
    }

    pub(super) fn params_mut(&mut self) -> [&mut Param; 2] {
        [&mut self.weights, &mut self.bias]
    }
}

fn by_points(block: &[f32]) -> Left<'_> {
    Left {
        values: block,
        row_stride: LANES,
        depth_stride: 1,
    }
}
