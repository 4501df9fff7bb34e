//! One kernel on one batch, as plain data.

use crate::network::Activation;
use crate::weights::Weights;

/// How numbers are stored on the device. Sums are f32 in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Storage {
    F32,
    F16,
}

impl Storage {
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    Conv,
    Combine,
    Scale,
    Pool,
    NormPoint,
    NormBoard,
    Rotate,
    Attention,
    Copy,
    WinogradIn,
    WinogradOut,
}

impl Kernel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Conv => "convolution",
            Self::Combine => "combine",
            Self::Scale => "scale",
            Self::Pool => "pool",
            Self::NormPoint => "norm over a point",
            Self::NormBoard => "norm over the board",
            Self::Rotate => "rotate",
            Self::Attention => "attention",
            Self::Copy => "copy",
            Self::WinogradIn => "tiles of planes",
            Self::WinogradOut => "planes of tiles",
        }
    }

    /// The shader in WGSL.
    pub fn source(self, from: Storage, to: Storage) -> String {
        let body = match self {
            Self::Conv => include_str!("conv.wgsl"),
            Self::Combine => include_str!("combine.wgsl"),
            Self::Scale => include_str!("scale.wgsl"),
            Self::Pool => include_str!("pool.wgsl"),
            Self::NormPoint => include_str!("norm_point.wgsl"),
            Self::NormBoard => include_str!("norm_board.wgsl"),
            Self::Rotate => include_str!("rotate.wgsl"),
            Self::Attention => include_str!("attention.wgsl"),
            Self::Copy => include_str!("copy.wgsl"),
            Self::WinogradIn => include_str!("winograd_in.wgsl"),
            Self::WinogradOut => include_str!("winograd_out.wgsl"),
        };
        let enable = match (from, to) {
            (Storage::F32, Storage::F32) => "",
            _ => "enable f16;\n",
        };
        format!(
            "{enable}alias Source = {};\nalias Target = {};\n{}\n{body}",
            from.name(),
            to.name(),
            include_str!("common.wgsl")
        )
    }
}

/// Numbers that a step reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The input rows, in f32.
    Input,
    /// The output rows, in f32.
    Output,
    /// A result between two steps.
    Value(usize),
}

/// Workgroups to start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grid {
    /// Tiles of `groups` products with `rows` rows and `columns` columns for every position.
    Tiles {
        columns: usize,
        rows: usize,
        groups: usize,
    },
    /// So many for every position.
    Each { x: usize, y: usize },
}

/// Rows and columns of a tile of `conv.wgsl`.
const TILE: usize = 32;

impl Grid {
    pub fn workgroups(self, positions: usize) -> [u32; 3] {
        let counts = match self {
            Self::Tiles {
                columns,
                rows,
                groups,
            } => [
                (positions * columns).div_ceil(TILE),
                rows.div_ceil(TILE),
                groups,
            ],
            Self::Each { x, y } => [x, y, positions],
        };
        counts.map(|count| count as u32)
    }
}

/// One kernel with all it needs.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub kernel: Kernel,
    /// The fields of the kernel's `Params`, f32 as bits.
    pub params: Vec<u32>,
    pub sources: Vec<Place>,
    /// Bound in the place of the second source.
    pub weights: Option<Weights>,
    pub numbers: Vec<f32>,
    pub target: Place,
    pub grid: Grid,
}

/// The two fields that say which activation: its kind and its slope.
pub(crate) fn activation_params(activation: Activation) -> [u32; 2] {
    let kind = match activation {
        Activation::Identity | Activation::Relu | Activation::LeakyRelu(_) => 0,
        Activation::Mish => 1,
        Activation::Silu => 2,
    };
    let slope = activation.negative_slope().unwrap_or(0.0);
    [kind, slope.to_bits()]
}
