//! From a network of plain layers back to the rows of a file.

use super::{
    ConvRows, DenseRows, INPUT_PLANES, LeelaNetwork, LeelaVersion, POLICY, VALUE, VALUE_LOGIT,
};
use crate::kernels::weights::kernel_of;
use crate::network::{Activation, Conv, Dense, Head, Layer, Network, ShapeError};
use crate::shape::Perspective;

impl LeelaNetwork {
    /// The rows of a network that has the layers of a Leela Zero network, such as one read from a compact file.
    ///
    /// Batch normalisation stays folded: its rows become the identity.
    pub fn from_network(network: &Network) -> Result<Self, ShapeError> {
        let (input, tower) = match network.trunk.split_first() {
            Some((Layer::Conv(conv), tower)) => {
                (unfold(conv, 3, Activation::Relu, "input")?, tower)
            }
            _ => return Err(mismatch("trunk", "no convolution at its start")),
        };
        let blocks = tower.iter().map(block).collect::<Result<Vec<_>, _>>()?;
        let [policy, value] = &network.heads[..] else {
            return Err(mismatch(
                "heads",
                format!("{} of them", network.heads.len()),
            ));
        };
        let (policy_conv, [policy_dense]) = head(policy, &[POLICY])?;
        let (value_conv, [value_hidden, mut value_output]) = head(value, &[VALUE, VALUE_LOGIT])?;
        value_output
            .weights
            .truncate(value_output.weights.len() / 2);
        value_output.bias.truncate(1);
        let shape = network.input;
        if shape.planes != INPUT_PLANES || shape.height != shape.width {
            return Err(mismatch("input", format!("{shape:?}")));
        }
        let leela = Self {
            version: match network.perspective {
                Perspective::SideToMove => LeelaVersion::V1,
                Perspective::FirstPlayer => LeelaVersion::V2,
            },
            size: shape.height,
            input,
            blocks,
            policy_conv,
            policy_dense,
            value_conv,
            value_hidden,
            value_output,
        };
        leela.check()?;
        Ok(leela)
    }
}

fn block(layer: &Layer) -> Result<[ConvRows; 2], ShapeError> {
    let Layer::Residual {
        body,
        activation: Activation::Relu,
    } = layer
    else {
        return Err(mismatch("trunk", "a layer that is no residual block"));
    };
    let [Layer::Conv(first), Layer::Conv(second)] = &body[..] else {
        return Err(mismatch("block", format!("{} layers", body.len())));
    };
    Ok([
        unfold(first, 3, Activation::Relu, "block")?,
        unfold(second, 3, Activation::Identity, "block")?,
    ])
}

/// A head of a 1x1 convolution and `N` dense layers, all but the last with ReLU.
fn head<const N: usize>(
    head: &Head,
    names: &[&str],
) -> Result<(ConvRows, [DenseRows; N]), ShapeError> {
    let place = format!("{} head", names[0]);
    if !head
        .outputs
        .iter()
        .map(|output| output.name.as_str())
        .eq(names.iter().copied())
    {
        return Err(mismatch(&place, "other outputs"));
    }
    let (conv, dense) = match head.layers.split_first() {
        Some((Layer::Conv(conv), dense)) if dense.len() == N => (conv, dense),
        _ => return Err(mismatch(&place, format!("{} layers", head.layers.len()))),
    };
    let conv = unfold(conv, 1, Activation::Relu, &place)?;
    let mut rows: [DenseRows; N] = std::array::from_fn(|_| DenseRows::default());
    for (index, (rows, layer)) in rows.iter_mut().zip(dense).enumerate() {
        let wanted = if index + 1 == N {
            Activation::Identity
        } else {
            Activation::Relu
        };
        *rows = match layer {
            Layer::Dense(Dense {
                weights,
                bias,
                activation,
                ..
            }) if *activation == wanted => DenseRows {
                weights: weights.to_vec(),
                bias: bias.clone(),
            },
            _ => return Err(mismatch(&place, "another kind of layer")),
        };
    }
    Ok((conv, rows))
}

fn unfold(
    conv: &Conv,
    kernel: usize,
    activation: Activation,
    place: &str,
) -> Result<ConvRows, ShapeError> {
    if conv.kernel != kernel || conv.activation != activation {
        return Err(mismatch(place, "another kind of convolution"));
    }
    let (inputs, outputs, taps) = (conv.inputs(), conv.outputs(), kernel * kernel);
    let mut rows = ConvRows::zeros(kernel, inputs, outputs);
    rows.bias.copy_from_slice(&conv.bias);
    for (pair, weights) in rows.weights.chunks_exact_mut(taps).enumerate() {
        if let Some(kernel) = kernel_of(conv, pair / inputs, pair % inputs) {
            weights.copy_from_slice(kernel);
        }
    }
    Ok(rows)
}

fn mismatch(place: &str, found: impl Into<String>) -> ShapeError {
    ShapeError {
        place: place.to_owned(),
        found: found.into(),
        expected: "the layers of a Leela Zero network".into(),
    }
}
