//! The residual tower: a 3x3 convolution, then blocks of two, all with batch norm.
//!
//! This is where training spends its time, so no activation is walked over without a convolution at hand: each
//! convolution normalises its input on the way in and collects its output's statistics on the way out, see
//! [`net::training::conv`]. Kept for the backward pass are the raw outputs of all convolutions and the activations
//! between blocks.

use net::{
    Conv, Layer as Plain,
    training::{
        conv::{self, Affine, Board, ConvWeights, Source, Sums},
        gradient::{self, OutputGradient, Sink},
    },
};
use rand::Rng;

use super::norm::{Norm, NormStyle};
use super::step::PlainOp;
use super::{Layer, Mode, activation};
use crate::batch::{Batch, Shape, Workers, split, split_mut};
use crate::param::Param;

/// What a tower is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TowerShape {
    pub board: Board,
    /// Planes read.
    pub inputs: usize,
    /// Channels of every convolution.
    pub filters: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Slope of the activation below zero.
    pub slope: f32,
    /// The kind of batch norm.
    pub norm: NormStyle,
}

/// One convolution of a tower with its norm.
pub struct Unit {
    /// Weights `[output][input][3][3]`.
    pub weights: Param,
    /// Batch norm.
    pub norm: Norm,
    transformed: ConvWeights,
    /// Raw outputs of the batch.
    z: Vec<f32>,
}

/// An input convolution followed by residual blocks, all of one width.
pub struct Tower {
    shape: TowerShape,
    units: Vec<Unit>,
    /// Activations before each block; those after the last one are the layer's output.
    kept: Vec<Vec<f32>>,
    /// Gradient between the two convolutions of a block.
    inner: Vec<f32>,
    /// Weight gradients in the transformed domain, one a thread.
    transformed: Vec<Vec<f32>>,
}

impl Tower {
    /// A tower with random weights: He's deviation, the last convolution of a block scaled down with depth.
    pub fn new(shape: TowerShape, random: &mut impl Rng) -> Self {
        let units = (0..=2 * shape.blocks)
            .map(|index| {
                let inputs = if index == 0 {
                    shape.inputs
                } else {
                    shape.filters
                };
                let name = format!("tower/{index}");
                let deviation = (2.0 / (9 * inputs) as f32).sqrt();
                let dimensions = [shape.filters, inputs, 3, 3];
                Unit {
                    weights: Param::normal(format!("{name}/conv"), &dimensions, deviation, random),
                    norm: Norm::new(&name, shape.filters, shape.norm),
                    transformed: ConvWeights::new(shape.board, inputs, shape.filters),
                    z: Vec::new(),
                }
            })
            .collect();
        Self {
            shape,
            units,
            kept: vec![Vec::new(); shape.blocks],
            inner: Vec::new(),
            transformed: Vec::new(),
        }
    }

    /// What it is made of.
    pub fn shape(&self) -> TowerShape {
        self.shape
    }

    /// The convolutions: the first, then two a block.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Brings the weights of all units into the form that convolves, a share of the units on each thread.
    fn transform(&mut self, workers: &mut Workers) {
        let share = self.units.len().div_ceil(workers.count());
        workers.each(self.units.chunks_mut(share).collect(), |units, _| {
            for unit in units {
                unit.transformed.set(&unit.weights.values);
            }
        });
    }

    /// Convolves with unit `index`, whose input is the batch itself or made of what earlier units left.
    fn convolve(&mut self, index: usize, input: &Batch, mode: Mode, workers: &mut Workers) {
        let TowerShape { board, slope, .. } = self.shape;
        let samples = input.samples();
        let shares = workers.shares(samples);
        let stride = board.sample(self.shape.filters);
        let (before, rest) = self.units.split_at_mut(index);
        let unit = &mut rest[0];
        unit.z.resize(samples * stride, 0.0);

        let sources: Vec<Source<'_>> = if index == 0 {
            split(&input.values, input.shape.stride(), &shares)
                .into_iter()
                .map(Source::Plain)
                .collect()
        } else {
            let previous = &before[index - 1];
            let outputs = split(&previous.z, stride, &shares);
            let norm = &previous.norm.line;
            if index.is_multiple_of(2) {
                outputs
                    .into_iter()
                    .map(|z| Source::Normalised { z, norm, slope })
                    .collect()
            } else {
                let block = index / 2;
                let (earlier, current) = self.kept.split_at_mut(block);
                let out = &mut current[0];
                out.resize(samples * stride, 0.0);
                let mut skips = earlier.last().map(|skip| split(skip, stride, &shares));
                outputs
                    .into_iter()
                    .zip(split_mut(out, stride, &shares))
                    .enumerate()
                    .map(|(lane, (z, out))| Source::Kept {
                        z,
                        norm,
                        skip: skips.as_mut().map(|skips| skips[lane]),
                        slope,
                        out,
                    })
                    .collect()
            }
        };
        let transformed = &unit.transformed;
        let filters = self.shape.filters;
        let jobs = sources
            .into_iter()
            .zip(split_mut(&mut unit.z, stride, &shares))
            .collect();
        let sums = workers.each(jobs, |(source, z), scratch| {
            let mut sums = Sums::new(filters);
            conv::forward(board, transformed, source, z, &mut sums, scratch);
            sums
        });
        match mode {
            Mode::Train { .. } => unit.norm.train(&total(sums), samples * board.points()),
            Mode::Evaluate => unit.norm.evaluate(),
        }
    }

    /// `act(norm(z) + skip)` of the last unit, where no convolution follows.
    fn finish(&self, output: &mut Batch, workers: &mut Workers) {
        let TowerShape {
            board,
            slope,
            filters,
            ..
        } = self.shape;
        let stride = board.sample(filters);
        let shares = workers.shares(output.samples());
        let last = self.units.last().expect("a tower has a first convolution");
        let skips = self.kept.last().map(|skip| split(skip, stride, &shares));
        let jobs = split(&last.z, stride, &shares)
            .into_iter()
            .zip(split_mut(&mut output.values, stride, &shares))
            .enumerate()
            .collect();
        let norm = &last.norm.line;
        workers.each(
            jobs,
            |(lane, (z, out)): (usize, (&[f32], &mut [f32])), _| {
                let skip = skips.as_ref().map(|skips| skips[lane]);
                super::pointwise::normalise(board, norm, slope, z, skip, out);
            },
        );
    }

    /// The backward pass of unit `index`: its weight gradient, and the gradient handed to the unit before it.
    /// `outer` holds the gradient of the sum at the end of the block, then at its beginning.
    fn convolve_back(
        &mut self,
        index: usize,
        sums: &Sums,
        input: &Batch,
        outer: &mut Batch,
        input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) -> Sums {
        let TowerShape {
            board,
            slope,
            filters,
            ..
        } = self.shape;
        let samples = input.samples();
        let shares = workers.shares(samples);
        let stride = board.sample(filters);
        let (before, rest) = self.units.split_at_mut(index);
        let unit = &mut rest[0];
        let (line, by_output) = unit.norm.backward(sums, samples * board.points());
        self.inner.resize(samples * stride, 0.0);
        self.transformed.resize_with(shares.len(), Vec::new);
        for gradient in &mut self.transformed {
            gradient.clear();
            gradient.resize(unit.transformed.gradient_length(), 0.0);
        }

        let mut lane_sums: Vec<Sums> = shares.iter().map(|_| Sums::new(filters)).collect();
        let z = split(&unit.z, stride, &shares);
        let normalised = |(gradient, z)| OutputGradient::Normalised {
            gradient,
            z,
            line: &line,
            by_output: &by_output,
        };
        // Even units after the first end a block: they read `inner`-less activations and leave `inner`.
        let ends_block = index > 0 && index.is_multiple_of(2);
        let jobs: Vec<_> = if index == 0 {
            let gradients = split(&outer.values, stride, &shares)
                .into_iter()
                .zip(z)
                .map(normalised);
            let sources = split(&input.values, input.shape.stride(), &shares)
                .into_iter()
                .map(Source::Plain);
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
            gradients.zip(sources).zip(sinks).collect()
        } else {
            let previous = &before[index - 1];
            let previous_z = split(&previous.z, stride, &shares);
            if ends_block {
                let gradients = split(&outer.values, stride, &shares)
                    .into_iter()
                    .zip(z)
                    .map(normalised);
                let sources = previous_z.clone().into_iter().map(|z| Source::Normalised {
                    z,
                    norm: &previous.norm.line,
                    slope,
                });
                let sinks = split_mut(&mut self.inner, stride, &shares)
                    .into_iter()
                    .zip(previous_z)
                    .zip(&mut lane_sums)
                    .map(|((gradient, z), sums)| Sink::Activation {
                        gradient,
                        z,
                        norm: &previous.norm.line,
                        standard: &previous.norm.standard,
                        slope,
                        sums,
                    });
                gradients.zip(sources).zip(sinks).collect()
            } else {
                let kept = split(&self.kept[index / 2], stride, &shares);
                let gradients = split(&self.inner, stride, &shares)
                    .into_iter()
                    .zip(z)
                    .map(normalised);
                let sources = kept.clone().into_iter().map(Source::Plain);
                let sinks = split_mut(&mut outer.values, stride, &shares)
                    .into_iter()
                    .zip(kept)
                    .zip(previous_z)
                    .zip(&mut lane_sums)
                    .map(|(((gradient, activations), z), sums)| Sink::Residual {
                        gradient,
                        activations,
                        z,
                        standard: &previous.norm.standard,
                        slope,
                        sums,
                    });
                gradients.zip(sources).zip(sinks).collect()
            }
        };
        let transformed = &unit.transformed;
        let jobs = jobs.into_iter().zip(&mut self.transformed).collect();
        workers.each(
            jobs,
            |(((output, source), sink), gradient): (_, &mut Vec<f32>), scratch| {
                gradient::backward(board, transformed, output, source, sink, gradient, scratch);
            },
        );
        let rows = unit.weights.gradient.len() / filters;
        let outputs = workers.shares(filters);
        let jobs = split_mut(&mut unit.weights.gradient, rows, &outputs)
            .into_iter()
            .zip(outputs)
            .collect();
        let gradients = &self.transformed;
        workers.each(jobs, |(rows, outputs): (&mut [f32], _), _| {
            transformed.add_gradient(gradients, outputs, rows);
        });
        total(lane_sums)
    }
}

fn total(sums: Vec<Sums>) -> Sums {
    let mut sums = sums.into_iter();
    let mut all = sums.next().expect("at least one thread");
    for more in sums {
        all.add(&more);
    }
    all
}

impl Layer for Tower {
    fn output(&self, _: Shape) -> Shape {
        Shape::Planes {
            board: self.shape.board,
            channels: self.shape.filters,
        }
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, mode: Mode, workers: &mut Workers) {
        self.transform(workers);
        for index in 0..self.units.len() {
            self.convolve(index, input, mode, workers);
        }
        self.finish(output, workers);
    }

    fn backward(
        &mut self,
        input: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        mut input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        let TowerShape {
            board,
            slope,
            filters,
            ..
        } = self.shape;
        let stride = board.sample(filters);
        let shares = workers.shares(input.samples());
        let last = self.units.last().expect("a tower has a first convolution");
        let standard: &Affine = &last.norm.standard;
        let jobs = split_mut(&mut gradient.values, stride, &shares)
            .into_iter()
            .zip(split(&output.values, stride, &shares))
            .zip(split(&last.z, stride, &shares))
            .collect();
        let mut sums = total(workers.each(jobs, |((gradient, output), z), _| {
            super::pointwise::unactivate(board, standard, slope, filters, gradient, output, z)
        }));
        for index in (0..self.units.len()).rev() {
            let wanted = input_gradient.as_deref_mut();
            sums = self.convolve_back(index, &sums, input, gradient, wanted, workers);
        }
    }

    fn params_mut(&mut self) -> Vec<&mut Param> {
        self.units
            .iter_mut()
            .flat_map(|unit| std::iter::once(&mut unit.weights).chain(unit.norm.params_mut()))
            .collect()
    }

    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        self.units
            .iter_mut()
            .flat_map(|unit| [&mut unit.norm.mean, &mut unit.norm.variance])
            .collect()
    }

    fn restart_statistics(&mut self) {
        for unit in &mut self.units {
            unit.norm.restart();
        }
    }

    fn resume_statistics(&mut self) {
        for unit in &mut self.units {
            unit.norm.resume();
        }
    }

    fn export(&self) -> Vec<Plain> {
        let slope = activation(self.shape.slope);
        let folded = |unit: &Unit, activation| {
            let [filters, inputs, ..] = unit.weights.shape[..] else {
                unreachable!("tower weights have four dimensions");
            };
            let mut conv = Conv::new(3, inputs, filters, activation);
            for (channel, (target, source)) in conv
                .weights
                .chunks_exact_mut(9 * inputs)
                .zip(unit.weights.values.chunks_exact(9 * inputs))
                .enumerate()
            {
                let (scale, shift) = unit.norm.folded(channel);
                for (target, source) in target.iter_mut().zip(source) {
                    *target = (f64::from(*source) * scale) as f32;
                }
                conv.bias[channel] = shift as f32;
            }
            Plain::Conv(conv)
        };
        let mut layers = vec![folded(&self.units[0], slope)];
        for pair in self.units[1..].chunks_exact(2) {
            layers.push(Plain::Residual {
                body: vec![
                    folded(&pair[0], slope),
                    folded(&pair[1], net::Activation::Identity),
                ],
                activation: slope,
            });
        }
        layers
    }

    fn steps(&self) -> Vec<PlainOp> {
        let TowerShape {
            blocks,
            slope,
            norm,
            ..
        } = self.shape;
        let unit = [PlainOp::Conv, PlainOp::Norm(norm)];
        let mut steps = unit.to_vec();
        steps.push(PlainOp::Leak(slope));
        for _ in 0..blocks {
            let mut body = unit.to_vec();
            body.push(PlainOp::Leak(slope));
            body.extend(unit.clone());
            steps.extend([PlainOp::Residual(body), PlainOp::Leak(slope)]);
        }
        steps
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        use super::exact;
        let TowerShape {
            board,
            inputs,
            filters,
            slope,
            ..
        } = self.shape;
        let step = |x: &[f64], unit: &Unit, inputs: usize| {
            let z = exact::convolve(x, &unit.weights.values, board, inputs, filters);
            unit.norm.exact(&z, board.points())
        };
        let mut x = exact::leak(&step(input, &self.units[0], inputs), slope);
        for pair in self.units[1..].chunks_exact(2) {
            let middle = exact::leak(&step(&x, &pair[0], filters), slope);
            let sum: Vec<f64> = step(&middle, &pair[1], filters)
                .iter()
                .zip(&x)
                .map(|(branch, skip)| branch + skip)
                .collect();
            x = exact::leak(&sum, slope);
        }
        x
    }
}
