//! The two Dr. Mario networks: the original design, and ours.

use mario_player::{
    network::{CLEARED, DURATION, EPSILON, INPUT, LEAK, MOVES, MOVES_LEN, WON},
    planes::PLANES,
};
use net::{Head, Network, Output, Perspective, Reading, training::conv::Board};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::loss::SCALARS;
use learn::{
    Chain, Dense, DenseStart, Flatten, Model, NORM_EPSILON, NormStyle, Pixel, Shape, Tower,
    TowerShape,
};

/// Which network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarioDesign {
    /// The original: one fully connected head, sigmoids over all moves.
    Original,
    /// Ours: convolutional move planes with illegal moves masked, and a small head of bounded values.
    #[default]
    Ours,
}

/// The size of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MarioShape {
    /// Which network.
    pub design: MarioDesign,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels.
    pub filters: usize,
}

impl Default for MarioShape {
    fn default() -> Self {
        Self {
            design: MarioDesign::Ours,
            blocks: 4,
            filters: 32,
        }
    }
}

/// Clockwise turns of a pill, which are the planes of the move head.
const TURNS: usize = 4;
/// Planes and hidden units of our value head.
const VALUE_PLANES: usize = 4;
const VALUE_HIDDEN: usize = 64;
/// Heads of our network.
pub(crate) const MOVES_HEAD: usize = 0;
pub(crate) const VALUE_HEAD: usize = 1;

/// The original's batch norm: scale, shift, and a bias in the convolution; all of them decay.
const ORIGINAL_NORM: NormStyle = NormStyle {
    biased: true,
    scaled: true,
    decays: true,
    keep: 0.9,
};
/// Ours: a rectifier with leak is not blind to scale, so the scale stays; nothing of it decays.
const OUR_NORM: NormStyle = NormStyle {
    biased: false,
    scaled: true,
    decays: false,
    keep: 0.98,
};

/// The board: columns of the bottle are rows here, so that the row of the bottle runs fastest.
pub(crate) fn board() -> Board {
    Board::new(INPUT.height, INPUT.width)
}

/// A network with random weights.
pub fn build(shape: MarioShape, seed: u64, threads: usize) -> Model {
    debug_assert!((f64::from(EPSILON) - NORM_EPSILON).abs() < 1e-9);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (board, filters) = (board(), shape.filters);
    let style = match shape.design {
        MarioDesign::Original => ORIGINAL_NORM,
        MarioDesign::Ours => OUR_NORM,
    };
    let tower = TowerShape {
        board,
        inputs: PLANES,
        filters,
        blocks: shape.blocks,
        slope: LEAK,
        norm: style,
    };
    let trunk = Chain::new(vec![Box::new(Tower::new(tower, &mut random))]);
    let heads = match shape.design {
        MarioDesign::Original => {
            let inputs = filters * board.points();
            let mut dense = Dense::new(
                "head",
                [inputs, SCALARS + MOVES_LEN],
                1.0,
                DenseStart::gentle(inputs),
                &mut random,
            );
            dense.bias.decays = true;
            vec![Chain::new(vec![Box::new(Flatten), Box::new(dense)])]
        }
        MarioDesign::Ours => {
            let start = DenseStart::gentle(filters);
            let moves = Chain::new(vec![
                Box::new(Pixel::new(
                    "moves",
                    board,
                    [filters, filters],
                    LEAK,
                    style,
                    &mut random,
                )),
                Box::new(Pixel::linear(
                    "moves/out",
                    board,
                    [filters, TURNS],
                    start,
                    &mut random,
                )),
                Box::new(Flatten),
            ]);
            let inputs = VALUE_PLANES * board.points();
            let value = Chain::new(vec![
                Box::new(Pixel::new(
                    "value",
                    board,
                    [filters, VALUE_PLANES],
                    LEAK,
                    style,
                    &mut random,
                )),
                Box::new(Flatten),
                Box::new(Dense::new(
                    "value/hidden",
                    [inputs, VALUE_HIDDEN],
                    LEAK,
                    DenseStart::he(inputs),
                    &mut random,
                )),
                Box::new(Dense::new(
                    "value/out",
                    [VALUE_HIDDEN, SCALARS],
                    1.0,
                    DenseStart::gentle(VALUE_HIDDEN),
                    &mut random,
                )),
            ]);
            vec![moves, value]
        }
    };
    let input = Shape::Planes {
        board,
        channels: PLANES,
    };
    Model::new(input, trunk, heads, threads)
}

/// The network as plain data, with the outputs Dr. Mario's player looks for.
pub fn to_network(model: &Model, design: MarioDesign) -> Network {
    let output = |name: &str, len, reading| Output {
        name: name.to_owned(),
        len,
        reading,
    };
    let scalars = [
        output(WON, 1, Reading::Tanh),
        output(CLEARED, 1, Reading::Softplus),
        output(DURATION, 1, Reading::Softplus),
    ];
    let heads = match design {
        MarioDesign::Original => {
            let mut outputs = scalars.to_vec();
            outputs.push(output(MOVES, MOVES_LEN, Reading::NormalizedSigmoid));
            vec![Head {
                layers: model.export_head(0),
                outputs,
            }]
        }
        MarioDesign::Ours => vec![
            Head {
                layers: model.export_head(MOVES_HEAD),
                outputs: vec![output(MOVES, MOVES_LEN, Reading::Softmax)],
            },
            Head {
                layers: model.export_head(VALUE_HEAD),
                outputs: scalars.to_vec(),
            },
        ],
    };
    Network {
        input: INPUT,
        globals: 0,
        trunk: model.export_trunk(),
        heads,
        perspective: Perspective::SideToMove,
    }
}
