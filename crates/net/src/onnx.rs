//! Networks as ONNX models, for other frameworks and for ONNX Runtime as a [backend](crate::Backend).
//!
//! Operator set 13. The inputs are [`PLANES`] of `[batch, planes, height, width]` and, if the network has them, [`GLOBALS`]
//! of `[batch, globals]`; every output has its own name and is `[batch, length]`, after its last function. Every layer of
//! [`Network`] is written.

mod graph;

use graph::{Attribute, Graph};

use crate::network::{
    Activation, Attention, Conv, Dense, Layer, Network, NormOver, Pooling, Reading, RmsNorm, Scale,
    ShapeError,
};
use crate::shape::PlaneShape;

/// The names of the inputs.
pub const PLANES: &str = "planes";
pub const GLOBALS: &str = "globals";

/// The model as bytes of an `.onnx` file.
pub fn export(network: &Network) -> Result<Vec<u8>, ShapeError> {
    network.check()?;
    let mut graph = Graph::default();
    let input = network.input;
    graph.input(PLANES, &[input.planes, input.height, input.width]);
    if network.globals > 0 {
        graph.input(GLOBALS, &[network.globals]);
    }
    let mut writer = Writer {
        graph,
        board: input,
        globals: network.globals,
    };
    let trunk = Value {
        name: PLANES.to_owned(),
        is_vector: false,
    };
    let trunk = writer.layers(&network.trunk, trunk);
    for head in &network.heads {
        let row = writer.layers(&head.layers, trunk.clone());
        let row = writer.flat(&row);
        let mut start = 0;
        for output in &head.outputs {
            let part = match head.outputs.len() {
                1 => row.clone(),
                _ => writer.graph.slice(&row, start, start + output.len),
            };
            writer.reading(&part, output.reading, &output.name);
            writer.graph.output(&output.name, output.len);
            start += output.len;
        }
    }
    Ok(writer.graph.finish())
}

/// What flows between two layers: planes of `[batch, planes, height, width]`, or vectors of `[batch, length]`.
#[derive(Clone)]
struct Value {
    name: String,
    is_vector: bool,
}

struct Writer {
    graph: Graph,
    board: PlaneShape,
    globals: usize,
}

impl Writer {
    fn layers(&mut self, layers: &[Layer], input: Value) -> Value {
        layers
            .iter()
            .fold(input, |input, layer| self.layer(layer, &input))
    }

    fn layer(&mut self, layer: &Layer, input: &Value) -> Value {
        let name = match layer {
            Layer::Conv(conv) => self.conv(conv, &input.name),
            Layer::Dense(dense) => self.dense(dense, input),
            Layer::Residual { body, activation } => {
                let branch = self.layers(body, input.clone());
                let sum = self.binary("Add", &branch.name, &input.name);
                self.activation(*activation, sum)
            }
            Layer::GlobalPool(pooling) => self.pool(*pooling, &input.name),
            Layer::Scale(scale) => self.scale(scale, input),
            Layer::RmsNorm(norm) => self.norm(norm, input),
            Layer::Attention(attention) => self.attention(attention, &input.name),
            Layer::Gated(gated) => {
                let value = self.conv(&gated.value, &input.name);
                let gate = self.conv(&gated.gate, &input.name);
                self.binary("Mul", &value, &gate)
            }
            Layer::AddVector { planes, vector } => {
                let planes = self.layers(planes, input.clone());
                let vector = self.layers(vector, input.clone());
                let axes = self.graph.integers(&[2, 3]);
                let vector = self.graph.node("Unsqueeze", &[&vector.name, &axes], &[]);
                self.binary("Add", &planes.name, &vector)
            }
            Layer::WithPass { planes, pass } => self.with_pass(planes, pass, input),
            Layer::Globals { start, len } if (*start, *len) == (0, self.globals) => {
                GLOBALS.to_owned()
            }
            Layer::Globals { start, len } => self.graph.slice(GLOBALS, *start, start + len),
        };
        let is_vector = match layer {
            Layer::Dense(_)
            | Layer::GlobalPool(_)
            | Layer::WithPass { .. }
            | Layer::Globals { .. } => true,
            Layer::Scale(_) | Layer::Residual { .. } => input.is_vector,
            _ => false,
        };
        Value { name, is_vector }
    }

    fn binary(&mut self, operator: &str, left: &str, right: &str) -> String {
        self.graph.node(operator, &[left, right], &[])
    }

    fn number(&mut self, number: f32) -> String {
        self.graph.floats(&[1], &[number])
    }

    fn flat(&mut self, input: &Value) -> String {
        if input.is_vector {
            return input.name.clone();
        }
        let axis = [("axis", Attribute::Int(1))];
        self.graph.node("Flatten", &[&input.name], &axis)
    }

    fn conv(&mut self, conv: &Conv, input: &str) -> String {
        let (inputs, outputs, taps) = (conv.inputs(), conv.outputs(), conv.kernel * conv.kernel);
        // Groups of unequal size are no ONNX groups: their zero blocks are written out.
        let mut full = vec![0.0; outputs * inputs * taps];
        let (mut first_input, mut first_output, mut read) = (0, 0, 0);
        for group in &conv.groups {
            for output in 0..group.outputs {
                let from = &conv.weights[read..read + group.inputs * taps];
                let at = ((first_output + output) * inputs + first_input) * taps;
                full[at..at + from.len()].copy_from_slice(from);
                read += from.len();
            }
            first_input += group.inputs;
            first_output += group.outputs;
        }
        let shape = [outputs, inputs, conv.kernel, conv.kernel];
        let weights = self.graph.floats(&shape, &full);
        let bias = self.graph.floats(&[outputs], &conv.bias);
        let side = conv.kernel as i64;
        let attributes = [
            ("kernel_shape", Attribute::Ints(vec![side, side])),
            ("pads", Attribute::Ints(vec![side / 2; 4])),
        ];
        let sum = self
            .graph
            .node("Conv", &[input, &weights, &bias], &attributes);
        self.activation(conv.activation, sum)
    }

    fn dense(&mut self, dense: &Dense, input: &Value) -> String {
        let flat = self.flat(input);
        let weights = self
            .graph
            .floats(&[dense.outputs, dense.inputs], &dense.weights);
        let bias = self.graph.floats(&[dense.outputs], &dense.bias);
        let transposed = [("transB", Attribute::Int(1))];
        let sum = self
            .graph
            .node("Gemm", &[&flat, &weights, &bias], &transposed);
        self.activation(dense.activation, sum)
    }

    fn pool(&mut self, pooling: Pooling, input: &str) -> String {
        let mean = self.graph.node("GlobalAveragePool", &[input], &[]);
        let (scaled, squared) = Pooling::size_factors(self.board.area());
        let mut times = |factor: f64| {
            let factor = self.number(factor as f32);
            self.binary("Mul", &mean, &factor)
        };
        let mut parts = vec![mean.clone()];
        match pooling {
            Pooling::MeanMax => {}
            Pooling::MeanScaledMax => parts.push(times(scaled)),
            Pooling::MeanScaledSquared => parts.extend([times(scaled), times(squared)]),
        }
        if pooling != Pooling::MeanScaledSquared {
            parts.push(self.graph.node("GlobalMaxPool", &[input], &[]));
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let axis = || [("axis", Attribute::Int(1))];
        let all = self.graph.node("Concat", &parts, &axis());
        self.graph.node("Flatten", &[&all], &axis())
    }

    /// One number for each plane, in a shape that is added to or multiplied with all its cells.
    fn per_plane(&mut self, numbers: &[f32], is_vector: bool) -> String {
        match is_vector {
            true => self.graph.floats(&[1, numbers.len()], numbers),
            false => self.graph.floats(&[1, numbers.len(), 1, 1], numbers),
        }
    }

    fn scale(&mut self, scale: &Scale, input: &Value) -> String {
        let factor = self.per_plane(&scale.scale, input.is_vector);
        let addend = self.per_plane(&scale.bias, input.is_vector);
        let scaled = self.binary("Mul", &input.name, &factor);
        let sum = self.binary("Add", &scaled, &addend);
        self.activation(scale.activation, sum)
    }

    fn norm(&mut self, norm: &RmsNorm, input: &Value) -> String {
        let squares = self.binary("Mul", &input.name, &input.name);
        let axes = match norm.over {
            NormOver::Point => vec![1],
            NormOver::Board => vec![1, 2, 3],
        };
        let mean = self.graph.node(
            "ReduceMean",
            &[&squares],
            &[("axes", Attribute::Ints(axes))],
        );
        let epsilon = self.number(norm.epsilon);
        let above_zero = self.binary("Add", &mean, &epsilon);
        let root = self.graph.node("Sqrt", &[&above_zero], &[]);
        let name = self.binary("Div", &input.name, &root);
        let scale = Scale {
            scale: norm.scale.clone(),
            bias: norm.bias.clone(),
            activation: norm.activation,
        };
        let divided = Value {
            name,
            ..input.clone()
        };
        self.scale(&scale, &divided)
    }

    fn attention(&mut self, attention: &Attention, input: &str) -> String {
        let area = self.board.area();
        let (heads, kv_heads) = (attention.heads, attention.kv_heads);
        let (query_len, value_len) = (attention.query_len(), attention.value_len());
        let shared_by = heads / kv_heads;
        let mut per_head = |conv: &Conv, heads: usize, len: usize| {
            let planes = self.conv(conv, input);
            self.graph.reshape(&planes, &[heads, len, area])
        };
        let queries = per_head(&attention.query, heads, query_len);
        let keys = per_head(&attention.key, kv_heads, query_len);
        let values = per_head(&attention.value, kv_heads, value_len);
        let queries = self.rotate(attention, &queries, shared_by);
        let keys = self.rotate(attention, &keys, 1);
        let keys = self.repeat_heads(&keys, kv_heads, shared_by);
        let values = self.repeat_heads(&values, kv_heads, shared_by);
        let queries = self.transpose(&queries);
        let products = self.binary("MatMul", &queries, &keys);
        let factor = self.number(1.0 / (query_len as f32).sqrt());
        let scores = self.binary("Mul", &products, &factor);
        let axis = [("axis", Attribute::Int(3))];
        let weights = self.graph.node("Softmax", &[&scores], &axis);
        let weights = self.transpose(&weights);
        let mixed = self.binary("MatMul", &values, &weights);
        let (height, width) = (self.board.height, self.board.width);
        self.graph
            .reshape(&mixed, &[heads * value_len, height, width])
    }

    /// Exchanges the last two axes of four.
    fn transpose(&mut self, input: &str) -> String {
        let order = [("perm", Attribute::Ints(vec![0, 1, 3, 2]))];
        self.graph.node("Transpose", &[input], &order)
    }

    /// Every head `times` times.
    fn repeat_heads(&mut self, input: &str, heads: usize, times: usize) -> String {
        if times == 1 {
            return input.to_owned();
        }
        let places: Vec<i64> = (0..heads * times)
            .map(|head| (head / times) as i64)
            .collect();
        let places = self.graph.integers(&places);
        let axis = [("axis", Attribute::Int(1))];
        self.graph.node("Gather", &[input, &places], &axis)
    }

    /// Turns neighbouring planes of every head: `x * cos + neighbour(x) * ±sin`. `times` heads share the angles of one.
    fn rotate(&mut self, attention: &Attention, input: &str, times: usize) -> String {
        let Some(frequencies) = &attention.rotation else {
            return input.to_owned();
        };
        let (area, width) = (self.board.area(), self.board.width);
        let (heads, len) = (attention.kv_heads * times, attention.query_len());
        let mut cosines = Vec::with_capacity(heads * len * area);
        let mut sines = Vec::with_capacity(heads * len * area);
        for head in 0..heads {
            for plane in 0..len {
                let at = (head / times * (len / 2) + plane / 2) * 2;
                let across = f64::from(frequencies[at]);
                let down = f64::from(frequencies[at + 1]);
                let sign = if plane % 2 == 0 { -1.0 } else { 1.0 };
                for cell in 0..area {
                    let (row, column) = (cell / width, cell % width);
                    let (sin, cos) = (column as f64 * across + row as f64 * down).sin_cos();
                    cosines.push(cos as f32);
                    sines.push((sign * sin) as f32);
                }
            }
        }
        let shape = [1, heads, len, area];
        let cosines = self.graph.floats(&shape, &cosines);
        let sines = self.graph.floats(&shape, &sines);
        let neighbours: Vec<i64> = (0..len as i64).map(|plane| plane ^ 1).collect();
        let neighbours = self.graph.integers(&neighbours);
        let axis = [("axis", Attribute::Int(2))];
        let neighbour = self.graph.node("Gather", &[input, &neighbours], &axis);
        let kept = self.binary("Mul", input, &cosines);
        let turned = self.binary("Mul", &neighbour, &sines);
        self.binary("Add", &kept, &turned)
    }

    fn with_pass(&mut self, planes: &[Layer], pass: &[Layer], input: &Value) -> String {
        let area = self.board.area();
        let planes = self.layers(planes, input.clone());
        let pass = self.layers(pass, input.clone());
        let rows = self.graph.integers(&[0, -1, area as i64]);
        let planes = self.graph.node("Reshape", &[&planes.name, &rows], &[]);
        let axis = self.graph.integers(&[2]);
        let pass = self.graph.node("Unsqueeze", &[&pass.name, &axis], &[]);
        let both = self
            .graph
            .node("Concat", &[&planes, &pass], &[("axis", Attribute::Int(2))]);
        self.graph
            .node("Flatten", &[&both], &[("axis", Attribute::Int(1))])
    }

    fn activation(&mut self, activation: Activation, input: String) -> String {
        match activation {
            Activation::Identity => input,
            Activation::Relu => self.graph.node("Relu", &[&input], &[]),
            Activation::LeakyRelu(slope) => {
                let slope = [("alpha", Attribute::Float(slope))];
                self.graph.node("LeakyRelu", &[&input], &slope)
            }
            Activation::Mish => {
                let softplus = self.graph.node("Softplus", &[&input], &[]);
                let factor = self.graph.node("Tanh", &[&softplus], &[]);
                self.binary("Mul", &input, &factor)
            }
            Activation::Silu => {
                let factor = self.graph.node("Sigmoid", &[&input], &[]);
                self.binary("Mul", &input, &factor)
            }
        }
    }

    fn reading(&mut self, input: &str, reading: Reading, name: &str) {
        let graph = &mut self.graph;
        match reading {
            Reading::Raw => graph.named_node("Identity", &[input], &[], name),
            Reading::Softmax => {
                graph.named_node("Softmax", &[input], &[("axis", Attribute::Int(1))], name);
            }
            Reading::Sigmoid => graph.named_node("Sigmoid", &[input], &[], name),
            Reading::Tanh => graph.named_node("Tanh", &[input], &[], name),
            Reading::Softplus => graph.named_node("Softplus", &[input], &[], name),
            Reading::NormalizedSigmoid => {
                let chances = graph.node("Sigmoid", &[input], &[]);
                let axis = graph.integers(&[1]);
                let keeps = [("keepdims", Attribute::Int(1))];
                let total = graph.node("ReduceSum", &[&chances, &axis], &keeps);
                graph.named_node("Div", &[&chances, &total], &[], name);
            }
            Reading::Winrate => {
                let value = graph.node("Tanh", &[input], &[]);
                let (one, half) = (graph.floats(&[1], &[1.0]), graph.floats(&[1], &[0.5]));
                let sum = graph.node("Add", &[&value, &one], &[]);
                graph.named_node("Mul", &[&sum, &half], &[], name);
            }
        }
    }
}
