//! Whether the layers of a network fit one another.

use super::{Activation, Conv, Dense, Flow, Layer, Network, ShapeError};

impl Network {
    /// Checks that every layer fits the one before it and that no weight is NaN or infinite.
    pub fn check(&self) -> Result<(), ShapeError> {
        if self.input.is_empty() {
            let expected = "at least one plane of one cell";
            return Err(wrong("input", format!("{:?}", self.input), expected));
        }
        let trunk = self.flow_of_trunk()?;
        if self.heads.is_empty() {
            return Err(wrong("heads", "none", "at least one"));
        }
        for (index, head) in self.heads.iter().enumerate() {
            let place = format!("head {}", index + 1);
            let found = self.numbers(self.check_layers(&place, &head.layers, trunk)?);
            let expected: usize = head.outputs.iter().map(|output| output.len).sum();
            if found != expected {
                return Err(wrong(
                    &place,
                    format!("{found} numbers"),
                    format!("{expected} for its outputs"),
                ));
            }
        }
        Ok(())
    }

    /// What the trunk ends in.
    pub(super) fn flow_of_trunk(&self) -> Result<Flow, ShapeError> {
        self.check_layers("trunk", &self.trunk, Flow::Planes(self.input.planes))
    }

    /// What a sequence of layers ends in.
    pub(super) fn check_layers(
        &self,
        place: &str,
        layers: &[Layer],
        input: Flow,
    ) -> Result<Flow, ShapeError> {
        let mut flow = input;
        for (index, layer) in layers.iter().enumerate() {
            let place = format!("{place} layer {}", index + 1);
            flow = self.check_layer(&place, layer, flow)?;
        }
        Ok(flow)
    }

    fn numbers(&self, flow: Flow) -> usize {
        match flow {
            Flow::Planes(planes) => planes * self.input.area(),
            Flow::Vector(len) => len,
        }
    }

    fn check_layer(&self, place: &str, layer: &Layer, input: Flow) -> Result<Flow, ShapeError> {
        match layer {
            Layer::Conv(conv) => check_conv(place, conv, input),
            Layer::Dense(dense) => {
                if self.numbers(input) != dense.inputs {
                    let found = format!("{} inputs", dense.inputs);
                    return Err(wrong(place, found, self.describe(input)));
                }
                check_dense(place, dense)?;
                Ok(Flow::Vector(dense.outputs))
            }
            Layer::Residual { body, activation } => {
                self.check_residual(place, body, *activation, input)
            }
            Layer::GlobalPool(pooling) => {
                let planes = planes(place, input, "planes to pool")?;
                Ok(Flow::Vector(pooling.numbers_per_plane() * planes))
            }
            Layer::Scale(scale) => {
                let count = match input {
                    Flow::Planes(count) | Flow::Vector(count) => count,
                };
                check_numbers(place, &scale.scale, count, "factors")?;
                check_numbers(place, &scale.bias, count, "addends")?;
                check_activation(place, scale.activation)?;
                Ok(input)
            }
            Layer::RmsNorm(norm) => {
                let planes = planes(place, input, "planes to normalise")?;
                check_numbers(place, &norm.scale, planes, "factors")?;
                check_numbers(place, &norm.bias, planes, "addends")?;
                if !(norm.epsilon > 0.0 && norm.epsilon.is_finite()) {
                    let found = format!("an epsilon of {}", norm.epsilon);
                    return Err(wrong(place, found, "a positive number"));
                }
                check_activation(place, norm.activation)?;
                Ok(input)
            }
            Layer::Attention(_) | Layer::Gated(_) => {
                for (name, conv) in layer.convs() {
                    let place = format!("{place} {name}");
                    if conv.kernel != 1 || conv.groups.len() != 1 {
                        return Err(wrong(&place, "another kernel", "1x1 in one group"));
                    }
                    check_conv(&place, conv, input)?;
                }
                self.check_joined(place, layer)
            }
            Layer::AddVector { planes, vector } => {
                let base = self.check_layers(&format!("{place} planes"), planes, input)?;
                let added = self.check_layers(&format!("{place} vector"), vector, input)?;
                let count = planes_of(place, base)?;
                if added != Flow::Vector(count) {
                    let expected = format!("a vector of {count} to add");
                    return Err(wrong(place, self.describe(added), expected));
                }
                Ok(base)
            }
            Layer::WithPass { planes, pass } => {
                let base = self.check_layers(&format!("{place} planes"), planes, input)?;
                let passes = self.check_layers(&format!("{place} pass"), pass, input)?;
                let count = planes_of(place, base)?;
                if passes != Flow::Vector(count) {
                    let expected = format!("{count} numbers for the pass");
                    return Err(wrong(place, self.describe(passes), expected));
                }
                Ok(Flow::Vector(count * (self.input.area() + 1)))
            }
            Layer::Globals { start, len } => {
                if start.checked_add(*len).is_none_or(|end| end > self.globals) {
                    let found = format!("{len} globals from {start} on");
                    return Err(wrong(place, found, format!("at most {}", self.globals)));
                }
                Ok(Flow::Vector(*len))
            }
        }
    }

    fn check_residual(
        &self,
        place: &str,
        body: &[Layer],
        activation: Activation,
        input: Flow,
    ) -> Result<Flow, ShapeError> {
        let last = match body.last() {
            Some(Layer::Conv(conv)) => conv.activation,
            Some(Layer::Dense(dense)) => dense.activation,
            _ => {
                let expected = "a last conv or dense layer";
                return Err(wrong(place, "a body that ends otherwise", expected));
            }
        };
        if last != Activation::Identity {
            let found = format!("{last:?} before the addition");
            return Err(wrong(place, found, "no activation there"));
        }
        check_activation(place, activation)?;
        let output = self.check_layers(place, body, input)?;
        if output != input {
            let expected = format!("{} to add to", self.describe(input));
            return Err(wrong(place, self.describe(output), expected));
        }
        Ok(output)
    }

    /// The convolutions of an attention or gated layer, against each other.
    fn check_joined(&self, place: &str, layer: &Layer) -> Result<Flow, ShapeError> {
        match layer {
            Layer::Gated(gated) => {
                let (value, gate) = (gated.value.outputs(), gated.gate.outputs());
                if value != gate {
                    let found = format!("{gate} planes of gates");
                    return Err(wrong(place, found, value.to_string()));
                }
                Ok(Flow::Planes(value))
            }
            Layer::Attention(attention) => {
                let (heads, kv_heads) = (attention.heads, attention.kv_heads);
                if kv_heads == 0 || heads == 0 || !heads.is_multiple_of(kv_heads) {
                    let found = format!("{heads} heads on {kv_heads}");
                    return Err(wrong(place, found, "whole numbers of heads a head"));
                }
                let length = attention.query_len();
                let fits = attention.query.outputs() == heads * length
                    && attention.key.outputs() == kv_heads * length
                    && attention.value.outputs() == kv_heads * attention.value_len()
                    && length > 0
                    && attention.value_len() > 0;
                if !fits {
                    let found = format!(
                        "{}, {} and {} planes of queries, keys and values",
                        attention.query.outputs(),
                        attention.key.outputs(),
                        attention.value.outputs()
                    );
                    return Err(wrong(place, found, "whole heads of one length"));
                }
                if let Some(rotation) = &attention.rotation {
                    if !length.is_multiple_of(2) {
                        let found = format!("heads of {length} planes");
                        return Err(wrong(place, found, "pairs of planes to turn"));
                    }
                    check_numbers(place, rotation, kv_heads * length, "frequencies")?;
                }
                Ok(Flow::Planes(attention.outputs()))
            }
            _ => unreachable!("only called for these two"),
        }
    }

    fn describe(&self, flow: Flow) -> String {
        match flow {
            Flow::Planes(planes) => {
                format!(
                    "{planes} planes of {}x{}",
                    self.input.height, self.input.width
                )
            }
            Flow::Vector(len) => format!("a vector of {len}"),
        }
    }
}

fn planes(place: &str, flow: Flow, expected: &str) -> Result<usize, ShapeError> {
    match flow {
        Flow::Planes(planes) => Ok(planes),
        Flow::Vector(len) => Err(wrong(place, format!("a vector of {len}"), expected)),
    }
}

fn planes_of(place: &str, flow: Flow) -> Result<usize, ShapeError> {
    planes(place, flow, "planes")
}

fn check_conv(place: &str, conv: &Conv, input: Flow) -> Result<Flow, ShapeError> {
    if input != Flow::Planes(conv.inputs()) {
        let expected = match input {
            Flow::Planes(planes) => format!("{planes} planes"),
            Flow::Vector(len) => format!("a vector of {len}"),
        };
        return Err(wrong(
            place,
            format!("{} input planes", conv.inputs()),
            expected,
        ));
    }
    if conv.kernel.is_multiple_of(2) || conv.kernel > LARGEST_KERNEL {
        let expected = format!("an odd kernel up to {LARGEST_KERNEL}");
        return Err(wrong(place, format!("kernel {}", conv.kernel), expected));
    }
    let taps = conv.kernel * conv.kernel;
    let groups = conv.groups.iter();
    let weights: usize = groups
        .map(|group| group.inputs * group.outputs * taps)
        .sum();
    check_numbers(place, &conv.weights, weights, "weights")?;
    check_numbers(place, &conv.bias, conv.outputs(), "biases")?;
    check_activation(place, conv.activation)?;
    Ok(Flow::Planes(conv.outputs()))
}

fn check_dense(place: &str, dense: &Dense) -> Result<(), ShapeError> {
    let weights = dense.inputs * dense.outputs;
    check_numbers(place, &dense.weights, weights, "weights")?;
    check_numbers(place, &dense.bias, dense.outputs, "biases")?;
    check_activation(place, dense.activation)
}

/// Larger kernels than any network has.
const LARGEST_KERNEL: usize = 25;

/// Numbers that are looked at before the first that is not finite ends the search.
const CHECKED_AT_ONCE: usize = 4096;

fn check_numbers(
    place: &str,
    numbers: &[f32],
    expected: usize,
    what: &str,
) -> Result<(), ShapeError> {
    if numbers.len() != expected {
        let found = format!("{} {what}", numbers.len());
        return Err(wrong(place, found, expected.to_string()));
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
        Some(index) => {
            let found = format!("{} among its {what}", numbers[index]);
            Err(wrong(place, found, "finite numbers"))
        }
        None => Ok(()),
    }
}

fn check_activation(place: &str, activation: Activation) -> Result<(), ShapeError> {
    match activation {
        Activation::LeakyRelu(slope) if !(0.0..=1.0).contains(&slope) => Err(wrong(
            place,
            format!("a leaky slope of {slope}"),
            "a slope in 0..=1",
        )),
        _ => Ok(()),
    }
}

fn wrong(place: &str, found: impl Into<String>, expected: impl Into<String>) -> ShapeError {
    ShapeError {
        place: place.to_owned(),
        found: found.into(),
        expected: expected.into(),
    }
}
