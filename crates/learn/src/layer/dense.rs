//! A fully connected layer with an activation, and a residual pair of them.

use net::{
    Dense as PlainDense, Layer as Plain,
    training::{
        conv::padded,
        gemm::{Left, Packed, gemm},
    },
};
use rand::Rng;

use super::step::PlainOp;
use super::{Layer, Mode, activation};
use crate::batch::{Batch, Shape, Workers, split, split_mut};
use crate::param::Param;

/// `act(W·x + b)`.
pub struct Dense {
    inputs: usize,
    outputs: usize,
    slope: f32,
    /// Weights `[output][input]`.
    pub weights: Param,
    pub bias: Param,
    memory: Memory,
}

/// Packed operands, kept so that a step allocates nothing.
#[derive(Default)]
struct Memory {
    forward: Packed,
    backward: Packed,
    lanes: Vec<LaneMemory>,
}

/// What a thread needs for its share of the gradient.
#[derive(Default)]
struct LaneMemory {
    inputs: Packed,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// How a dense layer starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseStart {
    /// Deviation of the weights.
    pub deviation: f32,
    /// Value of every bias.
    pub bias: f32,
}

impl DenseStart {
    /// He's start for layers followed by a rectifier.
    pub fn he(inputs: usize) -> Self {
        Self {
            deviation: (2.0 / inputs as f32).sqrt(),
            bias: 0.0,
        }
    }

    /// A small start for the last layer of a head, so that training begins near indifference.
    pub fn gentle(inputs: usize) -> Self {
        /// Share of He's deviation.
        const SHARE: f32 = 0.3;
        Self {
            deviation: SHARE * (1.0 / inputs as f32).sqrt(),
            bias: 0.0,
        }
    }
}

impl Dense {
    /// A layer with random weights; `slope` 1 means no activation.
    pub fn new(
        name: &str,
        [inputs, outputs]: [usize; 2],
        slope: f32,
        start: DenseStart,
        random: &mut impl Rng,
    ) -> Self {
        Self {
            inputs,
            outputs,
            slope,
            weights: Param::normal(
                format!("{name}/weights"),
                &[outputs, inputs],
                start.deviation,
                random,
            ),
            bias: Param::constant(format!("{name}/bias"), &[outputs], start.bias, false),
            memory: Memory::default(),
        }
    }

    /// `output = act(W·input + b + skip)`.
    fn apply(
        &mut self,
        input: &Batch,
        skip: Option<&Batch>,
        output: &mut Batch,
        workers: &mut Workers,
    ) {
        let (stride_in, stride_out) = (padded(self.inputs), padded(self.outputs));
        let (outputs, slope) = (self.outputs, self.slope);
        let shares = workers.shares(input.samples());
        let packed = &mut self.memory.forward;
        packed.transposed(&self.weights.values, self.inputs, self.outputs);
        let (packed, bias) = (&*packed, &self.bias.values);
        let skips = skip.map(|skip| split(&skip.values, stride_out, &shares));
        let jobs = split(&input.values, stride_in, &shares)
            .into_iter()
            .zip(split_mut(&mut output.values, stride_out, &shares))
            .enumerate()
            .collect();
        workers.each(jobs, |(lane, (x, y)): (usize, (&[f32], &mut [f32])), _| {
            gemm(
                x.len() / stride_in,
                rows(x, stride_in),
                packed,
                y,
                stride_out,
                false,
            );
            for (index, row) in y.chunks_exact_mut(stride_out).enumerate() {
                if let Some(skips) = &skips {
                    let skip = &skips[lane][index * stride_out..][..outputs];
                    row.iter_mut()
                        .zip(skip)
                        .for_each(|(value, skip)| *value += skip);
                }
                for (value, bias) in row.iter_mut().zip(bias) {
                    let sum = *value + bias;
                    *value = if sum > 0.0 { sum } else { slope * sum };
                }
            }
        });
    }

    /// Sets the parameters' gradients from the gradient before the activation; adds to or sets the input's.
    fn unapply(
        &mut self,
        input: &Batch,
        gradient: &Batch,
        input_gradient: Option<(&mut Batch, bool)>,
        workers: &mut Workers,
    ) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let (stride_in, stride_out) = (padded(inputs), padded(outputs));
        let shares = workers.shares(input.samples());
        let Memory {
            backward, lanes, ..
        } = &mut self.memory;
        lanes.resize_with(shares.len(), LaneMemory::default);
        let mut accumulate = false;
        let wanted: Vec<&mut [f32]> = match input_gradient {
            Some((wanted, add)) => {
                accumulate = add;
                backward.rows(&self.weights.values, outputs, inputs, inputs);
                split_mut(&mut wanted.values, stride_in, &shares)
            }
            None => shares.iter().map(|_| Default::default()).collect(),
        };
        let backward = &*backward;
        let mut jobs: Vec<_> = split(&input.values, stride_in, &shares)
            .into_iter()
            .zip(split(&gradient.values, stride_out, &shares))
            .zip(wanted)
            .zip(lanes.iter_mut().map(|lane| Share { lane, own: None }))
            .collect();
        // The first thread adds to the gradient itself, the others to memory of their own.
        if let Some((_, share)) = jobs.first_mut() {
            share.own = Some(&mut self.weights.gradient);
        }
        workers.each(jobs, |(((x, dy), dx), share), _| {
            let samples = dy.len() / stride_out;
            let LaneMemory {
                inputs: right,
                weights,
                bias,
            } = share.lane;
            right.rows(x, samples, inputs, stride_in);
            let dw = share.own.unwrap_or_else(|| {
                weights.clear();
                weights.resize(outputs * inputs, 0.0);
                weights
            });
            let outputs_by_samples = Left {
                values: dy,
                row_stride: 1,
                depth_stride: stride_out,
            };
            gemm(outputs, outputs_by_samples, right, dw, inputs, true);
            bias.clear();
            bias.resize(outputs, 0.0);
            for row in dy.chunks_exact(stride_out) {
                bias.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += value);
            }
            if !dx.is_empty() {
                let dy = rows(dy, stride_out);
                gemm(samples, dy, backward, dx, stride_in, accumulate);
            }
        });
        for lane in &lanes[..shares.len()] {
            add(&mut self.bias.gradient, &lane.bias);
        }
        for lane in &lanes[1..shares.len()] {
            add(&mut self.weights.gradient, &lane.weights);
        }
    }

    fn plain(&self) -> PlainDense {
        PlainDense {
            inputs: self.inputs,
            outputs: self.outputs,
            weights: self.weights.values.clone().into(),
            bias: self.bias.values.clone(),
            activation: activation(self.slope),
        }
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact_sum(&self, input: &[f64]) -> Vec<f64> {
        input
            .chunks_exact(self.inputs)
            .flat_map(|x| {
                (0..self.outputs).map(|output| {
                    let weights = &self.weights.values[output * self.inputs..][..self.inputs];
                    let sum: f64 = x.iter().zip(weights).map(|(x, &w)| x * f64::from(w)).sum();
                    sum + f64::from(self.bias.values[output])
                })
            })
            .collect()
    }
}

/// A thread's memory, and the gradient itself if it may write to that.
struct Share<'a> {
    lane: &'a mut LaneMemory,
    own: Option<&'a mut Vec<f32>>,
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut()
        .zip(values)
        .for_each(|(sum, value)| *sum += value);
}

fn rows(values: &[f32], stride: usize) -> Left<'_> {
    Left {
        values,
        row_stride: stride,
        depth_stride: 1,
    }
}

/// Takes a gradient back through an activation whose output is known.
fn unleak(gradient: &mut Batch, output: &Batch, slope: f32) {
    if slope == 1.0 {
        return;
    }
    for (gradient, output) in gradient.values.iter_mut().zip(&output.values) {
        if *output <= 0.0 {
            *gradient *= slope;
        }
    }
}

impl Layer for Dense {
    fn output(&self, _: Shape) -> Shape {
        Shape::Row(self.outputs)
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, workers: &mut Workers) {
        self.apply(input, None, output, workers);
    }

    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        unleak(gradient, output, self.slope);
        self.unapply(
            input,
            gradient,
            input_gradient.map(|wanted| (wanted, false)),
            workers,
        );
    }

    fn params_mut(&mut self) -> Vec<&mut Param> {
        vec![&mut self.weights, &mut self.bias]
    }

    fn export(&self) -> Vec<Plain> {
        vec![Plain::Dense(self.plain())]
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::Dense, PlainOp::Leak(self.slope)]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        super::exact::leak(&self.exact_sum(input), self.slope)
    }
}

/// `act(x + second(first(x)))`, the block of the dense safety network.
pub struct DenseBlock {
    first: Dense,
    second: Dense,
    slope: f32,
    middle: Batch,
    middle_gradient: Batch,
}

impl DenseBlock {
    /// A block of `width` numbers.
    pub fn new(
        name: &str,
        width: usize,
        slope: f32,
        start: DenseStart,
        random: &mut impl Rng,
    ) -> Self {
        Self {
            first: Dense::new(&format!("{name}/1"), [width, width], slope, start, random),
            second: Dense::new(&format!("{name}/2"), [width, width], slope, start, random),
            slope,
            middle: Batch::default(),
            middle_gradient: Batch::default(),
        }
    }
}

impl Layer for DenseBlock {
    fn output(&self, input: Shape) -> Shape {
        input
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, workers: &mut Workers) {
        self.middle.fit(input.shape, input.samples());
        self.first.apply(input, None, &mut self.middle, workers);
        self.second
            .apply(&self.middle, Some(input), output, workers);
    }

    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        unleak(gradient, output, self.slope);
        self.middle_gradient.fit(input.shape, input.samples());
        let middle_gradient = &mut self.middle_gradient;
        self.second.unapply(
            &self.middle,
            gradient,
            Some((&mut *middle_gradient, false)),
            workers,
        );
        unleak(middle_gradient, &self.middle, self.slope);
        let wanted = input_gradient.map(|wanted| {
            wanted.values.copy_from_slice(&gradient.values);
            (wanted, true)
        });
        self.first.unapply(input, middle_gradient, wanted, workers);
    }

    fn params_mut(&mut self) -> Vec<&mut Param> {
        let mut params = self.first.params_mut();
        params.extend(self.second.params_mut());
        params
    }

    fn export(&self) -> Vec<Plain> {
        let last = PlainDense {
            activation: net::Activation::Identity,
            ..self.second.plain()
        };
        vec![Plain::Residual {
            body: vec![Plain::Dense(self.first.plain()), Plain::Dense(last)],
            activation: activation(self.slope),
        }]
    }

    fn steps(&self) -> Vec<PlainOp> {
        let body = vec![PlainOp::Dense, PlainOp::Leak(self.slope), PlainOp::Dense];
        vec![PlainOp::Residual(body), PlainOp::Leak(self.slope)]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        let middle = super::exact::leak(&self.first.exact_sum(input), self.slope);
        let sum: Vec<f64> = self
            .second
            .exact_sum(&middle)
            .iter()
            .zip(input)
            .map(|(sum, skip)| sum + skip)
            .collect();
        super::exact::leak(&sum, self.slope)
    }
}
