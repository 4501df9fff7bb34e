//! A network as plain data: layers, their weights and how the last numbers are to be read.
//!
//! Batch normalisation does not appear: it is folded into the weights and bias of the layer before it, which is exact
//! for inference. Anything that can be said here can be run by the [reference](crate::reference) evaluator and by the
//! fast one, stored in the compact format and compared with another network.

use thiserror::Error;

use crate::shape::{IoShape, OutputShape, Perspective, PlaneShape};
use crate::weights::Weights;

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
    /// The mean of every plane, then the maximum of every plane: planes become a vector of twice their number.
    GlobalPool,
}

/// A 3x3 (zero padded) or 1x1 convolution, stride 1, cross-correlation.
///
/// With several groups the planes are cut into consecutive stretches and every stretch is convolved on its own, as if
/// by a block-diagonal weight matrix whose zero blocks are neither stored nor multiplied.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// 3 or 1.
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

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The number itself.
    Identity,
    /// `max(0, x)`.
    Relu,
    /// `x` if positive, else `x` times this slope, which lies in 0..1.
    LeakyRelu(f32),
}

impl Activation {
    /// The slope on the negative side: every activation is `max(x, slope * x)`.
    pub fn negative_slope(self) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => 0.0,
            Self::LeakyRelu(slope) => slope,
        }
    }
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

    /// Calls `change` with every layer that holds no others.
    pub fn for_each_leaf_mut(&mut self, change: &mut dyn FnMut(&mut Layer)) {
        walk_mut(&mut self.trunk, change);
        for head in &mut self.heads {
            walk_mut(&mut head.layers, change);
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
        let planes = Flow::Planes(self.input.planes);
        let trunk = self.check_layers("trunk", &self.trunk, planes)?;
        for (index, head) in network.heads.iter_mut().enumerate() {
            let place = format!("head {}", index + 1);
            let cells = match self.check_layers(&place, &head.layers, trunk)? {
                Flow::Planes(_) => (from, to),
                Flow::Vector(_) => continue,
            };
            for output in &mut head.outputs {
                if !output.len.is_multiple_of(cells.0) {
                    return Err(shape_error(
                        &place,
                        format!("an output of {} numbers", output.len),
                        "whole planes, to be run on another board size",
                    ));
                }
                output.len = output.len / cells.0 * cells.1;
            }
        }
        network.check()?;
        Ok(network)
    }

    /// Checks that every layer fits the one before it and that no weight is NaN or infinite.
    pub fn check(&self) -> Result<(), ShapeError> {
        if self.input.is_empty() {
            return Err(shape_error(
                "input",
                format!("{:?}", self.input),
                "at least one plane of one cell",
            ));
        }
        let trunk = self.check_layers("trunk", &self.trunk, Flow::Planes(self.input.planes))?;
        if self.heads.is_empty() {
            return Err(shape_error("heads", "none", "at least one"));
        }
        for (index, head) in self.heads.iter().enumerate() {
            let place = format!("head {}", index + 1);
            let found = match self.check_layers(&place, &head.layers, trunk)? {
                Flow::Vector(len) => len,
                Flow::Planes(planes) => planes * self.input.area(),
            };
            let expected: usize = head.outputs.iter().map(|output| output.len).sum();
            if found != expected {
                return Err(shape_error(
                    &place,
                    format!("{found} numbers"),
                    format!("{expected} for its outputs"),
                ));
            }
        }
        Ok(())
    }

    fn check_layers(&self, place: &str, layers: &[Layer], input: Flow) -> Result<Flow, ShapeError> {
        let mut flow = input;
        for (index, layer) in layers.iter().enumerate() {
            let place = format!("{place} layer {}", index + 1);
            flow = self.check_layer(&place, layer, flow)?;
        }
        Ok(flow)
    }

    fn check_layer(&self, place: &str, layer: &Layer, input: Flow) -> Result<Flow, ShapeError> {
        match layer {
            Layer::Conv(conv) => {
                if input != Flow::Planes(conv.inputs()) {
                    return Err(shape_error(
                        place,
                        format!("{} input planes", conv.inputs()),
                        describe(input),
                    ));
                }
                if conv.kernel != 1 && conv.kernel != 3 {
                    return Err(shape_error(
                        place,
                        format!("kernel {}", conv.kernel),
                        "kernel 1 or 3",
                    ));
                }
                let taps = conv.kernel * conv.kernel;
                let weights: usize = conv
                    .groups
                    .iter()
                    .map(|group| group.inputs * group.outputs * taps)
                    .sum();
                check_numbers(place, &conv.weights, weights, "weights")?;
                check_numbers(place, &conv.bias, conv.outputs(), "biases")?;
                check_activation(place, conv.activation)?;
                Ok(Flow::Planes(conv.outputs()))
            }
            Layer::Dense(dense) => {
                let arriving = match input {
                    Flow::Planes(planes) => planes * self.input.area(),
                    Flow::Vector(len) => len,
                };
                if arriving != dense.inputs {
                    return Err(shape_error(
                        place,
                        format!("{} inputs", dense.inputs),
                        describe(input),
                    ));
                }
                check_numbers(
                    place,
                    &dense.weights,
                    dense.inputs * dense.outputs,
                    "weights",
                )?;
                check_numbers(place, &dense.bias, dense.outputs, "biases")?;
                check_activation(place, dense.activation)?;
                Ok(Flow::Vector(dense.outputs))
            }
            Layer::Residual { body, activation } => {
                let last = match body.last() {
                    Some(Layer::Conv(conv)) => conv.activation,
                    Some(Layer::Dense(dense)) => dense.activation,
                    _ => {
                        return Err(shape_error(
                            place,
                            "a body that ends otherwise",
                            "a last conv or dense layer",
                        ));
                    }
                };
                if last != Activation::Identity {
                    return Err(shape_error(
                        place,
                        format!("{last:?} before the addition"),
                        "no activation there",
                    ));
                }
                check_activation(place, *activation)?;
                let output = self.check_layers(place, body, input)?;
                if output != input {
                    return Err(shape_error(
                        place,
                        describe(output),
                        format!("{} to add to", describe(input)),
                    ));
                }
                Ok(output)
            }
            Layer::GlobalPool => match input {
                Flow::Planes(planes) => Ok(Flow::Vector(2 * planes)),
                Flow::Vector(_) => Err(shape_error(place, describe(input), "planes to pool")),
            },
        }
    }
}

impl Layer {
    /// Numbers in its own weights and biases, not counting layers inside it.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Conv(conv) => conv.weights.len() + conv.bias.len(),
            Self::Dense(dense) => dense.weights.len() + dense.bias.len(),
            Self::Residual { .. } | Self::GlobalPool => 0,
        }
    }

    /// The sequences of layers inside it.
    pub fn branches(&self) -> Vec<&[Layer]> {
        match self {
            Self::Residual { body, .. } => vec![body],
            Self::Conv(_) | Self::Dense(_) | Self::GlobalPool => Vec::new(),
        }
    }

    fn branches_mut(&mut self) -> Vec<&mut [Layer]> {
        match self {
            Self::Residual { body, .. } => vec![body],
            Self::Conv(_) | Self::Dense(_) | Self::GlobalPool => Vec::new(),
        }
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

fn walk_mut(layers: &mut [Layer], change: &mut dyn FnMut(&mut Layer)) {
    for layer in layers {
        if layer.branches().is_empty() {
            change(layer);
        }
        for branch in layer.branches_mut() {
            walk_mut(branch, change);
        }
    }
}

/// Numbers that are looked at before the first that is not finite ends the search.
const CHECKED_AT_ONCE: usize = 4096;

fn check_numbers(
    place: &str,
    numbers: &[f32],
    expected: usize,
    what: &str,
) -> Result<(), ShapeError> {
    if numbers.len() != expected {
        return Err(shape_error(
            place,
            format!("{} {what}", numbers.len()),
            expected.to_string(),
        ));
    }
    // By whole stretches first, which the compiler does many numbers at a time.
    let finite = |stretch: &[f32]| {
        stretch
            .iter()
            .fold(true, |all, number| all & number.is_finite())
    };
    if numbers.chunks(CHECKED_AT_ONCE).all(finite) {
        return Ok(());
    }
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(index) => Err(shape_error(
            place,
            format!("{} among its {what}", numbers[index]),
            "finite numbers",
        )),
        None => Ok(()),
    }
}

fn check_activation(place: &str, activation: Activation) -> Result<(), ShapeError> {
    match activation {
        Activation::LeakyRelu(slope) if !(0.0..=1.0).contains(&slope) => Err(shape_error(
            place,
            format!("a leaky slope of {slope}"),
            "a slope in 0..=1",
        )),
        _ => Ok(()),
    }
}

fn describe(flow: Flow) -> String {
    match flow {
        Flow::Planes(planes) => format!("{planes} planes"),
        Flow::Vector(len) => format!("a vector of {len}"),
    }
}

fn shape_error(place: &str, found: impl Into<String>, expected: impl Into<String>) -> ShapeError {
    ShapeError {
        place: place.to_owned(),
        found: found.into(),
        expected: expected.into(),
    }
}
