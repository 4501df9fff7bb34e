//! From a network to bytes.

use sha2::{Digest, Sha256};

use super::bits::{Precision, pack_row};
use super::{FORMAT_VERSION, MAGIC, READINGS, tag};
use crate::network::{Activation, Conv, Dense, Layer, Network};
use crate::shape::Perspective;

/// The file of `network`, its weights rounded to `precision`.
pub fn write(network: &Network, precision: Precision) -> Vec<u8> {
    let mut writer = Writer {
        bytes: MAGIC.to_vec(),
        precision,
    };
    writer.bytes.extend(FORMAT_VERSION.to_le_bytes());
    let precision = Precision::ALL.iter().position(|&each| each == precision);
    writer.tag(precision.expect("ALL lists every precision") as u8);
    writer.tag(match network.perspective {
        Perspective::SideToMove => tag::SIDE_TO_MOVE,
        Perspective::FirstPlayer => tag::FIRST_PLAYER,
    });
    writer.number(network.input.planes);
    writer.number(network.input.height);
    writer.number(network.input.width);
    writer.layers(&network.trunk);
    writer.number(network.heads.len());
    for head in &network.heads {
        writer.layers(&head.layers);
        writer.number(head.outputs.len());
        for output in &head.outputs {
            writer.number(output.name.len());
            writer.bytes.extend(output.name.as_bytes());
            writer.number(output.len);
            let reading = READINGS
                .iter()
                .position(|&reading| reading == output.reading);
            writer.tag(reading.expect("READINGS lists every reading") as u8);
        }
    }
    let checksum = Sha256::digest(&writer.bytes);
    writer.bytes.extend(checksum.iter());
    writer.bytes
}

struct Writer {
    bytes: Vec<u8>,
    precision: Precision,
}

impl Writer {
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
            match layer {
                Layer::Conv(conv) => self.conv(conv),
                Layer::Dense(dense) => self.dense(dense),
                Layer::Residual { body, activation } => {
                    self.tag(tag::RESIDUAL);
                    self.activation(*activation);
                    self.layers(body);
                }
                Layer::GlobalPool => self.tag(tag::GLOBAL_POOL),
            }
        }
    }

    fn conv(&mut self, conv: &Conv) {
        self.tag(tag::CONV);
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
        self.tag(tag::DENSE);
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
        }
    }
}
