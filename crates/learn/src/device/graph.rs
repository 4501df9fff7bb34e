//! The steps of a plan as operations on tensors.

use std::slice::{Iter, IterMut};

use burn_tensor::Tensor;
use burn_tensor::TensorData;
use burn_tensor::activation::{leaky_relu, relu};
use burn_tensor::module::{batch_norm, batch_norm_train, conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};
use net::training::conv::Board;

use crate::batch::{Batch, Shape};
use crate::layer::norm::{EPSILON, NormStyle};
use crate::layer::step::PlainOp;
use crate::layer::{Mode, dropout};

/// What flows from step to step.
#[derive(Clone)]
pub enum Flow {
    /// `[sample][channel][y][x]`.
    Planes(Tensor<4>),
    /// `[sample][number]`.
    Row(Tensor<2>),
}

impl Flow {
    /// As rows, channel by channel.
    pub fn into_row(self) -> Tensor<2> {
        match self {
            Flow::Planes(planes) => planes.flatten(1, 3),
            Flow::Row(row) => row,
        }
    }

    fn planes(self) -> Tensor<4> {
        match self {
            Flow::Planes(planes) => planes,
            Flow::Row(_) => panic!("a step for planes got a row"),
        }
    }

    fn plus(self, other: Flow) -> Flow {
        match (self, other) {
            (Flow::Planes(one), Flow::Planes(other)) => Flow::Planes(one + other),
            (one, other) => Flow::Row(one.into_row() + other.into_row()),
        }
    }
}

/// A walk over the steps of a model, which takes parameters and statistics as they come.
pub struct Walk<'a> {
    shapes: Iter<'a, Vec<usize>>,
    params: Iter<'a, Tensor<1>>,
    statistics: IterMut<'a, Tensor<1>>,
    mode: Mode,
    averaged: Option<u32>,
}

impl<'a> Walk<'a> {
    /// A walk from the first parameter; a training pass moves the statistics, or averages them as batch `averaged`.
    pub fn new(
        shapes: &'a [Vec<usize>],
        params: &'a [Tensor<1>],
        statistics: &'a mut [Tensor<1>],
        mode: Mode,
        averaged: Option<u32>,
    ) -> Self {
        Self {
            shapes: shapes.iter(),
            params: params.iter(),
            statistics: statistics.iter_mut(),
            mode,
            averaged,
        }
    }

    /// What the steps make of `input`.
    ///
    /// # Panics
    /// If the model has fewer parameters than its steps take.
    pub fn run(&mut self, steps: &[PlainOp], input: Flow) -> Flow {
        steps
            .iter()
            .fold(input, |flow, step| self.follow(step, flow))
    }

    fn follow(&mut self, step: &PlainOp, input: Flow) -> Flow {
        match step {
            PlainOp::Conv => Flow::Planes(self.convolve(input.planes())),
            PlainOp::Bias => {
                let (bias, planes) = (self.row(), input.planes());
                let channels = bias.dims()[0];
                Flow::Planes(planes + bias.reshape([1, channels, 1, 1]))
            }
            PlainOp::Norm(style) => Flow::Planes(self.normalise(input.planes(), *style)),
            PlainOp::Dense => {
                let weights = self.matrix();
                let bias = self.row().unsqueeze::<2>();
                Flow::Row(input.into_row().matmul(weights.transpose()) + bias)
            }
            PlainOp::Leak(slope) => match input {
                Flow::Planes(planes) => Flow::Planes(leak(planes, *slope)),
                Flow::Row(row) => Flow::Row(leak(row, *slope)),
            },
            PlainOp::Residual(body) => {
                let branch = self.run(body, input.clone());
                branch.plus(input)
            }
            PlainOp::MaxPool => {
                /// Rows and columns of a square.
                const SIDE: [usize; 2] = [2, 2];
                Flow::Planes(max_pool2d(input.planes(), MaxPoolOptions::new(SIDE)))
            }
            PlainOp::GlobalPool => {
                let planes: Tensor<3> = input.planes().flatten(2, 3);
                let [samples, channels, _] = planes.dims();
                let mean = planes.clone().mean_dim(2).reshape([samples, channels]);
                let largest = planes.max_dim(2).reshape([samples, channels]);
                Flow::Row(Tensor::cat(vec![mean, largest], 1))
            }
            PlainOp::Flatten => Flow::Row(input.into_row()),
            PlainOp::Dropout(share) => match self.mode {
                Mode::Evaluate => input,
                Mode::Train { seed } => drop_out(input, *share, seed),
            },
        }
    }

    fn convolve(&mut self, planes: Tensor<4>) -> Tensor<4> {
        let (weights, shape) = self.param();
        let &[outputs, inputs, height, width] = shape else {
            panic!("weights of a convolution have four dimensions");
        };
        let weights = weights.reshape([outputs, inputs, height, width]);
        let padding = [height / 2, width / 2];
        conv2d(
            planes,
            weights,
            None,
            ConvOptions::new([1, 1], padding, [1, 1], 1),
        )
    }

    fn normalise(&mut self, planes: Tensor<4>, style: NormStyle) -> Tensor<4> {
        let [samples, channels, height, width] = planes.dims();
        let bias = style.biased.then(|| self.row().inner());
        let gamma = if style.scaled {
            self.row()
        } else {
            Tensor::ones([channels], &planes.device())
        };
        let beta = self.row();
        let mut statistic = || self.statistics.next().expect("statistics of every norm");
        let (mean, variance) = (statistic(), statistic());
        if self.mode == Mode::Evaluate {
            let centre = match bias {
                Some(bias) => mean.clone() - bias,
                None => mean.clone(),
            };
            return batch_norm(planes, gamma, beta, centre, variance.clone(), EPSILON);
        }
        let batch = batch_norm_train(planes, gamma, beta, EPSILON);
        let count = (samples * height * width) as f64;
        let unbiased = count / (count - 1.0).max(1.0);
        let keep = match self.averaged {
            Some(batches) => 1.0 - 1.0 / batches as f32,
            None => style.keep,
        };
        let mut batch_mean = batch.mean.inner();
        if let Some(bias) = bias {
            batch_mean = batch_mean + bias;
        }
        let batch_variance = batch.variance.inner() * unbiased;
        *mean = mean.clone() * keep + batch_mean * (1.0 - keep);
        *variance = variance.clone() * keep + batch_variance * (1.0 - keep);
        batch.output
    }

    fn param(&mut self) -> (Tensor<1>, &'a [usize]) {
        let param = self.params.next().expect("a parameter for every step");
        let shape = self.shapes.next().expect("a shape for every parameter");
        (param.clone(), shape)
    }

    fn row(&mut self) -> Tensor<1> {
        self.param().0
    }

    fn matrix(&mut self) -> Tensor<2> {
        let (weights, shape) = self.param();
        let &[outputs, inputs] = shape else {
            panic!("weights of a dense layer have two dimensions");
        };
        weights.reshape([outputs, inputs])
    }
}

fn leak<const D: usize>(values: Tensor<D>, slope: f32) -> Tensor<D> {
    match slope {
        0.0 => relu(values),
        1.0 => values,
        slope => leaky_relu(values, f64::from(slope)),
    }
}

/// Leaves out the very numbers that our layer would leave out.
fn drop_out(input: Flow, share: f64, seed: u64) -> Flow {
    let factors = |shape: Shape, samples: usize| {
        let values = dropout::factors(share, seed, samples * shape.stride());
        Batch { shape, values }.all_plain()
    };
    match input {
        Flow::Planes(planes) => {
            let [samples, channels, height, width] = planes.dims();
            let board = Board::new(height, width);
            let factors = factors(Shape::Planes { board, channels }, samples);
            let factors = TensorData::new(factors, planes.dims());
            Flow::Planes(planes.clone() * Tensor::from_data(factors, &planes.device()))
        }
        Flow::Row(row) => {
            let [samples, length] = row.dims();
            let factors = TensorData::new(factors(Shape::Row(length), samples), row.dims());
            Flow::Row(row.clone() * Tensor::from_data(factors, &row.device()))
        }
    }
}
