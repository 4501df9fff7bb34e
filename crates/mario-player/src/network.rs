//! The design's residual network, of any width and depth, as data for the `net` crate.
//!
//! A 3x3 convolution from the 18 planes to `filters`, then `blocks` residual blocks, each layer
//! with batch normalisation and a leaky rectifier, then one fully connected layer to 515
//! numbers: won (tanh), cleared and duration (softplus), and a chance for each of the 4 turns by
//! 8 columns by 16 rows (sigmoids, divided by their sum).
//!
//! The text form is JSON: the two sizes, the leak, and every tensor by name as a flat array in
//! row-major order. Names, in order: `stem.w stem.b stem.bn.g stem.bn.b`, then for block N
//! `rN.c0.w rN.c0.b rN.n0.g rN.n0.b rN.c1.w rN.c1.b rN.n1.g rN.n1.b`, then `head.w head.b`. A
//! normalisation may add its running `mean` and `var` (`stem.bn.mean`, `rN.n0.var`); without
//! them they are 0 and 1.

use std::collections::BTreeMap;

use net::{
    Activation, Conv, Dense, Head, Layer, Network, Output, Perspective, PlaneShape, Reading,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::planes::{AREA, PLANES};

/// Name of the output that says who wins, -1 to 1.
pub const WON: &str = "won";
/// Name of the output that counts the viruses still to be cleared.
pub const CLEARED: &str = "cleared";
/// Name of the output that counts the pills still to be placed.
pub const DURATION: &str = "duration";
/// Name of the output with the chance of each placement.
pub const MOVES: &str = "moves";

/// Placements the network speaks of: turns, columns, rows.
pub const MOVES_LEN: usize = 4 * AREA;

/// Numbers before the last functions: won, cleared, duration, moves.
const HEAD_LEN: usize = 3 + MOVES_LEN;

/// Side of the convolutions' kernels.
const KERNEL: usize = 3;

/// The design's leak.
pub const LEAK: f32 = 0.1;

/// What batch normalisation adds to a variance.
pub const EPSILON: f32 = 1e-5;

/// The shape of the input: eight columns of sixteen rows, the row fastest.
pub const INPUT: PlaneShape = PlaneShape {
    planes: PLANES,
    height: 8,
    width: 16,
};

/// The network with its normalisations still apart, as it is trained and stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DesignNetwork {
    /// Filters of each convolution.
    pub filters: usize,
    pub residual_blocks: usize,
    /// Slope of the rectifiers below zero.
    #[serde(default = "default_leak")]
    pub leakage: f32,
    /// Every tensor by name, row-major.
    pub tensors: BTreeMap<String, Vec<f32>>,
}

fn default_leak() -> f32 {
    LEAK
}

/// Why a network file cannot be used.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// Not JSON of the expected form.
    #[error("no Dr. Mario network: {0}")]
    Json(#[from] serde_json::Error),
    /// A tensor is missing.
    #[error("tensor {0:?} is missing")]
    Missing(String),
    /// A tensor has the wrong length.
    #[error("tensor {name:?} has {found} numbers, expected {expected}")]
    Length {
        name: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The network is not one for this game.
    #[error("the network does not fit Dr. Mario: {0}")]
    Shape(String),
}

impl DesignNetwork {
    /// The names and lengths of all learned tensors, in their fixed order.
    pub fn parameter_order(filters: usize, residual_blocks: usize) -> Vec<(String, usize)> {
        let square = KERNEL * KERNEL;
        let mut order = Vec::new();
        let mut layer = |conv: String, norm: String, inputs: usize| {
            order.push((format!("{conv}.w"), filters * inputs * square));
            order.push((format!("{conv}.b"), filters));
            order.push((format!("{norm}.g"), filters));
            order.push((format!("{norm}.b"), filters));
        };
        layer("stem".to_owned(), "stem.bn".to_owned(), PLANES);
        for block in 0..residual_blocks {
            for half in 0..2 {
                layer(
                    format!("r{block}.c{half}"),
                    format!("r{block}.n{half}"),
                    filters,
                );
            }
        }
        order.push(("head.w".to_owned(), HEAD_LEN * filters * AREA));
        order.push(("head.b".to_owned(), HEAD_LEN));
        order
    }

    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self, NetworkError> {
        let network: Self = serde_json::from_str(text)?;
        for (name, expected) in Self::parameter_order(network.filters, network.residual_blocks) {
            network.tensor(&name, expected)?;
        }
        Ok(network)
    }

    /// The network for evaluation, its normalisations folded into the convolutions.
    pub fn to_network(&self) -> Result<Network, NetworkError> {
        let leak = Activation::LeakyRelu(self.leakage);
        let mut trunk = vec![Layer::Conv(self.conv("stem", "stem.bn", PLANES, leak)?)];
        for block in 0..self.residual_blocks {
            let half = |half: usize, activation| {
                let (conv, norm) = (format!("r{block}.c{half}"), format!("r{block}.n{half}"));
                self.conv(&conv, &norm, self.filters, activation)
                    .map(Layer::Conv)
            };
            let body = vec![half(0, leak)?, half(1, Activation::Identity)?];
            trunk.push(Layer::Residual {
                body,
                activation: leak,
            });
        }
        let inputs = self.filters * AREA;
        let dense = Dense {
            inputs,
            outputs: HEAD_LEN,
            weights: self.tensor("head.w", HEAD_LEN * inputs)?.to_vec().into(),
            bias: self.tensor("head.b", HEAD_LEN)?.to_vec(),
            activation: Activation::Identity,
        };
        let output = |name: &str, len, reading| Output {
            name: name.to_owned(),
            len,
            reading,
        };
        let network = Network {
            input: INPUT,
            globals: 0,
            trunk,
            heads: vec![Head {
                layers: vec![Layer::Dense(dense)],
                outputs: vec![
                    output(WON, 1, Reading::Tanh),
                    output(CLEARED, 1, Reading::Softplus),
                    output(DURATION, 1, Reading::Softplus),
                    output(MOVES, MOVES_LEN, Reading::NormalizedSigmoid),
                ],
            }],
            perspective: Perspective::SideToMove,
        };
        network
            .check()
            .map_err(|error| NetworkError::Shape(error.to_string()))?;
        Ok(network)
    }

    fn conv(
        &self,
        conv: &str,
        norm: &str,
        inputs: usize,
        activation: Activation,
    ) -> Result<Conv, NetworkError> {
        let filters = self.filters;
        let per_filter = inputs * KERNEL * KERNEL;
        let of = |name: String, len| self.tensor(&name, len);
        let running = |name: &str, otherwise: f32| -> Result<Vec<f32>, NetworkError> {
            let name = format!("{norm}.{name}");
            match self.tensors.contains_key(&name) {
                true => Ok(of(name, filters)?.to_vec()),
                false => Ok(vec![otherwise; filters]),
            }
        };
        let (gamma, beta) = (
            of(format!("{norm}.g"), filters)?,
            of(format!("{norm}.b"), filters)?,
        );
        let (mean, variance) = (running("mean", 0.0)?, running("var", 1.0)?);
        let mut folded = Conv::new(KERNEL, inputs, filters, activation);
        folded
            .weights
            .copy_from_slice(of(format!("{conv}.w"), filters * per_filter)?);
        folded
            .bias
            .copy_from_slice(of(format!("{conv}.b"), filters)?);
        for filter in 0..filters {
            let scale = gamma[filter] / (variance[filter] + EPSILON).sqrt();
            for weight in &mut folded.weights[filter * per_filter..(filter + 1) * per_filter] {
                *weight *= scale;
            }
            let bias = &mut folded.bias[filter];
            *bias = (*bias - mean[filter]) * scale + beta[filter];
        }
        Ok(folded)
    }

    fn tensor(&self, name: &str, expected: usize) -> Result<&[f32], NetworkError> {
        let tensor = self
            .tensors
            .get(name)
            .ok_or_else(|| NetworkError::Missing(name.to_owned()))?;
        if tensor.len() != expected {
            let (name, found) = (name.to_owned(), tensor.len());
            return Err(NetworkError::Length {
                name,
                found,
                expected,
            });
        }
        Ok(tensor)
    }
}
