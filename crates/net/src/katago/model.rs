//! What a file says, layer by layer.

use crate::network::Activation;
use crate::weights::Weights;

/// A KataGo network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KataNetwork {
    /// The lines before the first layer.
    pub header: Header,
    pub(super) trunk: Trunk,
    pub(super) policy: PolicyHead,
    pub(super) value: ValueHead,
}

/// What a file says before its layers.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The name of the network, without white space.
    pub name: String,
    /// The version of the format, 8 to 17, which also says how outputs are to be read.
    pub version: u32,
    /// What outputs are multiplied with.
    pub multipliers: Multipliers,
    /// It reads [`INPUT_METADATA`](super::INPUT_METADATA) numbers about the players.
    pub meta_encoder: bool,
    /// Its area planes are computed as if multi-stone suicide were legal, whatever the rules.
    pub pass_alive_under_suicide: bool,
}

/// What raw outputs are multiplied with to be points or turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipliers {
    /// Not used by engines.
    pub(super) td_score: Decimal,
    pub(super) score_mean: Decimal,
    pub(super) score_stdev: Decimal,
    pub(super) lead: Decimal,
    pub(super) variance_time: Decimal,
    pub(super) shortterm_value_error: Decimal,
    pub(super) shortterm_score_error: Decimal,
}

impl Multipliers {
    /// Of the expected final score.
    pub fn score_mean(&self) -> f64 {
        self.score_mean.value
    }

    /// Of its standard deviation.
    pub fn score_stdev(&self) -> f64 {
        self.score_stdev.value
    }

    /// Of the lead in points.
    pub fn lead(&self) -> f64 {
        self.lead.value
    }

    /// Of the time over which the score varies, in turns.
    pub fn variance_time(&self) -> f64 {
        self.variance_time.value
    }

    /// Of the short-term error of the value.
    pub fn shortterm_value_error(&self) -> f64 {
        self.shortterm_value_error.value
    }

    /// Of the short-term error of the score.
    pub fn shortterm_score_error(&self) -> f64 {
        self.shortterm_score_error.value
    }
}

impl Default for Multipliers {
    /// The constants of files below version 13, which do not state them.
    fn default() -> Self {
        Self {
            td_score: "20.0".into(),
            score_mean: "20.0".into(),
            score_stdev: "20.0".into(),
            lead: "20.0".into(),
            variance_time: "40.0".into(),
            shortterm_value_error: "0.25".into(),
            shortterm_score_error: "30.0".into(),
        }
    }
}

impl Default for Header {
    fn default() -> Self {
        Self {
            name: String::new(),
            version: *super::VERSIONS.start(),
            multipliers: Multipliers::default(),
            meta_encoder: false,
            pass_alive_under_suicide: false,
        }
    }
}

/// A decimal as the file spells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Decimal {
    pub(super) text: String,
    pub(super) value: f64,
}

impl From<&str> for Decimal {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            value: text.parse().unwrap_or(f64::NAN),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conv {
    pub(super) name: String,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// `[row][column][input][output]`.
    pub(super) weights: Weights,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Norm {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) epsilon: Decimal,
    pub(super) has_scale: bool,
    pub(super) has_bias: bool,
    pub(super) mean: Weights,
    pub(super) variance: Weights,
    pub(super) scale: Weights,
    pub(super) bias: Weights,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Act {
    pub(super) name: String,
    pub(super) kind: Activation,
}

impl Default for Act {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: Activation::Relu,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MatMul {
    pub(super) name: String,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// `[input][output]`.
    pub(super) weights: Weights,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bias {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) weights: Weights,
}

/// The RMS norm before attention and feed-forward layers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rms {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) epsilon: Decimal,
    pub(super) weights: Weights,
}

/// The RMS norm at the tip of a trunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TipRms {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) epsilon: Decimal,
    /// Over the whole board, not point by point.
    pub(super) spatial: bool,
    pub(super) gamma: Weights,
    pub(super) beta: Weights,
}

/// Batch norm, activation, convolution: the unit all blocks are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NormActConv {
    pub(super) norm: Norm,
    pub(super) act: Act,
    pub(super) conv: Conv,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Ordinary {
        name: String,
        first: NormActConv,
        second: NormActConv,
    },
    GlobalPool(Box<GlobalPoolBlock>),
    Nested {
        name: String,
        first: NormActConv,
        inner: Vec<Block>,
        last: NormActConv,
    },
    Attention(Box<AttentionBlock>),
    FeedForward(Box<FeedForwardBlock>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GlobalPoolBlock {
    pub(super) name: String,
    pub(super) norm: Norm,
    pub(super) act: Act,
    pub(super) regular: Conv,
    pub(super) pooled: Conv,
    pub(super) pooled_norm: Norm,
    pub(super) pooled_act: Act,
    pub(super) to_bias: MatMul,
    pub(super) last: NormActConv,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AttentionBlock {
    pub(super) name: String,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) query_len: usize,
    pub(super) value_len: usize,
    pub(super) rope: Rope,
    pub(super) norm: Rms,
    pub(super) query: MatMul,
    pub(super) key: MatMul,
    pub(super) value: MatMul,
    pub(super) out: MatMul,
}

/// Rotary position encoding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Rope {
    #[default]
    None,
    /// `[kv head][pair][x, y]`.
    Learned {
        name: String,
        frequencies: Weights,
    },
    Fixed {
        name: String,
        theta: Decimal,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FeedForwardBlock {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) hidden: usize,
    pub(super) norm: Rms,
    pub(super) first: MatMul,
    pub(super) gate: Option<MatMul>,
    pub(super) last: MatMul,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MetaEncoder {
    pub(super) name: String,
    pub(super) inputs: usize,
    pub(super) first: MatMul,
    pub(super) first_bias: Bias,
    pub(super) first_act: Act,
    pub(super) second: MatMul,
    pub(super) second_bias: Bias,
    pub(super) second_act: Act,
    pub(super) last: MatMul,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tip {
    Norm(Norm),
    Rms(TipRms),
}

impl Default for Tip {
    fn default() -> Self {
        Self::Norm(Norm::default())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Trunk {
    pub(super) name: String,
    pub(super) channels: usize,
    /// Mid, regular, dilated and pooling channels: information only.
    pub(super) other_channels: [usize; 4],
    pub(super) initial_conv: Conv,
    pub(super) initial_globals: MatMul,
    pub(super) meta_encoder: Option<MetaEncoder>,
    pub(super) blocks: Vec<Block>,
    pub(super) tip: Tip,
    pub(super) tip_act: Act,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PolicyHead {
    pub(super) name: String,
    pub(super) channels: usize,
    pub(super) p1: Conv,
    pub(super) g1: Conv,
    pub(super) g_norm: Norm,
    pub(super) g_act: Act,
    pub(super) g_to_p: MatMul,
    pub(super) p_norm: Norm,
    pub(super) p_act: Act,
    pub(super) p2: Conv,
    pub(super) pass: MatMul,
    /// From version 15 on: bias, activation and a second product.
    pub(super) pass_more: Option<(Bias, Act, MatMul)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueHead {
    pub(super) name: String,
    pub(super) v1: Conv,
    pub(super) v_norm: Norm,
    pub(super) v_act: Act,
    pub(super) v2: MatMul,
    pub(super) v2_bias: Bias,
    pub(super) v2_act: Act,
    pub(super) v3: MatMul,
    pub(super) v3_bias: Bias,
    pub(super) score: MatMul,
    pub(super) score_bias: Bias,
    pub(super) ownership: Conv,
}
