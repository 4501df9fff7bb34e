//! Layers that work on rows as they are: the first dense layer of a network of sparse planes, and finishing touches.

use super::lanes::{Isa, Job, LANES, Lanes};
use super::memory::Buffer;
use super::{BLOCK, blocks, padded_rows};
use crate::network::Dense;

/// Outputs summed at once: eight vectors, so that the additions of one input do not wait for those of the last.
const STRIPE: usize = 8 * LANES;

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

    /// Writes `[block][row][16]`; `found` is scratch memory for one index and one number per input and position.
    pub(crate) fn run(
        &self,
        isa: Isa,
        batch: usize,
        planes: &[f32],
        found: &mut Found,
        output: &mut [f32],
    ) {
        found.search(&planes[..batch * self.inputs], self.inputs);
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
    entries: Vec<(u32, f32)>,
    starts: Vec<usize>,
}

impl Found {
    fn search(&mut self, planes: &[f32], inputs: usize) {
        self.entries.clear();
        self.starts.clear();
        self.starts.push(0);
        for position in planes.chunks_exact(inputs) {
            for (chunk_index, chunk) in position.chunks(BLOCK).enumerate() {
                let any = chunk.iter().fold(0, |bits, number| bits | number.to_bits());
                if any << 1 == 0 {
                    continue;
                }
                for (lane, &number) in chunk.iter().enumerate() {
                    if number != 0.0 {
                        self.entries
                            .push(((chunk_index * BLOCK + lane) as u32, number));
                    }
                }
            }
            self.starts.push(self.entries.len());
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
                let mut sums = [L::splat(0.0); STRIPE / LANES];
                for &(input, number) in &self.found.entries
                    [self.found.starts[position]..self.found.starts[position + 1]]
                {
                    let number = L::splat(number);
                    let line = &weights[input as usize * STRIPE..][..STRIPE];
                    for (vector, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: `line` holds STRIPE numbers.
                        *sum = number
                            .mul_add(unsafe { L::load(line.as_ptr().add(vector * LANES)) }, *sum);
                    }
                }
                for block in 0..stripe_blocks {
                    let at = (stripe * STRIPE / BLOCK + block) * block_stride + position * BLOCK;
                    let to = &mut self.output[at..][..BLOCK];
                    // SAFETY: `to` holds a block, which is two vectors.
                    unsafe {
                        sums[2 * block].store(to.as_mut_ptr());
                        sums[2 * block + 1].store(to.as_mut_ptr().add(LANES));
                    }
                }
            }
        }
    }
}

/// Adds a bias and perhaps other rows to rows in blocks, `[block][row][16]`, and applies the activation.
pub(crate) struct FinishRows<'a> {
    pub(crate) rows: usize,
    /// From one block to the next.
    pub(crate) stride: usize,
    /// One block of 16 after another.
    pub(crate) bias: &'a [f32],
    pub(crate) slope: f32,
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
            for at in (0..self.rows * BLOCK).step_by(LANES) {
                // SAFETY: `at + LANES` is at most the length of `numbers` and `skip`, `at % BLOCK + LANES` at most
                // that of `bias`.
                unsafe {
                    let place = numbers.as_mut_ptr().add(at);
                    let mut number = L::load(place).add(L::load(bias.as_ptr().add(at % BLOCK)));
                    if let Some(skip) = skip {
                        number = number.add(L::load(skip.as_ptr().add(at)));
                    }
                    number.max(number.mul(L::splat(self.slope))).store(place);
                }
            }
        }
    }
}
