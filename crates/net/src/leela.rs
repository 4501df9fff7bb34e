//! Leela Zero networks: exactly the rows of their weights file.
//!
//! The first line is the version; every other line is one row of numbers:
//!
//! | rows | content |
//! | --- | --- |
//! | 4 | input convolution: weights `[filters][18][3][3]`, bias, mean, variance |
//! | 8 per block | two convolutions `[filters][filters][3][3]`, each with bias, mean, variance |
//! | 4 + 2 | policy: 1x1 convolution, then dense `[area + 1][planes * area]` and bias |
//! | 4 + 2 + 2 | value: 1x1 convolution, dense `[hidden][planes * area]` and bias, dense `[1][hidden]` and bias |
//!
//! The bias row acts before normalisation: a layer computes `(conv(x) + bias - mean) / sqrt(variance + 1e-5)`. Stock
//! networks have 2 policy planes, 1 value plane and 256 hidden units on 19x19; here all four are read from the rows,
//! so that grafted networks and other boards use the same format.

mod fold;
mod lines;
mod number;
mod random;
mod resize;
mod text;
mod unfold;

pub(crate) use lines::Text;
pub use text::TextStyle;

use crate::network::ShapeError;
use crate::shape::Perspective;

/// Input planes of every Leela Zero network: 8 own positions, 8 of the opponent, 2 for the side to move.
pub const INPUT_PLANES: usize = 18;

/// What is added to a variance before its root is taken.
pub const VARIANCE_EPSILON: f32 = 1e-5;

/// Board sizes a file may be for.
pub const BOARD_SIZES: std::ops::RangeInclusive<usize> = 2..=25;

/// The name of the policy output: a softmax over the board, row by row, and the pass.
pub const POLICY: &str = "policy";
/// The name of the value output: a winning chance in 0..1.
pub const VALUE: &str = "value";
/// The name of the value output before its tanh.
pub const VALUE_LOGIT: &str = "value_logit";

/// The version on the first line of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeelaVersion {
    /// The value is the winning chance of the side to move.
    #[default]
    V1,
    /// The value is the winning chance of Black.
    V2,
}

impl LeelaVersion {
    /// The number on the first line.
    pub fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }

    /// Whose winning chance the value is.
    pub fn perspective(self) -> Perspective {
        match self {
            Self::V1 => Perspective::SideToMove,
            Self::V2 => Perspective::FirstPlayer,
        }
    }
}

/// The four rows of a convolution with batch normalisation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvRows {
    /// `[output][input][row][column]`.
    pub weights: Vec<f32>,
    /// Added before normalisation.
    pub bias: Vec<f32>,
    /// Subtracted before normalisation.
    pub mean: Vec<f32>,
    /// Divided by (its root) in normalisation.
    pub variance: Vec<f32>,
}

impl ConvRows {
    /// Zero weights with a variance row that makes the normalisation exactly the identity.
    pub fn zeros(kernel: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            weights: vec![0.0; inputs * outputs * kernel * kernel],
            bias: vec![0.0; outputs],
            mean: vec![0.0; outputs],
            variance: vec![IDENTITY_VARIANCE; outputs],
        }
    }

    /// The factor of output `index`: one over the root of its variance.
    pub fn scale(&self, index: usize) -> f64 {
        // The sum is taken in f32, as the files' authors do: IDENTITY_VARIANCE then gives exactly 1.
        1.0 / f64::from(self.variance[index] + VARIANCE_EPSILON).sqrt()
    }
}

/// The variance whose sum with [`VARIANCE_EPSILON`] is exactly 1 in f32.
pub const IDENTITY_VARIANCE: f32 = 0.99999;

/// The two rows of a dense layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseRows {
    /// `[output][input]`.
    pub weights: Vec<f32>,
    /// One per output.
    pub bias: Vec<f32>,
}

impl DenseRows {
    /// All zeros.
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self {
            weights: vec![0.0; inputs * outputs],
            bias: vec![0.0; outputs],
        }
    }
}

/// The numbers that fix the length of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeelaShape {
    /// Rows and columns of the board.
    pub size: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Planes of the tower.
    pub filters: usize,
    /// Planes of the policy head: 2 in stock networks.
    pub policy_planes: usize,
    /// Planes of the value head: 1 in stock networks.
    pub value_planes: usize,
    /// Hidden units of the value head: 256 in stock networks.
    pub value_hidden: usize,
}

impl LeelaShape {
    /// The shape of a stock network.
    pub fn stock(size: usize, blocks: usize, filters: usize) -> Self {
        Self {
            size,
            blocks,
            filters,
            policy_planes: 2,
            value_planes: 1,
            value_hidden: 256,
        }
    }

    /// Points of the board.
    pub fn area(&self) -> usize {
        self.size * self.size
    }

    /// Lines of the file, the version included.
    pub fn lines(&self) -> usize {
        19 + 8 * self.blocks
    }

    /// The length of every row of the file and what it is, from line 2 on.
    pub fn rows(&self) -> Vec<RowShape> {
        let (filters, area) = (self.filters, self.area());
        let mut rows = conv_rows("input convolution", 9 * INPUT_PLANES, filters);
        for block in 1..=self.blocks {
            for half in 1..=2 {
                let layer = format!("block {block} convolution {half}");
                rows.extend(conv_rows(&layer, 9 * filters, filters));
            }
        }
        rows.extend(conv_rows("policy convolution", filters, self.policy_planes));
        rows.extend(dense_rows(
            "policy dense layer",
            self.policy_planes * area,
            area + 1,
        ));
        rows.extend(conv_rows("value convolution", filters, self.value_planes));
        rows.extend(dense_rows(
            "value hidden layer",
            self.value_planes * area,
            self.value_hidden,
        ));
        rows.extend(dense_rows("value output layer", self.value_hidden, 1));
        rows
    }
}

/// One row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Such as `block 3 convolution 1 weights`.
    pub what: String,
    /// How many numbers it holds.
    pub len: usize,
}

fn conv_rows(layer: &str, inputs: usize, outputs: usize) -> Vec<RowShape> {
    let row = |part: &str, len| RowShape {
        what: format!("{layer} {part}"),
        len,
    };
    vec![
        row("weights", inputs * outputs),
        row("bias", outputs),
        row("mean", outputs),
        row(VARIANCE_PART, outputs),
    ]
}

fn dense_rows(layer: &str, inputs: usize, outputs: usize) -> Vec<RowShape> {
    let row = |part: &str, len| RowShape {
        what: format!("{layer} {part}"),
        len,
    };
    vec![row("weights", inputs * outputs), row("bias", outputs)]
}

/// How the description of a variance row ends.
const VARIANCE_PART: &str = "variance";

impl RowShape {
    /// Variance rows may not hold negative numbers.
    fn is_variance(&self) -> bool {
        self.what.ends_with(VARIANCE_PART)
    }
}

/// A Leela Zero network: the rows of its file, nothing derived.
#[derive(Clone, Debug, PartialEq)]
pub struct LeelaNetwork {
    /// Line 1.
    pub version: LeelaVersion,
    /// Rows and columns of the board.
    pub size: usize,
    /// From the planes to the tower.
    pub input: ConvRows,
    /// The tower.
    pub blocks: Vec<[ConvRows; 2]>,
    /// From the tower to the policy planes.
    pub policy_conv: ConvRows,
    /// From the policy planes to one logit per point and one for the pass.
    pub policy_dense: DenseRows,
    /// From the tower to the value planes.
    pub value_conv: ConvRows,
    /// From the value planes to the hidden units.
    pub value_hidden: DenseRows,
    /// From the hidden units to the number whose tanh is the value.
    pub value_output: DenseRows,
}

impl LeelaNetwork {
    /// A network of zeros with identity normalisation, to be filled in by hand.
    pub fn zeros(version: LeelaVersion, shape: LeelaShape) -> Self {
        let (filters, area) = (shape.filters, shape.area());
        let block = [
            ConvRows::zeros(3, filters, filters),
            ConvRows::zeros(3, filters, filters),
        ];
        Self {
            version,
            size: shape.size,
            input: ConvRows::zeros(3, INPUT_PLANES, filters),
            blocks: vec![block; shape.blocks],
            policy_conv: ConvRows::zeros(1, filters, shape.policy_planes),
            policy_dense: DenseRows::zeros(shape.policy_planes * area, area + 1),
            value_conv: ConvRows::zeros(1, filters, shape.value_planes),
            value_hidden: DenseRows::zeros(shape.value_planes * area, shape.value_hidden),
            value_output: DenseRows::zeros(shape.value_hidden, 1),
        }
    }

    /// The shape its bias rows speak of; [`check`](Self::check) says whether all other rows agree.
    pub fn shape(&self) -> LeelaShape {
        LeelaShape {
            size: self.size,
            blocks: self.blocks.len(),
            filters: self.input.bias.len(),
            policy_planes: self.policy_conv.bias.len(),
            value_planes: self.value_conv.bias.len(),
            value_hidden: self.value_hidden.bias.len(),
        }
    }

    /// The rows in file order, from line 2 on.
    pub fn rows(&self) -> Vec<&[f32]> {
        let mut rows: Vec<&[f32]> = Vec::with_capacity(self.shape().lines() - 1);
        let tower = std::iter::once(&self.input).chain(self.blocks.iter().flatten());
        for conv in tower.chain([&self.policy_conv]) {
            rows.extend([&conv.weights[..], &conv.bias, &conv.mean, &conv.variance]);
        }
        rows.extend([&self.policy_dense.weights[..], &self.policy_dense.bias]);
        let value = &self.value_conv;
        rows.extend([
            &value.weights[..],
            &value.bias,
            &value.mean,
            &value.variance,
        ]);
        for dense in [&self.value_hidden, &self.value_output] {
            rows.extend([&dense.weights[..], &dense.bias]);
        }
        rows
    }

    /// Builds a network from rows in file order, as [`rows`](Self::rows) gives them, and checks each.
    pub fn from_rows(
        version: LeelaVersion,
        shape: LeelaShape,
        rows: Vec<Vec<f32>>,
    ) -> Result<Self, ShapeError> {
        if rows.len() + 1 != shape.lines() {
            return Err(ShapeError {
                place: "network".into(),
                found: format!("{} rows", rows.len()),
                expected: format!("{} for {} blocks", shape.lines() - 1, shape.blocks),
            });
        }
        let network = Self::assemble(version, shape, rows);
        network.check()?;
        Ok(network)
    }

    /// Builds a network from rows that are known to be right.
    fn assemble(version: LeelaVersion, shape: LeelaShape, rows: Vec<Vec<f32>>) -> Self {
        let mut rows = rows.into_iter();
        let mut next = || rows.next().unwrap_or_default();
        let mut conv = || ConvRows {
            weights: next(),
            bias: next(),
            mean: next(),
            variance: next(),
        };
        let input = conv();
        let blocks = (0..shape.blocks).map(|_| [conv(), conv()]).collect();
        let policy_conv = conv();
        let policy_dense = DenseRows {
            weights: next(),
            bias: next(),
        };
        let value_conv = ConvRows {
            weights: next(),
            bias: next(),
            mean: next(),
            variance: next(),
        };
        let value_hidden = DenseRows {
            weights: next(),
            bias: next(),
        };
        let value_output = DenseRows {
            weights: next(),
            bias: next(),
        };
        let size = shape.size;
        Self {
            version,
            size,
            input,
            blocks,
            policy_conv,
            policy_dense,
            value_conv,
            value_hidden,
            value_output,
        }
    }

    /// Checks the length of every row and every number in it.
    pub fn check(&self) -> Result<(), ShapeError> {
        for (row, expected) in self.rows().into_iter().zip(self.shape().rows()) {
            let wrong = |found: String, expected: String, what: String| ShapeError {
                place: what,
                found,
                expected,
            };
            if row.len() != expected.len {
                let found = format!("{} numbers", row.len());
                return Err(wrong(found, expected.len.to_string(), expected.what));
            }
            if let Some(number) = row.iter().find(|number| !number.is_finite()) {
                return Err(wrong(
                    number.to_string(),
                    "a finite number".into(),
                    expected.what,
                ));
            }
            if expected.is_variance() && row.iter().any(|&number| number < 0.0) {
                return Err(wrong(
                    "a negative variance".into(),
                    "0 or more".into(),
                    expected.what,
                ));
            }
        }
        Ok(())
    }
}
