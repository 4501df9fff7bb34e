//! Layers that work on rows as they are: the first dense layer of a network of sparse planes, and finishing touches.

use super::activation::Act;
use super::isa::Isa;
use super::lanes::{Job, Lanes};
use super::memory::Buffer;
use super::{BLOCK, blocks, padded_rows};
use crate::network::Dense;

/// Outputs summed at once: several vectors, so that the additions of one input do not wait for those of the last.
const STRIPE: usize = 64;

/// A dense layer that skips the inputs that are zero.
///
/// Planes of a board position are mostly zeros: of the 1573 inputs of a group-safety network about 200 are not. The
/// weights are kept in stripes of 64 outputs, `[stripe][input][64]`; one stripe stays in the second-level cache while
/// all positions of a batch pass it.
pub(crate) struct SparseDense {
    inputs: usize,
    outputs: usize,
    weights: Buffer,
}

impl SparseDense {
    pub(crate) fn new(dense: &Dense) -> Self {
        let stripes = dense.outputs.div_ceil(STRIPE);
        let mut weights = Buffer::zeroed(stripes * dense.inputs * STRIPE);
        for (output, row) in dense.weights.chunks_exact(dense.inputs).enumerate() {
            let stripe = output / STRIPE * dense.inputs * STRIPE + output % STRIPE;
            for (input, &weight) in row.iter().enumerate() {
                weights[stripe + input * STRIPE] = weight;
            }
        }
        Self {
            inputs: dense.inputs,
            outputs: dense.outputs,
            weights,
        }
    }

    /// Writes `[block][row][16]`; `found` is scratch memory.
    pub(crate) fn run(
        &self,
        isa: Isa,
        batch: usize,
        planes: &[f32],
        found: &mut Found,
        output: &mut [f32],
    ) {
        let planes = &planes[..batch * self.inputs];
        isa.run(Search {
            found: &mut *found,
            planes,
            inputs: self.inputs,
        });
        assert!(found.starts.len() == batch + 1);
        assert!(output.len() >= blocks(self.outputs) * padded_rows(batch) * BLOCK);
        isa.run(SparseProduct {
            layer: self,
            batch,
            found,
            output,
        });
    }
}

/// The inputs that are not zero, position after position.
#[derive(Default)]
pub(crate) struct Found {
    /// Room for all inputs; only the first `starts.last()` are in use.
    indices: Vec<u32>,
    /// One for each index, unless all are 1.
    numbers: Vec<f32>,
    all_ones: bool,
    starts: Vec<usize>,
}

/// Bits of a mask that are looked up together.
const BYTE: usize = 8;

/// `BITS_OF[mask]`: the bits that are set in `mask`, in order, then anything.
static BITS_OF: [[u32; BYTE]; 1 << BYTE] = bits_of_masks();

const fn bits_of_masks() -> [[u32; BYTE]; 1 << BYTE] {
    let mut table = [[0; BYTE]; 1 << BYTE];
    let mut mask = 0;
    while mask < table.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < BYTE {
            if mask >> bit & 1 == 1 {
                table[mask][count] = bit as u32;
                count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
}

/// Looks for the inputs that are not zero.
struct Search<'a> {
    found: &'a mut Found,
    planes: &'a [f32],
    inputs: usize,
}

impl Job for Search<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Found {
            indices,
            numbers,
            all_ones,
            starts,
        } = self.found;
        // A whole vector of indices is written for every vector of inputs, however many of them count.
        indices.resize(self.planes.len() + BYTE, 0);
        starts.clear();
        starts.push(0);
        *all_ones = true;
        let mut count = 0;
        for position in self.planes.chunks_exact(self.inputs) {
            let vectors = position.chunks_exact(L::WIDTH);
            let rest = vectors.remainder();
            for (index, vector) in vectors.enumerate() {
                let (nonzero, ones) = L::read(vector).nonzero_and_ones();
                *all_ones &= nonzero == ones;
                for first in (0..L::WIDTH).step_by(BYTE) {
                    let mask = nonzero >> first & 0xff;
                    let places = &mut indices[count..][..BYTE];
                    for (place, bit) in places.iter_mut().zip(&BITS_OF[mask as usize]) {
                        *place = (index * L::WIDTH + first) as u32 + bit;
                    }
                    count += mask.count_ones() as usize;
                }
            }
            for (index, &number) in (position.len() - rest.len()..).zip(rest) {
                indices[count] = index as u32;
                count += usize::from(number != 0.0);
                *all_ones &= number == 0.0 || number == 1.0;
            }
            starts.push(count);
        }
        numbers.clear();
        if !*all_ones {
            for (position, bounds) in self.planes.chunks_exact(self.inputs).zip(starts.windows(2)) {
                let indices = &indices[bounds[0]..bounds[1]];
                numbers.extend(indices.iter().map(|&index| position[index as usize]));
            }
        }
    }
}

struct SparseProduct<'a> {
    layer: &'a SparseDense,
    batch: usize,
    found: &'a Found,
    output: &'a mut [f32],
}

impl Job for SparseProduct<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        if L::WIDTH == BLOCK {
            self.with_vectors::<L, { STRIPE / BLOCK }>();
        } else {
            self.with_vectors::<L, { 2 * STRIPE / BLOCK }>();
        }
    }
}

impl SparseProduct<'_> {
    /// `V` vectors are a stripe.
    #[inline(always)]
    fn with_vectors<L: Lanes, const V: usize>(self) {
        assert!(V * L::WIDTH == STRIPE);
        let block_stride = padded_rows(self.batch) * BLOCK;
        let layer = self.layer;
        for (stripe, weights) in layer
            .weights
            .chunks_exact(layer.inputs * STRIPE)
            .enumerate()
        {
            let stripe_blocks =
                (STRIPE / BLOCK).min(blocks(layer.outputs) - stripe * STRIPE / BLOCK);
            for position in 0..self.batch {
                let range = self.found.starts[position]..self.found.starts[position + 1];
                let indices = &self.found.indices[range.clone()];
                let sums: [L; V] = if self.found.all_ones {
                    add_lines(weights, indices)
                } else {
                    weigh_lines(weights, indices, &self.found.numbers[range])
                };
                for block in 0..stripe_blocks {
                    let at = (stripe * STRIPE / BLOCK + block) * block_stride + position * BLOCK;
                    let vectors = &sums[block * BLOCK / L::WIDTH..];
                    let places = self.output[at..][..BLOCK].chunks_exact_mut(L::WIDTH);
                    for (place, &sum) in places.zip(vectors) {
                        sum.write(place);
                    }
                }
            }
        }
    }
}

/// The sum of the lines of weights at `indices`.
#[inline(always)]
fn add_lines<L: Lanes, const V: usize>(weights: &[f32], indices: &[u32]) -> [L; V] {
    let mut sums = [L::zero(); V];
    for &index in indices {
        let line = &weights[index as usize * STRIPE..][..STRIPE];
        for (vector, sum) in sums.iter_mut().enumerate() {
            *sum = sum.add(L::read(&line[vector * L::WIDTH..]));
        }
    }
    sums
}

/// The same, every line times its number.
#[inline(always)]
fn weigh_lines<L: Lanes, const V: usize>(
    weights: &[f32],
    indices: &[u32],
    numbers: &[f32],
) -> [L; V] {
    let mut sums = [L::zero(); V];
    for (&index, &number) in indices.iter().zip(numbers) {
        let number = L::splat(number);
        let line = &weights[index as usize * STRIPE..][..STRIPE];
        for (vector, sum) in sums.iter_mut().enumerate() {
            *sum = number.mul_add(L::read(&line[vector * L::WIDTH..]), *sum);
        }
    }
    sums
}

/// Adds a bias and perhaps other rows to rows in blocks, `[block][row][16]`, and applies the activation.
pub(crate) struct FinishRows<'a> {
    pub(crate) rows: usize,
    /// From one block to the next.
    pub(crate) stride: usize,
    /// One block of 16 after another.
    pub(crate) bias: &'a [f32],
    pub(crate) act: Act,
    pub(crate) numbers: &'a mut [f32],
    /// Laid out as `numbers`.
    pub(crate) skip: Option<&'a [f32]>,
}

impl FinishRows<'_> {
    pub(crate) fn run(self, isa: Isa) {
        isa.run(self);
    }
}

impl Job for FinishRows<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (block, bias) in self.bias.chunks_exact(BLOCK).enumerate() {
            let start = block * self.stride;
            let numbers = &mut self.numbers[start..][..self.rows * BLOCK];
            let skip = self.skip.map(|skip| &skip[start..][..self.rows * BLOCK]);
            for at in (0..self.rows * BLOCK).step_by(L::WIDTH) {
                let place = &mut numbers[at..at + L::WIDTH];
                let mut number = L::read(place).add(L::read(&bias[at % BLOCK..]));
                if let Some(skip) = skip {
                    number = number.add(L::read(&skip[at..]));
                }
                self.act.apply(number).write(place);
            }
        }
    }
}
