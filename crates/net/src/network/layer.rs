//! The layers a network is made of, as plain data.

use super::Layer;
use crate::weights::Weights;

/// A square convolution, zero padded to keep the size of its planes, stride 1, cross-correlation.
///
/// With several groups the planes are cut into consecutive stretches and every stretch is convolved on its own, as if
/// by a block-diagonal weight matrix whose zero blocks are neither stored nor multiplied.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// Rows and columns of the kernel: an odd number.
    pub kernel: usize,
    /// At least one; their inputs and outputs add up to those of the layer.
    pub groups: Vec<Group>,
    /// Group after group, each `[output][input][row][column]`.
    pub weights: Weights,
    /// One for every output plane.
    pub bias: Vec<f32>,
    /// Applied last.
    pub activation: Activation,
}

/// The planes of one group of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Planes it reads.
    pub inputs: usize,
    /// Planes it writes.
    pub outputs: usize,
}

/// A fully connected layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Numbers it reads.
    pub inputs: usize,
    /// Numbers it writes.
    pub outputs: usize,
    /// `[output][input]`.
    pub weights: Weights,
    /// One for every output.
    pub bias: Vec<f32>,
    /// Applied last.
    pub activation: Activation,
}

/// A factor and an addend for every plane (or every number of a vector), then an activation: what batch normalisation
/// comes to when it stands before a convolution.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Multiplied with, one per plane.
    pub scale: Weights,
    /// Added then, one per plane.
    pub bias: Weights,
    /// Applied last.
    pub activation: Activation,
}

/// How planes become a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pooling {
    /// The mean of every plane, then the maximum of every plane.
    MeanMax,
    /// KataGo's trunk and policy pooling: all means, all means times `(s - 14) / 10`, all maxima, for a board of s x s
    /// points (`s` is the root of the area).
    MeanScaledMax,
    /// KataGo's value pooling: all means, all means times `(s - 14) / 10`, all means times `(s - 14)² / 100 - 0.1`.
    MeanScaledSquared,
}

impl Pooling {
    /// Numbers that come of one plane.
    pub fn numbers_per_plane(self) -> usize {
        match self {
            Self::MeanMax => 2,
            Self::MeanScaledMax | Self::MeanScaledSquared => 3,
        }
    }

    /// What the mean is multiplied with for the second number, and for the third if that is not a maximum.
    pub fn size_factors(area: usize) -> (f64, f64) {
        let off = (area as f64).sqrt() - 14.0;
        (off * 0.1, off * off * 0.01 - 0.1)
    }
}

/// Divides by the root of the mean square, then a factor and an addend for every plane and an activation.
#[derive(Clone, Debug, PartialEq)]
pub struct RmsNorm {
    /// Multiplied with after the division, one per plane.
    pub scale: Weights,
    /// Added then, one per plane.
    pub bias: Weights,
    /// Added to the mean square before its root is taken.
    pub epsilon: f32,
    /// What the mean square is taken over.
    pub over: NormOver,
    /// Applied last.
    pub activation: Activation,
}

/// What a normalisation takes its mean over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormOver {
    /// All planes, for each point of the board on its own.
    Point,
    /// All planes and all points of the board.
    Board,
}

/// Attention between the points of a board: the result of every point is a mean of what all points offer, weighed by
/// the softmax of `query · key / sqrt(query length)`.
///
/// Several heads do so side by side; query heads share key and value heads if there are fewer of those.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values; divides `heads`.
    pub kv_heads: usize,
    /// 1x1, to `heads` times an even query length.
    pub query: Conv,
    /// 1x1, to `kv_heads` times the query length.
    pub key: Conv,
    /// 1x1, to `kv_heads` times a value length. The result has `heads` times that many planes.
    pub value: Conv,
    /// Rotary position encoding: radians a column and radians a row, `[kv head][pair of planes][2]`; neighbouring planes
    /// of queries and keys are turned by them.
    pub rotation: Option<Weights>,
}

impl Attention {
    /// Planes of one query or key head.
    pub fn query_len(&self) -> usize {
        self.query.outputs() / self.heads.max(1)
    }

    /// Planes of one value head.
    pub fn value_len(&self) -> usize {
        self.value.outputs() / self.kv_heads.max(1)
    }

    /// Planes of the result.
    pub fn outputs(&self) -> usize {
        self.heads * self.value_len()
    }
}

/// The product of two 1x1 convolutions of the same planes, number by number; with SiLU on the first it is SwiGLU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    /// The first factor.
    pub value: Conv,
    /// The second factor.
    pub gate: Conv,
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The number itself.
    Identity,
    /// `max(0, x)`.
    Relu,
    /// `x` if positive, else `x` times this slope, which lies in 0..1.
    LeakyRelu(f32),
    /// `x * tanh(ln(1 + exp(x)))` (Misra 2019).
    Mish,
    /// `x / (1 + exp(-x))`, also called swish.
    Silu,
}

impl Activation {
    /// The slope on the negative side of activations that are `max(x, slope * x)`.
    pub fn negative_slope(self) -> Option<f32> {
        match self {
            Self::Identity => Some(1.0),
            Self::Relu => Some(0.0),
            Self::LeakyRelu(slope) => Some(slope),
            Self::Mish | Self::Silu => None,
        }
    }
}

impl Conv {
    /// A convolution of one group.
    pub fn new(kernel: usize, inputs: usize, outputs: usize, activation: Activation) -> Self {
        Self {
            kernel,
            groups: vec![Group { inputs, outputs }],
            weights: Weights::zeros(inputs * outputs * kernel * kernel),
            bias: vec![0.0; outputs],
            activation,
        }
    }

    /// Planes read.
    pub fn inputs(&self) -> usize {
        self.groups.iter().map(|group| group.inputs).sum()
    }

    /// Planes written.
    pub fn outputs(&self) -> usize {
        self.groups.iter().map(|group| group.outputs).sum()
    }
}

impl Conv {
    fn each_mut(&mut self, change: &mut dyn FnMut(&mut [f32])) {
        change(&mut self.weights);
        change(&mut self.bias);
    }
}

impl Dense {
    /// A layer of zeros.
    pub fn new(inputs: usize, outputs: usize, activation: Activation) -> Self {
        Self {
            inputs,
            outputs,
            weights: Weights::zeros(inputs * outputs),
            bias: vec![0.0; outputs],
            activation,
        }
    }
}

impl Layer {
    /// Numbers in its own weights and biases, not counting layers inside it.
    pub fn parameters(&self) -> usize {
        let of_conv = |conv: &Conv| conv.weights.len() + conv.bias.len();
        match self {
            Self::Conv(conv) => of_conv(conv),
            Self::Dense(dense) => dense.weights.len() + dense.bias.len(),
            Self::Scale(scale) => scale.scale.len() + scale.bias.len(),
            Self::RmsNorm(norm) => norm.scale.len() + norm.bias.len(),
            Self::Attention(attention) => {
                let rotation = attention
                    .rotation
                    .as_ref()
                    .map_or(0, |numbers| numbers.len());
                let convs = [&attention.query, &attention.key, &attention.value];
                convs.into_iter().map(of_conv).sum::<usize>() + rotation
            }
            Self::Gated(gated) => of_conv(&gated.value) + of_conv(&gated.gate),
            Self::Residual { .. }
            | Self::GlobalPool(_)
            | Self::AddVector { .. }
            | Self::WithPass { .. }
            | Self::Globals { .. } => 0,
        }
    }

    /// The sequences of layers inside it, in the order they run.
    pub fn branches(&self) -> Vec<&[Layer]> {
        match self {
            Self::Residual { body, .. } => vec![body],
            Self::AddVector { planes, vector } => vec![planes, vector],
            Self::WithPass { planes, pass } => vec![planes, pass],
            Self::Conv(_)
            | Self::Dense(_)
            | Self::GlobalPool(_)
            | Self::Scale(_)
            | Self::RmsNorm(_)
            | Self::Attention(_)
            | Self::Gated(_)
            | Self::Globals { .. } => Vec::new(),
        }
    }

    /// Calls `change` with every weight and bias, those of layers inside it included.
    pub(super) fn for_each_number_mut(&mut self, change: &mut dyn FnMut(&mut f32)) {
        let mut each = |numbers: &mut [f32]| numbers.iter_mut().for_each(&mut *change);
        match self {
            Self::Conv(conv) => conv.each_mut(&mut each),
            Self::Dense(dense) => {
                each(&mut dense.weights);
                each(&mut dense.bias);
            }
            Self::Scale(scale) => {
                each(&mut scale.scale);
                each(&mut scale.bias);
            }
            Self::RmsNorm(norm) => {
                each(&mut norm.scale);
                each(&mut norm.bias);
            }
            Self::Attention(attention) => {
                attention.query.each_mut(&mut each);
                attention.key.each_mut(&mut each);
                attention.value.each_mut(&mut each);
                if let Some(rotation) = &mut attention.rotation {
                    each(rotation);
                }
            }
            Self::Gated(gated) => {
                gated.value.each_mut(&mut each);
                gated.gate.each_mut(&mut each);
            }
            Self::Residual { body, .. } => {
                for layer in body {
                    layer.for_each_number_mut(change);
                }
            }
            Self::AddVector {
                planes: first,
                vector: second,
            }
            | Self::WithPass {
                planes: first,
                pass: second,
            } => {
                for layer in first.iter_mut().chain(second) {
                    layer.for_each_number_mut(change);
                }
            }
            Self::GlobalPool(_) | Self::Globals { .. } => {}
        }
    }

    /// The convolutions it consists of, and none inside layers within it.
    pub fn convs(&self) -> Vec<(&'static str, &Conv)> {
        match self {
            Self::Conv(conv) => vec![("conv", conv)],
            Self::Attention(attention) => vec![
                ("query", &attention.query),
                ("key", &attention.key),
                ("value", &attention.value),
            ],
            Self::Gated(gated) => vec![("value", &gated.value), ("gate", &gated.gate)],
            _ => Vec::new(),
        }
    }
}
