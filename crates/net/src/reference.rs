//! The evaluator that is obviously right: direct convolution in f64, one position at a time.
//!
//! It is slow on purpose. Every fast path is compared with it.

use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::network::{
    Activation, Attention, Conv, Dense, Head, Layer, Network, NormOver, Pooling, Reading, RmsNorm,
    Scale, ShapeError,
};
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
    pub fn evaluate_one(&self, input: &[f32]) -> Vec<f64> {
        let input: Vec<f64> = input.iter().map(|&number| f64::from(number)).collect();
        let (planes, globals) = input.split_at(self.network.input.len());
        let run = Run {
            board: self.network.input,
            globals,
        };
        let trunk = run.layers(&self.network.trunk, planes.to_vec());
        let heads = self.network.heads.iter();
        heads
            .flat_map(|head| run.head(head, trunk.clone()))
            .collect()
    }
}

/// One position on its way through the network.
struct Run<'a> {
    board: PlaneShape,
    globals: &'a [f64],
}

impl Run<'_> {
    fn head(&self, head: &Head, input: Vec<f64>) -> Vec<f64> {
        let mut row = self.layers(&head.layers, input);
        let mut start = 0;
        for output in &head.outputs {
            read(output.reading, &mut row[start..start + output.len]);
            start += output.len;
        }
        row
    }

    fn layers(&self, layers: &[Layer], input: Vec<f64>) -> Vec<f64> {
        layers
            .iter()
            .fold(input, |numbers, layer| self.layer(layer, numbers))
    }

    fn layer(&self, layer: &Layer, numbers: Vec<f64>) -> Vec<f64> {
        let area = self.board.area();
        match layer {
            Layer::Conv(conv) => convolve(conv, self.board, &numbers),
            Layer::Dense(dense) => connect(dense, &numbers),
            Layer::Residual { body, activation } => {
                let mut sum = self.layers(body, numbers.clone());
                for (out, skip) in sum.iter_mut().zip(&numbers) {
                    *out = activate(*activation, *out + skip);
                }
                sum
            }
            Layer::GlobalPool(pooling) => pool(*pooling, area, &numbers),
            Layer::Scale(scale) => rescale(scale, numbers),
            Layer::RmsNorm(norm) => normalize_by_squares(norm, area, &numbers),
            Layer::Attention(attention) => attend(attention, self.board, &numbers),
            Layer::Gated(gated) => {
                let mut value = convolve(&gated.value, self.board, &numbers);
                let gate = convolve(&gated.gate, self.board, &numbers);
                for (value, gate) in value.iter_mut().zip(gate) {
                    *value *= gate;
                }
                value
            }
            Layer::AddVector { planes, vector } => {
                let mut base = self.layers(planes, numbers.clone());
                let vector = self.layers(vector, numbers);
                for (plane, number) in base.chunks_exact_mut(area).zip(vector) {
                    plane.iter_mut().for_each(|cell| *cell += number);
                }
                base
            }
            Layer::WithPass { planes, pass } => {
                let base = self.layers(planes, numbers.clone());
                let passes = self.layers(pass, numbers);
                let both = base.chunks_exact(area).zip(passes);
                both.flat_map(|(plane, pass)| plane.iter().copied().chain([pass]))
                    .collect()
            }
            Layer::Globals { start, len } => self.globals[*start..start + len].to_vec(),
        }
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
                    .expect("checked: one kernel of weights per pair of planes");
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

fn pool(pooling: Pooling, area: usize, input: &[f64]) -> Vec<f64> {
    let planes = || input.chunks_exact(area);
    let means: Vec<f64> = planes()
        .map(|plane| plane.iter().sum::<f64>() / area as f64)
        .collect();
    let maxima = planes().map(|plane| plane.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let (scaled, squared) = Pooling::size_factors(area);
    let times = |factor: f64| means.iter().map(move |mean| mean * factor);
    match pooling {
        Pooling::MeanMax => times(1.0).chain(maxima).collect(),
        Pooling::MeanScaledMax => times(1.0).chain(times(scaled)).chain(maxima).collect(),
        Pooling::MeanScaledSquared => times(1.0)
            .chain(times(scaled))
            .chain(times(squared))
            .collect(),
    }
}

fn rescale(scale: &Scale, mut numbers: Vec<f64>) -> Vec<f64> {
    let cells = numbers.len() / scale.scale.len();
    for (index, number) in numbers.iter_mut().enumerate() {
        let plane = index / cells;
        let scaled = *number * f64::from(scale.scale[plane]) + f64::from(scale.bias[plane]);
        *number = activate(scale.activation, scaled);
    }
    numbers
}

fn normalize_by_squares(norm: &RmsNorm, area: usize, input: &[f64]) -> Vec<f64> {
    let planes = input.len() / area;
    let root = |numbers: &mut dyn Iterator<Item = f64>, count: usize| {
        let squares: f64 = numbers.map(|number| number * number).sum();
        (squares / count as f64 + f64::from(norm.epsilon)).sqrt()
    };
    let roots: Vec<f64> = match norm.over {
        NormOver::Board => vec![root(&mut input.iter().copied(), input.len()); area],
        NormOver::Point => (0..area)
            .map(|cell| root(&mut input.iter().skip(cell).step_by(area).copied(), planes))
            .collect(),
    };
    let numbers = input.iter().enumerate().map(|(index, number)| {
        let (plane, cell) = (index / area, index % area);
        let scaled = number / roots[cell] * f64::from(norm.scale[plane]);
        activate(norm.activation, scaled + f64::from(norm.bias[plane]))
    });
    numbers.collect()
}

fn attend(attention: &Attention, board: PlaneShape, input: &[f64]) -> Vec<f64> {
    let area = board.area();
    let (query_len, value_len) = (attention.query_len(), attention.value_len());
    let mut queries = convolve(&attention.query, board, input);
    let mut keys = convolve(&attention.key, board, input);
    let values = convolve(&attention.value, board, input);
    let shared_by = attention.heads / attention.kv_heads;
    for head in 0..attention.heads {
        rotate(
            attention,
            board,
            head / shared_by,
            &mut queries[head * query_len * area..],
        );
    }
    for head in 0..attention.kv_heads {
        rotate(attention, board, head, &mut keys[head * query_len * area..]);
    }
    let mut output = vec![0.0; attention.outputs() * area];
    for head in 0..attention.heads {
        let queries = &queries[head * query_len * area..];
        let keys = &keys[head / shared_by * query_len * area..];
        let values = &values[head / shared_by * value_len * area..];
        for at in 0..area {
            let mut weights: Vec<f64> = (0..area)
                .map(|from| {
                    let pairs =
                        (0..query_len).map(|k| queries[k * area + at] * keys[k * area + from]);
                    pairs.sum::<f64>() / (query_len as f64).sqrt()
                })
                .collect();
            read(Reading::Softmax, &mut weights);
            for plane in 0..value_len {
                let offered = &values[plane * area..(plane + 1) * area];
                output[(head * value_len + plane) * area + at] =
                    weights.iter().zip(offered).map(|(a, b)| a * b).sum();
            }
        }
    }
    output
}

/// Turns the pairs of planes of one head by angles that grow along the board.
fn rotate(attention: &Attention, board: PlaneShape, kv_head: usize, planes: &mut [f64]) {
    let Some(frequencies) = &attention.rotation else {
        return;
    };
    let (area, pairs) = (board.area(), attention.query_len() / 2);
    for pair in 0..pairs {
        let at = (kv_head * pairs + pair) * 2;
        let (across, down) = (f64::from(frequencies[at]), f64::from(frequencies[at + 1]));
        for cell in 0..area {
            let (row, column) = (cell / board.width, cell % board.width);
            let (sin, cos) = (column as f64 * across + row as f64 * down).sin_cos();
            let (a, b) = (
                planes[2 * pair * area + cell],
                planes[(2 * pair + 1) * area + cell],
            );
            planes[2 * pair * area + cell] = a * cos - b * sin;
            planes[(2 * pair + 1) * area + cell] = a * sin + b * cos;
        }
    }
}

fn activate(activation: Activation, number: f64) -> f64 {
    match activation {
        Activation::Identity => number,
        Activation::Relu => number.max(0.0),
        Activation::LeakyRelu(slope) => number.max(number * f64::from(slope)),
        Activation::Mish => number * softplus(number).tanh(),
        Activation::Silu => number / (1.0 + (-number).exp()),
    }
}

fn softplus(number: f64) -> f64 {
    number.max(0.0) + (-number.abs()).exp().ln_1p()
}

/// Applies the last function of a network to one stretch of its row, number by number as the definitions say.
fn read(reading: Reading, numbers: &mut [f64]) {
    let total = match reading {
        Reading::Softmax => log_of_sum(numbers),
        Reading::NormalizedSigmoid => numbers.iter().map(|&number| logistic(number)).sum(),
        _ => 1.0,
    };
    for number in numbers {
        let x = *number;
        *number = match reading {
            Reading::Raw => x,
            Reading::Softmax => (x - total).exp(),
            Reading::NormalizedSigmoid if total > 0.0 => logistic(x) / total,
            Reading::Sigmoid | Reading::NormalizedSigmoid => logistic(x),
            Reading::Tanh => x.tanh(),
            Reading::Winrate => logistic(2.0 * x),
            Reading::Softplus => softplus(x),
        };
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The logarithm of the sum of all exponentials, added up as logarithms so that nothing overflows.
fn log_of_sum(numbers: &[f64]) -> f64 {
    numbers.iter().fold(f64::NEG_INFINITY, |sum, &x| {
        let (low, high) = (sum.min(x), sum.max(x));
        high + (low - high).exp().ln_1p()
    })
}
