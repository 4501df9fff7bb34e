//! Networks of random weights, small ones of every kind of block, for tests and for measuring.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{
    Act, AttentionBlock, Bias, Block, Conv, FeedForwardBlock, GlobalPoolBlock, Header, KataNetwork,
    MatMul, MetaEncoder, Multipliers, Norm, NormActConv, PolicyHead, Rms, Rope, Tip, TipRms, Trunk,
    ValueHead,
};
use super::{INPUT_GLOBALS, INPUT_METADATA, INPUT_PLANES};
use crate::network::Activation;
use crate::weights::Weights;

/// What a random network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomKind {
    /// Residual blocks with ReLU, every third with global pooling, a 5x5 first convolution; version 8.
    Plain,
    /// Nested bottleneck blocks with Mish, some with global pooling; version 14.
    Nested,
    /// Attention with learnt rotation and gated feed-forward layers with SiLU, nested; version 15.
    Transformer,
    /// Attention with fixed rotation and shared key heads, ungated feed-forward layers, not nested; version 17.
    PlainTransformer,
    /// Nested, with a metadata encoder; version 15.
    Human,
    /// Plain blocks of version 16, with four policy channels.
    FourPolicies,
}

impl RandomKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Plain,
        Self::Nested,
        Self::Transformer,
        Self::PlainTransformer,
        Self::Human,
        Self::FourPolicies,
    ];

    fn version(self) -> u32 {
        match self {
            Self::Plain => 8,
            Self::Nested => 14,
            Self::Transformer | Self::Human => 15,
            Self::FourPolicies => 16,
            Self::PlainTransformer => 17,
        }
    }

    fn activation(self) -> Activation {
        match self {
            Self::Plain => Activation::Relu,
            Self::Nested | Self::Human | Self::FourPolicies => Activation::Mish,
            Self::Transformer | Self::PlainTransformer => Activation::Silu,
        }
    }
}

impl KataNetwork {
    /// A network of `blocks` blocks of `channels` channels (a multiple of 4), the same for the same seed.
    pub fn random(kind: RandomKind, blocks: usize, channels: usize, seed: u64) -> Self {
        let mut maker = Maker {
            kind,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            layers: 0,
        };
        let meta_encoder = (kind == RandomKind::Human).then(|| maker.meta_encoder(channels));
        Self {
            header: Header {
                name: format!("random-b{blocks}c{channels}"),
                version: kind.version(),
                multipliers: Multipliers {
                    shortterm_score_error: if kind.version() >= 13 {
                        "150.0"
                    } else {
                        "30.0"
                    }
                    .into(),
                    ..Multipliers::default()
                },
                meta_encoder: meta_encoder.is_some(),
                pass_alive_under_suicide: false,
            },
            trunk: maker.trunk(blocks, channels, meta_encoder),
            policy: maker.policy(channels),
            value: maker.value(channels),
        }
    }
}

struct Maker {
    kind: RandomKind,
    rng: Xoshiro256PlusPlus,
    layers: usize,
}

impl Maker {
    fn name(&mut self, what: &str) -> String {
        self.layers += 1;
        format!("{what}{}", self.layers)
    }

    fn numbers(&mut self, len: usize, mean: f32, deviation: f32) -> Weights {
        let normal = Normal::new(mean, deviation).expect("a finite deviation");
        normal.sample_iter(&mut self.rng).take(len).collect()
    }

    fn trunk(
        &mut self,
        blocks: usize,
        channels: usize,
        meta_encoder: Option<MetaEncoder>,
    ) -> Trunk {
        let kernel = if self.kind == RandomKind::Plain { 5 } else { 3 };
        let tip = match self.kind {
            RandomKind::Transformer | RandomKind::PlainTransformer => Tip::Rms(TipRms {
                name: self.name("tip"),
                channels,
                epsilon: "1e-06".into(),
                spatial: self.kind == RandomKind::Transformer,
                gamma: self.numbers(channels, 1.0, 0.2),
                beta: self.numbers(channels, 0.0, 0.2),
            }),
            _ => Tip::Norm(self.norm(channels)),
        };
        Trunk {
            name: "trunk".into(),
            channels,
            other_channels: [channels / 2; 4],
            initial_conv: self.conv(kernel, INPUT_PLANES, channels),
            initial_globals: self.matmul(INPUT_GLOBALS, channels),
            meta_encoder,
            blocks: (0..blocks)
                .flat_map(|index| self.block(index, channels))
                .collect(),
            tip,
            tip_act: self.act(),
        }
    }

    fn block(&mut self, index: usize, channels: usize) -> Vec<Block> {
        match self.kind {
            RandomKind::Plain | RandomKind::FourPolicies if index % 3 == 1 => {
                vec![self.global_pool(channels)]
            }
            RandomKind::Plain | RandomKind::FourPolicies => vec![self.ordinary(channels)],
            RandomKind::PlainTransformer => {
                vec![self.attention(channels), self.feed_forward(channels)]
            }
            RandomKind::Nested | RandomKind::Human | RandomKind::Transformer => {
                let middle = channels / 2;
                let inner = match self.kind {
                    RandomKind::Transformer => {
                        vec![self.attention(middle), self.feed_forward(middle)]
                    }
                    _ if index % 3 == 1 => vec![self.global_pool(middle), self.ordinary(middle)],
                    _ => vec![self.ordinary(middle), self.ordinary(middle)],
                };
                vec![Block::Nested {
                    name: self.name("block"),
                    first: self.unit(1, channels, middle),
                    inner,
                    last: self.unit(1, middle, channels),
                }]
            }
        }
    }

    fn ordinary(&mut self, channels: usize) -> Block {
        Block::Ordinary {
            name: self.name("block"),
            first: self.unit(3, channels, channels),
            second: self.unit(3, channels, channels),
        }
    }

    fn global_pool(&mut self, channels: usize) -> Block {
        let pooled = channels / 4;
        let regular = channels - pooled;
        Block::GlobalPool(Box::new(GlobalPoolBlock {
            name: self.name("block"),
            norm: self.norm(channels),
            act: self.act(),
            regular: self.conv(3, channels, regular),
            pooled: self.conv(3, channels, pooled),
            pooled_norm: self.norm(pooled),
            pooled_act: self.act(),
            to_bias: self.matmul(3 * pooled, regular),
            last: self.unit(3, regular, channels),
        }))
    }

    fn attention(&mut self, channels: usize) -> Block {
        let shared = self.kind == RandomKind::PlainTransformer;
        let (heads, kv_heads) = if shared { (4, 2) } else { (2, 2) };
        let query_len = 4 * channels.div_ceil(16);
        let value_len = if shared { query_len / 2 } else { query_len };
        let rope = if shared {
            Rope::Fixed {
                name: self.name("rope"),
                theta: "100.0".into(),
            }
        } else {
            Rope::Learned {
                name: self.name("rope"),
                frequencies: self.numbers(kv_heads * query_len, 0.0, 0.5),
            }
        };
        Block::Attention(Box::new(AttentionBlock {
            name: self.name("attention"),
            heads,
            kv_heads,
            query_len,
            value_len,
            rope,
            norm: self.rms(channels),
            query: self.matmul(channels, heads * query_len),
            key: self.matmul(channels, kv_heads * query_len),
            value: self.matmul(channels, kv_heads * value_len),
            out: self.matmul(heads * value_len, channels),
        }))
    }

    fn feed_forward(&mut self, channels: usize) -> Block {
        let hidden = 2 * channels + 8;
        let gated = self.kind == RandomKind::Transformer;
        Block::FeedForward(Box::new(FeedForwardBlock {
            name: self.name("ffn"),
            channels,
            hidden,
            norm: self.rms(channels),
            first: self.matmul(channels, hidden),
            gate: gated.then(|| self.matmul(channels, hidden)),
            last: self.matmul(hidden, channels),
        }))
    }

    fn meta_encoder(&mut self, channels: usize) -> MetaEncoder {
        let hidden = channels + 3;
        MetaEncoder {
            name: self.name("metadata"),
            inputs: INPUT_METADATA,
            first: self.matmul(INPUT_METADATA, hidden),
            first_bias: self.bias(hidden),
            first_act: self.act(),
            second: self.matmul(hidden, hidden),
            second_bias: self.bias(hidden),
            second_act: self.act(),
            last: self.matmul(hidden, channels),
        }
    }

    fn policy(&mut self, channels: usize) -> PolicyHead {
        let (planes, pooled) = (channels / 2, channels / 4);
        let channels_out = match self.kind.version() {
            ..12 => 1,
            16 => 4,
            _ => 2,
        };
        let hidden_pass = self.kind.version() >= 15;
        PolicyHead {
            name: "policyhead".into(),
            channels: channels_out,
            p1: self.conv(1, channels, planes),
            g1: self.conv(1, channels, pooled),
            g_norm: self.norm(pooled),
            g_act: self.act(),
            g_to_p: self.matmul(3 * pooled, planes),
            p_norm: self.norm(planes),
            p_act: self.act(),
            p2: self.conv(1, planes, channels_out),
            pass: self.matmul(3 * pooled, if hidden_pass { planes } else { channels_out }),
            pass_more: hidden_pass.then(|| {
                (
                    self.bias(planes),
                    self.act(),
                    self.matmul(planes, channels_out),
                )
            }),
        }
    }

    fn value(&mut self, channels: usize) -> ValueHead {
        let (planes, hidden) = (channels / 2, channels + 1);
        let scores = if self.kind.version() >= 9 { 6 } else { 4 };
        ValueHead {
            name: "valuehead".into(),
            v1: self.conv(1, channels, planes),
            v_norm: self.norm(planes),
            v_act: self.act(),
            v2: self.matmul(3 * planes, hidden),
            v2_bias: self.bias(hidden),
            v2_act: self.act(),
            v3: self.matmul(hidden, 3),
            v3_bias: self.bias(3),
            score: self.matmul(hidden, scores),
            score_bias: self.bias(scores),
            ownership: self.conv(1, planes, 1),
        }
    }

    fn unit(&mut self, kernel: usize, inputs: usize, outputs: usize) -> NormActConv {
        NormActConv {
            norm: self.norm(inputs),
            act: self.act(),
            conv: self.conv(kernel, inputs, outputs),
        }
    }

    fn conv(&mut self, kernel: usize, inputs: usize, outputs: usize) -> Conv {
        let taps = kernel * kernel;
        Conv {
            name: self.name("conv"),
            height: kernel,
            width: kernel,
            inputs,
            outputs,
            weights: self.numbers(
                taps * inputs * outputs,
                0.0,
                (1.0 / (taps * inputs) as f32).sqrt(),
            ),
        }
    }

    fn norm(&mut self, channels: usize) -> Norm {
        let (has_scale, has_bias) = (self.rng.random_bool(0.5), self.rng.random_bool(0.8));
        let mut variance = self.numbers(channels, 1.0, 0.2);
        for number in &mut variance[..] {
            *number = number.abs();
        }
        Norm {
            name: self.name("norm"),
            channels,
            epsilon: "0.001".into(),
            has_scale,
            has_bias,
            mean: self.numbers(channels, 0.0, 0.2),
            variance,
            scale: if has_scale {
                self.numbers(channels, 1.0, 0.2)
            } else {
                Weights::default()
            },
            bias: if has_bias {
                self.numbers(channels, 0.0, 0.2)
            } else {
                Weights::default()
            },
        }
    }

    fn act(&mut self) -> Act {
        Act {
            name: self.name("act"),
            kind: self.kind.activation(),
        }
    }

    fn matmul(&mut self, inputs: usize, outputs: usize) -> MatMul {
        MatMul {
            name: self.name("matmul"),
            inputs,
            outputs,
            weights: self.numbers(inputs * outputs, 0.0, (1.0 / inputs as f32).sqrt()),
        }
    }

    fn bias(&mut self, channels: usize) -> Bias {
        Bias {
            name: self.name("bias"),
            channels,
            weights: self.numbers(channels, 0.0, 0.2),
        }
    }

    fn rms(&mut self, channels: usize) -> Rms {
        Rms {
            name: self.name("rms"),
            channels,
            epsilon: "1e-06".into(),
            weights: self.numbers(channels, 1.0, 0.2),
        }
    }
}
