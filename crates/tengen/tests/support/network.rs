//! A network that is quick to load.

use std::{fs, path::Path};

use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle};

/// Writes a random network of one block for the 9x9 board.
pub fn write_small_network(file: &Path) {
    let network = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 4), 3);
    let style = TextStyle {
        carriage_returns: false,
        final_newline: true,
    };
    fs::write(file, network.to_exact_text(style)).unwrap();
}
