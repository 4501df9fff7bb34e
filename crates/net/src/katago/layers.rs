//! From what a file says to the layers that every backend runs.

use rayon::prelude::*;

use super::model::{
    Act, AttentionBlock, Block, Conv, FeedForwardBlock, GlobalPoolBlock, KataNetwork, MatMul,
    MetaEncoder, Norm, NormActConv, PolicyHead, Rms, Rope, Tip, Trunk, ValueHead,
};
use super::{
    INPUT_GLOBALS, INPUT_METADATA, INPUT_PLANES, OWNERSHIP, POLICY, POLICY_OPTIMISTIC, SCORE, VALUE,
};
use crate::network::{
    self, Activation, Attention, Dense, Gated, Group, Head, Layer, Network, NormOver, Output,
    Pooling, Reading, RmsNorm, Scale,
};
use crate::shape::{Perspective, PlaneShape};
use crate::weights::Weights;

/// Policy channels that are used: the normal and the optimistic one. Files of version 16 and 17 may have two more.
const USED_CHANNELS: usize = 2;

impl KataNetwork {
    /// The network for boards of `height` rows and `width` columns; [`Network::at_size`] gives it for others.
    pub fn network(&self, height: usize, width: usize) -> Network {
        self.clone().into_network(height, width)
    }

    /// The same for a file that is not needed any more: its numbers are freed as they are brought into our order.
    pub fn into_network(self, height: usize, width: usize) -> Network {
        let metadata = if self.header.meta_encoder {
            INPUT_METADATA
        } else {
            0
        };
        let area = height * width;
        let mut heads = vec![policy_head(&self.policy, area)];
        heads.extend(value_heads(&self.value, area));
        Network {
            input: PlaneShape {
                planes: INPUT_PLANES,
                height,
                width,
            },
            globals: INPUT_GLOBALS + metadata,
            trunk: trunk(self.trunk),
            heads,
            perspective: Perspective::SideToMove,
        }
    }

    /// Residual blocks of the trunk, not counting those inside others.
    pub fn blocks(&self) -> usize {
        self.trunk.blocks.len()
    }

    /// Channels of the trunk.
    pub fn channels(&self) -> usize {
        self.trunk.channels
    }

    /// Channels of the policy head.
    pub fn policy_channels(&self) -> usize {
        self.policy.channels
    }
}

fn trunk(trunk: Trunk) -> Vec<Layer> {
    let mut first = Layer::AddVector {
        planes: vec![conv(&trunk.initial_conv)],
        vector: vec![
            Layer::Globals {
                start: 0,
                len: INPUT_GLOBALS,
            },
            dense(&trunk.initial_globals, None, Activation::Identity),
        ],
    };
    if let Some(encoder) = &trunk.meta_encoder {
        first = Layer::AddVector {
            planes: vec![first],
            vector: meta_encoder(encoder),
        };
    }
    let mut layers = vec![first];
    layers.par_extend(trunk.blocks.into_par_iter().map(|read| block(&read)));
    layers.push(match &trunk.tip {
        Tip::Norm(norm) => scale(norm, &trunk.tip_act),
        Tip::Rms(rms) => Layer::RmsNorm(RmsNorm {
            scale: rms.gamma.clone(),
            bias: rms.beta.clone(),
            epsilon: rms.epsilon.value as f32,
            over: if rms.spatial {
                NormOver::Board
            } else {
                NormOver::Point
            },
            activation: trunk.tip_act.kind,
        }),
    });
    layers
}

fn meta_encoder(encoder: &MetaEncoder) -> Vec<Layer> {
    vec![
        Layer::Globals {
            start: INPUT_GLOBALS,
            len: INPUT_METADATA,
        },
        dense(
            &encoder.first,
            Some(&encoder.first_bias.weights),
            encoder.first_act.kind,
        ),
        dense(
            &encoder.second,
            Some(&encoder.second_bias.weights),
            encoder.second_act.kind,
        ),
        dense(&encoder.last, None, Activation::Identity),
    ]
}

fn block(block: &Block) -> Layer {
    let body = match block {
        Block::Ordinary { first, second, .. } => {
            let mut body = unit(first).to_vec();
            body.extend(unit(second));
            body
        }
        Block::GlobalPool(block) => global_pool(block),
        Block::Nested {
            first, inner, last, ..
        } => {
            let mut body = unit(first).to_vec();
            body.extend(inner.iter().map(self::block));
            body.extend(unit(last));
            body
        }
        Block::Attention(block) => attention(block),
        Block::FeedForward(block) => feed_forward(block),
    };
    Layer::Residual {
        body,
        activation: Activation::Identity,
    }
}

fn unit(unit: &NormActConv) -> [Layer; 2] {
    [scale(&unit.norm, &unit.act), conv(&unit.conv)]
}

fn global_pool(block: &GlobalPoolBlock) -> Vec<Layer> {
    let pooled = vec![
        conv(&block.pooled),
        scale(&block.pooled_norm, &block.pooled_act),
        Layer::GlobalPool(Pooling::MeanScaledMax),
        dense(&block.to_bias, None, Activation::Identity),
    ];
    let mut body = vec![
        scale(&block.norm, &block.act),
        Layer::AddVector {
            planes: vec![conv(&block.regular)],
            vector: pooled,
        },
    ];
    body.extend(unit(&block.last));
    body
}

fn attention(block: &AttentionBlock) -> Vec<Layer> {
    let pairs = block.query_len / 2;
    let rotation = match &block.rope {
        Rope::None => None,
        Rope::Learned { frequencies, .. } => Some(frequencies.clone()),
        // The first half of the pairs turns along the rows, the second along the columns, ever more slowly.
        Rope::Fixed { theta, .. } => {
            let half = pairs / 2;
            let slow = |pair: usize| {
                theta
                    .value
                    .powf(-2.0 * pair as f64 / (block.query_len as f64 / 2.0))
                    as f32
            };
            let of_pair = |pair: usize| match pair.checked_sub(half) {
                None => [0.0, slow(pair)],
                Some(pair) => [slow(pair), 0.0],
            };
            let one: Vec<f32> = (0..pairs).flat_map(of_pair).collect();
            Some(one.repeat(block.kv_heads).into())
        }
    };
    vec![
        rms(&block.norm),
        Layer::Attention(Attention {
            heads: block.heads,
            kv_heads: block.kv_heads,
            query: pointwise(&block.query, Activation::Identity),
            key: pointwise(&block.key, Activation::Identity),
            value: pointwise(&block.value, Activation::Identity),
            rotation,
        }),
        Layer::Conv(pointwise(&block.out, Activation::Identity)),
    ]
}

fn feed_forward(block: &FeedForwardBlock) -> Vec<Layer> {
    let first = pointwise(&block.first, Activation::Silu);
    let hidden = match &block.gate {
        None => Layer::Conv(first),
        Some(gate) => Layer::Gated(Gated {
            value: first,
            gate: pointwise(gate, Activation::Identity),
        }),
    };
    vec![
        rms(&block.norm),
        hidden,
        Layer::Conv(pointwise(&block.last, Activation::Identity)),
    ]
}

fn policy_head(head: &PolicyHead, area: usize) -> Head {
    let channels = head.channels.min(USED_CHANNELS);
    let pooled = || {
        vec![
            conv(&head.g1),
            scale(&head.g_norm, &head.g_act),
            Layer::GlobalPool(Pooling::MeanScaledMax),
        ]
    };
    let mut vector = pooled();
    vector.push(dense(&head.g_to_p, None, Activation::Identity));
    let mut p2 = plain_conv(&head.p2);
    keep_outputs(&mut p2.weights, &mut p2.bias, channels);
    p2.groups[0].outputs = channels;
    let mut pass = pooled();
    let mut last = match &head.pass_more {
        None => plain_dense(&head.pass, None, Activation::Identity),
        Some((bias, act, last)) => {
            pass.push(dense(&head.pass, Some(&bias.weights), act.kind));
            plain_dense(last, None, Activation::Identity)
        }
    };
    keep_outputs(&mut last.weights, &mut last.bias, channels);
    last.outputs = channels;
    pass.push(Layer::Dense(last));
    let names = [POLICY, POLICY_OPTIMISTIC];
    Head {
        layers: vec![Layer::WithPass {
            planes: vec![
                Layer::AddVector {
                    planes: vec![conv(&head.p1)],
                    vector,
                },
                scale(&head.p_norm, &head.p_act),
                Layer::Conv(p2),
            ],
            pass,
        }],
        outputs: names[..channels]
            .iter()
            .map(|name| output(name, area + 1))
            .collect(),
    }
}

/// The first `outputs` rows of weights.
fn keep_outputs(weights: &mut Weights, bias: &mut Vec<f32>, outputs: usize) {
    if bias.len() > outputs {
        let row = weights.len() / bias.len();
        *weights = weights[..outputs * row].to_vec().into();
        bias.truncate(outputs);
    }
}

fn value_heads(head: &ValueHead, area: usize) -> [Head; 2] {
    let planes = || vec![conv(&head.v1), scale(&head.v_norm, &head.v_act)];
    // Value and score are read off the same hidden layer: their rows stand in one matrix.
    let mut last = plain_dense(&head.v3, Some(&head.v3_bias.weights), Activation::Identity);
    let score = plain_dense(
        &head.score,
        Some(&head.score_bias.weights),
        Activation::Identity,
    );
    last.weights = [&last.weights[..], &score.weights].concat().into();
    last.bias.extend(&score.bias);
    last.outputs += score.outputs;
    let mut layers = planes();
    layers.extend([
        Layer::GlobalPool(Pooling::MeanScaledSquared),
        dense(&head.v2, Some(&head.v2_bias.weights), head.v2_act.kind),
        Layer::Dense(last),
    ]);
    let value = Head {
        layers,
        outputs: vec![
            output(VALUE, head.v3.outputs),
            output(SCORE, head.score.outputs),
        ],
    };
    let mut layers = planes();
    layers.push(conv(&head.ownership));
    let ownership = Head {
        layers,
        outputs: vec![output(OWNERSHIP, area)],
    };
    [value, ownership]
}

fn output(name: &str, len: usize) -> Output {
    Output {
        name: name.to_owned(),
        len,
        reading: Reading::Raw,
    }
}

fn scale(norm: &Norm, act: &Act) -> Layer {
    let given = |numbers: &Weights, is_given: bool, channel: usize, otherwise: f64| {
        if is_given {
            f64::from(numbers[channel])
        } else {
            otherwise
        }
    };
    let (scale, bias): (Vec<f32>, Vec<f32>) = (0..norm.channels)
        .map(|channel| {
            let variance = f64::from(norm.variance[channel]) + norm.epsilon.value;
            let scale = given(&norm.scale, norm.has_scale, channel, 1.0) / variance.sqrt();
            let bias = given(&norm.bias, norm.has_bias, channel, 0.0);
            let bias = bias - scale * f64::from(norm.mean[channel]);
            (scale as f32, bias as f32)
        })
        .unzip();
    Layer::Scale(Scale {
        scale: scale.into(),
        bias: bias.into(),
        activation: act.kind,
    })
}

fn rms(rms: &Rms) -> Layer {
    Layer::RmsNorm(RmsNorm {
        scale: rms.weights.clone(),
        bias: Weights::zeros(rms.channels),
        epsilon: rms.epsilon.value as f32,
        over: NormOver::Point,
        activation: Activation::Identity,
    })
}

fn conv(conv: &Conv) -> Layer {
    Layer::Conv(plain_conv(conv))
}

/// From `[row][column][input][output]` to `[output][input][row][column]`.
fn plain_conv(conv: &Conv) -> network::Conv {
    let (taps, inputs, outputs) = (conv.height * conv.width, conv.inputs, conv.outputs);
    let mut weights = vec![0.0; conv.weights.len()];
    let rows = weights.par_chunks_exact_mut(inputs * taps);
    rows.enumerate().for_each(|(output, row)| {
        for (index, weight) in row.iter_mut().enumerate() {
            let (input, tap) = (index / taps, index % taps);
            *weight = conv.weights[(tap * inputs + input) * outputs + output];
        }
    });
    network::Conv {
        kernel: conv.height,
        groups: vec![Group { inputs, outputs }],
        weights: weights.into(),
        bias: vec![0.0; outputs],
        activation: Activation::Identity,
    }
}

/// From `[input][output]` to `[output][input]`.
fn transposed(matrix: &MatMul) -> Weights {
    let (inputs, outputs) = (matrix.inputs, matrix.outputs);
    (0..inputs * outputs)
        .map(|index| matrix.weights[index % inputs * outputs + index / inputs])
        .collect()
}

fn dense(matrix: &MatMul, bias: Option<&Weights>, activation: Activation) -> Layer {
    Layer::Dense(plain_dense(matrix, bias, activation))
}

fn plain_dense(matrix: &MatMul, bias: Option<&Weights>, activation: Activation) -> Dense {
    Dense {
        inputs: matrix.inputs,
        outputs: matrix.outputs,
        weights: transposed(matrix),
        bias: bias.map_or_else(|| vec![0.0; matrix.outputs], |bias| bias.to_vec()),
        activation,
    }
}

/// A matrix that is applied to every point.
fn pointwise(matrix: &MatMul, activation: Activation) -> network::Conv {
    network::Conv {
        kernel: 1,
        groups: vec![Group {
            inputs: matrix.inputs,
            outputs: matrix.outputs,
        }],
        weights: transposed(matrix),
        bias: vec![0.0; matrix.outputs],
        activation,
    }
}
