//! Weights in the order the kernels read them.

use std::borrow::Cow;
use std::sync::Arc;

use super::step::{FlatOrder, Step};
use crate::kernels::activation::Act;
use crate::kernels::gemm::Panel;
use crate::kernels::memory::Buffer;
use crate::kernels::sparse::SparseDense;
use crate::kernels::tiling::Tiling;
use crate::kernels::weights::{kernel_of, panels_of};
use crate::kernels::winograd::Conv3;
use crate::kernels::{BLOCK, blocks};
use crate::network::{Conv, Dense, Output, Scale};

/// A step whose weights are not packed yet, so that all can be packed in parallel. It holds its layer, which shares its
/// numbers with the network: once that is gone, they are freed as soon as they are packed.
pub(super) enum Draft {
    LoadPlanes {
        to: usize,
    },
    Conv3 {
        conv: Conv,
        /// Follows it and becomes part of it.
        scale: Option<Scale>,
        /// How many of its outputs are computed.
        outputs: usize,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    Conv1 {
        conv: Conv,
        /// Follows it and becomes part of it.
        scale: Option<Scale>,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    Flatten {
        from: usize,
        to: usize,
        planes: usize,
        order: FlatOrder,
    },
    /// Ready as it is.
    Ready(Step),
    ConvWide {
        conv: Conv,
        /// Follows it and becomes part of it.
        scale: Option<Scale>,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    DenseOnInput {
        dense: Dense,
        to: usize,
        act: Act,
    },
    Dense {
        dense: Dense,
        order: InputOrder,
        from: usize,
        to: usize,
        skip: Option<usize>,
        act: Act,
    },
    Read {
        from: usize,
        outputs: Vec<Output>,
        column: usize,
    },
}

/// How the inputs of a dense layer are ordered in memory.
#[derive(Clone, Copy)]
pub(super) enum InputOrder {
    AsWritten,
    Blocked { area: usize },
}

/// Weights of a product of rows with a matrix.
pub(super) struct Matrix {
    pub(super) panels: Vec<Panel>,
    pub(super) weights: Buffer,
    pub(super) bias: Buffer,
}

impl Draft {
    /// `donor` is the same step of a plan for another board, whose weights are shared where they are the same.
    pub(super) fn pack(self, tiling: Option<&Arc<Tiling>>, donor: Option<&Step>) -> Step {
        match self {
            Self::LoadPlanes { to } => Step::LoadPlanes { to },
            Self::Conv3 {
                conv,
                scale,
                outputs,
                from,
                to,
                skip,
                act,
            } => {
                let tiling = tiling.expect("kept when a convolution needs it");
                let shared = match donor {
                    Some(Step::Conv3 { conv, .. }) => conv.on(tiling),
                    _ => None,
                };
                Step::Conv3 {
                    conv: shared.unwrap_or_else(|| {
                        Conv3::new(tiling.clone(), &folded(&conv, scale.as_ref()), outputs)
                    }),
                    from,
                    to,
                    skip,
                    act,
                    prepared: false,
                    next_blocks: None,
                    activates_next: false,
                    transient: false,
                }
            }
            Self::Conv1 {
                conv,
                scale,
                from,
                to,
                skip,
                act,
            } => Step::Conv1 {
                matrix: match donor {
                    Some(Step::Conv1 { matrix, .. }) => matrix.clone(),
                    _ => Arc::new(Matrix::of_conv(&folded(&conv, scale.as_ref()))),
                },
                from,
                to,
                skip,
                act,
            },
            Self::Flatten {
                from,
                to,
                planes,
                order,
            } => Step::Flatten {
                from,
                to,
                planes,
                order,
            },
            Self::Ready(step) => step,
            Self::ConvWide {
                conv,
                scale,
                from,
                to,
                skip,
                act,
            } => Step::ConvWide {
                kernel: conv.kernel,
                in_blocks: blocks(conv.inputs()),
                matrix: match donor {
                    Some(Step::ConvWide { matrix, .. }) => matrix.clone(),
                    _ => Arc::new(Matrix::of_wide(&folded(&conv, scale.as_ref()))),
                },
                from,
                to,
                skip,
                act,
            },
            Self::DenseOnInput { dense, to, act } => Step::DenseOnInput {
                layer: SparseDense::new(&dense),
                bias: padded(&dense.bias),
                to,
                act,
            },
            Self::Dense {
                dense,
                order,
                from,
                to,
                skip,
                act,
            } => Step::Dense {
                matrix: match (donor, order) {
                    (Some(Step::Dense { matrix, .. }), InputOrder::AsWritten) => matrix.clone(),
                    _ => Arc::new(Matrix::of_dense(&dense, order)),
                },
                from,
                to,
                skip,
                act,
            },
            Self::Read {
                from,
                outputs,
                column,
            } => Step::Read {
                from,
                outputs,
                column,
            },
        }
    }
}

/// A convolution with the scale, bias and activation that follow it.
fn folded<'a>(conv: &'a Conv, scale: Option<&Scale>) -> Cow<'a, Conv> {
    let Some(scale) = scale else {
        return Cow::Borrowed(conv);
    };
    let mut weights = conv.weights.to_vec();
    let mut start = 0;
    let rows = conv.groups.iter().flat_map(|group| {
        let len = group.inputs * conv.kernel * conv.kernel;
        std::iter::repeat_n(len, group.outputs)
    });
    for (len, &scale) in rows.zip(&scale.scale) {
        for weight in &mut weights[start..start + len] {
            *weight *= scale;
        }
        start += len;
    }
    let bias = conv.bias.iter().zip(scale.scale.iter().zip(&scale.bias));
    Cow::Owned(Conv {
        kernel: conv.kernel,
        groups: conv.groups.clone(),
        weights: weights.into(),
        bias: bias
            .map(|(own, (scale, bias))| own * scale + bias)
            .collect(),
        activation: scale.activation,
    })
}

impl Matrix {
    fn of_conv(conv: &Conv) -> Self {
        let (panels, len) = panels_of(conv, conv.outputs());
        let mut weights = Buffer::zeroed(len);
        for (index, panel) in panels.iter().enumerate() {
            for k in 0..panel.depth {
                for lane in 0..BLOCK.min(conv.outputs() - index * BLOCK) {
                    let kernel =
                        kernel_of(conv, index * BLOCK + lane, panel.first_block * BLOCK + k);
                    weights[panel.offset + k * BLOCK + lane] =
                        kernel.map_or(0.0, |kernel| kernel[0]);
                }
            }
        }
        Self {
            panels,
            weights,
            bias: padded(&conv.bias),
        }
    }

    /// A kernel of any size as one matrix: inputs are the planes of every tap in turn, each padded to whole blocks.
    fn of_wide(conv: &Conv) -> Self {
        let (inputs, outputs, taps) = (conv.inputs(), conv.outputs(), conv.kernel * conv.kernel);
        let depth = taps * blocks(inputs) * BLOCK;
        let panels: Vec<Panel> = (0..blocks(outputs))
            .map(|index| Panel {
                first_block: 0,
                depth,
                offset: index * depth * BLOCK,
            })
            .collect();
        let mut weights = Buffer::zeroed(panels.len() * depth * BLOCK);
        for output in 0..outputs {
            for input in 0..inputs {
                let Some(kernel) = kernel_of(conv, output, input) else {
                    continue;
                };
                for (tap, &weight) in kernel.iter().enumerate() {
                    let k = tap * blocks(inputs) * BLOCK + input;
                    weights[panels[output / BLOCK].offset + k * BLOCK + output % BLOCK] = weight;
                }
            }
        }
        Self {
            panels,
            weights,
            bias: padded(&conv.bias),
        }
    }

    fn of_dense(dense: &Dense, order: InputOrder) -> Self {
        let depth = dense.inputs;
        let place = |input: usize| match order {
            InputOrder::AsWritten => input,
            InputOrder::Blocked { area } => {
                let (plane, cell) = (input / area, input % area);
                (plane / BLOCK * area + cell) * BLOCK + plane % BLOCK
            }
        };
        let panels: Vec<Panel> = (0..blocks(dense.outputs))
            .map(|index| Panel {
                first_block: 0,
                depth,
                offset: index * depth * BLOCK,
            })
            .collect();
        let mut weights = Buffer::zeroed(panels.len() * depth * BLOCK);
        for (output, row) in dense.weights.chunks_exact(depth).enumerate() {
            let offset = panels[output / BLOCK].offset + output % BLOCK;
            for (input, &weight) in row.iter().enumerate() {
                weights[offset + place(input) * BLOCK] = weight;
            }
        }
        Self {
            panels,
            weights,
            bias: padded(&dense.bias),
        }
    }
}

/// A factor and an addend for every plane, padded to whole blocks.
pub(super) struct Affine {
    pub(super) scale: Buffer,
    pub(super) bias: Buffer,
}

impl Affine {
    pub(super) fn new(scale: &[f32], bias: &[f32]) -> Self {
        Self {
            scale: padded(scale),
            bias: padded(bias),
        }
    }
}

fn padded(bias: &[f32]) -> Buffer {
    let mut buffer = Buffer::zeroed(blocks(bias.len()) * BLOCK);
    buffer[..bias.len()].copy_from_slice(bias);
    buffer
}
