//! From the rows of a file to a network of plain layers.

use rayon::prelude::*;

use super::{ConvRows, DenseRows, INPUT_PLANES, LeelaNetwork, POLICY, VALUE, VALUE_LOGIT};
use crate::network::{Activation, Conv, Dense, Group, Head, Layer, Network, Output, Reading};
use crate::shape::PlaneShape;

/// Groups of fewer planes are joined: the kernels work on sixteen at a time, so that more groups would save nothing.
const SMALLEST_GROUP: usize = 32;

impl LeelaNetwork {
    /// The same network with batch normalisation folded into the weights and block-diagonal convolutions recognised.
    ///
    /// Its outputs are [`POLICY`], [`VALUE`] and [`VALUE_LOGIT`].
    pub fn to_network(&self) -> Network {
        // Nearly all of a network is its blocks, which all cores copy.
        let copy = Self {
            blocks: self.blocks.par_iter().cloned().collect(),
            input: self.input.clone(),
            policy_conv: self.policy_conv.clone(),
            policy_dense: self.policy_dense.clone(),
            value_conv: self.value_conv.clone(),
            value_hidden: self.value_hidden.clone(),
            value_output: self.value_output.clone(),
            ..*self
        };
        copy.into_network()
    }

    /// [`to_network`](Self::to_network) without a copy of the weights.
    pub fn into_network(self) -> Network {
        let shape = self.shape();
        let (filters, area) = (shape.filters, shape.area());
        let mut trunk = vec![Layer::Conv(fold(
            self.input,
            3,
            INPUT_PLANES,
            Activation::Relu,
        ))];
        trunk.par_extend(self.blocks.into_par_iter().map(|[first, second]| {
            let first = grouped(fold(first, 3, filters, Activation::Relu));
            let second = grouped(fold(second, 3, filters, Activation::Identity));
            Layer::Residual {
                body: vec![Layer::Conv(first), Layer::Conv(second)],
                activation: Activation::Relu,
            }
        }));
        let policy = Head {
            layers: vec![
                Layer::Conv(fold(self.policy_conv, 1, filters, Activation::Relu)),
                Layer::Dense(dense(self.policy_dense, Activation::Identity)),
            ],
            outputs: vec![Output {
                name: POLICY.into(),
                len: area + 1,
                reading: Reading::Softmax,
            }],
        };
        // The output row stands there twice: once read as a winning chance, once as it is.
        let mut value_output = dense(self.value_output, Activation::Identity);
        value_output.outputs = 2;
        value_output.weights = value_output.weights.repeat(2).into();
        value_output.bias.extend_from_within(..);
        let value = Head {
            layers: vec![
                Layer::Conv(fold(self.value_conv, 1, filters, Activation::Relu)),
                Layer::Dense(dense(self.value_hidden, Activation::Relu)),
                Layer::Dense(value_output),
            ],
            outputs: vec![
                Output {
                    name: VALUE.into(),
                    len: 1,
                    reading: Reading::Winrate,
                },
                Output {
                    name: VALUE_LOGIT.into(),
                    len: 1,
                    reading: Reading::Raw,
                },
            ],
        };
        Network {
            input: PlaneShape {
                planes: INPUT_PLANES,
                height: self.size,
                width: self.size,
            },
            globals: 0,
            trunk,
            heads: vec![policy, value],
            perspective: self.version.perspective(),
        }
    }
}

fn fold(rows: ConvRows, kernel: usize, inputs: usize, activation: Activation) -> Conv {
    let scales: Vec<f64> = (0..rows.bias.len())
        .map(|output| rows.scale(output))
        .collect();
    let ConvRows {
        mut weights,
        mut bias,
        mean,
        ..
    } = rows;
    let per_output = inputs * kernel * kernel;
    for ((weights, bias), (mean, &scale)) in weights
        .chunks_exact_mut(per_output)
        .zip(&mut bias)
        .zip(mean.iter().zip(&scales))
    {
        for weight in weights {
            *weight = (f64::from(*weight) * scale) as f32;
        }
        *bias = ((f64::from(*bias) - f64::from(*mean)) * scale) as f32;
    }
    let groups = vec![Group {
        inputs,
        outputs: bias.len(),
    }];
    Conv {
        kernel,
        groups,
        weights: weights.into(),
        bias,
        activation,
    }
}

fn dense(rows: DenseRows, activation: Activation) -> Dense {
    let outputs = rows.bias.len();
    Dense {
        inputs: rows.weights.len() / outputs,
        outputs,
        weights: rows.weights.into(),
        bias: rows.bias,
        activation,
    }
}

/// Cuts a square convolution into the blocks of its diagonal if everything beside them is zero.
fn grouped(conv: Conv) -> Conv {
    let filters = conv.outputs();
    let sizes = diagonal_blocks(&conv.weights, filters, conv.kernel * conv.kernel);
    if sizes.len() == 1 {
        return conv;
    }
    let taps = conv.kernel * conv.kernel;
    let mut weights = Vec::new();
    let mut groups = Vec::new();
    let mut start = 0;
    for size in sizes {
        for output in start..start + size {
            let row = output * filters;
            weights.extend(&conv.weights[(row + start) * taps..(row + start + size) * taps]);
        }
        groups.push(Group {
            inputs: size,
            outputs: size,
        });
        start += size;
    }
    Conv {
        groups,
        weights: weights.into(),
        ..conv
    }
}

/// Sizes of consecutive stretches of planes between which no weight differs from zero.
fn diagonal_blocks(weights: &[f32], filters: usize, taps: usize) -> Vec<usize> {
    // reaches[k]: the farthest plane that a non-zero weight connects with plane k.
    let mut reaches = vec![0usize; filters];
    for (pair, kernel) in weights.chunks_exact(taps).enumerate() {
        if kernel.iter().any(|&weight| weight != 0.0) {
            let (output, input) = (pair / filters, pair % filters);
            let first = output.min(input);
            reaches[first] = reaches[first].max(output.max(input));
        }
    }
    let mut sizes: Vec<usize> = Vec::new();
    let (mut start, mut reach) = (0, 0);
    for (plane, &farthest) in reaches.iter().enumerate() {
        reach = reach.max(farthest).max(plane);
        let size = plane + 1 - start;
        let rest = filters - plane - 1;
        let wide_enough = size >= SMALLEST_GROUP && (rest == 0 || rest >= SMALLEST_GROUP);
        if reach == plane && (rest == 0 || wide_enough) {
            sizes.push(size);
            start = plane + 1;
        }
    }
    sizes
}
