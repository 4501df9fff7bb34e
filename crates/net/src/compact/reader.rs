//! From bytes to a network, believing nothing.

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::bits::{Precision, unpack_row};
use super::{CHECKSUM, FIRST_VERSION, FORMAT_VERSION, MAGIC, READINGS, tag};
use crate::katago::{KataDamage, KataNetwork};
use crate::network::{
    Activation, Attention, Conv, Dense, Gated, Group, Head, Layer, Network, NormOver, Output,
    Pooling, RmsNorm, Scale,
};
use crate::shape::{Perspective, PlaneShape};
use crate::weights::Weights;

/// Why bytes are not a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {at}: found {found}, expected {expected}")]
pub struct Damage {
    /// Counted from 0.
    pub at: usize,
    /// What is there.
    pub found: String,
    /// What should be.
    pub expected: String,
}

/// Cells of all planes together, beyond which a file is not honest.
const MAX_INPUT: usize = 1 << 24;
/// Residuals within residuals, beyond which a file is not honest.
const MAX_DEPTH: usize = 16;

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Of [`write`](super::write).
    Layers(Network),
    /// Of [`write_katago`](super::write_katago).
    KataGo(Box<KataNetwork>),
}

/// The board of a KataGo network, which has none of its own.
const KATAGO_SIZE: usize = 19;

/// The layers in a file; those of a KataGo network are for 19x19, see [`Network::at_size`].
pub fn read(bytes: &[u8]) -> Result<Network, Damage> {
    Ok(match read_stored(bytes)? {
        Stored::Layers(network) => network,
        Stored::KataGo(kata) => kata.into_network(KATAGO_SIZE, KATAGO_SIZE),
    })
}

/// What is in a file.
pub fn read_stored(bytes: &[u8]) -> Result<Stored, Damage> {
    if !bytes.starts_with(&MAGIC) {
        return Err(damage(0, "other bytes", "the magic TENGENET"));
    }
    let Some(body) = bytes
        .len()
        .checked_sub(CHECKSUM)
        .filter(|&body| body >= MAGIC.len() + 2)
    else {
        return Err(damage(bytes.len(), "the end", "a network and its checksum"));
    };
    let version = u16::from_le_bytes([bytes[MAGIC.len()], bytes[MAGIC.len() + 1]]);
    if !(FIRST_VERSION..=FORMAT_VERSION).contains(&version) {
        return Err(damage(
            MAGIC.len(),
            format!("format version {version}"),
            format!("{FIRST_VERSION} to {FORMAT_VERSION}"),
        ));
    }
    let (body, checksum) = bytes.split_at(body);
    if Sha256::digest(body)[..] != *checksum {
        return Err(damage(
            body.len(),
            "a checksum of other bytes",
            "that of this file (it was cut or changed)",
        ));
    }
    let mut reader = Reader {
        bytes: body,
        at: MAGIC.len() + 2,
        precision: Precision::F32,
        version,
    };
    let stored = match version {
        FORMAT_VERSION => Stored::KataGo(Box::new(reader.katago()?)),
        _ => Stored::Layers(reader.network()?),
    };
    if reader.at != body.len() {
        return Err(damage(
            reader.at,
            format!("{} more bytes", body.len() - reader.at),
            "the checksum",
        ));
    }
    if let Stored::Layers(network) = &stored {
        network.check().map_err(|error| {
            damage(
                0,
                format!("{}: {}", error.place, error.found),
                error.expected,
            )
        })?;
    }
    Ok(stored)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    precision: Precision,
    version: u16,
}

impl<'a> Reader<'a> {
    fn precision(&mut self) -> Result<Precision, Damage> {
        let precision = usize::from(self.tag()?);
        let known = Precision::ALL.get(precision).copied();
        known.ok_or_else(|| self.unknown("precision", precision))
    }

    fn katago(&mut self) -> Result<KataNetwork, Damage> {
        let precision = self.precision()?;
        let (restored, taken) = KataNetwork::restore(&self.bytes[self.at..], precision);
        self.at += taken;
        restored.map_err(|error| match error {
            KataDamage::Layer {
                layer,
                found,
                expected,
            } => damage(self.at, format!("{found} in layer {layer}"), expected),
            KataDamage::Unreadable(error) => damage(self.at, error.to_string(), "a network"),
        })
    }

    fn network(&mut self) -> Result<Network, Damage> {
        self.precision = self.precision()?;
        let perspective = match self.tag()? {
            tag::SIDE_TO_MOVE => Perspective::SideToMove,
            tag::FIRST_PLAYER => Perspective::FirstPlayer,
            other => return Err(self.unknown("perspective", other)),
        };
        let input = PlaneShape {
            planes: self.number()?,
            height: self.number()?,
            width: self.number()?,
        };
        let area = input.height.checked_mul(input.width);
        if area
            .and_then(|area| area.checked_mul(input.planes))
            .is_none_or(|len| len > MAX_INPUT)
        {
            let found = format!(
                "{} planes of {}x{}",
                input.planes, input.height, input.width
            );
            return Err(damage(self.at, found, format!("at most {MAX_INPUT} cells")));
        }
        let globals = if self.version > FIRST_VERSION {
            self.number()?
        } else {
            0
        };
        if globals > MAX_INPUT {
            let found = format!("{globals} globals");
            return Err(damage(self.at, found, format!("at most {MAX_INPUT}")));
        }
        let trunk = self.layers(0)?;
        let heads = (0..self.count()?)
            .map(|_| self.head())
            .collect::<Result<_, _>>()?;
        Ok(Network {
            input,
            globals,
            trunk,
            heads,
            perspective,
        })
    }

    fn head(&mut self) -> Result<Head, Damage> {
        let layers = self.layers(0)?;
        let outputs = (0..self.count()?)
            .map(|_| self.output())
            .collect::<Result<_, _>>()?;
        Ok(Head { layers, outputs })
    }

    fn output(&mut self) -> Result<Output, Damage> {
        let len = self.number()?;
        let name = std::str::from_utf8(self.take(len)?).map(str::to_owned);
        let name = name.map_err(|_| damage(self.at, "a name that is not text", "UTF-8"))?;
        let len = self.number()?;
        let reading = usize::from(self.tag()?);
        let reading = *READINGS
            .get(reading)
            .ok_or_else(|| self.unknown("reading", reading))?;
        Ok(Output { name, len, reading })
    }

    fn layers(&mut self, depth: usize) -> Result<Vec<Layer>, Damage> {
        if depth > MAX_DEPTH {
            return Err(damage(
                self.at,
                "residuals within residuals",
                format!("at most {MAX_DEPTH} of them"),
            ));
        }
        (0..self.count()?).map(|_| self.layer(depth)).collect()
    }

    fn layer(&mut self, depth: usize) -> Result<Layer, Damage> {
        let tag = self.tag()?;
        if tag > tag::LAST_LAYER_1 && self.version == FIRST_VERSION {
            return Err(self.unknown("layer", tag));
        }
        match tag {
            tag::CONV => Ok(Layer::Conv(self.conv()?)),
            tag::DENSE => Ok(Layer::Dense(self.dense()?)),
            tag::RESIDUAL => {
                let activation = self.activation()?;
                Ok(Layer::Residual {
                    body: self.layers(depth + 1)?,
                    activation,
                })
            }
            tag::MEAN_MAX_POOL => Ok(Layer::GlobalPool(Pooling::MeanMax)),
            tag::MEAN_SCALED_MAX_POOL => Ok(Layer::GlobalPool(Pooling::MeanScaledMax)),
            tag::MEAN_SCALED_SQUARED_POOL => Ok(Layer::GlobalPool(Pooling::MeanScaledSquared)),
            tag::SCALE => Ok(Layer::Scale(Scale {
                activation: self.activation()?,
                scale: self.numbers()?,
                bias: self.numbers()?,
            })),
            tag::RMS_NORM => Ok(Layer::RmsNorm(RmsNorm {
                activation: self.activation()?,
                over: match self.tag()? {
                    tag::OVER_POINT => NormOver::Point,
                    tag::OVER_BOARD => NormOver::Board,
                    other => return Err(self.unknown("normalisation", other)),
                },
                epsilon: self.float()?,
                scale: self.numbers()?,
                bias: self.numbers()?,
            })),
            tag::ATTENTION => Ok(Layer::Attention(Attention {
                heads: self.number()?,
                kv_heads: self.number()?,
                query: self.conv()?,
                key: self.conv()?,
                value: self.conv()?,
                rotation: Some(self.numbers()?).filter(|numbers| !numbers.is_empty()),
            })),
            tag::GATED => Ok(Layer::Gated(Gated {
                value: self.conv()?,
                gate: self.conv()?,
            })),
            tag::ADD_VECTOR => Ok(Layer::AddVector {
                planes: self.layers(depth + 1)?,
                vector: self.layers(depth + 1)?,
            }),
            tag::WITH_PASS => Ok(Layer::WithPass {
                planes: self.layers(depth + 1)?,
                pass: self.layers(depth + 1)?,
            }),
            tag::GLOBALS => Ok(Layer::Globals {
                start: self.number()?,
                len: self.number()?,
            }),
            other => Err(self.unknown("layer", other)),
        }
    }

    fn conv(&mut self) -> Result<Conv, Damage> {
        let activation = self.activation()?;
        let kernel = usize::from(self.tag()?);
        let groups = (0..self.count()?)
            .map(|_| {
                Ok(Group {
                    inputs: self.number()?,
                    outputs: self.number()?,
                })
            })
            .collect::<Result<Vec<_>, Damage>>()?;
        let mut weights = Vec::new();
        for group in &groups {
            let len = group.inputs.checked_mul(kernel * kernel);
            let len =
                len.ok_or_else(|| damage(self.at, "a row of no sensible length", "a convolution"))?;
            self.rows(group.outputs, len, &mut weights)?;
        }
        let outputs = groups.iter().map(|group| group.outputs).sum();
        Ok(Conv {
            kernel,
            groups,
            weights: weights.into(),
            bias: self.bias(outputs)?,
            activation,
        })
    }

    fn dense(&mut self) -> Result<Dense, Damage> {
        let activation = self.activation()?;
        let (inputs, outputs) = (self.number()?, self.number()?);
        let mut weights = Vec::new();
        self.rows(outputs, inputs, &mut weights)?;
        Ok(Dense {
            inputs,
            outputs,
            weights: weights.into(),
            bias: self.bias(outputs)?,
            activation,
        })
    }

    fn rows(&mut self, count: usize, len: usize, weights: &mut Vec<f32>) -> Result<(), Damage> {
        if len == 0 {
            return Ok(());
        }
        for _ in 0..count {
            let bytes = self.precision.row_bytes(len).unwrap_or(usize::MAX);
            let bytes = self.take(bytes)?;
            unpack_row(bytes, self.precision, len, weights);
        }
        Ok(())
    }

    fn bias(&mut self, len: usize) -> Result<Vec<f32>, Damage> {
        let bytes = self.take(Precision::F32.row_bytes(len).unwrap_or(usize::MAX))?;
        let mut bias = Vec::with_capacity(len);
        unpack_row(bytes, Precision::F32, len, &mut bias);
        Ok(bias)
    }

    fn activation(&mut self) -> Result<Activation, Damage> {
        let tag = self.tag()?;
        if tag > tag::LAST_ACTIVATION_1 && self.version == FIRST_VERSION {
            return Err(self.unknown("activation", tag));
        }
        match tag {
            tag::IDENTITY => Ok(Activation::Identity),
            tag::RELU => Ok(Activation::Relu),
            tag::LEAKY_RELU => Ok(Activation::LeakyRelu(self.float()?)),
            tag::MISH => Ok(Activation::Mish),
            tag::SILU => Ok(Activation::Silu),
            other => Err(self.unknown("activation", other)),
        }
    }

    /// A list of numbers in full precision.
    fn numbers(&mut self) -> Result<Weights, Damage> {
        let len = self.count()?;
        Ok(self.bias(len)?.into())
    }

    fn float(&mut self) -> Result<f32, Damage> {
        let bytes = self.take(4)?;
        Ok(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn tag(&mut self) -> Result<u8, Damage> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<usize, Damage> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    }

    /// A number of things that take at least a byte each.
    fn count(&mut self) -> Result<usize, Damage> {
        let count = self.number()?;
        if count > self.bytes.len() - self.at {
            return Err(damage(
                self.at,
                format!("a list of {count}"),
                "no more than bytes are left",
            ));
        }
        Ok(count)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let left = self.bytes.len() - self.at;
        if count > left {
            return Err(damage(
                self.at,
                format!("{left} bytes"),
                format!("{count} more"),
            ));
        }
        self.at += count;
        Ok(&self.bytes[self.at - count..self.at])
    }

    fn unknown(&self, what: &str, tag: impl std::fmt::Display) -> Damage {
        damage(
            self.at,
            format!("{what} {tag}"),
            format!("a {what} of format version {}", self.version),
        )
    }
}

fn damage(at: usize, found: impl Into<String>, expected: impl Into<String>) -> Damage {
    Damage {
        at,
        found: found.into(),
        expected: expected.into(),
    }
}
