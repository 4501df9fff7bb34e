//! Networks as ONNX models, for other frameworks.
//!
//! Operator set 13. The input is `planes` of `[batch, planes, height, width]`; every output has its own name and is
//! `[batch, length]`, after its last function.

use net::{Activation, Conv, Dense, Layer, Network, Pooling, Reading, ShapeError};

use base::protobuf::Message;

/// Version of the file format, and of the operators used.
const IR_VERSION: u64 = 8;
const OPERATORS: u64 = 13;
/// `TensorProto.DataType`.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
/// `AttributeProto.AttributeType`.
const ATTRIBUTE_FLOAT: u64 = 1;
const ATTRIBUTE_INT: u64 = 2;
const ATTRIBUTE_INTS: u64 = 7;

/// The model as bytes of an `.onnx` file.
///
/// Refuses layers that no network trained here has.
pub fn export(network: &Network) -> Result<Vec<u8>, ShapeError> {
    check(network)?;
    let mut graph = Graph::default();
    let input = network.input;
    let trunk = graph.layers(&network.trunk, "planes".to_owned());
    for head in &network.heads {
        let vector = graph.layers(&head.layers, trunk.clone());
        let flat = graph.node("Flatten", &[&vector], &[("axis", Attribute::Int(1))]);
        let mut start = 0;
        for output in &head.outputs {
            let whole = head.outputs.len() == 1;
            let part = if whole {
                flat.clone()
            } else {
                graph.slice(&flat, start, start + output.len)
            };
            graph.reading(&part, output.reading, &output.name);
            graph.outputs.push((output.name.clone(), output.len));
            start += output.len;
        }
    }
    let mut model = Message::default();
    model.number(1, IR_VERSION);
    model.text(2, "tengen");
    model.message(7, &graph.finish([input.planes, input.height, input.width]));
    let mut operators = Message::default();
    operators.text(1, "");
    operators.number(2, OPERATORS);
    model.message(8, &operators);
    Ok(model.bytes().to_vec())
}

fn check(network: &Network) -> Result<(), ShapeError> {
    let mut refused = None;
    network.for_each_layer(&mut |place, layer| {
        let written = match layer {
            Layer::Conv(conv) => conv.activation.negative_slope().is_some(),
            Layer::Dense(dense) => dense.activation.negative_slope().is_some(),
            Layer::Residual { activation, .. } => activation.negative_slope().is_some(),
            Layer::GlobalPool(pooling) => *pooling == Pooling::MeanMax,
            _ => false,
        };
        if !written {
            refused.get_or_insert_with(|| place.to_owned());
        }
    });
    match refused {
        None => Ok(()),
        Some(place) => Err(ShapeError {
            place,
            found: "a layer that is not written to ONNX".into(),
            expected: "convolutions, dense layers, residuals and pooling with (leaky) ReLU".into(),
        }),
    }
}

enum Attribute {
    Float(f32),
    Int(i64),
    Ints(Vec<i64>),
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    outputs: Vec<(String, usize)>,
    names: usize,
}

impl Graph {
    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// Adds a node and returns the name of its output.
    fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute)],
    ) -> String {
        let output = self.fresh();
        self.named_node(operator, inputs, attributes, &output);
        output
    }

    fn named_node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute)],
        output: &str,
    ) {
        let mut node = Message::default();
        inputs.iter().for_each(|input| node.text(1, input));
        node.text(2, output);
        node.text(3, &format!("{operator}_{output}"));
        node.text(4, operator);
        for (name, value) in attributes {
            let mut attribute = Message::default();
            attribute.text(1, name);
            match value {
                Attribute::Float(value) => {
                    attribute.float(2, *value);
                    attribute.number(20, ATTRIBUTE_FLOAT);
                }
                Attribute::Int(value) => {
                    attribute.number(3, *value as u64);
                    attribute.number(20, ATTRIBUTE_INT);
                }
                Attribute::Ints(values) => {
                    values
                        .iter()
                        .for_each(|&value| attribute.number(8, value as u64));
                    attribute.number(20, ATTRIBUTE_INTS);
                }
            }
            node.message(5, &attribute);
        }
        self.nodes.push(node);
    }

    fn tensor(&mut self, shape: &[usize], kind: u64, bytes: &[u8]) -> String {
        let name = self.fresh();
        let mut tensor = Message::default();
        shape.iter().for_each(|&size| tensor.number(1, size as u64));
        tensor.number(2, kind);
        tensor.text(8, &name);
        tensor.blob(9, bytes);
        self.tensors.push(tensor);
        name
    }

    fn floats(&mut self, shape: &[usize], values: &[f32]) -> String {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.tensor(shape, FLOAT, &bytes)
    }

    fn layers(&mut self, layers: &[Layer], input: String) -> String {
        layers.iter().fold(input, |input, layer| match layer {
            Layer::Conv(conv) => self.conv(conv, &input),
            Layer::Dense(dense) => self.dense(dense, &input),
            Layer::Residual { body, activation } => {
                let branch = self.layers(body, input.clone());
                let sum = self.node("Add", &[&branch, &input], &[]);
                self.activation(*activation, sum)
            }
            Layer::GlobalPool(_) => {
                let mean = self.node("GlobalAveragePool", &[&input], &[]);
                let largest = self.node("GlobalMaxPool", &[&input], &[]);
                let both = self.node("Concat", &[&mean, &largest], &[("axis", Attribute::Int(1))]);
                self.node("Flatten", &[&both], &[("axis", Attribute::Int(1))])
            }
            Layer::Scale(_)
            | Layer::RmsNorm(_)
            | Layer::Attention(_)
            | Layer::Gated(_)
            | Layer::AddVector { .. }
            | Layer::WithPass { .. }
            | Layer::Globals { .. } => unreachable!("refused by `check`"),
        })
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
        let weights = self.floats(&[outputs, inputs, conv.kernel, conv.kernel], &full);
        let bias = self.floats(&[outputs], &conv.bias);
        let side = conv.kernel as i64;
        let attributes = [
            ("kernel_shape", Attribute::Ints(vec![side, side])),
            ("pads", Attribute::Ints(vec![side / 2; 4])),
        ];
        let sum = self.node("Conv", &[input, &weights, &bias], &attributes);
        self.activation(conv.activation, sum)
    }

    fn dense(&mut self, dense: &Dense, input: &str) -> String {
        let flat = self.node("Flatten", &[input], &[("axis", Attribute::Int(1))]);
        let weights = self.floats(&[dense.outputs, dense.inputs], &dense.weights);
        let bias = self.floats(&[dense.outputs], &dense.bias);
        let sum = self.node(
            "Gemm",
            &[&flat, &weights, &bias],
            &[("transB", Attribute::Int(1))],
        );
        self.activation(dense.activation, sum)
    }

    fn activation(&mut self, activation: Activation, input: String) -> String {
        match activation {
            Activation::Identity => input,
            Activation::Relu => self.node("Relu", &[&input], &[]),
            Activation::LeakyRelu(slope) => self.node(
                "LeakyRelu",
                &[&input],
                &[("alpha", Attribute::Float(slope))],
            ),
            Activation::Mish | Activation::Silu => unreachable!("refused by `check`"),
        }
    }

    fn slice(&mut self, input: &str, start: usize, end: usize) -> String {
        let mut whole = |value: i64| self.tensor(&[1], INT64, &value.to_le_bytes());
        let (start, end, axis) = (whole(start as i64), whole(end as i64), whole(1));
        self.node("Slice", &[input, &start, &end, &axis], &[])
    }

    fn reading(&mut self, input: &str, reading: Reading, name: &str) {
        match reading {
            Reading::Raw => self.named_node("Identity", &[input], &[], name),
            Reading::Softmax => {
                self.named_node("Softmax", &[input], &[("axis", Attribute::Int(1))], name)
            }
            Reading::Sigmoid => self.named_node("Sigmoid", &[input], &[], name),
            Reading::Tanh => self.named_node("Tanh", &[input], &[], name),
            Reading::Softplus => self.named_node("Softplus", &[input], &[], name),
            Reading::NormalizedSigmoid => {
                let chances = self.node("Sigmoid", &[input], &[]);
                let axis = self.tensor(&[1], INT64, &1_i64.to_le_bytes());
                let total = self.node(
                    "ReduceSum",
                    &[&chances, &axis],
                    &[("keepdims", Attribute::Int(1))],
                );
                self.named_node("Div", &[&chances, &total], &[], name);
            }
            Reading::Winrate => {
                let value = self.node("Tanh", &[input], &[]);
                let (one, half) = (self.floats(&[1], &[1.0]), self.floats(&[1], &[0.5]));
                let sum = self.node("Add", &[&value, &one], &[]);
                self.named_node("Mul", &[&sum, &half], &[], name);
            }
        }
    }

    fn finish(self, input: [usize; 3]) -> Message {
        let mut graph = Message::default();
        self.nodes.iter().for_each(|node| graph.message(1, node));
        graph.text(2, "network");
        self.tensors
            .iter()
            .for_each(|tensor| graph.message(5, tensor));
        graph.message(11, &value("planes", &input));
        for (name, length) in &self.outputs {
            graph.message(12, &value(name, &[*length]));
        }
        graph
    }
}

/// A described value: a batch of float tensors.
fn value(name: &str, sizes: &[usize]) -> Message {
    let mut shape = Message::default();
    let mut batch = Message::default();
    batch.text(2, "batch");
    shape.message(1, &batch);
    for &size in sizes {
        let mut dimension = Message::default();
        dimension.number(1, size as u64);
        shape.message(1, &dimension);
    }
    let (mut tensor, mut kind, mut value) =
        (Message::default(), Message::default(), Message::default());
    tensor.number(1, FLOAT);
    tensor.message(2, &shape);
    kind.message(1, &tensor);
    value.text(1, name);
    value.message(2, &kind);
    value
}
