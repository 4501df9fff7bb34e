//! Leela Zero's network in training, and its way to and from weights files.

use net::{
    leela::{ConvRows, DenseRows, INPUT_PLANES, LeelaNetwork, LeelaShape, LeelaVersion},
    training::conv::Board,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use learn::{
    Chain, Dense, DenseStart, Flatten, Model, NORM_EPSILON, NormStyle, Pixel, SettingsError, Shape,
    Tower, TowerShape,
};

/// Heads of the model, in order.
pub const POLICY_HEAD: usize = 0;
/// The second head.
pub const VALUE_HEAD: usize = 1;
/// The third head, if there is one: who has each point in the end.
pub const OWNER_HEAD: usize = 2;

/// Planes of the policy head, of the value head, and hidden units of the latter: Leela Zero's fixed numbers.
const POLICY_PLANES: usize = 2;
const VALUE_PLANES: usize = 1;
const VALUE_HIDDEN: usize = 256;

/// The size of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoShape {
    /// Rows and columns of the board.
    pub size: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels.
    pub filters: usize,
}

impl Default for GoShape {
    fn default() -> Self {
        Self {
            size: 19,
            blocks: 6,
            filters: 64,
        }
    }
}

/// A named size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    /// Where it comes from.
    pub about: &'static str,
    pub shape: GoShape,
}

/// The named sizes.
pub const PRESETS: [Preset; 5] = [
    Preset {
        name: "tiny",
        about: "for trying things out",
        shape: GoShape {
            size: 19,
            blocks: 2,
            filters: 32,
        },
    },
    Preset {
        name: "laptop",
        about: "what two cores can train",
        shape: GoShape {
            size: 19,
            blocks: 6,
            filters: 64,
        },
    },
    Preset {
        name: "lz-5x64",
        about: "Leela Zero's first networks",
        shape: GoShape {
            size: 19,
            blocks: 5,
            filters: 64,
        },
    },
    Preset {
        name: "zero-mini",
        about: "the smaller design of 12 blocks",
        shape: GoShape {
            size: 19,
            blocks: 12,
            filters: 64,
        },
    },
    Preset {
        name: "zero",
        about: "the full design of 40 blocks",
        shape: GoShape {
            size: 19,
            blocks: 40,
            filters: 256,
        },
    },
];

impl GoShape {
    /// The size called `name`.
    pub fn preset(name: &str) -> Option<Self> {
        PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .map(|preset| preset.shape)
    }

    /// Refuses sizes that make no network.
    pub fn check(self) -> Result<(), SettingsError> {
        let bad = |name, value: usize, expected| SettingsError::Value {
            name,
            value: value.to_string(),
            expected,
        };
        if !net::leela::BOARD_SIZES.contains(&self.size) {
            return Err(bad("size", self.size, "from 2 to 25"));
        }
        if self.filters == 0 {
            return Err(bad("filters", self.filters, "at least 1"));
        }
        Ok(())
    }

    fn leela(self) -> LeelaShape {
        LeelaShape::stock(self.size, self.blocks, self.filters)
    }
}

/// Leela Zero's batch norm: no scale, since a rectifier and a convolution follow.
const NORM: NormStyle = NormStyle {
    biased: false,
    scaled: false,
    decays: false,
    keep: 0.98,
};

/// A network with random weights, with a third head for owners if wanted: it helps training alone, and no file has it.
pub fn build(shape: GoShape, with_owners: bool, seed: u64, threads: usize) -> Model {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let board = Board::new(shape.size, shape.size);
    let (filters, points) = (shape.filters, board.points());
    let tower = TowerShape {
        board,
        inputs: INPUT_PLANES,
        filters,
        blocks: shape.blocks,
        slope: 0.0,
        norm: NORM,
    };
    let trunk = Chain::new(vec![Box::new(Tower::new(tower, &mut random))]);
    let policy_inputs = POLICY_PLANES * points;
    let moves = points + 1;
    let policy = Chain::new(vec![
        Box::new(Pixel::new(
            "policy",
            board,
            [filters, POLICY_PLANES],
            0.0,
            NORM,
            &mut random,
        )),
        Box::new(Flatten),
        Box::new(Dense::new(
            "policy/out",
            [policy_inputs, moves],
            1.0,
            DenseStart::gentle(policy_inputs),
            &mut random,
        )),
    ]);
    let value_inputs = VALUE_PLANES * points;
    let value = Chain::new(vec![
        Box::new(Pixel::new(
            "value",
            board,
            [filters, VALUE_PLANES],
            0.0,
            NORM,
            &mut random,
        )),
        Box::new(Flatten),
        Box::new(Dense::new(
            "value/hidden",
            [value_inputs, VALUE_HIDDEN],
            0.0,
            DenseStart::he(value_inputs),
            &mut random,
        )),
        Box::new(Dense::new(
            "value/out",
            [VALUE_HIDDEN, 1],
            1.0,
            DenseStart::gentle(VALUE_HIDDEN),
            &mut random,
        )),
    ]);
    let input = Shape::Planes {
        board,
        channels: INPUT_PLANES,
    };
    let mut heads = vec![policy, value];
    if with_owners {
        heads.push(Chain::new(vec![
            Box::new(Pixel::linear(
                "owner",
                board,
                [filters, 1],
                DenseStart::gentle(filters),
                &mut random,
            )),
            Box::new(Flatten),
        ]));
    }
    Model::new(input, trunk, heads, threads)
}

/// Starts the value head of a model anew, as a count of the points that its third head gives to the side to move.
///
/// Who wins is one bit a game, who has each point is hundreds. The plane of the value takes the weights of the third
/// head, every hidden unit sums it up, and training has the scale and everything finer left to find.
pub fn count_owners(model: &mut Model, shape: GoShape) {
    /// What a point more, of one standard deviation, adds to the value before it is squashed.
    const POINT: f32 = 0.004;
    /// What hidden units come to; with this, hidden and last weights learn at the same pace.
    const LEVEL: f32 = 0.6;
    /// The plane is shifted by one standard deviation before it is rectified, so that little is cut off; its mean then.
    const SHIFT: f32 = 1.0;
    const MEAN: f32 = 1.083;
    /// Share of the earlier weights that is left, so that hidden units differ.
    const REST: f32 = 0.25;
    let sum = MEAN * (shape.size * shape.size) as f32;
    let mut params = model.params_mut();
    let mut set = |name: &str, change: &dyn Fn(usize, f32) -> f32| {
        let param = params.iter_mut().find(|param| param.name == name);
        let values = &mut param.expect("a tensor of the heads").values;
        for (index, value) in values.iter_mut().enumerate() {
            *value = change(index, *value);
        }
        values.clone()
    };
    let owner = set("owner/conv", &|_, weight| weight);
    set("value/conv", &|index, _| owner[index]);
    set("value/beta", &|_, _| SHIFT);
    set("value/hidden/weights", &|_, old| LEVEL / sum + REST * old);
    set("value/hidden/bias", &|_, _| 0.0);
    set("value/out/weights", &|_, _| {
        POINT * sum / (LEVEL * VALUE_HIDDEN as f32)
    });
    set("value/out/bias", &|_, _| -POINT * sum);
}

/// The network as a weights file.
pub fn to_leela(model: &mut Model, shape: GoShape) -> LeelaNetwork {
    let params: Vec<Vec<f32>> = model
        .params_mut()
        .iter()
        .map(|param| param.values.clone())
        .collect();
    let statistics: Vec<Vec<f32>> = model
        .statistics_mut()
        .iter()
        .map(|tensor| (*tensor).clone())
        .collect();
    let mut params = params.into_iter();
    let mut statistics = statistics.into_iter();
    let mut next = move || params.next().expect("every tensor of the model");
    let mut conv = |weights: Vec<f32>, beta: Vec<f32>| {
        let mean = statistics.next().expect("statistics of every convolution");
        let variance = statistics.next().expect("statistics of every convolution");
        // The format has a bias before the norm, where the trainer has a shift after it.
        let bias = beta
            .iter()
            .zip(&variance)
            .map(|(&beta, &variance)| {
                (f64::from(beta) * (f64::from(variance) + NORM_EPSILON).sqrt()) as f32
            })
            .collect();
        ConvRows {
            weights,
            bias,
            mean,
            variance,
        }
    };
    let input = conv(next(), next());
    let blocks = (0..shape.blocks)
        .map(|_| [conv(next(), next()), conv(next(), next())])
        .collect();
    let policy_conv = conv(next(), next());
    let policy_dense = DenseRows {
        weights: next(),
        bias: next(),
    };
    let value_conv = conv(next(), next());
    let value_hidden = DenseRows {
        weights: next(),
        bias: next(),
    };
    let value_output = DenseRows {
        weights: next(),
        bias: next(),
    };
    LeelaNetwork {
        version: LeelaVersion::V1,
        size: shape.size,
        input,
        blocks,
        policy_conv,
        policy_dense,
        value_conv,
        value_hidden,
        value_output,
    }
}

/// Why training cannot start from a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the network to start from is {found}, but the network to train is {wanted}")]
pub struct OtherShape {
    found: String,
    wanted: String,
}

/// Starts a model from a weights file of the same size.
pub fn from_leela(
    model: &mut Model,
    shape: GoShape,
    network: &LeelaNetwork,
) -> Result<(), OtherShape> {
    if network.shape() != shape.leela() {
        let found = network.shape();
        let name = |blocks, filters, size| format!("{blocks}x{filters} on {size} lines");
        let wanted = name(shape.blocks, shape.filters, shape.size);
        let mut found_name = name(found.blocks, found.filters, found.size);
        if found_name == wanted {
            found_name += " with other heads than Leela Zero's";
        }
        return Err(OtherShape {
            found: found_name,
            wanted,
        });
    }
    let mut tensors: Vec<&Vec<f32>> = Vec::new();
    let mut statistics: Vec<&Vec<f32>> = Vec::new();
    let mut betas: Vec<Vec<f32>> = Vec::new();
    let convolutions: Vec<&ConvRows> = std::iter::once(&network.input)
        .chain(network.blocks.iter().flatten())
        .chain([&network.policy_conv, &network.value_conv])
        .collect();
    for rows in &convolutions {
        betas.push(
            rows.bias
                .iter()
                .enumerate()
                .map(|(index, &bias)| (f64::from(bias) * rows.scale(index)) as f32)
                .collect(),
        );
        statistics.extend([&rows.mean, &rows.variance]);
    }
    let tower = convolutions.len() - 2;
    for (rows, beta) in convolutions[..tower].iter().zip(&betas) {
        tensors.extend([&rows.weights, beta]);
    }
    tensors.extend([&network.policy_conv.weights, &betas[tower]]);
    tensors.extend([&network.policy_dense.weights, &network.policy_dense.bias]);
    tensors.extend([&network.value_conv.weights, &betas[tower + 1]]);
    for rows in [&network.value_hidden, &network.value_output] {
        tensors.extend([&rows.weights, &rows.bias]);
    }
    for (param, tensor) in model.params_mut().into_iter().zip(tensors) {
        param.values.clone_from(tensor);
    }
    for (mine, theirs) in model.statistics_mut().into_iter().zip(statistics) {
        mine.clone_from(theirs);
    }
    Ok(())
}
