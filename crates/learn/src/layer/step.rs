//! Layers in words that another machine can follow.
//!
//! A layer here is fused and blocked for our kernels; what it computes is a few plain steps, from which an engine builds a
//! model somewhere else. Parameters and statistics are taken in the order in which the layer lists them.

use super::norm::NormStyle;

/// One plain operation of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainOp {
    /// A convolution that sees zeros around the board; takes weights `[output][input][size][size]`.
    Conv,
    /// Adds a bias to every channel; takes it.
    Bias,
    /// Batch norm; takes a bias and a scale if the style has them, then the shift, and the running mean and variance.
    Norm(NormStyle),
    /// A product with weights `[output][input]`, plus a bias; takes both.
    Dense,
    /// Multiplies what is below zero by a slope.
    Leak(f32),
    /// Adds what these steps make of the input to the input.
    Residual(Vec<PlainOp>),
    /// The largest number of every 2x2 square.
    MaxPool,
    /// The mean of every plane, then the maximum of every plane.
    GlobalPool,
    /// Planes to a row, channel by channel.
    Flatten,
    /// Leaves out this share of the numbers in training.
    Dropout(f64),
}

/// What a model computes: the steps of its trunk, and of every head that reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub trunk: Vec<PlainOp>,
    /// The heads, each of which ends in a row.
    pub heads: Vec<Vec<PlainOp>>,
    /// Dimensions of every parameter, in order.
    pub shapes: Vec<Vec<usize>>,
    /// Whether weight decay applies to each of them.
    pub decays: Vec<bool>,
}
