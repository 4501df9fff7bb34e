//! Our own file format: small enough to embed, checked before anything is believed.
//!
//! All numbers are little-endian. A file is the magic `TENGENET`, a format version (u16), the network, and the
//! SHA-256 of everything before it. Weights are stored in one of four [precisions](Precision); with the two integer
//! ones every row of weights (those of one output) has its own scale, so that a row of small weights keeps its shape.
//! Biases are always f32: they are few.

mod bits;
mod reader;
mod writer;

pub use bits::Precision;
pub use reader::{Damage, read};
pub use writer::write;

/// How a file starts.
pub const MAGIC: [u8; 8] = *b"TENGENET";
/// The version this code writes and reads.
pub const FORMAT_VERSION: u16 = 1;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 32;

/// Tags of the things in a file.
mod tag {
    pub(super) const CONV: u8 = 1;
    pub(super) const DENSE: u8 = 2;
    pub(super) const RESIDUAL: u8 = 3;
    pub(super) const GLOBAL_POOL: u8 = 4;

    pub(super) const IDENTITY: u8 = 0;
    pub(super) const RELU: u8 = 1;
    pub(super) const LEAKY_RELU: u8 = 2;

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
