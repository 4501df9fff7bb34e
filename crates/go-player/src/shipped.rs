//! The networks inside the program, for whoever names none.

use std::path::Path;

use go::BoardSize;
use net::{Network, compact, leela::LeelaNetwork};

use crate::network::{LoadedNetwork, Origin};

/// A network that comes with the program.
struct Shipped {
    name: &'static str,
    size: usize,
    bytes: &'static [u8],
}

/// All of them, see their cards in `nets`.
const SHIPPED: [Shipped; 2] = [
    Shipped {
        name: "go9",
        size: 9,
        bytes: include_bytes!("../../../nets/go9.net"),
    },
    Shipped {
        name: "go19",
        size: 19,
        bytes: include_bytes!("../../../nets/go19.net"),
    },
];

/// The network for the board that a player starts with.
pub(crate) fn first() -> LoadedNetwork {
    for_size(BoardSize::NINETEEN)
}

/// The network for any board: the one that was trained on it, or the one trained on the nearest with
/// its heads laid out for this board.
pub(crate) fn for_size(size: BoardSize) -> LoadedNetwork {
    let nearest = nearest(size);
    let name = if nearest.size == size.get() {
        format!("{} (built in)", nearest.name)
    } else {
        format!("{} laid out for {size} (built in)", nearest.name)
    };
    let mut loaded = LoadedNetwork::from_network(&layers(size), Path::new(&name))
        .expect("tests load every shipped network");
    loaded.origin = Origin::Shipped;
    loaded
}

/// The layers of the network for a board.
pub(crate) fn layers(size: BoardSize) -> Network {
    let nearest = nearest(size);
    let network = compact::read(nearest.bytes).expect("tests read every shipped network");
    if nearest.size == size.get() {
        return network;
    }
    LeelaNetwork::from_network(&network)
        .and_then(|leela| leela.resized(size.get()))
        .expect("a board size fits every shipped network")
        .to_network()
}

fn nearest(size: BoardSize) -> &'static Shipped {
    SHIPPED
        .iter()
        .min_by_key(|shipped| shipped.size.abs_diff(size.get()))
        .expect("the list is not empty")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_network_for_every_board() {
        for side in 2..=25 {
            let size = BoardSize::new(side).unwrap();
            let network = for_size(size);
            assert_eq!(network.evaluator.shape().input.width, side);
            assert!(network.name().starts_with("go"), "{}", network.name());
        }
    }

    #[test]
    fn a_board_has_its_own_network_or_the_nearest_one() {
        let name = |side| for_size(BoardSize::new(side).unwrap()).name().into_owned();
        assert_eq!(name(9), "go9 (built in)");
        assert_eq!(name(19), "go19 (built in)");
        assert_eq!(name(13), "go9 laid out for 13x13 (built in)");
        assert_eq!(name(15), "go19 laid out for 15x15 (built in)");
    }
}
