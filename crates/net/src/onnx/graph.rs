//! An ONNX graph in the making: nodes and constants, and the file around them.

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

pub(super) enum Attribute {
    Float(f32),
    Int(i64),
    Ints(Vec<i64>),
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    names: usize,
}

impl Graph {
    /// An input of `[batch, sizes...]`.
    pub fn input(&mut self, name: &str, sizes: &[usize]) {
        self.inputs.push(value(name, sizes));
    }

    /// An output of `[batch, length]` that a node of that name writes.
    pub fn output(&mut self, name: &str, length: usize) {
        self.outputs.push(value(name, &[length]));
    }

    /// Adds a node and returns the name of its output.
    pub fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute)],
    ) -> String {
        let output = self.fresh();
        self.named_node(operator, inputs, attributes, &output);
        output
    }

    /// Adds a node whose output has a name.
    pub fn named_node(
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

    /// A constant of floats.
    pub fn floats(&mut self, shape: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.tensor(shape, FLOAT, &bytes.collect::<Vec<u8>>())
    }

    /// A constant list of integers.
    pub fn integers(&mut self, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.tensor(&[values.len()], INT64, &bytes.collect::<Vec<u8>>())
    }

    /// The same numbers in another shape; the batch stays as it is.
    pub fn reshape(&mut self, input: &str, sizes: &[usize]) -> String {
        // A size of zero means: as before.
        let sizes = [0].into_iter().chain(sizes.iter().map(|&size| size as i64));
        let shape = self.integers(&sizes.collect::<Vec<i64>>());
        self.node("Reshape", &[input, &shape], &[])
    }

    /// A stretch of every row.
    pub fn slice(&mut self, input: &str, start: usize, end: usize) -> String {
        let bounds = [start as i64, end as i64, 1].map(|value| self.integers(&[value]));
        let [start, end, axis] = &bounds;
        self.node("Slice", &[input, start, end, axis], &[])
    }

    /// The whole file.
    pub fn finish(self) -> Vec<u8> {
        let mut graph = Message::default();
        self.nodes.iter().for_each(|node| graph.message(1, node));
        graph.text(2, "network");
        for tensor in &self.tensors {
            graph.message(5, tensor);
        }
        self.inputs
            .iter()
            .for_each(|value| graph.message(11, value));
        self.outputs
            .iter()
            .for_each(|value| graph.message(12, value));
        let mut model = Message::default();
        model.number(1, IR_VERSION);
        model.text(2, "tengen");
        model.message(7, &graph);
        let mut operators = Message::default();
        operators.text(1, "");
        operators.number(2, OPERATORS);
        model.message(8, &operators);
        model.bytes().to_vec()
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

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
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
