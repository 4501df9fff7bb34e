//! From layers to steps: who writes which memory, who reads it, and what can be done in one go.

mod layers;

use std::sync::Arc;

use rayon::prelude::*;

use super::memory::{Slots, Value};
use super::pack::Draft;
use super::step::{FlatOrder, Step, join_convolutions};
use crate::backend::OpenError;
use crate::kernels::tiling::Tiling;
use crate::kernels::weights::row_of;
use crate::kernels::{Arithmetic, blocks};
use crate::network::{Activation, Conv, Layer, Network};
use crate::shape::PlaneShape;

/// Positions at once for convolutions, see the module above; dense layers want whole strips of rows instead.
const BOARDS_AT_ONCE: usize = 4;
const ROWS_AT_ONCE: usize = 96;

/// Calls before the weights of the first layer move to huge pages: a network that is only looked at never pays.
const USES_BEFORE_SETTLING: u32 = 8;

/// Cells of a tile along one side in bf16: with 5 the transforms would magnify its rounding tenfold.
const BF16_TILES: usize = 4;

/// A network as steps over numbered pieces of memory.
pub(super) struct Program {
    pub(super) input: PlaneShape,
    pub(super) globals: usize,
    pub(super) output_len: usize,
    /// `None` if no step needs the board cut into tiles.
    pub(super) tiling: Option<Arc<Tiling>>,
    pub(super) steps: Vec<Step>,
    /// Blocks of 16 planes of each piece of planes.
    pub(super) plane_blocks: Vec<usize>,
    /// Blocks of 16 numbers of each piece of vectors.
    pub(super) vector_blocks: Vec<usize>,
    pub(super) positions_at_once: usize,
    pub(super) convolution_flops: (f64, f64),
}

/// What a residual does after its last layer.
#[derive(Clone, Copy)]
struct Join {
    skipped: Value,
    activation: Activation,
    /// Nobody needs what is skipped after this.
    last_use: bool,
}

impl Program {
    /// `donor` is the same network for another board, in the same precision: weights are shared with it where they are
    /// the same. The network is let go of before its weights are packed.
    pub(super) fn compile(
        network: Network,
        precision: Arithmetic,
        donor: Option<&Self>,
    ) -> Result<Self, OpenError> {
        let (height, width) = (network.input.height, network.input.width);
        let tiling = match precision {
            Arithmetic::Full => Tiling::new(height, width),
            Arithmetic::Bf16 => Tiling::with_tiles_up_to(BF16_TILES, height, width),
        }
        .map(Arc::new);
        // A side of five cells has no smaller tiles, so such a board is not rounded.
        let precision = match &tiling {
            Some(tiling) if tiling.largest_tile() > BF16_TILES => Arithmetic::Full,
            _ => precision,
        };
        let mut compiler = Compiler {
            board: network.input,
            tiling: tiling.clone(),
            drafts: Vec::new(),
            planes: Slots::default(),
            vectors: Slots::default(),
            column: 0,
            has_globals: network.globals > 0,
        };
        let trunk = compiler.layers(&network.trunk, Value::Input)?;
        compiler.pin(trunk);
        for head in &network.heads {
            let end = compiler.layers(&head.layers, trunk)?;
            let from = compiler.vector(end, FlatOrder::Natural);
            compiler.drafts.push(Draft::Read {
                from,
                outputs: head.outputs.clone(),
                column: compiler.column,
            });
            compiler.column += head.outputs.iter().map(|output| output.len).sum::<usize>();
        }
        let convolves = compiler.drafts.iter().any(|draft| {
            matches!(
                draft,
                Draft::Conv3 { .. } | Draft::Conv1 { .. } | Draft::ConvWide { .. }
            )
        });
        let convolution_flops = compiler.convolution_flops();
        let tiling = tiling.filter(|_| {
            compiler
                .drafts
                .iter()
                .any(|draft| matches!(draft, Draft::Conv3 { .. }))
        });
        let (input, globals) = (network.input, network.globals);
        // What only the drafts hold now is freed draft by draft.
        drop(network);
        let donor = donor.filter(|donor| donor.steps.len() == compiler.drafts.len());
        let mut steps: Vec<Step> = compiler
            .drafts
            .into_par_iter()
            .enumerate()
            .map(|(index, draft)| {
                let donor = donor.map(|donor| &donor.steps[index]);
                draft.pack(tiling.as_ref(), donor).rounded(precision)
            })
            .collect();
        join_convolutions(&mut steps);
        for (settles_after, step) in (USES_BEFORE_SETTLING..).zip(&mut steps) {
            if let Step::Conv3 { conv, .. } = step {
                conv.settles_after = settles_after;
            }
        }
        Ok(Self {
            input,
            globals,
            output_len: compiler.column,
            tiling,
            steps,
            plane_blocks: compiler.planes.blocks,
            vector_blocks: compiler.vectors.blocks,
            positions_at_once: if convolves {
                BOARDS_AT_ONCE
            } else {
                ROWS_AT_ONCE
            },
            convolution_flops,
        })
    }
}

struct Compiler {
    board: PlaneShape,
    tiling: Option<Arc<Tiling>>,
    drafts: Vec<Draft>,
    planes: Slots,
    vectors: Slots,
    /// Where the next head's results go in a row.
    column: usize,
    has_globals: bool,
}

impl Compiler {
    fn layers(&mut self, layers: &[Layer], input: Value) -> Result<Value, OpenError> {
        let mut value = input;
        let mut index = 0;
        while let Some(layer) = layers.get(index) {
            let next = match (layer, layers.get(index + 1)) {
                (Layer::Conv(conv), Some(Layer::Scale(scale))) if folds(conv) => {
                    index += 1;
                    let outputs = conv.outputs();
                    self.conv(conv, Some(scale), value, None, outputs)?
                }
                _ => self.layer(layer, value, None)?,
            };
            if !next.shares_memory_with(value) {
                self.release(value);
            }
            value = next;
            index += 1;
        }
        Ok(value)
    }

    fn ready(&mut self, step: Step) {
        self.drafts.push(Draft::Ready(step));
    }

    /// The same value, as planes if it is still the input.
    fn loaded(&mut self, value: Value) -> Value {
        match value {
            Value::Input => {
                let (at, planes) = self.in_planes(value);
                Value::of_planes(at, planes)
            }
            other => other,
        }
    }

    /// The same value for two branches, of which only one may look at it.
    fn shared(&mut self, value: Value, planes: &[Layer]) -> Value {
        match planes.first() {
            Some(Layer::AddVector { .. }) => value,
            _ => self.loaded(value),
        }
    }

    /// Where `value` lies as planes.
    fn in_planes(&mut self, value: Value) -> (usize, usize) {
        match value {
            Value::Planes { at, planes, .. } => (at, planes),
            Value::Input => {
                let to = self.planes.take(blocks(self.board.planes));
                self.drafts.push(Draft::LoadPlanes { to });
                (to, self.board.planes)
            }
            Value::Vector { .. } => unreachable!("checked: a convolution follows planes"),
        }
    }

    /// Where `value` lies as vectors.
    fn vector(&mut self, value: Value, order: FlatOrder) -> usize {
        match value {
            Value::Vector { at, .. } => at,
            other => {
                let (from, planes) = self.in_planes(other);
                let to = self.vectors.take(blocks(planes * self.board.area()));
                self.drafts.push(Draft::Flatten {
                    from,
                    to,
                    planes,
                    order,
                });
                to
            }
        }
    }

    /// Keeps a value from being overwritten; the result goes to [`unpin`](Self::unpin).
    fn pin(&mut self, value: Value) -> bool {
        match value {
            Value::Planes { at, .. } => self.planes.pin(at),
            Value::Vector { at, .. } => self.vectors.pin(at),
            Value::Input => true,
        }
    }

    fn unpin(&mut self, value: Value, was_pinned: bool) {
        if was_pinned {
            return;
        }
        match value {
            Value::Planes { at, .. } => self.planes.pinned[at] = false,
            Value::Vector { at, .. } => self.vectors.pinned[at] = false,
            Value::Input => {}
        }
    }

    fn release(&mut self, value: Value) {
        match value {
            Value::Planes { at, .. } => self.planes.release(at),
            Value::Vector { at, .. } => self.vectors.release(at),
            Value::Input => {}
        }
    }

    /// Of one position: done directly, and by the tiling.
    fn convolution_flops(&self) -> (f64, f64) {
        let Some(tiling) = &self.tiling else {
            return (0.0, 0.0);
        };
        let pairs: usize = self
            .drafts
            .iter()
            .map(|draft| match draft {
                Draft::Conv3 { conv, outputs, .. } => pairs(conv, *outputs),
                _ => 0,
            })
            .sum();
        let pairs = 2.0 * pairs as f64;
        (
            pairs * (9 * self.board.area()) as f64,
            pairs * tiling.multiplications() as f64,
        )
    }
}

/// Whether a scale after the convolution can become part of it.
fn folds(conv: &Conv) -> bool {
    conv.activation == Activation::Identity
}

/// Pairs of planes that the first `outputs` outputs of a convolution multiply.
fn pairs(conv: &Conv, outputs: usize) -> usize {
    let rows = (0..outputs).filter_map(|output| row_of(conv, output));
    rows.map(|(_, row)| row.len() / (conv.kernel * conv.kernel))
        .sum()
}
