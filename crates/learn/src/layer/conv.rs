//! A plain 3x3 convolution with bias and activation, without batch norm.

use net::{
    Conv as PlainConv, Layer as Plain,
    training::{
        LANES,
        conv::{self, Affine, Board, ConvWeights, Source, Sums, padded},
        gradient::{self, OutputGradient, Sink},
    },
};
use rand::Rng;

use super::step::PlainOp;
use super::{Layer, Mode, activation, pointwise};
use crate::batch::{Batch, Shape, Workers, split, split_mut};
use crate::param::Param;

/// A 3x3 convolution with bias that sees zeros around the board.
pub struct Conv {
    board: Board,
    inputs: usize,
    outputs: usize,
    slope: f32,
    /// Weights `[output][input][3][3]`.
    pub weights: Param,
    pub bias: Param,
    transformed: ConvWeights,
    z: Vec<f32>,
}

impl Conv {
    /// A layer with random weights of the given deviation and constant biases.
    pub fn new(
        name: &str,
        board: Board,
        [inputs, outputs]: [usize; 2],
        slope: f32,
        start: super::dense::DenseStart,
        random: &mut impl Rng,
    ) -> Self {
        let shape = [outputs, inputs, 3, 3];
        Self {
            board,
            inputs,
            outputs,
            slope,
            weights: Param::normal(format!("{name}/conv"), &shape, start.deviation, random),
            bias: Param::constant(format!("{name}/bias"), &[outputs], start.bias, false),
            transformed: ConvWeights::new(board, inputs, outputs),
            z: Vec::new(),
        }
    }
}

impl Layer for Conv {
    fn output(&self, _: Shape) -> Shape {
        Shape::Planes {
            board: self.board,
            channels: self.outputs,
        }
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, workers: &mut Workers) {
        let (board, outputs) = (self.board, self.outputs);
        let shares = workers.shares(input.samples());
        let stride = board.sample(outputs);
        self.transformed.set(&self.weights.values);
        self.z.resize(output.values.len(), 0.0);
        let jobs = split(&input.values, input.shape.stride(), &shares)
            .into_iter()
            .zip(split_mut(&mut self.z, stride, &shares))
            .collect();
        let transformed = &self.transformed;
        workers.each(jobs, |(x, z), scratch| {
            conv::forward(
                board,
                transformed,
                Source::Plain(x),
                z,
                &mut Sums::new(outputs),
                scratch,
            );
        });
        let mut line = Affine {
            scale: vec![1.0; padded(outputs)],
            shift: vec![0.0; padded(outputs)],
        };
        line.shift[..outputs].copy_from_slice(&self.bias.values);
        pointwise::normalise(board, &line, self.slope, &self.z, None, &mut output.values);
    }

    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        let board = self.board;
        let shares = workers.shares(input.samples());
        for (gradient, output) in gradient.values.iter_mut().zip(&output.values) {
            if *output <= 0.0 {
                *gradient *= self.slope;
            }
        }
        let length = board.points() * LANES;
        for (index, block) in gradient.values.chunks_exact(length).enumerate() {
            let first = index % (padded(self.outputs) / LANES) * LANES;
            for (at, value) in block.iter().enumerate() {
                if let Some(sum) = self.bias.gradient.get_mut(first + at % LANES) {
                    *sum += value;
                }
            }
        }
        let sinks: Vec<Sink<'_>> = match input_gradient {
            None => shares.iter().map(|_| Sink::None).collect(),
            Some(wanted) => {
                let width = wanted.shape.stride();
                split_mut(&mut wanted.values, width, &shares)
                    .into_iter()
                    .map(Sink::Plain)
                    .collect()
            }
        };
        let transformed = &self.transformed;
        let jobs = split(&input.values, input.shape.stride(), &shares)
            .into_iter()
            .zip(split(&gradient.values, board.sample(self.outputs), &shares))
            .zip(sinks)
            .collect();
        let partial = workers.each(
            jobs,
            |((x, dz), sink): ((&[f32], &[f32]), Sink<'_>), scratch| {
                let mut gradient = vec![0.0; transformed.gradient_length()];
                let output = OutputGradient::Plain(dz);
                gradient::backward(
                    board,
                    transformed,
                    output,
                    Source::Plain(x),
                    sink,
                    &mut gradient,
                    scratch,
                );
                gradient
            },
        );
        self.transformed
            .add_gradient(&partial, 0..self.outputs, &mut self.weights.gradient);
    }

    fn params_mut(&mut self) -> Vec<&mut Param> {
        vec![&mut self.weights, &mut self.bias]
    }

    fn export(&self) -> Vec<Plain> {
        let mut conv = PlainConv::new(3, self.inputs, self.outputs, activation(self.slope));
        conv.weights.copy_from_slice(&self.weights.values);
        conv.bias.copy_from_slice(&self.bias.values);
        vec![Plain::Conv(conv)]
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::Conv, PlainOp::Bias, PlainOp::Leak(self.slope)]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        let mut z = super::exact::convolve(
            input,
            &self.weights.values,
            self.board,
            self.inputs,
            self.outputs,
        );
        for (index, value) in z.iter_mut().enumerate() {
            *value += f64::from(self.bias.values[index / self.board.points() % self.outputs]);
        }
        super::exact::leak(&z, self.slope)
    }
}
