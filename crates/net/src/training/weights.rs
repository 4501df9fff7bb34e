//! The weights of a convolution at the points of a tiling, and their gradient on the way back.

use std::ops::Range;
use std::sync::Arc;

use super::LANES;
use super::conv::Board;
use crate::kernels::gemm::Panel;
use crate::kernels::lanes::{Job, Lanes};
use crate::kernels::memory::Buffer;
use crate::kernels::tiling::Tiling;
use crate::kernels::{BLOCK, Isa, blocks};

/// Taps of a kernel along one side, and all of them.
const SIDE: usize = 3;
const TAPS: usize = SIDE * SIDE;

/// The weights of one 3x3 convolution on boards of one size, moved to the points for both directions.
#[derive(Debug)]
pub struct ConvWeights {
    pub(super) isa: Isa,
    pub(super) board: Board,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) tiling: Arc<Tiling>,
    /// `[point][panel of 16 outputs][input][16]`.
    pub(super) forward: Packed,
    /// `[point][panel of 16 inputs][output][16]`.
    pub(super) backward: Packed,
}

/// Weights of every point in panels of equal length.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) panels: Vec<Panel>,
    pub(super) point_len: usize,
    pub(super) weights: Buffer,
}

impl Packed {
    fn new(points: usize, depth: usize, width: usize) -> Self {
        let panels: Vec<Panel> = (0..blocks(width))
            .map(|index| Panel {
                first_block: 0,
                depth,
                offset: index * depth * BLOCK,
            })
            .collect();
        let point_len = panels.len() * depth * BLOCK;
        Self {
            panels,
            point_len,
            weights: Buffer::zeroed(points * point_len),
        }
    }
}

impl ConvWeights {
    /// Room for a convolution from `inputs` to `outputs` channels; all zero until [`Self::set`].
    ///
    /// # Panics
    /// If a side of the board is shorter than 2.
    pub fn new(board: Board, inputs: usize, outputs: usize) -> Self {
        let tiling = Tiling::new(board.height, board.width)
            .expect("a convolution needs a board of at least two rows and two columns");
        let points = tiling.points();
        Self {
            isa: Isa::detect(),
            board,
            inputs,
            outputs,
            tiling: Arc::new(tiling),
            forward: Packed::new(points, inputs, outputs),
            backward: Packed::new(points, outputs, inputs),
        }
    }

    /// The same convolution on another instruction set than [`Isa::detect`] chooses.
    ///
    /// # Panics
    /// If the processor does not have it, when the convolution is used.
    pub fn on(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// Transforms weights in `[output][input][3][3]` order.
    ///
    /// # Panics
    /// If the length is not `outputs * inputs * 9`.
    pub fn set(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.outputs * self.inputs * TAPS);
        let (kernels, _) = weights.as_chunks::<TAPS>();
        let coefficients = Coefficients::of(&self.tiling);
        self.isa.run(Transform {
            kernels,
            strides: (1, self.inputs),
            width: self.outputs,
            coefficients: &coefficients,
            packed: &mut self.forward,
        });
        self.isa.run(Transform {
            kernels,
            strides: (self.inputs, 1),
            width: self.inputs,
            coefficients: &coefficients,
            packed: &mut self.backward,
        });
    }

    /// Floats of a gradient in the transformed domain, as [`backward`](super::gradient::backward) accumulates it.
    pub fn gradient_length(&self) -> usize {
        self.tiling.points() * self.forward.point_len
    }

    /// Adds transformed gradients, which several threads made of their samples, to the rows `outputs` of one in
    /// `[output][input][3][3]` order; `rows` holds those rows alone, so that threads can share the work.
    pub fn add_gradient(&self, transformed: &[Vec<f32>], outputs: Range<usize>, rows: &mut [f32]) {
        let (kernels, _) = rows.as_chunks_mut::<TAPS>();
        assert_eq!(kernels.len(), outputs.len() * self.inputs);
        self.isa.run(Reduce {
            weights: self,
            coefficients: &Coefficients::of(&self.tiling),
            transformed,
            outputs,
            kernels,
        });
    }
}

/// What the three taps of a column and of a row count at each point.
struct Coefficients {
    down: Vec<[f32; SIDE]>,
    across: Vec<[f32; SIDE]>,
}

impl Coefficients {
    fn of(tiling: &Tiling) -> Self {
        let [down, across] = tiling.coefficients();
        let rounded = |factors: &[f64; SIDE]| factors.map(|factor| factor as f32);
        Self {
            down: down.iter().map(rounded).collect(),
            across: across.iter().map(rounded).collect(),
        }
    }
}

/// `G w Gᵀ` for sixteen kernels at a time, which become neighbours in a panel.
struct Transform<'a> {
    kernels: &'a [[f32; TAPS]],
    /// From one line of a panel to the next, and from one kernel of a line to the next.
    strides: (usize, usize),
    /// Kernels of all panels together, for one line.
    width: usize,
    coefficients: &'a Coefficients,
    packed: &'a mut Packed,
}

impl Job for Transform<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let point_len = self.packed.point_len;
        for (index, panel) in self.packed.panels.iter().enumerate() {
            let first = index * BLOCK;
            let width = BLOCK.min(self.width - first);
            for line in 0..panel.depth {
                let mut taps = [[0.0; BLOCK]; TAPS];
                for lane in 0..width {
                    let kernel =
                        &self.kernels[line * self.strides.0 + (first + lane) * self.strides.1];
                    for (tap, &weight) in taps.iter_mut().zip(kernel) {
                        tap[lane] = weight;
                    }
                }
                let at = panel.offset + line * BLOCK;
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    let taps = taps.map(|tap| L::read(&tap[half..]));
                    let to = &mut self.packed.weights[at + half..];
                    put(&taps, self.coefficients, to, point_len);
                }
            }
        }
    }
}

/// Writes what nine taps are at every point.
#[inline(always)]
fn put<L: Lanes>(taps: &[L; TAPS], coefficients: &Coefficients, to: &mut [f32], point_len: usize) {
    let mut point = 0;
    for factors in &coefficients.down {
        let column = |at: usize| weigh(factors, [taps[at], taps[at + SIDE], taps[at + 2 * SIDE]]);
        let columns = [column(0), column(1), column(2)];
        for factors in &coefficients.across {
            weigh(factors, columns).write(&mut to[point..]);
            point += point_len;
        }
    }
}

#[inline(always)]
fn weigh<L: Lanes>(factors: &[f32; SIDE], [first, second, third]: [L; SIDE]) -> L {
    let sum = L::splat(factors[0]).mul(first);
    let sum = L::splat(factors[1]).mul_add(second, sum);
    L::splat(factors[2]).mul_add(third, sum)
}

/// `Gᵀ U G` of the gradients of several threads.
struct Reduce<'a> {
    weights: &'a ConvWeights,
    coefficients: &'a Coefficients,
    transformed: &'a [Vec<f32>],
    outputs: Range<usize>,
    kernels: &'a mut [[f32; TAPS]],
}

impl Job for Reduce<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let inputs = self.weights.inputs;
        let mut start = self.outputs.start;
        while start < self.outputs.end {
            let panel = start / LANES;
            let end = ((panel + 1) * LANES).min(self.outputs.end);
            for input in 0..inputs {
                let line = (panel * inputs + input) * BLOCK;
                let mut taps = [[0.0; BLOCK]; TAPS];
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    for (tap, sum) in taps.iter_mut().zip(self.taps::<L>(line + half)) {
                        sum.write(&mut tap[half..]);
                    }
                }
                for output in start..end {
                    let row = output - self.outputs.start;
                    let kernel = &mut self.kernels[row * inputs + input];
                    for (target, tap) in kernel.iter_mut().zip(&taps) {
                        *target += tap[output % LANES];
                    }
                }
            }
            start = end;
        }
    }
}

impl Reduce<'_> {
    /// The nine taps of the vector of kernels that lies `line` numbers from the start of every point.
    #[inline(always)]
    fn taps<L: Lanes>(&self, line: usize) -> [L; TAPS] {
        let point_len = self.weights.forward.point_len;
        let mut taps = [L::zero(); TAPS];
        let mut at = line;
        for down in &self.coefficients.down {
            let mut row = [L::zero(); SIDE];
            for across in &self.coefficients.across {
                let mut gradient = L::zero();
                for transformed in self.transformed {
                    gradient = gradient.add(L::read(&transformed[at..]));
                }
                at += point_len;
                for (sum, &factor) in row.iter_mut().zip(across) {
                    *sum = gradient.mul_add(L::splat(factor), *sum);
                }
            }
            for (taps, &factor) in taps.chunks_exact_mut(SIDE).zip(down) {
                for (tap, &sum) in taps.iter_mut().zip(&row) {
                    *tap = sum.mul_add(L::splat(factor), *tap);
                }
            }
        }
        taps
    }
}
