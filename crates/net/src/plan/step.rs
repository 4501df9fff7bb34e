//! The steps of a program, and which of them go together.

use std::sync::Arc;

use super::pack::{Affine, Matrix};
use crate::kernels::Arithmetic;
use crate::kernels::activation::Act;
use crate::kernels::attention::{AttentionShape, Turns};
use crate::kernels::memory::Buffer;
use crate::kernels::sparse::SparseDense;
use crate::kernels::winograd::Conv3;
use crate::network::{NormOver, Output, Pooling};

/// One step; numbers are pieces of memory of the workspace.
pub(super) enum Step {
    /// The caller's planes, in blocks.
    LoadPlanes { to: usize },
    /// A 3x3 convolution.
    Conv3 {
        conv: Conv3,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
        /// The step before has moved the planes to the points already.
        prepared: bool,
        /// This step does it for the next one, which reads so many blocks.
        next_blocks: Option<usize>,
        /// The step between the two, which scales and activates, is done on the way.
        activates_next: bool,
        /// No later step reads the planes.
        transient: bool,
    },
    /// A 1x1 convolution.
    Conv1 {
        matrix: Arc<Matrix>,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    /// Planes to vectors.
    Flatten {
        from: usize,
        to: usize,
        planes: usize,
        order: FlatOrder,
    },
    /// Means, maxima and the like of planes.
    Pool {
        from: usize,
        to: usize,
        planes: usize,
        pooling: Pooling,
    },
    /// Some of the numbers after the planes of an input row.
    Globals { start: usize, len: usize, to: usize },
    /// A convolution of another size than 1x1 and 3x3.
    ConvWide {
        matrix: Arc<Matrix>,
        kernel: usize,
        in_blocks: usize,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    /// A scale, a bias and an activation for every plane, after adding a vector.
    Activate {
        affine: Affine,
        act: Act,
        from: usize,
        to: usize,
        added: Option<usize>,
        /// Done by the convolution before.
        is_done: bool,
    },
    /// The same for vectors.
    ActivateVector {
        affine: Affine,
        act: Act,
        from: usize,
        to: usize,
    },
    /// Division by the root of the mean square.
    RmsNorm {
        affine: Affine,
        planes: usize,
        epsilon: f32,
        over: NormOver,
        act: Act,
        from: usize,
        to: usize,
    },
    /// Attention of planes of queries, keys and values.
    Attention {
        shape: AttentionShape,
        turns: Turns,
        query: usize,
        key: usize,
        value: usize,
        to: usize,
    },
    /// `to *= by`.
    Multiply { by: usize, to: usize },
    /// Planes of moves and a vector of passes become one vector.
    WithPass {
        from: usize,
        planes: usize,
        pass: usize,
        to: usize,
    },
    /// A dense layer on the caller's planes.
    DenseOnInput {
        layer: SparseDense,
        bias: Buffer,
        to: usize,
        act: Act,
    },
    /// A dense layer.
    Dense {
        matrix: Arc<Matrix>,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    /// The end of a head: its vector becomes part of the result.
    Read {
        from: usize,
        outputs: Vec<Output>,
        column: usize,
    },
}

/// How the planes of a position follow one another in a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlatOrder {
    /// Plane, row, column.
    Natural,
    /// Block, row, column, plane of the block: sixteen neighbours in memory stay neighbours.
    Blocked,
}

/// Marks 3x3 convolutions that follow one another: the first hands its tiles to the second while they are in the
/// nearest cache, and keeps the planes only if someone else reads them, too. A scale and an activation between the two
/// (pre-activation) are done on the way.
pub(super) fn join_convolutions(steps: &mut [Step]) {
    for index in 0..steps.len() {
        let Step::Conv3 {
            to: written,
            skip,
            ref conv,
            ..
        } = steps[index]
        else {
            continue;
        };
        let in_place = skip == Some(written);
        let activated = activation_for_next(steps, index);
        let (next_index, read) = match activated {
            Some(activated) => (index + 2, activated),
            None => (index + 1, written),
        };
        // Planes that this convolution leaves as they are have not been Winograd-transformed.
        let joined = match steps.get(next_index) {
            Some(Step::Conv3 {
                conv: next, from, ..
            }) if *from == read && next.in_blocks <= conv.out_blocks => Some(next.in_blocks),
            _ => None,
        };
        let joins = joined.is_some();
        let activates = joins && activated.is_some();
        let skips = matches!(steps.get(next_index), Some(Step::Conv3 { skip, .. }) if *skip == Some(written));
        let later = steps[index + 1..].iter().skip(usize::from(joins));
        let kept = skips
            || later
                .clone()
                .find(|step| step.touches_planes(written))
                .is_some_and(|step| step.reads_planes(written));
        if let Step::Conv3 {
            next_blocks,
            activates_next,
            transient,
            ..
        } = &mut steps[index]
        {
            *next_blocks = joined;
            *activates_next = activates;
            *transient = joins && !kept && !in_place;
        }
        if activates && let Some(Step::Activate { is_done, .. }) = steps.get_mut(index + 1) {
            *is_done = true;
        }
        if let Some(Step::Conv3 { prepared, .. }) = steps.get_mut(next_index) {
            *prepared = joins;
        }
    }
}

/// The planes that a step after the convolution at `index` scales and activates for the next convolution alone.
fn activation_for_next(steps: &[Step], index: usize) -> Option<usize> {
    let Step::Conv3 { to: written, .. } = steps[index] else {
        return None;
    };
    let Some(&Step::Activate {
        from,
        to,
        added: None,
        ..
    }) = steps.get(index + 1)
    else {
        return None;
    };
    let Some(Step::Conv3 {
        from: read,
        to: next_to,
        skip,
        ..
    }) = steps.get(index + 2)
    else {
        return None;
    };
    let only_reader = from == written && to != from && *read == to && *skip != Some(to);
    let mut later = steps[index + 3..].iter();
    let is_read_later = *next_to != to
        && later
            .find(|step| step.touches_planes(to))
            .is_some_and(|step| step.reads_planes(to));
    (only_reader && !is_read_later).then_some(to)
}

impl Step {
    /// The same step with what it multiplies rounded, if it is a 3x3 convolution.
    pub(super) fn rounded(mut self, precision: Arithmetic) -> Self {
        if let Self::Conv3 { conv, .. } = &mut self
            && precision == Arithmetic::Bf16
        {
            conv.round();
        }
        self
    }

    fn reads_planes(&self, piece: usize) -> bool {
        match self {
            Self::Conv3 { from, skip, .. } | Self::Conv1 { from, skip, .. } => {
                *from == piece || *skip == Some(piece)
            }
            Self::ConvWide { from, skip, .. } => *from == piece || *skip == Some(piece),
            Self::Flatten { from, .. }
            | Self::Pool { from, .. }
            | Self::Activate { from, .. }
            | Self::RmsNorm { from, .. }
            | Self::WithPass { from, .. } => *from == piece,
            Self::Attention {
                query, key, value, ..
            } => [*query, *key, *value].contains(&piece),
            Self::Multiply { by, to } => *by == piece || *to == piece,
            Self::LoadPlanes { .. }
            | Self::Globals { .. }
            | Self::ActivateVector { .. }
            | Self::DenseOnInput { .. }
            | Self::Dense { .. }
            | Self::Read { .. } => false,
        }
    }

    /// Reads or writes them.
    fn touches_planes(&self, piece: usize) -> bool {
        let writes = match self {
            Self::LoadPlanes { to }
            | Self::Conv3 { to, .. }
            | Self::Conv1 { to, .. }
            | Self::ConvWide { to, .. }
            | Self::Activate { to, .. }
            | Self::RmsNorm { to, .. }
            | Self::Attention { to, .. }
            | Self::Multiply { to, .. } => *to == piece,
            _ => false,
        };
        writes || self.reads_planes(piece)
    }
}
