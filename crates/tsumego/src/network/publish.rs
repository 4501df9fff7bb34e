//! A safety network as one JavaScript module.

use net::{Activation, Layer, Network, Pooling, Reading};
use serde_json::{Value, json};
use thiserror::Error;

use crate::network::features::FeatureSet;
use crate::network::safety::compress;

/// The module without its weights.
const TEMPLATE: &str = include_str!("publish.js");
/// Where they go.
const PLACE: &str = "/*MODEL*/";
/// A letter is one of 64.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why a network cannot be published.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PublishError {
    /// The planes are not ones the module computes.
    #[error("a published network needs 13 or 14 planes; this one looks at {0}")]
    Planes(usize),
    /// The bits are out of range.
    #[error("{0} bits a weight cannot be published: choose 2 to 12")]
    Bits(u32),
    /// A layer the module has no code for.
    #[error("the network has {0}, which the module cannot run")]
    Layer(&'static str),
    /// No single number between 0 and 1 comes out.
    #[error("the network has no output named \"safe\" or \"value\" read as a chance")]
    Output,
}

/// The module's text, with weights of `bits` bits.
pub fn publish(network: &Network, set: FeatureSet, bits: u32) -> Result<String, PublishError> {
    if !(2..=12).contains(&bits) {
        return Err(PublishError::Bits(bits));
    }
    if !matches!(
        set,
        FeatureSet::Original13 | FeatureSet::Original14 | FeatureSet::Original14First
    ) {
        return Err(PublishError::Planes(network.input.planes));
    }
    let mut rounded = network.clone();
    compress(&mut rounded, bits);
    let steps = 1u32 << (bits - 1);
    // Levels run from -steps to steps.
    let letters = if 2 * steps < ALPHABET.len() as u32 {
        1
    } else {
        2
    };
    let writer = Writer { steps, letters };
    let (head, output, reading) = rounded
        .heads
        .iter()
        .find_map(|head| {
            let mut at = 0;
            for output in &head.outputs {
                if ["safe", "value"].contains(&output.name.as_str()) && output.len == 1 {
                    return Some((head, at, output.reading));
                }
                at += output.len;
            }
            None
        })
        .ok_or(PublishError::Output)?;
    let reading = match reading {
        Reading::Sigmoid => "sigmoid",
        Reading::Winrate => "winrate",
        _ => return Err(PublishError::Output),
    };
    let mut layers = writer.layers(&rounded.trunk)?;
    layers.extend(writer.layers(&head.layers)?);
    let model = json!({
        "window": rounded.input.width,
        "planes": rounded.input.planes,
        "ring": set.ring() == 1,
        "first": set == FeatureSet::Original14First,
        "steps": steps,
        "letters": letters,
        "output": output,
        "reading": reading,
        "layers": layers,
    });
    Ok(TEMPLATE.replacen(PLACE, &model.to_string(), 1))
}

struct Writer {
    steps: u32,
    letters: usize,
}

impl Writer {
    fn layers(&self, layers: &[Layer]) -> Result<Vec<Value>, PublishError> {
        layers.iter().map(|layer| self.layer(layer)).collect()
    }

    fn layer(&self, layer: &Layer) -> Result<Value, PublishError> {
        let slope = |activation: Activation| {
            let slope = activation.negative_slope();
            slope.ok_or(PublishError::Layer("an activation other than (leaky) ReLU"))
        };
        Ok(match layer {
            Layer::Dense(dense) => json!({
                "kind": "dense",
                "inputs": dense.inputs,
                "outputs": dense.outputs,
                "slope": slope(dense.activation)?,
                "weights": self.text(&dense.weights),
                "bias": self.text(&dense.bias),
            }),
            Layer::Conv(conv) if conv.groups.len() == 1 => json!({
                "kind": "conv",
                "kernel": conv.kernel,
                "inputs": conv.inputs(),
                "outputs": conv.outputs(),
                "slope": slope(conv.activation)?,
                "weights": self.text(&conv.weights),
                "bias": self.text(&conv.bias),
            }),
            Layer::Conv(_) => return Err(PublishError::Layer("a grouped convolution")),
            Layer::Residual { body, activation } => json!({
                "kind": "residual",
                "slope": slope(*activation)?,
                "body": self.layers(body)?,
            }),
            Layer::GlobalPool(Pooling::MeanMax) => json!({ "kind": "pool" }),
            Layer::GlobalPool(_)
            | Layer::Scale(_)
            | Layer::RmsNorm(_)
            | Layer::Attention(_)
            | Layer::Gated(_)
            | Layer::AddVector { .. }
            | Layer::WithPass { .. }
            | Layer::Globals { .. } => return Err(PublishError::Layer("a layer of a Go network")),
        })
    }

    fn text(&self, weights: &[f32]) -> String {
        let mut text = String::with_capacity(weights.len() * self.letters);
        for &weight in weights {
            let level = (weight * self.steps as f32).round() as i64 + i64::from(self.steps);
            let mut level = level as usize;
            for _ in 0..self.letters {
                text.push(ALPHABET[level % ALPHABET.len()] as char);
                level /= ALPHABET.len();
            }
        }
        text
    }
}
