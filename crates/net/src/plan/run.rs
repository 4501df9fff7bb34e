//! Working through the steps of a program for a few positions.

use std::mem;

use super::board::BoardSpace;
use super::compile::Program;
use super::pack::Matrix;
use super::step::{FlatOrder, Step};
use crate::kernels::activation::Act;
use crate::kernels::gemm::Gemm;
use crate::kernels::layout::{PlaneLayout, TileLayout};
use crate::kernels::memory::Buffer;
use crate::kernels::sparse::{FinishRows, Found};
use crate::kernels::winograd::{Before, Gather, NextTiles, Scatter, Skip};
use crate::kernels::{BLOCK, Isa, blocks, padded_rows};
use crate::network::Reading;

/// The memory of one call.
pub(super) struct Workspace {
    pub(super) planes: Vec<Buffer>,
    pub(super) vectors: Vec<Buffer>,
    pub(super) board: BoardSpace,
    tiles: Buffer,
    products: Buffer,
    /// One plane between two convolutions, see [`Before`].
    activated: Buffer,
    found: Found,
}

impl Workspace {
    pub(super) fn new(program: &Program, batch: usize) -> Self {
        let plane_len = PlaneLayout::new(program.input.height, program.input.width).plane_len;
        let tiles = |blocks: usize| match &program.tiling {
            Some(tiling) => TileLayout::capacity(tiling, blocks, batch),
            None => 0,
        };
        let widest =
            |blocks_of: fn(&Step) -> usize| program.steps.iter().map(blocks_of).max().unwrap_or(0);
        let input_blocks = widest(|step| match step {
            Step::Conv3 { conv, .. } => conv.in_blocks,
            _ => 0,
        });
        let output_blocks = widest(|step| match step {
            Step::Conv3 { conv, .. } => conv.out_blocks,
            _ => 0,
        });
        Self {
            planes: program
                .plane_blocks
                .iter()
                .map(|blocks| Buffer::zeroed(batch * blocks * plane_len))
                .collect(),
            vectors: program
                .vector_blocks
                .iter()
                .map(|blocks| Buffer::zeroed(blocks * padded_rows(batch) * BLOCK))
                .collect(),
            board: BoardSpace::default(),
            activated: Buffer::zeroed(plane_len),
            tiles: Buffer::zeroed(tiles(input_blocks)),
            products: Buffer::zeroed(tiles(output_blocks)),
            found: Found::default(),
        }
    }
}

impl Program {
    /// Evaluates `batch` positions, at most as many as the workspace was made for.
    pub(super) fn run(
        &self,
        isa: Isa,
        work: &mut Workspace,
        batch: usize,
        planes: &[f32],
        rows: &mut [f32],
    ) {
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                Step::LoadPlanes { to } => {
                    self.load_planes(planes, batch, self.plane_blocks[*to], &mut work.planes[*to])
                }
                Step::Conv3 { .. } => self.conv3(isa, work, batch, index),
                Step::Conv1 {
                    matrix,
                    from,
                    to,
                    skip,
                    act,
                } => {
                    let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                    let input = (&work.planes[*from][..], self.plane_blocks[*from]);
                    let skip = skip.map(|skip| &work.planes[skip][..]);
                    self.conv1(isa, batch, matrix, input, skip, *act, &mut output);
                    work.planes[*to] = output;
                }
                Step::Flatten {
                    from,
                    to,
                    planes,
                    order,
                } => {
                    self.flatten(
                        batch,
                        &work.planes[*from],
                        *planes,
                        *order,
                        &mut work.vectors[*to],
                    );
                }
                Step::Pool { .. }
                | Step::Globals { .. }
                | Step::ConvWide { .. }
                | Step::Activate { .. }
                | Step::ActivateVector { .. }
                | Step::RmsNorm { .. }
                | Step::Attention { .. }
                | Step::Multiply { .. }
                | Step::WithPass { .. } => self.board_step(isa, work, batch, planes, step),
                Step::DenseOnInput {
                    layer,
                    bias,
                    to,
                    act,
                } => {
                    let numbers = &mut work.vectors[*to][..];
                    layer.run(isa, batch, planes, &mut work.found, numbers);
                    let stride = padded_rows(batch) * BLOCK;
                    FinishRows {
                        rows: batch,
                        stride,
                        bias,
                        act: *act,
                        numbers,
                        skip: None,
                    }
                    .run(isa);
                }
                Step::Dense {
                    matrix,
                    from,
                    to,
                    skip,
                    act,
                } => {
                    let mut output = mem::replace(&mut work.vectors[*to], Buffer::zeroed(0));
                    let skip = skip.map(|skip| &work.vectors[skip][..]);
                    dense(
                        isa,
                        batch,
                        matrix,
                        &work.vectors[*from],
                        skip,
                        *act,
                        &mut output,
                    );
                    work.vectors[*to] = output;
                }
                Step::Read {
                    from,
                    outputs,
                    column,
                } => {
                    for (position, row) in rows.chunks_exact_mut(self.output_len).enumerate() {
                        let mut start = *column;
                        for output in outputs {
                            let numbers = &mut row[start..start + output.len];
                            copy_row(
                                &work.vectors[*from],
                                batch,
                                position,
                                start - column,
                                numbers,
                            );
                            read(output.reading, numbers);
                            start += output.len;
                        }
                    }
                }
            }
        }
    }

    fn load_planes(&self, planes: &[f32], batch: usize, blocks: usize, to: &mut [f32]) {
        let layout = PlaneLayout::new(self.input.height, self.input.width);
        let row_len = self.input.len() + self.globals;
        for (board, row) in planes.chunks_exact(row_len).enumerate().take(batch) {
            let position = &row[..self.input.len()];
            for (plane, cells) in position.chunks_exact(self.input.area()).enumerate() {
                let block = (board * blocks + plane / BLOCK) * layout.plane_len + plane % BLOCK;
                for (row, cells) in cells.chunks_exact(self.input.width).enumerate() {
                    let start = block + layout.cell(row, 0);
                    let places = to[start..].iter_mut().step_by(BLOCK);
                    for (place, &cell) in places.zip(cells) {
                        *place = cell;
                    }
                }
            }
        }
    }

    fn conv3(&self, isa: Isa, work: &mut Workspace, batch: usize, index: usize) {
        let Step::Conv3 {
            conv,
            from,
            to,
            skip,
            act,
            prepared,
            next_blocks,
            activates_next,
            transient,
        } = &self.steps[index]
        else {
            return;
        };
        let tiling = self
            .tiling
            .as_deref()
            .expect("a plan with convolutions has a tiling");
        if !prepared {
            let (planes, tiles) = (&work.planes[*from][..], &mut work.tiles[..]);
            Scatter {
                tiling,
                batch,
                blocks: conv.in_blocks,
                plane_blocks: self.plane_blocks[*from],
                planes,
                tiles,
                pairs: conv.pairs,
            }
            .run(isa);
        }
        conv.multiply(isa, batch, &work.tiles, &mut work.products);
        let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
        Gather {
            tiling,
            batch,
            blocks: conv.out_blocks,
            plane_blocks: self.plane_blocks[*to],
            products: &work.products,
            bias: &conv.bias,
            act: *act,
            skip: match skip {
                None => Skip::Nothing,
                Some(skip) if skip == to => Skip::InPlace,
                Some(skip) => Skip::Planes(&work.planes[*skip]),
            },
            planes: &mut output,
            transient: *transient,
            next: next_blocks.map(|blocks| NextTiles {
                blocks,
                tiles: &mut work.tiles,
                pairs: conv.pairs,
                before: match self.steps.get(index + 1) {
                    Some(Step::Activate { affine, act, .. }) if *activates_next => Some(Before {
                        scale: &affine.scale,
                        bias: &affine.bias,
                        act: *act,
                        plane: &mut work.activated,
                    }),
                    _ => None,
                },
            }),
        }
        .run(isa);
        work.planes[*to] = output;
    }

    #[allow(clippy::too_many_arguments)]
    fn conv1(
        &self,
        isa: Isa,
        batch: usize,
        matrix: &Matrix,
        (input, input_blocks): (&[f32], usize),
        skip: Option<&[f32]>,
        act: Act,
        output: &mut [f32],
    ) {
        let layout = PlaneLayout::new(self.input.height, self.input.width);
        // One product over all cells from the first to the last, with the borders left and right in between.
        let first = layout.cell(0, 0);
        let rows = (layout.cell(self.input.height - 1, self.input.width - 1) - first) / BLOCK + 1;
        let output_blocks = matrix.panels.len();
        for board in 0..batch {
            let from = board * input_blocks * layout.plane_len;
            let to = board * output_blocks * layout.plane_len;
            let output = &mut output[to..][..output_blocks * layout.plane_len];
            Gemm {
                input: &input[from..][..input_blocks * layout.plane_len][first..],
                input_stride: layout.plane_len,
                output: &mut output[first..],
                output_stride: layout.plane_len,
                rows,
                panels: &matrix.panels,
                weights: &matrix.weights,
            }
            .run(isa);
            let skip = skip.map(|skip| &skip[to..][..output_blocks * layout.plane_len][first..]);
            let numbers = &mut output[first..];
            FinishRows {
                rows,
                stride: layout.plane_len,
                bias: &matrix.bias,
                act,
                numbers,
                skip,
            }
            .run(isa);
            for plane in output.chunks_exact_mut(layout.plane_len) {
                for row in plane.chunks_exact_mut(layout.row_stride) {
                    row[..BLOCK].fill(0.0);
                    row[layout.row_stride - BLOCK..].fill(0.0);
                }
            }
        }
    }

    fn flatten(&self, batch: usize, from: &[f32], planes: usize, order: FlatOrder, to: &mut [f32]) {
        let layout = PlaneLayout::new(self.input.height, self.input.width);
        let (width, area) = (self.input.width, self.input.area());
        let stride = padded_rows(batch) * BLOCK;
        for board in 0..batch {
            let from = &from[board * blocks(planes) * layout.plane_len..];
            let to = &mut to[board * BLOCK..];
            match order {
                FlatOrder::Blocked => {
                    for block in 0..blocks(planes) {
                        for cell in 0..area {
                            let source =
                                block * layout.plane_len + layout.cell(cell / width, cell % width);
                            let target = (block * area + cell) * stride;
                            to[target..target + BLOCK]
                                .copy_from_slice(&from[source..source + BLOCK]);
                        }
                    }
                }
                FlatOrder::Natural => {
                    let mut index = 0;
                    for plane in 0..planes {
                        let plane = plane / BLOCK * layout.plane_len + plane % BLOCK;
                        for row in 0..self.input.height {
                            let cells = from[plane + layout.cell(row, 0)..]
                                .iter()
                                .step_by(BLOCK)
                                .take(width);
                            for &cell in cells {
                                to[index / BLOCK * stride + index % BLOCK] = cell;
                                index += 1;
                            }
                        }
                    }
                }
            }
        }
    }
}

fn dense(
    isa: Isa,
    batch: usize,
    matrix: &Matrix,
    input: &[f32],
    skip: Option<&[f32]>,
    act: Act,
    output: &mut [f32],
) {
    let stride = padded_rows(batch) * BLOCK;
    Gemm {
        input,
        input_stride: stride,
        output: &mut *output,
        output_stride: stride,
        rows: batch,
        panels: &matrix.panels,
        weights: &matrix.weights,
    }
    .run(isa);
    FinishRows {
        rows: batch,
        stride,
        bias: &matrix.bias,
        act,
        numbers: output,
        skip,
    }
    .run(isa);
}

/// A stretch of one position's vector.
fn copy_row(vectors: &[f32], batch: usize, position: usize, start: usize, to: &mut [f32]) {
    let stride = padded_rows(batch) * BLOCK;
    for (index, number) in (start..).zip(to) {
        *number = vectors[index / BLOCK * stride + position * BLOCK + index % BLOCK];
    }
}

/// Applies the last function of a network to one stretch of its row.
pub(crate) fn read(reading: Reading, numbers: &mut [f32]) {
    let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
    match reading {
        Reading::Raw => {}
        Reading::Softmax => {
            let largest = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            numbers
                .iter_mut()
                .for_each(|number| *number = (*number - largest).exp());
            normalize(numbers);
        }
        Reading::NormalizedSigmoid => {
            numbers
                .iter_mut()
                .for_each(|number| *number = sigmoid(*number));
            normalize(numbers);
        }
        Reading::Sigmoid => numbers
            .iter_mut()
            .for_each(|number| *number = sigmoid(*number)),
        Reading::Tanh => numbers
            .iter_mut()
            .for_each(|number| *number = number.tanh()),
        Reading::Winrate => numbers
            .iter_mut()
            .for_each(|number| *number = (1.0 + number.tanh()) / 2.0),
        Reading::Softplus => {
            numbers
                .iter_mut()
                .for_each(|number| *number = number.max(0.0) + (-number.abs()).exp().ln_1p());
        }
    }
}

fn normalize(numbers: &mut [f32]) {
    let sum: f32 = numbers.iter().sum();
    if sum > 0.0 {
        numbers.iter_mut().for_each(|number| *number /= sum);
    }
}
