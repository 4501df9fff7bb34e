//! Our own file format: small enough to embed, checked before anything is believed.
//!
//! All numbers are little-endian. A file is the magic `TENGENET`, a format version (u16), the network, and the
//! SHA-256 of everything before it. Weights are stored in one of four [precisions](Precision); with the two integer
//! ones every row of weights (those of one output) has its own scale, so that a row of small weights keeps its shape.
//! Biases are always f32: they are few.
//!
//! A KataGo network is kept as what its file says, not as layers, so that it can become a KataGo file again: with 32 bits
//! byte for byte.

mod bits;
mod reader;
mod writer;

pub use bits::Precision;
pub(crate) use bits::{pack_row, unpack_row};
pub use reader::{Damage, Stored, read, read_stored};
pub use writer::{write, write_katago};

/// How a file starts.
pub const MAGIC: [u8; 8] = *b"TENGENET";
/// The newest version this code writes and reads, that of KataGo networks. Version 1 has no globals and only the first four
/// kinds of layers; it is still written for networks that need no more, so that older programs read them.
pub const FORMAT_VERSION: u16 = 3;
const LAYERS_VERSION: u16 = 2;
const FIRST_VERSION: u16 = 1;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 32;

/// Tags of the things in a file.
mod tag {
    pub(super) const CONV: u8 = 1;
    pub(super) const DENSE: u8 = 2;
    pub(super) const RESIDUAL: u8 = 3;
    pub(super) const MEAN_MAX_POOL: u8 = 4;
    pub(super) const MEAN_SCALED_MAX_POOL: u8 = 5;
    pub(super) const MEAN_SCALED_SQUARED_POOL: u8 = 6;
    pub(super) const SCALE: u8 = 7;
    pub(super) const RMS_NORM: u8 = 8;
    pub(super) const ATTENTION: u8 = 9;
    pub(super) const GATED: u8 = 10;
    pub(super) const ADD_VECTOR: u8 = 11;
    pub(super) const WITH_PASS: u8 = 12;
    pub(super) const GLOBALS: u8 = 13;

    /// The last kind of layer and activation of version 1.
    pub(super) const LAST_LAYER_1: u8 = MEAN_MAX_POOL;
    pub(super) const LAST_ACTIVATION_1: u8 = LEAKY_RELU;

    pub(super) const IDENTITY: u8 = 0;
    pub(super) const RELU: u8 = 1;
    pub(super) const LEAKY_RELU: u8 = 2;
    pub(super) const MISH: u8 = 3;
    pub(super) const SILU: u8 = 4;

    pub(super) const OVER_POINT: u8 = 0;
    pub(super) const OVER_BOARD: u8 = 1;

    pub(super) const SIDE_TO_MOVE: u8 = 0;
    pub(super) const FIRST_PLAYER: u8 = 1;
}

/// The readings in the order of their tags.
const READINGS: [crate::network::Reading; 7] = {
    use crate::network::Reading::*;
    [
        Raw,
        Softmax,
        NormalizedSigmoid,
        Sigmoid,
        Tanh,
        Winrate,
        Softplus,
    ]
};

/// The network as it will be after being written with `precision` and read back.
pub fn rounded(network: &crate::network::Network, precision: Precision) -> crate::network::Network {
    read(&write(network, precision)).expect("what we write, we read")
}
