//! Weights of convolutions in the order the kernels read them, moved to the points of a tiling.

use super::gemm::Panel;
use super::lanes::{Isa, Job, LANES, Lanes};
use super::tile::MAX_POINTS;
use super::{BLOCK, blocks};
use crate::network::Conv;

/// The inputs each panel of outputs reads, as groups allow, and the numbers of weights of all panels together.
pub(crate) fn panels_of(conv: &Conv) -> (Vec<Panel>, usize) {
    let mut offset = 0;
    let panels = (0..blocks(conv.outputs())).map(|index| {
        let (mut inputs, mut outputs) = (0, 0);
        let (mut first, mut last) = (usize::MAX, 0);
        for group in &conv.groups {
            if outputs < (index + 1) * BLOCK
                && outputs + group.outputs > index * BLOCK
                && group.inputs > 0
            {
                first = first.min(inputs);
                last = last.max(inputs + group.inputs);
            }
            inputs += group.inputs;
            outputs += group.outputs;
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

/// The weights from one plane to another, or `None` if they are in different groups.
pub(crate) fn kernel_of(conv: &Conv, output: usize, input: usize) -> Option<&[f32]> {
    let taps = conv.kernel * conv.kernel;
    let (mut inputs, mut outputs, mut offset) = (0, 0, 0);
    for group in &conv.groups {
        if output < outputs + group.outputs {
            let inside = input
                .checked_sub(inputs)
                .filter(|&inside| inside < group.inputs)?;
            return conv
                .weights
                .get(offset + ((output - outputs) * group.inputs + inside) * taps..)?
                .get(..taps);
        }
        inputs += group.inputs;
        outputs += group.outputs;
        offset += group.inputs * group.outputs * taps;
    }
    None
}

/// What the three weights along an axis count at one of its points.
pub(crate) type Coefficients = [f64; 3];

/// Taps along an axis, and of a kernel.
const TAPS: usize = 3;
const KERNEL: usize = TAPS * TAPS;

/// Moves the kernels of a 3x3 convolution to the points, `[point][panel of 16 outputs][input][16]`.
pub(crate) struct Weigh<'a> {
    pub(crate) conv: &'a Conv,
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
        let outputs = self.conv.outputs();
        for (index, panel) in self.panels.iter().enumerate() {
            let first = index * BLOCK;
            let kernels: [Kernels<'_>; BLOCK] = std::array::from_fn(|lane| {
                if first + lane < outputs {
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
                L::load(rounded.as_ptr()).store(point);
                L::load(rounded.as_ptr().add(LANES)).store(point.add(LANES));
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
        let (mut inputs, mut outputs, mut offset) = (0, 0, 0);
        for group in &conv.groups {
            if output < outputs + group.outputs {
                let row = offset + (output - outputs) * group.inputs;
                let (kernels, _) = conv.weights.as_chunks();
                return Self {
                    first_input: inputs,
                    kernels: &kernels[row..row + group.inputs],
                };
            }
            inputs += group.inputs;
            outputs += group.outputs;
            offset += group.inputs * group.outputs;
        }
        Self::default()
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
