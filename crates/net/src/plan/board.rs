//! Steps that look at whole boards: pooling, normalisation, attention, wide convolutions.

use std::mem;

use super::compile::Program;
use super::pack::Matrix;
use super::run::Workspace;
use super::step::Step;
use crate::kernels::activation::Act;
use crate::kernels::attention::{Attend, AttentionSpace};
use crate::kernels::gemm::Gemm;
use crate::kernels::layout::PlaneLayout;
use crate::kernels::memory::Buffer;
use crate::kernels::pointwise::{Activate, Grid, Multiply, Normalize, SquareSums, SumAndMax};
use crate::kernels::sparse::FinishRows;
use crate::kernels::{BLOCK, Isa, blocks, padded_rows};
use crate::network::{NormOver, Pooling};

/// Memory of these steps.
#[derive(Default)]
pub(super) struct BoardSpace {
    attention: Option<((usize, usize), AttentionSpace)>,
    /// Numbers per plane or per point.
    small: [Vec<f32>; 2],
    /// The taps of a wide convolution, and its result.
    wide: [Vec<f32>; 2],
}

impl Program {
    pub(super) fn board_step(
        &self,
        isa: Isa,
        work: &mut Workspace,
        batch: usize,
        inputs: &[f32],
        step: &Step,
    ) {
        let grid = Grid::planes(self.input.height, self.input.width);
        let stride = padded_rows(batch) * BLOCK;
        match step {
            Step::Globals { start, len, to } => {
                let row_len = self.input.len() + self.globals;
                for (position, row) in inputs.chunks_exact(row_len).enumerate().take(batch) {
                    let globals = &row[self.input.len() + start..][..*len];
                    for (index, &number) in globals.iter().enumerate() {
                        let at = index / BLOCK * stride + position * BLOCK + index % BLOCK;
                        work.vectors[*to][at] = number;
                    }
                }
            }
            Step::Pool {
                from,
                to,
                planes,
                pooling,
            } => {
                for board in 0..batch {
                    let from = self.board(&work.planes, *from, board);
                    let [sums, maxima] = &mut work.board.small;
                    for numbers in [&mut *sums, &mut *maxima] {
                        numbers.resize(blocks(*planes) * BLOCK, 0.0);
                    }
                    SumAndMax {
                        grid,
                        planes: from,
                        sums,
                        maxima,
                    }
                    .run(isa);
                    let to = &mut work.vectors[*to];
                    let mut put = |index: usize, number: f32| {
                        to[index / BLOCK * stride + board * BLOCK + index % BLOCK] = number;
                    };
                    let area = self.input.area();
                    let (scaled, squared) = Pooling::size_factors(area);
                    for plane in 0..*planes {
                        let (mean, max) = (sums[plane] / area as f32, maxima[plane]);
                        put(plane, mean);
                        match pooling {
                            Pooling::MeanMax => put(planes + plane, max),
                            Pooling::MeanScaledMax => {
                                put(planes + plane, mean * scaled as f32);
                                put(2 * planes + plane, max);
                            }
                            Pooling::MeanScaledSquared => {
                                put(planes + plane, mean * scaled as f32);
                                put(2 * planes + plane, mean * squared as f32);
                            }
                        }
                    }
                }
            }
            Step::Activate { is_done: true, .. } => {}
            Step::Activate {
                affine,
                act,
                from,
                to,
                added,
                is_done: false,
            } => {
                let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                let count = blocks(affine.scale.len());
                for board in 0..batch {
                    let added = added.map(|at| {
                        let numbers = &mut work.board.small[0];
                        numbers.clear();
                        for block in 0..count {
                            let start = block * stride + board * BLOCK;
                            numbers.extend(&work.vectors[at][start..start + BLOCK]);
                        }
                        &numbers[..]
                    });
                    let start = board * self.plane_blocks[*to] * grid.block_stride;
                    Activate {
                        grid,
                        blocks: count,
                        scale: &affine.scale,
                        bias: &affine.bias,
                        added,
                        act: *act,
                        from: (from != to).then(|| self.board(&work.planes, *from, board)),
                        to: &mut output[start..],
                    }
                    .run(isa);
                }
                work.planes[*to] = output;
            }
            Step::ActivateVector {
                affine,
                act,
                from,
                to,
            } => {
                let mut output = mem::replace(&mut work.vectors[*to], Buffer::zeroed(0));
                for position in 0..batch {
                    Activate {
                        grid: Grid::vector(position, stride),
                        blocks: blocks(affine.scale.len()),
                        scale: &affine.scale,
                        bias: &affine.bias,
                        added: None,
                        act: *act,
                        from: Some(&work.vectors[*from]),
                        to: &mut output,
                    }
                    .run(isa);
                }
                work.vectors[*to] = output;
            }
            Step::RmsNorm {
                affine,
                planes,
                epsilon,
                over,
                act,
                from,
                to,
            } => {
                let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                let area = self.input.area();
                for board in 0..batch {
                    let from = self.board(&work.planes, *from, board);
                    let factors = &mut work.board.small[0];
                    factors.resize(area, 0.0);
                    SquareSums {
                        grid,
                        blocks: blocks(*planes),
                        planes: from,
                        sums: factors,
                    }
                    .run(isa);
                    let root = |squares: f32, count: usize| {
                        1.0 / (squares / count as f32 + epsilon).sqrt()
                    };
                    match over {
                        NormOver::Point => factors
                            .iter_mut()
                            .for_each(|factor| *factor = root(*factor, *planes)),
                        NormOver::Board => {
                            let all = root(factors.iter().sum(), planes * area);
                            factors.fill(all);
                        }
                    }
                    let start = board * self.plane_blocks[*to] * grid.block_stride;
                    Normalize {
                        grid,
                        scale: &affine.scale,
                        bias: &affine.bias,
                        factors,
                        act: *act,
                        from,
                        to: &mut output[start..],
                    }
                    .run(isa);
                }
                work.planes[*to] = output;
            }
            Step::Attention {
                shape,
                turns,
                query,
                key,
                value,
                to,
            } => {
                let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                let sizes = (shape.query_len, shape.value_len);
                let kept = work.board.attention.take();
                let kept = kept.filter(|(kept, _)| *kept == sizes);
                let (_, space) = work
                    .board
                    .attention
                    .insert(kept.unwrap_or_else(|| (sizes, AttentionSpace::new(shape))));
                for board in 0..batch {
                    let start = board * self.plane_blocks[*to] * grid.block_stride;
                    Attend {
                        shape: *shape,
                        turns,
                        queries: self.board(&work.planes, *query, board),
                        keys: self.board(&work.planes, *key, board),
                        values: self.board(&work.planes, *value, board),
                        results: &mut output[start..],
                        space,
                    }
                    .run(isa);
                }
                work.planes[*to] = output;
            }
            Step::Multiply { by, to } => {
                let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                let len = batch * self.plane_blocks[*to] * grid.block_stride;
                Multiply {
                    by: &work.planes[*by][..len],
                    to: &mut output[..len],
                }
                .run(isa);
                work.planes[*to] = output;
            }
            Step::WithPass {
                from,
                planes,
                pass,
                to,
            } => {
                let mut output = mem::replace(&mut work.vectors[*to], Buffer::zeroed(0));
                let layout = PlaneLayout::new(self.input.height, self.input.width);
                for position in 0..batch {
                    let board = self.board(&work.planes, *from, position);
                    let mut index = 0;
                    let mut put = |number: f32| {
                        output[index / BLOCK * stride + position * BLOCK + index % BLOCK] = number;
                        index += 1;
                    };
                    for plane in 0..*planes {
                        let (block, lane) = (plane / BLOCK, plane % BLOCK);
                        for row in 0..self.input.height {
                            for column in 0..self.input.width {
                                let cell = layout.cell(row, column);
                                put(board[block * layout.plane_len + cell + lane]);
                            }
                        }
                        put(work.vectors[*pass][block * stride + position * BLOCK + lane]);
                    }
                }
                work.vectors[*to] = output;
            }
            Step::ConvWide {
                matrix,
                kernel,
                in_blocks,
                from,
                to,
                skip,
                act,
            } => {
                let mut output = mem::replace(&mut work.planes[*to], Buffer::zeroed(0));
                for board in 0..batch {
                    let from = self.board(&work.planes, *from, board);
                    let skip = skip.map(|skip| self.board(&work.planes, skip, board));
                    let start = board * self.plane_blocks[*to] * grid.block_stride;
                    let wide = Wide {
                        matrix,
                        kernel: *kernel,
                        in_blocks: *in_blocks,
                        act: *act,
                    };
                    let to = &mut output[start..];
                    self.conv_wide(isa, &wide, from, skip, to, &mut work.board.wide);
                }
                work.planes[*to] = output;
            }
            _ => unreachable!("the other steps are run elsewhere"),
        }
    }

    /// One board of a piece of planes.
    fn board<'a>(&self, planes: &'a [Buffer], piece: usize, board: usize) -> &'a [f32] {
        let plane_len = PlaneLayout::new(self.input.height, self.input.width).plane_len;
        let len = self.plane_blocks[piece] * plane_len;
        &planes[piece][board * len..(board + 1) * len]
    }

    /// Every tap of every point becomes one row of a matrix: slow per tap, but such layers are small and rare.
    fn conv_wide(
        &self,
        isa: Isa,
        wide: &Wide<'_>,
        from: &[f32],
        skip: Option<&[f32]>,
        to: &mut [f32],
        [taps, result]: &mut [Vec<f32>; 2],
    ) {
        let layout = PlaneLayout::new(self.input.height, self.input.width);
        let (height, width, area) = (self.input.height, self.input.width, self.input.area());
        let stride = padded_rows(area) * BLOCK;
        let reach = wide.kernel / 2;
        taps.clear();
        taps.resize(wide.kernel * wide.kernel * wide.in_blocks * stride, 0.0);
        for tap in 0..wide.kernel * wide.kernel {
            let (down, right) = (tap / wide.kernel, tap % wide.kernel);
            for block in 0..wide.in_blocks {
                let at = (tap * wide.in_blocks + block) * stride;
                for row in 0..height {
                    let Some(source) = (row + down).checked_sub(reach).filter(|&row| row < height)
                    else {
                        continue;
                    };
                    // Columns whose tap lies on the board.
                    let first = reach.saturating_sub(right);
                    let end = (width + reach).saturating_sub(right).min(width);
                    if first >= end {
                        continue;
                    }
                    let start =
                        block * layout.plane_len + layout.cell(source, first + right - reach);
                    let len = (end - first) * BLOCK;
                    taps[at + (row * width + first) * BLOCK..][..len]
                        .copy_from_slice(&from[start..start + len]);
                }
            }
        }
        let panels = wide.matrix.panels.len();
        result.resize(panels * stride, 0.0);
        Gemm {
            input: taps,
            input_stride: stride,
            output: result,
            output_stride: stride,
            rows: area,
            panels: &wide.matrix.panels,
            weights: &wide.matrix.weights,
        }
        .run(isa);
        if let Some(skip) = skip {
            for block in 0..panels {
                for point in 0..area {
                    let cell = block * layout.plane_len + layout.cell(point / width, point % width);
                    let sums = &mut result[block * stride + point * BLOCK..][..BLOCK];
                    for (sum, skip) in sums.iter_mut().zip(&skip[cell..cell + BLOCK]) {
                        *sum += skip;
                    }
                }
            }
        }
        FinishRows {
            rows: area,
            stride,
            bias: &wide.matrix.bias,
            act: wide.act,
            numbers: result,
            skip: None,
        }
        .run(isa);
        for block in 0..panels {
            for row in 0..height {
                let cell = block * layout.plane_len + layout.cell(row, 0);
                let start = block * stride + row * width * BLOCK;
                to[cell..cell + width * BLOCK]
                    .copy_from_slice(&result[start..start + width * BLOCK]);
            }
        }
    }
}

/// A convolution of another size than 1x1 and 3x3.
struct Wide<'a> {
    matrix: &'a Matrix,
    kernel: usize,
    in_blocks: usize,
    act: Act,
}
