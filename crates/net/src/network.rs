//! A network as plain data: layers, their weights and how the last numbers are to be read.
//!
//! Batch normalisation after a convolution is folded into its weights and bias, which is exact for inference; before
//! one it is a [`Scale`]. Anything that can be said here can be run by every [backend](crate::Backend), stored in the
//! compact format and compared with another network.

mod check;
mod layer;

use thiserror::Error;

use crate::shape::{IoShape, OutputShape, Perspective, PlaneShape};

pub use layer::{
    Activation, Attention, Conv, Dense, Gated, Group, NormOver, Pooling, RmsNorm, Scale,
};

/// A whole network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The planes it looks at.
    pub input: PlaneShape,
    /// Numbers about the whole position that follow the planes in an input row.
    pub globals: usize,
    /// The layers every head shares.
    pub trunk: Vec<Layer>,
    /// What is read off the trunk.
    pub heads: Vec<Head>,
    /// Whose chance of winning the value speaks of.
    pub perspective: Perspective,
}

/// One step of a trunk or a head.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// A convolution, on planes.
    Conv(Conv),
    /// A fully connected layer; planes are flattened to `plane * area + row * width + column` first.
    Dense(Dense),
    /// `activation(x + body(x))`; the last layer of the body has no activation of its own.
    Residual {
        /// The layers that are skipped by `x`.
        body: Vec<Layer>,
        /// Applied after the addition.
        activation: Activation,
    },
    /// Planes become a vector.
    GlobalPool(Pooling),
    /// A factor, an addend and an activation for every plane.
    Scale(Scale),
    /// Division by the root of the mean square.
    RmsNorm(RmsNorm),
    /// Attention between the points of the board.
    Attention(Attention),
    /// The product of two 1x1 convolutions.
    Gated(Gated),
    /// `planes(x) + vector(x)`, each number of the vector added to every point of its plane.
    AddVector {
        /// Ends in planes.
        planes: Vec<Layer>,
        /// Ends in a vector of one number per plane.
        vector: Vec<Layer>,
    },
    /// Planes of one number per move on the board, each followed by one number for the pass: a vector of
    /// `planes * (area + 1)`.
    WithPass {
        /// Ends in planes.
        planes: Vec<Layer>,
        /// Ends in a vector of one number per plane.
        pass: Vec<Layer>,
    },
    /// Some of the numbers of the input row that follow its planes, whatever came before.
    Globals {
        /// The first of them.
        start: usize,
        len: usize,
    },
}

/// Layers that end in named outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// From the trunk's result to a vector.
    pub layers: Vec<Layer>,
    /// How that vector is cut up and read, in order; the lengths add up to its length.
    pub outputs: Vec<Output>,
}

/// A named stretch of a head's vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The name a caller looks it up by.
    pub name: String,
    /// How many numbers of the vector.
    pub len: usize,
    /// What turns them into the result.
    pub reading: Reading,
}

/// The last function of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The numbers as they are.
    Raw,
    /// `exp(x) / sum exp(x)` over the stretch.
    Softmax,
    /// `sigmoid(x) / sum sigmoid(x)` over the stretch; all zeros stay zeros.
    NormalizedSigmoid,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `tanh(x)`, in -1..1.
    Tanh,
    /// `(1 + tanh(x)) / 2`, a chance in 0..1.
    Winrate,
    /// `ln(1 + exp(x))`.
    Softplus,
}

/// Why a network makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: found {found}, expected {expected}")]
pub struct ShapeError {
    /// The layer, such as `trunk layer 3`.
    pub place: String,
    /// What it says.
    pub found: String,
    /// What would fit.
    pub expected: String,
}

/// What flows between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Planes(usize),
    Vector(usize),
}

impl Network {
    /// The shape of its door.
    pub fn io_shape(&self) -> IoShape {
        let mut outputs = Vec::new();
        let mut start = 0;
        for output in self.heads.iter().flat_map(|head| &head.outputs) {
            outputs.push(OutputShape {
                name: output.name.clone(),
                range: start..start + output.len,
            });
            start += output.len;
        }
        IoShape {
            input: self.input,
            globals: self.globals,
            outputs,
            perspective: self.perspective,
        }
    }

    /// Numbers in all weights and biases.
    pub fn parameters(&self) -> usize {
        let mut count = 0;
        self.for_each_layer(&mut |_, layer| count += layer.parameters());
        count
    }

    /// Calls `visit` with every layer in the order they run, those inside other layers after the one they are in, and
    /// with a name of its place, such as `trunk.3.2` or `head 1.2`.
    pub fn for_each_layer<'a>(&'a self, visit: &mut dyn FnMut(&str, &'a Layer)) {
        walk("trunk", &self.trunk, visit);
        for (index, head) in self.heads.iter().enumerate() {
            walk(&format!("head {}", index + 1), &head.layers, visit);
        }
    }

    /// Calls `change` with every weight and bias.
    pub fn for_each_number_mut(&mut self, change: &mut dyn FnMut(&mut f32)) {
        let heads = self.heads.iter_mut().flat_map(|head| &mut head.layers);
        for layer in self.trunk.iter_mut().chain(heads) {
            layer.for_each_number_mut(change);
        }
    }

    /// The same network for boards of `height` rows and `width` columns; weights are shared, not copied.
    ///
    /// Refuses a network with a dense layer on planes: its weights are for one board size only.
    pub fn at_size(&self, height: usize, width: usize) -> Result<Self, ShapeError> {
        let mut network = self.clone();
        network.input.height = height;
        network.input.width = width;
        if network.input == self.input {
            return Ok(network);
        }
        let (from, to) = (self.input.area(), network.input.area());
        let trunk = network.flow_of_trunk()?;
        for index in 0..network.heads.len() {
            let place = format!("head {}", index + 1);
            let flow = network.check_layers(&place, &network.heads[index].layers, trunk)?;
            let head = &mut network.heads[index];
            let cells = match (flow, head.layers.last()) {
                (_, Some(Layer::WithPass { .. })) => (from + 1, to + 1),
                (Flow::Planes(_), _) => (from, to),
                (Flow::Vector(_), _) => continue,
            };
            for output in &mut head.outputs {
                output.len = output.len / cells.0 * cells.1;
            }
        }
        network.check()?;
        Ok(network)
    }
}

fn walk<'a>(place: &str, layers: &'a [Layer], visit: &mut dyn FnMut(&str, &'a Layer)) {
    for (index, layer) in layers.iter().enumerate() {
        let place = format!("{place}.{}", index + 1);
        visit(&place, layer);
        for branch in layer.branches() {
            walk(&place, branch, visit);
        }
    }
}
