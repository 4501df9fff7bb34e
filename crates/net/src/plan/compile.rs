//! From layers to steps: who writes which memory, who reads it, and what can be done in one go.

use std::sync::Arc;

use rayon::prelude::*;

use super::idle::busy_planes;
use super::pack::{Affine, Draft, InputOrder};
use super::step::{FlatOrder, Step, join_convolutions};
use crate::backend::OpenError;
use crate::kernels::activation::Act;
use crate::kernels::attention::{AttentionShape, Turns};
use crate::kernels::pointwise::Grid;
use crate::kernels::tiling::Tiling;
use crate::kernels::weights::row_of;
use crate::kernels::{BLOCK, Precision, blocks};
use crate::network::{Activation, Attention, Conv, Dense, Layer, Network, Scale};
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

/// What flows between layers while compiling.
#[derive(Clone, Copy)]
enum Value {
    Input,
    Planes {
        at: usize,
        planes: usize,
        /// An activation has cut off what was below zero.
        never_negative: bool,
    },
    Vector {
        at: usize,
    },
}

impl Value {
    fn of_planes(at: usize, planes: usize) -> Self {
        Self::Planes {
            at,
            planes,
            never_negative: false,
        }
    }

    fn never_negative(self) -> bool {
        matches!(
            self,
            Self::Planes {
                never_negative: true,
                ..
            }
        )
    }

    fn shares_memory_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Planes { at: a, .. }, Self::Planes { at: b, .. }) => a == b,
            (Self::Vector { at: a, .. }, Self::Vector { at: b, .. }) => a == b,
            _ => false,
        }
    }
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
    /// the same.
    pub(super) fn compile(
        network: &Network,
        precision: Precision,
        donor: Option<&Self>,
    ) -> Result<Self, OpenError> {
        let (height, width) = (network.input.height, network.input.width);
        let tiling = match precision {
            Precision::Full => Tiling::new(height, width),
            Precision::Bf16 => Tiling::with_tiles_up_to(BF16_TILES, height, width),
        }
        .map(Arc::new);
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
            input: network.input,
            globals: network.globals,
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

struct Compiler<'a> {
    board: PlaneShape,
    tiling: Option<Arc<Tiling>>,
    drafts: Vec<Draft<'a>>,
    planes: Slots,
    vectors: Slots,
    /// Where the next head's results go in a row.
    column: usize,
    has_globals: bool,
}

impl<'a> Compiler<'a> {
    fn layers(&mut self, layers: &'a [Layer], input: Value) -> Result<Value, OpenError> {
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

    fn layer(
        &mut self,
        layer: &'a Layer,
        input: Value,
        join: Option<Join>,
    ) -> Result<Value, OpenError> {
        match layer {
            Layer::Conv(conv) => self.conv(conv, None, input, join, conv.outputs()),
            Layer::Dense(dense) => Ok(self.dense(dense, input, join)),
            Layer::GlobalPool(pooling) => {
                let (from, planes) = self.in_planes(input);
                let to = self
                    .vectors
                    .take(blocks(pooling.numbers_per_plane() * planes));
                self.ready(Step::Pool {
                    from,
                    to,
                    planes,
                    pooling: *pooling,
                });
                Ok(Value::Vector { at: to })
            }
            Layer::Scale(scale) => Ok(self.scale(scale, input)),
            Layer::RmsNorm(norm) => {
                let (from, planes) = self.in_planes(input);
                let to = self.planes.take(blocks(planes));
                self.ready(Step::RmsNorm {
                    affine: Affine::new(&norm.scale, &norm.bias),
                    planes,
                    epsilon: norm.epsilon,
                    over: norm.over,
                    act: norm.activation.into(),
                    from,
                    to,
                });
                Ok(Value::of_planes(to, planes))
            }
            Layer::Attention(attention) => self.attention(attention, input),
            Layer::Gated(gated) => {
                let input = self.loaded(input);
                let was_pinned = self.pin(input);
                let outputs = gated.value.outputs();
                let value = self.conv(&gated.value, None, input, None, outputs)?;
                let gate = self.conv(&gated.gate, None, input, None, outputs)?;
                self.unpin(input, was_pinned);
                let ((to, _), (by, _)) = (self.in_planes(value), self.in_planes(gate));
                self.ready(Step::Multiply { by, to });
                self.release(gate);
                Ok(Value::of_planes(to, outputs))
            }
            Layer::AddVector { planes, vector } => {
                let input = self.shared(input, planes);
                let was_pinned = self.pin(input);
                let base = self.layers(planes, input)?;
                let added = self.layers(vector, input)?;
                self.unpin(input, was_pinned);
                let (from, count) = self.in_planes(base);
                let in_place = !base.shares_memory_with(input) && !self.planes.pinned[from];
                let to = if in_place {
                    from
                } else {
                    self.planes.take(blocks(count))
                };
                let added_at = self.vector(added, FlatOrder::Natural);
                self.ready(Step::Activate {
                    affine: Affine::new(&vec![1.0; count], &vec![0.0; count]),
                    act: Act::IDENTITY,
                    from,
                    to,
                    added: Some(added_at),
                });
                self.release(added);
                Ok(Value::of_planes(to, count))
            }
            Layer::WithPass { planes, pass } => {
                let input = self.loaded(input);
                let was_pinned = self.pin(input);
                let base = self.layers(planes, input)?;
                let passes = self.layers(pass, input)?;
                self.unpin(input, was_pinned);
                let (from, count) = self.in_planes(base);
                let pass = self.vector(passes, FlatOrder::Natural);
                let to = self.vectors.take(blocks(count * (self.board.area() + 1)));
                self.ready(Step::WithPass {
                    from,
                    planes: count,
                    pass,
                    to,
                });
                self.release(base);
                self.release(passes);
                Ok(Value::Vector { at: to })
            }
            Layer::Globals { start, len } => {
                let to = self.vectors.take(blocks(*len));
                self.ready(Step::Globals {
                    start: *start,
                    len: *len,
                    to,
                });
                Ok(Value::Vector { at: to })
            }
            Layer::Residual { body, activation } => {
                let skipped = match input {
                    Value::Input if matches!(body.first(), Some(Layer::Dense(_)) | None) => {
                        Value::Vector {
                            at: self.vector(input, FlatOrder::Natural),
                        }
                    }
                    other => self.loaded(other),
                };
                let (last, first) = body.split_last().expect("checked: a body has a last layer");
                let was_pinned = self.pin(skipped);
                let join = Join {
                    skipped,
                    activation: *activation,
                    last_use: !was_pinned,
                };
                let stays = skipped.never_negative() && join.last_use;
                let busy = busy_planes(body).filter(|_| stays);
                let (before_last, result) = match (busy, &body[..]) {
                    (Some(0), _) => (skipped, skipped),
                    (Some(busy), [Layer::Conv(first), Layer::Conv(second)]) => {
                        let between = self.conv(first, None, skipped, None, busy)?;
                        (between, self.conv(second, None, between, Some(join), busy)?)
                    }
                    _ => {
                        let before_last = self.layers(first, skipped)?;
                        (before_last, self.layer(last, before_last, Some(join))?)
                    }
                };
                if !before_last.shares_memory_with(result) {
                    self.release(before_last);
                }
                self.unpin(skipped, was_pinned);
                Ok(result)
            }
        }
    }

    /// A convolution, or the first `outputs` of its outputs; the others stay what they are if it works in place, else
    /// they do not exist.
    fn conv(
        &mut self,
        conv: &'a Conv,
        scale: Option<&'a Scale>,
        input: Value,
        join: Option<Join>,
        outputs: usize,
    ) -> Result<Value, OpenError> {
        let (from, _) = self.in_planes(input);
        let all_outputs = conv.outputs();
        let own = scale.map_or(conv.activation, |scale| scale.activation);
        let (skip, act) = self.joined(own, join);
        let in_place = join
            .filter(|join| join.last_use && conv.kernel == 3)
            .and(skip);
        let to = in_place.unwrap_or_else(|| self.planes.take(blocks(outputs)));
        match conv.kernel {
            3 if self.tiling.is_none() => {
                return Err(OpenError::BoardTooSmall {
                    height: self.board.height,
                    width: self.board.width,
                });
            }
            3 => self.drafts.push(Draft::Conv3 {
                conv,
                scale,
                outputs,
                from,
                to,
                skip,
                act,
            }),
            1 => self.drafts.push(Draft::Conv1 {
                conv,
                scale,
                from,
                to,
                skip,
                act,
            }),
            _ => self.drafts.push(Draft::ConvWide {
                conv,
                scale,
                from,
                to,
                skip,
                act,
            }),
        }
        Ok(Value::Planes {
            at: to,
            planes: in_place.map_or(outputs, |_| all_outputs),
            never_negative: act.never_negative(),
        })
    }

    fn scale(&mut self, scale: &Scale, input: Value) -> Value {
        let affine = Affine::new(&scale.scale, &scale.bias);
        let act = Act::from(scale.activation);
        if let Value::Vector { at: from } = input {
            let to = self.vectors.take(blocks(scale.scale.len()));
            self.ready(Step::ActivateVector {
                affine,
                act,
                from,
                to,
            });
            return Value::Vector { at: to };
        }
        let (from, planes) = self.in_planes(input);
        // Adding a vector leaves room for a scale and an activation in the same pass.
        if let Some(Draft::Ready(Step::Activate {
            affine: last,
            act: last_act @ Act::IDENTITY,
            to,
            added: Some(_),
            ..
        })) = self.drafts.last_mut()
            && *to == from
            && !self.planes.pinned[from]
        {
            (*last, *last_act) = (affine, act);
            return Value::of_planes(from, planes);
        }
        let to = if self.planes.pinned[from] {
            self.planes.take(blocks(planes))
        } else {
            from
        };
        self.ready(Step::Activate {
            affine,
            act,
            from,
            to,
            added: None,
        });
        Value::of_planes(to, planes)
    }

    fn attention(&mut self, attention: &'a Attention, input: Value) -> Result<Value, OpenError> {
        let input = self.loaded(input);
        let was_pinned = self.pin(input);
        let mut places = [0; 3];
        let convs = [&attention.query, &attention.key, &attention.value];
        for (place, conv) in places.iter_mut().zip(convs) {
            let planes = self.conv(conv, None, input, None, conv.outputs())?;
            *place = self.in_planes(planes).0;
        }
        self.unpin(input, was_pinned);
        let shape = AttentionShape {
            heads: attention.heads,
            kv_heads: attention.kv_heads,
            query_len: attention.query_len(),
            value_len: attention.value_len(),
            grid: Grid::planes(self.board.height, self.board.width),
        };
        let to = self.planes.take(blocks(attention.outputs()));
        let [query, key, value] = places;
        self.ready(Step::Attention {
            turns: Turns::new(&shape, attention.rotation.as_deref()),
            shape,
            query,
            key,
            value,
            to,
        });
        for place in places {
            self.planes.release(place);
        }
        Ok(Value::of_planes(to, attention.outputs()))
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

    fn dense(&mut self, dense: &'a Dense, input: Value, join: Option<Join>) -> Value {
        let (skip, act) = self.joined(dense.activation, join);
        let output_blocks = blocks(dense.outputs);
        if matches!(input, Value::Input) && skip.is_none() && !self.has_globals {
            let to = self.vectors.take(output_blocks);
            self.drafts.push(Draft::DenseOnInput { dense, to, act });
            return Value::Vector { at: to };
        }
        let order = match input {
            Value::Planes { planes, .. } if planes.is_multiple_of(BLOCK) => FlatOrder::Blocked,
            _ => FlatOrder::Natural,
        };
        let from = self.vector(input, order);
        let to = self.vectors.take(output_blocks);
        let order = match order {
            FlatOrder::Natural => InputOrder::AsWritten,
            FlatOrder::Blocked => InputOrder::Blocked {
                area: self.board.area(),
            },
        };
        self.drafts.push(Draft::Dense {
            dense,
            order,
            from,
            to,
            skip,
            act,
        });
        if !matches!(input, Value::Vector { .. }) {
            self.vectors.release(from);
        }
        Value::Vector { at: to }
    }

    fn joined(&self, own: Activation, join: Option<Join>) -> (Option<usize>, Act) {
        match join {
            None => (None, own.into()),
            Some(join) => match join.skipped {
                Value::Planes { at, .. } | Value::Vector { at, .. } => {
                    (Some(at), join.activation.into())
                }
                Value::Input => unreachable!("a residual loads its input first"),
            },
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

/// Pieces of memory, used again once nobody reads them any more.
#[derive(Default)]
struct Slots {
    blocks: Vec<usize>,
    free: Vec<bool>,
    pinned: Vec<bool>,
}

impl Slots {
    fn take(&mut self, blocks: usize) -> usize {
        if let Some(at) =
            (0..self.free.len()).find(|&at| self.free[at] && self.blocks[at] == blocks)
        {
            self.free[at] = false;
            return at;
        }
        self.blocks.push(blocks);
        self.free.push(false);
        self.pinned.push(false);
        self.blocks.len() - 1
    }

    fn release(&mut self, at: usize) {
        if !self.pinned[at] {
            self.free[at] = true;
        }
    }

    fn pin(&mut self, at: usize) -> bool {
        std::mem::replace(&mut self.pinned[at], true)
    }
}
