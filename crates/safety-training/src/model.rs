//! The three safety networks: the original's two designs, and ours.

use net::{Head, Network, Output, Perspective, PlaneShape, Reading, training::conv::Board};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use learn::{
    Chain, Conv, Dense, DenseBlock, DenseStart, Dropout, Flatten, MaxPool, Model, NormStyle, Pixel,
    Shape, Tower, TowerShape,
};

/// Which network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SafetyDesign {
    /// The first: two convolutions with pooling, a dense layer, dropout, a choice of two.
    Pooled,
    /// The second: dense layers with one residual block.
    Dense,
    /// Ours: a residual tower; for every point, whether a stone there is safe, whether it is the best move, and who owns it.
    #[default]
    Ours,
}

/// The size of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SafetyShape {
    /// Which network.
    pub design: SafetyDesign,
    /// Rows and columns around a stone of the target.
    pub window: usize,
    /// Planes; 0 to take what the data has.
    pub planes: usize,
    /// Residual blocks (ours and dense).
    pub blocks: usize,
    /// Channels (ours), or width of the dense layers.
    pub filters: usize,
}

impl Default for SafetyShape {
    /// A window of 11 shows every fight of nine rows with its wall, and three tiles of four rows compute it.
    fn default() -> Self {
        Self {
            design: SafetyDesign::Ours,
            window: 11,
            planes: 0,
            blocks: 4,
            filters: 48,
        }
    }
}

impl SafetyShape {
    /// The first design, as the early README describes it: 11x11x5, 10 and 20 channels, 256 numbers.
    pub const POOLED: SafetyShape = SafetyShape {
        design: SafetyDesign::Pooled,
        window: 11,
        planes: 5,
        blocks: 0,
        filters: 256,
    };
    /// The second design, as the later README describes it: 11x11x13, one block of 256 numbers.
    pub const DENSE: SafetyShape = SafetyShape {
        design: SafetyDesign::Dense,
        window: 11,
        planes: 13,
        blocks: 1,
        filters: 256,
    };
}

/// The outputs' names.
pub const SAFE: &str = "safe";
/// The best move, over all points.
pub const BEST_MOVE: &str = "best_move";
/// Who owns each point.
pub const OWNERSHIP: &str = "ownership";
/// Heads of our network.
pub(crate) const SAFE_HEAD: usize = 0;
pub(crate) const MOVE_HEAD: usize = 1;
pub(crate) const OWNERSHIP_HEAD: usize = 2;

/// Channels after each pooling of the first design.
const POOLED_CHANNELS: [usize; 2] = [10, 20];
/// Share of numbers left out before its last layer.
const DROPOUT: f64 = 0.5;
/// Both originals start with normal weights of deviation 0.1 and biases 0.1.
const ORIGINAL_START: DenseStart = DenseStart {
    deviation: 0.1,
    bias: 0.1,
};
const NORM: NormStyle = NormStyle {
    biased: false,
    scaled: false,
    decays: false,
    keep: 0.98,
};

/// A network with random weights.
pub fn build(shape: SafetyShape, seed: u64, threads: usize) -> Model {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let SafetyShape {
        window,
        planes,
        blocks,
        filters,
        ..
    } = shape;
    let board = Board::new(window, window);
    let input = Shape::Planes {
        board,
        channels: planes,
    };
    match shape.design {
        SafetyDesign::Pooled => {
            let [first, second] = POOLED_CHANNELS;
            let half = Board::new(window / 2, window / 2);
            let last = Board::new(half.height / 2, half.width / 2);
            let flat = second * last.points();
            let trunk = Chain::new(vec![
                Box::new(Conv::new(
                    "conv1",
                    board,
                    [planes, first],
                    0.0,
                    ORIGINAL_START,
                    &mut random,
                )),
                Box::new(MaxPool::default()),
                Box::new(Conv::new(
                    "conv2",
                    half,
                    [first, second],
                    0.0,
                    ORIGINAL_START,
                    &mut random,
                )),
                Box::new(MaxPool::default()),
                Box::new(Flatten),
                Box::new(Dense::new(
                    "dense",
                    [flat, filters],
                    0.0,
                    ORIGINAL_START,
                    &mut random,
                )),
                Box::new(Dropout::new(DROPOUT)),
            ]);
            let readout = Dense::new("readout", [filters, 2], 1.0, ORIGINAL_START, &mut random);
            Model::new(
                input,
                trunk,
                vec![Chain::new(vec![Box::new(readout)])],
                threads,
            )
        }
        SafetyDesign::Dense => {
            let mut layers: Vec<Box<dyn learn::Layer>> = vec![
                Box::new(Flatten),
                Box::new(Dense::new(
                    "align",
                    [planes * board.points(), filters],
                    0.0,
                    ORIGINAL_START,
                    &mut random,
                )),
            ];
            for block in 1..=blocks {
                let name = format!("resb{block}");
                layers.push(Box::new(DenseBlock::new(
                    &name,
                    filters,
                    0.0,
                    ORIGINAL_START,
                    &mut random,
                )));
            }
            let readout = Dense::new("readout", [filters, 1], 1.0, ORIGINAL_START, &mut random);
            Model::new(
                input,
                Chain::new(layers),
                vec![Chain::new(vec![Box::new(readout)])],
                threads,
            )
        }
        SafetyDesign::Ours => {
            let tower = TowerShape {
                board,
                inputs: planes,
                filters,
                blocks,
                slope: 0.0,
                norm: NORM,
            };
            let trunk = Chain::new(vec![Box::new(Tower::new(tower, &mut random))]);
            let mut head = |name: &str| {
                let start = DenseStart::gentle(filters);
                Chain::new(vec![
                    Box::new(Pixel::new(
                        name,
                        board,
                        [filters, filters],
                        0.0,
                        NORM,
                        &mut random,
                    )),
                    Box::new(Pixel::linear(
                        &format!("{name}/out"),
                        board,
                        [filters, 1],
                        start,
                        &mut random,
                    )),
                    Box::new(Flatten),
                ])
            };
            let heads = vec![head(SAFE), head(BEST_MOVE), head(OWNERSHIP)];
            Model::new(input, trunk, heads, threads)
        }
    }
}

/// The network as plain data; the pooled design has layers that playing does not know.
pub fn to_network(model: &Model, shape: SafetyShape) -> Option<Network> {
    let output = |name: &str, len, reading| Output {
        name: name.to_owned(),
        len,
        reading,
    };
    let points = shape.window * shape.window;
    let heads = match shape.design {
        SafetyDesign::Pooled => return None,
        SafetyDesign::Dense => vec![Head {
            layers: model.export_head(SAFE_HEAD),
            outputs: vec![output(SAFE, 1, Reading::Sigmoid)],
        }],
        SafetyDesign::Ours => [
            (SAFE_HEAD, SAFE, Reading::Sigmoid),
            (MOVE_HEAD, BEST_MOVE, Reading::Softmax),
            (OWNERSHIP_HEAD, OWNERSHIP, Reading::Sigmoid),
        ]
        .into_iter()
        .map(|(head, name, reading)| Head {
            layers: model.export_head(head),
            outputs: vec![output(name, points, reading)],
        })
        .collect(),
    };
    Some(Network {
        input: PlaneShape {
            planes: shape.planes,
            height: shape.window,
            width: shape.window,
        },
        globals: 0,
        trunk: model.export_trunk(),
        heads,
        perspective: Perspective::SideToMove,
    })
}
