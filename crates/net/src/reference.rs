//! The evaluator that is obviously right: direct convolution in f64, one position at a time.
//!
//! It is slow on purpose. Every fast path is compared with it.

use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::network::{Activation, Conv, Dense, Head, Layer, Network, Reading, ShapeError};
use crate::shape::{IoShape, PlaneShape};

/// Runs a [`Network`] in the plainest possible way.
#[derive(Clone, Debug)]
pub struct Reference {
    network: Network,
    shape: IoShape,
}

impl Reference {
    /// Checks the network and takes it over.
    pub fn new(network: Network) -> Result<Self, ShapeError> {
        network.check()?;
        let shape = network.io_shape();
        Ok(Self { network, shape })
    }

    /// The output row of one position, in full precision.
    pub fn evaluate_one(&self, planes: &[f32]) -> Vec<f64> {
        let input: Vec<f64> = planes.iter().map(|&number| f64::from(number)).collect();
        let trunk = self.run_layers(&self.network.trunk, input);
        let heads = self.network.heads.iter();
        heads
            .flat_map(|head| self.run_head(head, trunk.clone()))
            .collect()
    }

    fn run_head(&self, head: &Head, input: Vec<f64>) -> Vec<f64> {
        let mut row = self.run_layers(&head.layers, input);
        let mut start = 0;
        for output in &head.outputs {
            read(output.reading, &mut row[start..start + output.len]);
            start += output.len;
        }
        row
    }

    fn run_layers(&self, layers: &[Layer], input: Vec<f64>) -> Vec<f64> {
        layers.iter().fold(input, |numbers, layer| match layer {
            Layer::Conv(conv) => convolve(conv, self.network.input, &numbers),
            Layer::Dense(dense) => connect(dense, &numbers),
            Layer::Residual { body, activation } => {
                let mut sum = self.run_layers(body, numbers.clone());
                for (out, skip) in sum.iter_mut().zip(&numbers) {
                    *out = activate(*activation, *out + skip);
                }
                sum
            }
            Layer::GlobalPool => pool(self.network.input.area(), &numbers),
        })
    }
}

impl Evaluator for Reference {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        1
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        batch_of(&self.shape, inputs, outputs);
        let rows = outputs.chunks_exact_mut(self.shape.output_len());
        for (position, row) in inputs.chunks_exact(self.shape.input_len()).zip(rows) {
            for (out, number) in row.iter_mut().zip(self.evaluate_one(position)) {
                *out = number as f32;
            }
        }
        Ok(())
    }
}

fn convolve(conv: &Conv, board: PlaneShape, input: &[f64]) -> Vec<f64> {
    let (height, width, area) = (board.height as isize, board.width as isize, board.area());
    let reach = (conv.kernel / 2) as isize;
    let mut output = Vec::with_capacity(conv.outputs() * area);
    let mut weights = conv.weights.chunks_exact(conv.kernel * conv.kernel);
    let mut first_input = 0;
    for group in &conv.groups {
        for _ in 0..group.outputs {
            let bias = f64::from(conv.bias[output.len() / area]);
            let mut plane = vec![bias; area];
            for input_plane in first_input..first_input + group.inputs {
                let source = &input[input_plane * area..(input_plane + 1) * area];
                let taps = weights
                    .next()
                    .expect("checked: one 3x3 or 1x1 of weights per pair of planes");
                for (tap, &weight) in taps.iter().enumerate() {
                    let down = (tap / conv.kernel) as isize - reach;
                    let right = (tap % conv.kernel) as isize - reach;
                    for y in (-down).max(0)..(height - down).min(height) {
                        for x in (-right).max(0)..(width - right).min(width) {
                            let from = (y + down) * width + x + right;
                            plane[(y * width + x) as usize] +=
                                f64::from(weight) * source[from as usize];
                        }
                    }
                }
            }
            output.extend(
                plane
                    .into_iter()
                    .map(|number| activate(conv.activation, number)),
            );
        }
        first_input += group.inputs;
    }
    output
}

fn connect(dense: &Dense, input: &[f64]) -> Vec<f64> {
    let rows = dense.weights.chunks_exact(dense.inputs);
    rows.zip(&dense.bias)
        .map(|(row, &bias)| {
            let sum: f64 = row
                .iter()
                .zip(input)
                .map(|(&weight, &number)| f64::from(weight) * number)
                .sum();
            activate(dense.activation, sum + f64::from(bias))
        })
        .collect()
}

fn pool(area: usize, input: &[f64]) -> Vec<f64> {
    let planes = || input.chunks_exact(area);
    let means = planes().map(|plane| plane.iter().sum::<f64>() / area as f64);
    let maxima = planes().map(|plane| plane.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    means.chain(maxima).collect()
}

fn activate(activation: Activation, number: f64) -> f64 {
    match activation {
        Activation::Identity => number,
        Activation::Relu => number.max(0.0),
        Activation::LeakyRelu(slope) => number.max(number * f64::from(slope)),
    }
}

/// Applies the last function of a network to one stretch of its row.
fn read(reading: Reading, numbers: &mut [f64]) {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match reading {
        Reading::Raw => {}
        Reading::Softmax => {
            let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            numbers
                .iter_mut()
                .for_each(|number| *number = (*number - largest).exp());
            normalize(numbers);
        }
        Reading::NormalizedSigmoid => {
            numbers
                .iter_mut()
                .for_each(|number| *number = sigmoid(*number));
            normalize(numbers);
        }
        Reading::Sigmoid => numbers
            .iter_mut()
            .for_each(|number| *number = sigmoid(*number)),
        Reading::Tanh => numbers
            .iter_mut()
            .for_each(|number| *number = number.tanh()),
        Reading::Winrate => numbers
            .iter_mut()
            .for_each(|number| *number = (1.0 + number.tanh()) / 2.0),
        Reading::Softplus => {
            numbers
                .iter_mut()
                .for_each(|number| *number = number.max(0.0) + (-number.abs()).exp().ln_1p());
        }
    }
}

fn normalize(numbers: &mut [f64]) {
    let sum: f64 = numbers.iter().sum();
    if sum > 0.0 {
        numbers.iter_mut().for_each(|number| *number /= sum);
    }
}
