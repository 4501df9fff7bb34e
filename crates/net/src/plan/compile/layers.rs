//! Each layer as the steps it takes.

use super::{Compiler, Join};
use crate::backend::OpenError;
use crate::kernels::activation::Act;
use crate::kernels::attention::{AttentionShape, Turns};
use crate::kernels::pointwise::Grid;
use crate::kernels::{BLOCK, blocks};
use crate::network::{Activation, Attention, Conv, Dense, Layer, Scale};
use crate::plan::idle::busy_planes;
use crate::plan::memory::Value;
use crate::plan::pack::{Affine, Draft, InputOrder};
use crate::plan::step::{FlatOrder, Step};

impl Compiler {
    pub(super) fn layer(
        &mut self,
        layer: &Layer,
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
                    is_done: false,
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
    pub(super) fn conv(
        &mut self,
        conv: &Conv,
        scale: Option<&Scale>,
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
                conv: conv.clone(),
                scale: scale.cloned(),
                outputs,
                from,
                to,
                skip,
                act,
            }),
            1 => self.drafts.push(Draft::Conv1 {
                conv: conv.clone(),
                scale: scale.cloned(),
                from,
                to,
                skip,
                act,
            }),
            _ => self.drafts.push(Draft::ConvWide {
                conv: conv.clone(),
                scale: scale.cloned(),
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
            is_done: false,
        });
        Value::of_planes(to, planes)
    }

    fn attention(&mut self, attention: &Attention, input: Value) -> Result<Value, OpenError> {
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

    fn dense(&mut self, dense: &Dense, input: Value, join: Option<Join>) -> Value {
        let (skip, act) = self.joined(dense.activation, join);
        let output_blocks = blocks(dense.outputs);
        if matches!(input, Value::Input) && skip.is_none() && !self.has_globals {
            let to = self.vectors.take(output_blocks);
            self.drafts.push(Draft::DenseOnInput {
                dense: dense.clone(),
                to,
                act,
            });
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
            dense: dense.clone(),
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
}
