//! A 1x1 convolution, with batch norm and activation or with a bias alone: how heads read a tower.

use net::{
    Conv, Layer as Plain,
    training::{
        LANES,
        conv::{Affine, Board, Sums, padded},
        gemm::{Left, Packed, gemm},
    },
};
use rand::Rng;

use super::dense::DenseStart;
use super::norm::{Norm, NormStyle};
use super::step::PlainOp;
use super::{Layer, Mode, activation, pointwise};
use crate::batch::{Batch, Shape, Workers, split, split_mut};
use crate::param::Param;

/// A 1x1 convolution: the same dense layer at every point.
pub struct Pixel {
    board: Board,
    inputs: usize,
    outputs: usize,
    /// Weights `[output][input]`.
    pub weights: Param,
    ending: Ending,
    z: Vec<f32>,
}

/// What follows the products.
enum Ending {
    /// Batch norm and activation.
    Norm(Box<Norm>, f32),
    /// A bias, nothing else: the last layer of a head of planes.
    Bias(Param),
}

impl Pixel {
    /// A layer with random weights.
    pub fn new(
        name: &str,
        board: Board,
        [inputs, outputs]: [usize; 2],
        slope: f32,
        norm: NormStyle,
        random: &mut impl Rng,
    ) -> Self {
        let deviation = (2.0 / inputs as f32).sqrt();
        Self {
            board,
            inputs,
            outputs,
            weights: Param::normal(
                format!("{name}/conv"),
                &[outputs, inputs, 1, 1],
                deviation,
                random,
            ),
            ending: Ending::Norm(Box::new(Norm::new(name, outputs, norm)), slope),
            z: Vec::new(),
        }
    }

    /// A layer without norm or activation.
    pub fn linear(
        name: &str,
        board: Board,
        [inputs, outputs]: [usize; 2],
        start: DenseStart,
        random: &mut impl Rng,
    ) -> Self {
        Self {
            board,
            inputs,
            outputs,
            weights: Param::normal(
                format!("{name}/conv"),
                &[outputs, inputs, 1, 1],
                start.deviation,
                random,
            ),
            ending: Ending::Bias(Param::constant(
                format!("{name}/bias"),
                &[outputs],
                start.bias,
                false,
            )),
            z: Vec::new(),
        }
    }

    /// Weights between one input block and one output block, `[8 inputs][8 outputs]`, or transposed.
    fn block_weights(&self, input_block: usize, output_block: usize, transposed: bool) -> Packed {
        let mut block = [0.0; LANES * LANES];
        for input in 0..LANES.min(self.inputs - input_block * LANES) {
            for output in 0..LANES.min(self.outputs - output_block * LANES) {
                let (i, o) = (input_block * LANES + input, output_block * LANES + output);
                let at = if transposed {
                    output * LANES + input
                } else {
                    input * LANES + output
                };
                block[at] = self.weights.values[o * self.inputs + i];
            }
        }
        let mut packed = Packed::default();
        packed.rows(&block, LANES, LANES, LANES);
        packed
    }

    fn blocks(&self) -> (usize, usize) {
        (padded(self.inputs) / LANES, padded(self.outputs) / LANES)
    }
}

fn points_by_channels(block: &[f32]) -> Left<'_> {
    Left {
        values: block,
        row_stride: LANES,
        depth_stride: 1,
    }
}

impl Layer for Pixel {
    fn output(&self, _: Shape) -> Shape {
        Shape::Planes {
            board: self.board,
            channels: self.outputs,
        }
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, mode: Mode, workers: &mut Workers) {
        let (board, samples) = (self.board, input.samples());
        let (blocks_in, blocks_out) = self.blocks();
        let length = board.points() * LANES;
        let shares = workers.shares(samples);
        let mut z = std::mem::take(&mut self.z);
        z.resize(samples * blocks_out * length, 0.0);
        let packed: Vec<Packed> = (0..blocks_out * blocks_in)
            .map(|index| self.block_weights(index % blocks_in, index / blocks_in, false))
            .collect();
        let outputs = self.outputs;
        let jobs = split(&input.values, blocks_in * length, &shares)
            .into_iter()
            .zip(split_mut(&mut z, blocks_out * length, &shares))
            .collect();
        let sums = workers.each(jobs, |(x, z): (&[f32], &mut [f32]), _| {
            for (x, z) in x
                .chunks_exact(blocks_in * length)
                .zip(z.chunks_exact_mut(blocks_out * length))
            {
                for (output, z) in z.chunks_exact_mut(length).enumerate() {
                    for (input, x) in x.chunks_exact(length).enumerate() {
                        let weights = &packed[output * blocks_in + input];
                        gemm(
                            board.points(),
                            points_by_channels(x),
                            weights,
                            z,
                            LANES,
                            input > 0,
                        );
                    }
                }
            }
            pointwise::statistics(board, outputs, z)
        });
        match &mut self.ending {
            Ending::Norm(norm, slope) => {
                match mode {
                    Mode::Train { .. } => {
                        let mut all = Sums::new(outputs);
                        sums.iter().for_each(|sums| all.add(sums));
                        norm.train(&all, samples * board.points());
                    }
                    Mode::Evaluate => norm.evaluate(),
                }
                pointwise::normalise(board, &norm.line, *slope, &z, None, &mut output.values);
            }
            Ending::Bias(bias) => {
                let mut line = Affine {
                    scale: vec![1.0; padded(outputs)],
                    shift: vec![0.0; padded(outputs)],
                };
                line.shift[..outputs].copy_from_slice(&bias.values);
                pointwise::normalise(board, &line, 1.0, &z, None, &mut output.values);
            }
        }
        self.z = z;
    }

    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        let (board, samples) = (self.board, input.samples());
        let (blocks_in, blocks_out) = self.blocks();
        let length = board.points() * LANES;
        let shares = workers.shares(samples);
        match &mut self.ending {
            Ending::Norm(norm, slope) => {
                let sums = pointwise::unactivate(
                    board,
                    &norm.standard,
                    *slope,
                    self.outputs,
                    &mut gradient.values,
                    &output.values,
                    &self.z,
                );
                let (line, by_output) = norm.backward(&sums, samples * board.points());
                pointwise::unnormalise(board, &line, &by_output, &mut gradient.values, &self.z);
            }
            Ending::Bias(bias) => {
                let sums = pointwise::statistics(board, self.outputs, &gradient.values);
                bias.gradient
                    .iter_mut()
                    .zip(&sums.first)
                    .for_each(|(sum, &value)| *sum += value as f32);
            }
        }

        let packed: Vec<Packed> = (0..blocks_in * blocks_out)
            .map(|index| self.block_weights(index / blocks_out, index % blocks_out, true))
            .collect();
        let packed = &packed;
        let wanted: Vec<&mut [f32]> = match input_gradient {
            Some(wanted) => split_mut(&mut wanted.values, blocks_in * length, &shares),
            None => shares.iter().map(|_| Default::default()).collect(),
        };
        let jobs = split(&input.values, blocks_in * length, &shares)
            .into_iter()
            .zip(split(&gradient.values, blocks_out * length, &shares))
            .zip(wanted)
            .collect();
        let partial = workers.each(jobs, |((x, dz), dx): ((&[f32], &[f32]), &mut [f32]), _| {
            let mut dw = vec![0.0; blocks_in * blocks_out * LANES * LANES];
            let mut right = Packed::default();
            for (x, dz) in x
                .chunks_exact(blocks_in * length)
                .zip(dz.chunks_exact(blocks_out * length))
            {
                for (output, dz) in dz.chunks_exact(length).enumerate() {
                    right.rows(dz, board.points(), LANES, LANES);
                    for (input, x) in x.chunks_exact(length).enumerate() {
                        let channels_by_points = Left {
                            values: x,
                            row_stride: 1,
                            depth_stride: LANES,
                        };
                        let target = &mut dw[(input * blocks_out + output) * LANES * LANES..];
                        gemm(LANES, channels_by_points, &right, target, LANES, true);
                    }
                }
            }
            for (dx, dz) in dx
                .chunks_exact_mut(blocks_in * length)
                .zip(dz.chunks_exact(blocks_out * length))
            {
                for (input, dx) in dx.chunks_exact_mut(length).enumerate() {
                    for (output, dz) in dz.chunks_exact(length).enumerate() {
                        let weights = &packed[input * blocks_out + output];
                        gemm(
                            board.points(),
                            points_by_channels(dz),
                            weights,
                            dx,
                            LANES,
                            output > 0,
                        );
                    }
                }
            }
            dw
        });
        for dw in partial {
            for output in 0..self.outputs {
                for input in 0..self.inputs {
                    let block = input / LANES * blocks_out + output / LANES;
                    self.weights.gradient[output * self.inputs + input] +=
                        dw[(block * LANES + input % LANES) * LANES + output % LANES];
                }
            }
        }
    }

    fn params_mut(&mut self) -> Vec<&mut Param> {
        let mut params = vec![&mut self.weights];
        match &mut self.ending {
            Ending::Norm(norm, _) => params.extend(norm.params_mut()),
            Ending::Bias(bias) => params.push(bias),
        }
        params
    }

    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        match &mut self.ending {
            Ending::Norm(norm, _) => vec![&mut norm.mean, &mut norm.variance],
            Ending::Bias(_) => Vec::new(),
        }
    }

    fn restart_statistics(&mut self) {
        if let Ending::Norm(norm, _) = &mut self.ending {
            norm.restart();
        }
    }

    fn resume_statistics(&mut self) {
        if let Ending::Norm(norm, _) = &mut self.ending {
            norm.resume();
        }
    }

    fn export(&self) -> Vec<Plain> {
        let slope = match &self.ending {
            Ending::Norm(_, slope) => *slope,
            Ending::Bias(_) => 1.0,
        };
        let mut conv = Conv::new(1, self.inputs, self.outputs, activation(slope));
        for output in 0..self.outputs {
            let (scale, shift) = match &self.ending {
                Ending::Norm(norm, _) => norm.folded(output),
                Ending::Bias(bias) => (1.0, f64::from(bias.values[output])),
            };
            for input in 0..self.inputs {
                let at = output * self.inputs + input;
                conv.weights[at] = (f64::from(self.weights.values[at]) * scale) as f32;
            }
            conv.bias[output] = shift as f32;
        }
        vec![Plain::Conv(conv)]
    }

    fn steps(&self) -> Vec<PlainOp> {
        match &self.ending {
            Ending::Norm(norm, slope) => {
                vec![
                    PlainOp::Conv,
                    PlainOp::Norm(norm.style()),
                    PlainOp::Leak(*slope),
                ]
            }
            Ending::Bias(_) => vec![PlainOp::Conv, PlainOp::Bias],
        }
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        let points = self.board.points();
        let samples = input.len() / self.inputs / points;
        let mut z = vec![0.0; samples * self.outputs * points];
        for (index, z) in z.iter_mut().enumerate() {
            let (sample, output, point) = (
                index / points / self.outputs,
                index / points % self.outputs,
                index % points,
            );
            for i in 0..self.inputs {
                *z += f64::from(self.weights.values[output * self.inputs + i])
                    * input[(sample * self.inputs + i) * points + point];
            }
        }
        match &self.ending {
            Ending::Norm(norm, slope) => super::exact::leak(&norm.exact(&z, points), *slope),
            Ending::Bias(bias) => {
                let channel = |index: usize| index / points % self.outputs;
                z.iter()
                    .enumerate()
                    .map(|(index, z)| z + f64::from(bias.values[channel(index)]))
                    .collect()
            }
        }
    }
}
