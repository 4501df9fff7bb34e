//! Attention as two matrix products with a softmax between them.
//!
//! For one head: queries are rows, keys become panels of 16 "outputs", so that the first product leaves the scores of
//! a query in blocks of 16 keys. After the softmax, those same blocks are the left side of the second product, whose
//! panels are the values. Queries go a few at a time, so that their scores stay in the second cache.

use super::activation::exp;
use super::gemm::{Gemm, Panel};
use super::isa::Isa;
use super::lanes::{Job, Lanes};
use super::memory::Buffer;
use super::pointwise::{Grid, largest_of, total_of};
use super::{BLOCK, blocks, padded_rows};

/// Queries worked on together.
const QUERIES: usize = 96;

/// The sizes of an attention layer on one board.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttentionShape {
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) query_len: usize,
    pub(crate) value_len: usize,
    pub(crate) grid: Grid,
}

impl AttentionShape {
    fn area(&self) -> usize {
        self.grid.rows * self.grid.columns
    }
}

/// Cosine and sine of the turn of every pair of planes at every point.
pub(crate) struct Turns {
    /// `[kv head][point][query length]`: the cosine of a pair twice, so that neighbours find it at their own place.
    cos: Vec<f32>,
    /// The sine, negative at the first of a pair.
    sin: Vec<f32>,
}

impl Turns {
    /// From radians a column and radians a row, `[kv head][pair][2]`; without them nothing turns.
    pub(crate) fn new(shape: &AttentionShape, frequencies: Option<&[f32]>) -> Self {
        let (len, area) = (shape.query_len, shape.area());
        let mut cos = vec![1.0; shape.kv_heads * area * len];
        let mut sin = vec![0.0; shape.kv_heads * area * len];
        if let Some(frequencies) = frequencies {
            for head in 0..shape.kv_heads {
                for point in 0..area {
                    let (row, column) = (point / shape.grid.columns, point % shape.grid.columns);
                    for pair in 0..len / 2 {
                        let at = (head * (len / 2) + pair) * 2;
                        let angle = column as f64 * f64::from(frequencies[at])
                            + row as f64 * f64::from(frequencies[at + 1]);
                        let to = (head * area + point) * len + 2 * pair;
                        cos[to] = angle.cos() as f32;
                        cos[to + 1] = cos[to];
                        sin[to] = -angle.sin() as f32;
                        sin[to + 1] = angle.sin() as f32;
                    }
                }
            }
        }
        Self { cos, sin }
    }

    fn of(&self, head: usize, point: usize, area: usize, len: usize) -> (&[f32], &[f32]) {
        let start = (head * area + point) * len;
        (&self.cos[start..start + len], &self.sin[start..start + len])
    }
}

/// The memory of one call.
pub(crate) struct AttentionSpace {
    queries: Buffer,
    keys: Buffer,
    values: Buffer,
    scores: Buffer,
    sums: Buffer,
    results: Buffer,
}

impl AttentionSpace {
    pub(crate) fn new(shape: &AttentionShape) -> Self {
        let (area, panels) = (shape.area(), blocks(shape.area()));
        Self {
            queries: Buffer::zeroed(blocks(shape.query_len) * padded_rows(area) * BLOCK),
            keys: Buffer::zeroed(panels * shape.query_len * BLOCK),
            values: Buffer::zeroed(blocks(shape.value_len) * area * BLOCK),
            scores: Buffer::zeroed(panels * padded_rows(QUERIES) * BLOCK),
            sums: Buffer::zeroed(QUERIES),
            results: Buffer::zeroed(blocks(shape.value_len) * padded_rows(QUERIES) * BLOCK),
        }
    }
}

/// Attention of one board: planes of queries, keys and values to planes of results.
pub(crate) struct Attend<'a> {
    pub(crate) shape: AttentionShape,
    pub(crate) turns: &'a Turns,
    pub(crate) queries: &'a [f32],
    pub(crate) keys: &'a [f32],
    pub(crate) values: &'a [f32],
    pub(crate) results: &'a mut [f32],
    pub(crate) space: &'a mut AttentionSpace,
}

impl Attend<'_> {
    pub(crate) fn run(mut self, isa: Isa) {
        let shared_by = self.shape.heads / self.shape.kv_heads;
        for head in 0..self.shape.heads {
            let kv_head = head / shared_by;
            if head % shared_by == 0 {
                self.pack_keys(kv_head);
                self.pack_values(kv_head);
            }
            self.pack_queries(head, kv_head);
            let area = self.shape.area();
            for first in (0..area).step_by(QUERIES) {
                self.attend(isa, head, first, QUERIES.min(area - first));
            }
        }
    }

    /// Where the number of a plane at a point lies.
    fn place(&self, plane: usize, point: usize) -> usize {
        let grid = &self.shape.grid;
        let (row, column) = (point / grid.columns, point % grid.columns);
        plane / BLOCK * grid.block_stride
            + grid.first
            + row * grid.row_stride
            + column * BLOCK
            + plane % BLOCK
    }

    /// Consecutive planes at one point.
    #[inline]
    fn copy(&self, planes: &[f32], first: usize, point: usize, to: &mut [f32]) {
        if first.is_multiple_of(BLOCK) && to.len().is_multiple_of(BLOCK) {
            let start = self.place(first, point);
            for (block, to) in to.chunks_exact_mut(BLOCK).enumerate() {
                let at = start + block * self.shape.grid.block_stride;
                to.copy_from_slice(&planes[at..at + BLOCK]);
            }
            return;
        }
        for (k, number) in to.iter_mut().enumerate() {
            *number = planes[self.place(first + k, point)];
        }
    }

    /// One head's planes at one point, turned.
    fn turned(&self, planes: &[f32], head: usize, kv_head: usize, point: usize, to: &mut [f32]) {
        let len = self.shape.query_len;
        self.copy(planes, head * len, point, to);
        let (cos, sin) = self.turns.of(kv_head, point, self.shape.area(), len);
        for k in (0..len - len % 2).step_by(2) {
            let (a, b) = (to[k], to[k + 1]);
            to[k] = a * cos[k] + b * sin[k];
            to[k + 1] = b * cos[k + 1] + a * sin[k + 1];
        }
    }

    fn pack_queries(&mut self, head: usize, kv_head: usize) {
        let (len, area) = (self.shape.query_len, self.shape.area());
        let scale = 1.0 / (len as f32).sqrt();
        let stride = padded_rows(area) * BLOCK;
        let mut line = vec![0.0; len];
        for point in 0..area {
            self.turned(self.queries, head, kv_head, point, &mut line);
            for (block, part) in line.chunks(BLOCK).enumerate() {
                let at = block * stride + point * BLOCK;
                for (to, number) in self.space.queries[at..].iter_mut().zip(part) {
                    *to = number * scale;
                }
            }
        }
    }

    fn pack_keys(&mut self, kv_head: usize) {
        let (len, area) = (self.shape.query_len, self.shape.area());
        let mut line = vec![0.0; len];
        for point in 0..area {
            self.turned(self.keys, kv_head, kv_head, point, &mut line);
            let at = point / BLOCK * len * BLOCK + point % BLOCK;
            for (k, &number) in line.iter().enumerate() {
                self.space.keys[at + k * BLOCK] = number;
            }
        }
    }

    fn pack_values(&mut self, kv_head: usize) {
        let (len, area) = (self.shape.value_len, self.shape.area());
        let mut line = vec![0.0; len];
        for point in 0..area {
            self.copy(self.values, kv_head * len, point, &mut line);
            for (block, part) in line.chunks(BLOCK).enumerate() {
                let at = (block * area + point) * BLOCK;
                self.space.values[at..at + part.len()].copy_from_slice(part);
            }
        }
    }

    fn attend(&mut self, isa: Isa, head: usize, first: usize, queries: usize) {
        let (area, len) = (self.shape.area(), self.shape.query_len);
        let stride = padded_rows(queries) * BLOCK;
        let key_panels: Vec<Panel> = (0..blocks(area))
            .map(|panel| Panel {
                first_block: 0,
                depth: len,
                offset: panel * len * BLOCK,
            })
            .collect();
        Gemm {
            input: &self.space.queries[first * BLOCK..],
            input_stride: padded_rows(area) * BLOCK,
            output: &mut self.space.scores,
            output_stride: stride,
            rows: queries,
            panels: &key_panels,
            weights: &self.space.keys,
        }
        .run(isa);
        isa.run(Softmax {
            rows: queries,
            keys: area,
            stride,
            scores: &mut self.space.scores,
            sums: &mut self.space.sums,
        });
        let value_panels: Vec<Panel> = (0..blocks(self.shape.value_len))
            .map(|panel| Panel {
                first_block: 0,
                depth: area,
                offset: panel * area * BLOCK,
            })
            .collect();
        Gemm {
            input: &self.space.scores,
            input_stride: stride,
            output: &mut self.space.results,
            output_stride: stride,
            rows: queries,
            panels: &value_panels,
            weights: &self.space.values,
        }
        .run(isa);
        let len = self.shape.value_len;
        let aligned = len.is_multiple_of(BLOCK);
        for query in 0..queries {
            let share = 1.0 / self.space.sums[query];
            if aligned {
                let start = self.place(head * len, first + query);
                for block in 0..blocks(len) {
                    let from = &self.space.results[block * stride + query * BLOCK..][..BLOCK];
                    let to = start + block * self.shape.grid.block_stride;
                    for (to, from) in self.results[to..to + BLOCK].iter_mut().zip(from) {
                        *to = from * share;
                    }
                }
                continue;
            }
            for k in 0..len {
                let number = self.space.results[k / BLOCK * stride + query * BLOCK + k % BLOCK];
                let plane = head * len + k;
                let place = self.place(plane, first + query);
                self.results[place] = number * share;
            }
        }
    }
}

/// Scores become weights, up to a factor per row: `exp(score - largest)`; the sums are kept beside.
struct Softmax<'a> {
    rows: usize,
    keys: usize,
    /// From one block of keys to the next.
    stride: usize,
    /// `[block of keys][row][16]`.
    scores: &'a mut [f32],
    sums: &'a mut [f32],
}

impl Job for Softmax<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (whole, rest) = (self.keys / BLOCK, self.keys % BLOCK);
        for row in 0..self.rows {
            let at = |block: usize| block * self.stride + row * BLOCK;
            let mut max = L::splat(f32::NEG_INFINITY);
            for block in 0..whole {
                let line = &self.scores[at(block)..][..BLOCK];
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    max = max.max(L::read(&line[half..]));
                }
            }
            if rest > 0 {
                // Keys that do not exist count for nothing.
                let line = &mut self.scores[at(whole)..][..BLOCK];
                line[rest..].fill(f32::NEG_INFINITY);
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    max = max.max(L::read(&line[half..]));
                }
            }
            let largest = L::splat(largest_of(max));
            let mut sum = L::zero();
            for block in 0..whole + usize::from(rest > 0) {
                let line = &mut self.scores[at(block)..][..BLOCK];
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    let weight = exp(L::read(&line[half..]).sub(largest));
                    weight.write(&mut line[half..]);
                    sum = sum.add(weight);
                }
            }
            self.sums[row] = total_of(sum);
        }
    }
}
