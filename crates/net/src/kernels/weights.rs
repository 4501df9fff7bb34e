//! Weights of convolutions in the order the kernels read them, moved to the points of a tiling.

use std::ops::Range;

use super::gemm::Panel;
use super::isa::Isa;
use super::lanes::{Job, Lanes};
use super::tile::MAX_POINTS;
use super::{BLOCK, blocks};
use crate::network::Conv;

/// The inputs each panel of the first `outputs` outputs reads, from the first to the last whose weights are not all
/// zero, and the numbers of weights of all panels together.
pub(crate) fn panels_of(conv: &Conv, outputs: usize) -> (Vec<Panel>, usize) {
    let mut offset = 0;
    let panels = (0..blocks(outputs)).map(|index| {
        let end = outputs.min((index + 1) * BLOCK);
        let (mut first, mut last) = (usize::MAX, 0);
        for inputs in (index * BLOCK..end).filter_map(|output| inputs_of(conv, output)) {
            first = first.min(inputs.start);
            last = last.max(inputs.end);
        }
        let first_block = first.min(last) / BLOCK;
        let panel = Panel {
            first_block,
            depth: last - first_block * BLOCK,
            offset,
        };
        offset += panel.len();
        panel
    });
    let panels = panels.collect();
    (panels, offset)
}

/// From the first to the last input that an output depends on; `None` if on none.
pub(crate) fn inputs_of(conv: &Conv, output: usize) -> Option<Range<usize>> {
    let (first, row) = row_of(conv, output)?;
    let counts = |kernel: &[f32]| kernel.iter().any(|&weight| weight != 0.0);
    let kernels = row.chunks_exact(conv.kernel * conv.kernel);
    let end = first + kernels.len();
    let before = kernels.clone().position(counts)?;
    let after = kernels.rev().position(counts)?;
    Some(first + before..end - after)
}

/// The first input of an output's group, and its weights from there on.
pub(crate) fn row_of(conv: &Conv, output: usize) -> Option<(usize, &[f32])> {
    let taps = conv.kernel * conv.kernel;
    let (mut inputs, mut outputs, mut offset) = (0, 0, 0);
    for group in &conv.groups {
        let row = group.inputs * taps;
        if output < outputs + group.outputs {
            let start = offset + (output - outputs) * row;
            return Some((inputs, &conv.weights[start..start + row]));
        }
        inputs += group.inputs;
        outputs += group.outputs;
        offset += group.outputs * row;
    }
    None
}

/// The weights from one plane to another, or `None` if they are in different groups.
pub(crate) fn kernel_of(conv: &Conv, output: usize, input: usize) -> Option<&[f32]> {
    let (first, row) = row_of(conv, output)?;
    let mut kernels = row.chunks_exact(conv.kernel * conv.kernel);
    kernels.nth(input.checked_sub(first)?)
}

/// What the three weights along an axis count at one of its points.
pub(crate) type Coefficients = [f64; 3];

/// Taps along an axis, and of a kernel.
const TAPS: usize = 3;
const KERNEL: usize = TAPS * TAPS;

/// Moves the kernels of a 3x3 convolution to the points, `[point][panel of 16 outputs][input][16]`.
pub(crate) struct Weigh<'a> {
    pub(crate) conv: &'a Conv,
    /// How many of its outputs there are in the panels.
    pub(crate) outputs: usize,
    pub(crate) panels: &'a [Panel],
    /// Down and across.
    pub(crate) coefficients: [&'a [Coefficients]; 2],
    /// Weights of one point.
    pub(crate) point_len: usize,
    pub(crate) weights: &'a mut [f32],
}

/// Sixteen numbers of sixteen outputs.
type Line = [f64; BLOCK];

impl Weigh<'_> {
    pub(crate) fn run(self, isa: Isa) {
        let [down, across] = self.coefficients;
        assert!(down.len() <= MAX_POINTS && across.len() <= MAX_POINTS);
        assert!(self.weights.len() >= down.len() * across.len() * self.point_len);
        for panel in self.panels {
            assert!(panel.offset + panel.len() <= self.point_len);
        }
        isa.run(self);
    }
}

impl Job for Weigh<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (index, panel) in self.panels.iter().enumerate() {
            let first = index * BLOCK;
            let kernels: [Kernels<'_>; BLOCK] = std::array::from_fn(|lane| {
                if first + lane < self.outputs {
                    Kernels::of(self.conv, first + lane)
                } else {
                    Kernels::default()
                }
            });
            for k in 0..panel.depth {
                let taps = taps_of(&kernels, panel.first_block * BLOCK + k);
                let line = panel.offset + k * BLOCK;
                let to = self.weights[line..].as_mut_ptr();
                // SAFETY: `Weigh::run` has checked that every line of every panel lies within each point.
                unsafe { put::<L>(&taps, self.coefficients, to, self.point_len) };
            }
        }
    }
}

/// Writes what the taps are at every point, a line each.
///
/// # Safety
///
/// A line can be written at `to` and `point_len` further on for every other point.
#[inline(always)]
unsafe fn put<L: Lanes>(
    taps: &[Line; KERNEL],
    [down, across]: [&[Coefficients]; 2],
    to: *mut f32,
    point_len: usize,
) {
    let mut point = to;
    for factors in down {
        let mut columns = [[0.0; BLOCK]; TAPS];
        for (column, line) in columns.iter_mut().enumerate() {
            let taps = [
                &taps[column],
                &taps[TAPS + column],
                &taps[2 * TAPS + column],
            ];
            *line = weigh(factors, taps);
        }
        for factors in across {
            let weighed = weigh(factors, [&columns[0], &columns[1], &columns[2]]);
            let mut rounded = [0.0f32; BLOCK];
            for (rounded, weighed) in rounded.iter_mut().zip(weighed) {
                *rounded = weighed as f32;
            }
            // SAFETY: the caller has room for a line at every point.
            unsafe {
                for half in (0..BLOCK).step_by(L::WIDTH) {
                    L::load(rounded.as_ptr().add(half)).store(point.add(half));
                }
            }
            point = point.wrapping_add(point_len);
        }
    }
}

#[inline(always)]
fn weigh(factors: &Coefficients, [first, second, third]: [&Line; TAPS]) -> Line {
    let mut line = [0.0; BLOCK];
    for lane in 0..BLOCK {
        line[lane] =
            factors[0] * first[lane] + factors[1] * second[lane] + factors[2] * third[lane];
    }
    line
}

/// The kernels of one output, from the first input of its group on.
#[derive(Clone, Copy, Default)]
struct Kernels<'a> {
    first_input: usize,
    kernels: &'a [[f32; KERNEL]],
}

impl<'a> Kernels<'a> {
    fn of(conv: &'a Conv, output: usize) -> Self {
        let (first_input, row) = row_of(conv, output).unwrap_or_default();
        let (kernels, _) = row.as_chunks();
        Self {
            first_input,
            kernels,
        }
    }
}

/// `taps[tap][output]` of one input; zeros where an output is in another group.
#[inline(always)]
fn taps_of(kernels: &[Kernels<'_>; BLOCK], input: usize) -> [Line; KERNEL] {
    let mut taps = [[0.0; BLOCK]; KERNEL];
    for (lane, kernels) in kernels.iter().enumerate() {
        let kernel = kernels.kernels.get(input.wrapping_sub(kernels.first_input));
        if let Some(kernel) = kernel {
            for (tap, &weight) in taps.iter_mut().zip(kernel) {
                tap[lane] = f64::from(weight);
            }
        }
    }
    taps
}
