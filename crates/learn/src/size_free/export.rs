//! The network as plain data, for playing.

use net::{
    Activation, Conv, Dense, Head, Layer as Plain, Network, Output, Perspective, PlaneShape,
    Pooling as PlainPooling, Reading, Scale,
};

use super::conv::{Conv1, Conv3};
use super::rows::Rows;
use super::{HEAD, LEAD, OWNERSHIP, POLICY, SPREAD, SizeFree, VALUE};
use crate::layer::norm::Norm;

impl SizeFree {
    /// The network as plain data for a square board; [`Network::at_size`] lays it out for any other.
    pub fn export(&self, size: usize) -> Network {
        let channels = self.shape.channels;
        let mut trunk = vec![Plain::AddVector {
            planes: vec![conv3(&self.first, Activation::Identity)],
            vector: vec![
                Plain::Globals {
                    start: 0,
                    len: self.shape.globals,
                },
                dense(&self.globals, Activation::Identity),
            ],
        }];
        for block in &self.blocks {
            let mut body = vec![
                scale(&block.norm1, channels),
                conv3(&block.conv1, Activation::Identity),
            ];
            body.extend(block.pooled.as_ref().map(|pooled| Plain::AddVector {
                planes: Vec::new(),
                vector: vec![
                    first_scaled(&pooled.norm, channels, pooled.channels),
                    Plain::GlobalPool(PlainPooling::MeanScaledMax),
                    dense(&pooled.dense, Activation::Identity),
                ],
            }));
            body.push(scale(&block.norm2, channels));
            body.push(conv3(&block.conv2, Activation::Identity));
            trunk.push(Plain::Residual {
                body,
                activation: Activation::Identity,
            });
        }
        trunk.push(scale(&self.last_norm, channels));
        let area = size * size;
        let output = |name: &str, len, reading| Output {
            name: name.to_owned(),
            len,
            reading,
        };
        let pooled_policy = || {
            vec![
                conv1(&self.policy.pooled, Activation::Relu),
                Plain::GlobalPool(PlainPooling::MeanScaledMax),
            ]
        };
        let with = |mut layers: Vec<Plain>, last: Plain| {
            layers.push(last);
            layers
        };
        let policy = Plain::WithPass {
            planes: vec![
                Plain::AddVector {
                    planes: vec![conv1(&self.policy.local, Activation::Identity)],
                    vector: with(
                        pooled_policy(),
                        dense(&self.policy.bias, Activation::Identity),
                    ),
                },
                Plain::Scale(Scale {
                    scale: vec![1.0; HEAD].into(),
                    bias: vec![0.0; HEAD].into(),
                    activation: Activation::Relu,
                }),
                conv1(&self.policy.last, Activation::Identity),
            ],
            pass: with(
                pooled_policy(),
                dense(&self.policy.pass, Activation::Identity),
            ),
        };
        let value = vec![
            conv1(&self.value.conv, Activation::Relu),
            Plain::GlobalPool(PlainPooling::MeanScaledSquared),
            dense(&self.value.hidden, Activation::Relu),
            dense(&self.value.out, Activation::Identity),
        ];
        let owners = vec![
            conv1(&self.value.conv, Activation::Relu),
            conv1(&self.value.ownership, Activation::Identity),
        ];
        Network {
            input: PlaneShape {
                planes: self.shape.planes,
                height: size,
                width: size,
            },
            globals: self.shape.globals,
            trunk,
            heads: vec![
                Head {
                    layers: vec![policy],
                    outputs: vec![output(POLICY, area + 1, Reading::Raw)],
                },
                Head {
                    layers: value,
                    outputs: vec![
                        output(VALUE, 1, Reading::Sigmoid),
                        output(LEAD, 1, Reading::Raw),
                        output(SPREAD, 1, Reading::Softplus),
                    ],
                },
                Head {
                    layers: owners,
                    outputs: vec![output(OWNERSHIP, area, Reading::Tanh)],
                },
            ],
            perspective: Perspective::SideToMove,
        }
    }
}

fn conv3(conv: &Conv3, activation: Activation) -> Plain {
    let [outputs, inputs, ..] = conv.weights.shape[..] else {
        unreachable!("weights of a convolution have four dimensions");
    };
    let mut plain = Conv::new(3, inputs, outputs, activation);
    plain.weights = conv.weights.values.clone().into();
    Plain::Conv(plain)
}

fn conv1(conv: &Conv1, activation: Activation) -> Plain {
    let [outputs, inputs, ..] = conv.weights.shape[..] else {
        unreachable!("weights of a convolution have four dimensions");
    };
    let mut plain = Conv::new(1, inputs, outputs, activation);
    plain.weights = conv.weights.values.clone().into();
    plain.bias = conv.bias.values.clone();
    Plain::Conv(plain)
}

fn dense(rows: &Rows, activation: Activation) -> Plain {
    let [outputs, inputs] = rows.weights.shape[..] else {
        unreachable!("weights of a dense layer have two dimensions");
    };
    Plain::Dense(Dense {
        inputs,
        outputs,
        weights: rows.weights.values.clone().into(),
        bias: rows.bias.values.clone(),
        activation,
    })
}

/// Batch norm and rectifier with the running statistics.
fn scale(norm: &Norm, channels: usize) -> Plain {
    let lines: Vec<(f64, f64)> = (0..channels).map(|channel| norm.folded(channel)).collect();
    Plain::Scale(Scale {
        scale: lines
            .iter()
            .map(|line| line.0 as f32)
            .collect::<Vec<_>>()
            .into(),
        bias: lines
            .iter()
            .map(|line| line.1 as f32)
            .collect::<Vec<_>>()
            .into(),
        activation: Activation::Relu,
    })
}

/// Batch norm and rectifier of the first channels alone, as a 1x1 convolution.
fn first_scaled(norm: &Norm, inputs: usize, outputs: usize) -> Plain {
    let mut conv = Conv::new(1, inputs, outputs, Activation::Relu);
    let mut weights = vec![0.0; inputs * outputs];
    for channel in 0..outputs {
        let (scale, shift) = norm.folded(channel);
        weights[channel * inputs + channel] = scale as f32;
        conv.bias[channel] = shift as f32;
    }
    conv.weights = weights.into();
    Plain::Conv(conv)
}
