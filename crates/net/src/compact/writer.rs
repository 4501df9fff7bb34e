//! From a network to bytes.

use sha2::{Digest, Sha256};

use super::bits::{Precision, pack_row};
use super::{FIRST_VERSION, FORMAT_VERSION, LAYERS_VERSION, MAGIC, READINGS, tag};
use crate::katago::KataNetwork;
use crate::network::{Activation, Conv, Dense, Layer, Network, NormOver, Output, Pooling};
use crate::shape::Perspective;

/// The file of `network`, its weights rounded to `precision`.
pub fn write(network: &Network, precision: Precision) -> Vec<u8> {
    let first = Writer::file(network, precision, FIRST_VERSION);
    if first.newest_tag || network.globals > 0 {
        return Writer::file(network, precision, LAYERS_VERSION).finish();
    }
    first.finish()
}

/// The file of a KataGo network, its weights rounded to `precision`; all else that its own file says is kept.
pub fn write_katago(kata: &KataNetwork, precision: Precision) -> Vec<u8> {
    let mut writer = Writer::start(precision, FORMAT_VERSION);
    kata.store(precision, &mut writer.bytes);
    writer.finish()
}

struct Writer {
    bytes: Vec<u8>,
    precision: Precision,
    /// Something was written that version 1 does not know.
    newest_tag: bool,
}

impl Writer {
    fn start(precision: Precision, version: u16) -> Self {
        let mut writer = Self {
            bytes: MAGIC.to_vec(),
            precision,
            newest_tag: false,
        };
        writer.bytes.extend(version.to_le_bytes());
        let precision = Precision::ALL.iter().position(|&each| each == precision);
        writer.tag(precision.expect("ALL lists every precision") as u8);
        writer
    }

    fn file(network: &Network, precision: Precision, version: u16) -> Self {
        let mut writer = Self::start(precision, version);
        writer.tag(match network.perspective {
            Perspective::SideToMove => tag::SIDE_TO_MOVE,
            Perspective::FirstPlayer => tag::FIRST_PLAYER,
        });
        writer.number(network.input.planes);
        writer.number(network.input.height);
        writer.number(network.input.width);
        if version > FIRST_VERSION {
            writer.number(network.globals);
        }
        writer.layers(&network.trunk);
        writer.number(network.heads.len());
        for head in &network.heads {
            writer.layers(&head.layers);
            writer.number(head.outputs.len());
            for output in &head.outputs {
                writer.output(output);
            }
        }
        writer
    }

    fn finish(mut self) -> Vec<u8> {
        let checksum = Sha256::digest(&self.bytes);
        self.bytes.extend(checksum.iter());
        self.bytes
    }

    fn output(&mut self, output: &Output) {
        self.number(output.name.len());
        self.bytes.extend(output.name.as_bytes());
        self.number(output.len);
        let mut readings = READINGS.iter();
        let reading = readings.position(|&reading| reading == output.reading);
        self.tag(reading.expect("READINGS lists every reading") as u8);
    }

    fn layer_tag(&mut self, tag: u8) {
        self.newest_tag |= tag > tag::LAST_LAYER_1;
        self.tag(tag);
    }

    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: usize) {
        let number =
            u32::try_from(number).expect("no part of a network has four thousand million pieces");
        self.bytes.extend(number.to_le_bytes());
    }

    fn layers(&mut self, layers: &[Layer]) {
        self.number(layers.len());
        for layer in layers {
            self.layer(layer);
        }
    }

    fn layer(&mut self, layer: &Layer) {
        match layer {
            Layer::Conv(conv) => {
                self.layer_tag(tag::CONV);
                self.conv(conv);
            }
            Layer::Dense(dense) => self.dense(dense),
            Layer::Residual { body, activation } => {
                self.layer_tag(tag::RESIDUAL);
                self.activation(*activation);
                self.layers(body);
            }
            Layer::GlobalPool(pooling) => self.layer_tag(match pooling {
                Pooling::MeanMax => tag::MEAN_MAX_POOL,
                Pooling::MeanScaledMax => tag::MEAN_SCALED_MAX_POOL,
                Pooling::MeanScaledSquared => tag::MEAN_SCALED_SQUARED_POOL,
            }),
            Layer::Scale(scale) => {
                self.layer_tag(tag::SCALE);
                self.activation(scale.activation);
                self.numbers(&scale.scale);
                self.numbers(&scale.bias);
            }
            Layer::RmsNorm(norm) => {
                self.layer_tag(tag::RMS_NORM);
                self.activation(norm.activation);
                self.tag(match norm.over {
                    NormOver::Point => tag::OVER_POINT,
                    NormOver::Board => tag::OVER_BOARD,
                });
                self.bytes.extend(norm.epsilon.to_le_bytes());
                self.numbers(&norm.scale);
                self.numbers(&norm.bias);
            }
            Layer::Attention(attention) => {
                self.layer_tag(tag::ATTENTION);
                self.number(attention.heads);
                self.number(attention.kv_heads);
                for conv in [&attention.query, &attention.key, &attention.value] {
                    self.conv(conv);
                }
                self.numbers(attention.rotation.as_deref().unwrap_or_default());
            }
            Layer::Gated(gated) => {
                self.layer_tag(tag::GATED);
                self.conv(&gated.value);
                self.conv(&gated.gate);
            }
            Layer::AddVector { planes, vector } => {
                self.layer_tag(tag::ADD_VECTOR);
                self.layers(planes);
                self.layers(vector);
            }
            Layer::WithPass { planes, pass } => {
                self.layer_tag(tag::WITH_PASS);
                self.layers(planes);
                self.layers(pass);
            }
            Layer::Globals { start, len } => {
                self.layer_tag(tag::GLOBALS);
                self.number(*start);
                self.number(*len);
            }
        }
    }

    /// A list of numbers in full precision.
    fn numbers(&mut self, numbers: &[f32]) {
        self.number(numbers.len());
        pack_row(numbers, Precision::F32, &mut self.bytes);
    }

    fn conv(&mut self, conv: &Conv) {
        self.activation(conv.activation);
        self.tag(conv.kernel as u8);
        self.number(conv.groups.len());
        for group in &conv.groups {
            self.number(group.inputs);
            self.number(group.outputs);
        }
        let mut offset = 0;
        for group in &conv.groups {
            let len = group.inputs * conv.kernel * conv.kernel;
            for _ in 0..group.outputs {
                pack_row(
                    &conv.weights[offset..offset + len],
                    self.precision,
                    &mut self.bytes,
                );
                offset += len;
            }
        }
        pack_row(&conv.bias, Precision::F32, &mut self.bytes);
    }

    fn dense(&mut self, dense: &Dense) {
        self.layer_tag(tag::DENSE);
        self.activation(dense.activation);
        self.number(dense.inputs);
        self.number(dense.outputs);
        for row in dense.weights.chunks_exact(dense.inputs) {
            pack_row(row, self.precision, &mut self.bytes);
        }
        pack_row(&dense.bias, Precision::F32, &mut self.bytes);
    }

    fn activation(&mut self, activation: Activation) {
        match activation {
            Activation::Identity => self.tag(tag::IDENTITY),
            Activation::Relu => self.tag(tag::RELU),
            Activation::LeakyRelu(slope) => {
                self.tag(tag::LEAKY_RELU);
                self.bytes.extend(slope.to_le_bytes());
            }
            Activation::Mish => {
                self.newest_tag |= tag::MISH > tag::LAST_ACTIVATION_1;
                self.tag(tag::MISH);
            }
            Activation::Silu => {
                self.newest_tag |= tag::SILU > tag::LAST_ACTIVATION_1;
                self.tag(tag::SILU);
            }
        }
    }
}
