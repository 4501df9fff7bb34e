//! Planes that a residual block hands on as they are.
//!
//! A small network grafted beside a deeper one has them: what it has found waits in its planes until the heads read
//! it, through blocks that add zero. Neither the products nor the way to the points and back need to be done for them.

use crate::kernels::blocks;
use crate::kernels::weights::inputs_of;
use crate::network::{Conv, Layer};

/// How many planes take part in a residual block, if at least one block of 16 does not.
///
/// The others come out as they went in, as long as they are not negative: nothing is added to them, nobody within the
/// block needs what is computed from them, and every activation leaves such numbers alone.
pub(super) fn busy_planes(body: &[Layer]) -> Option<usize> {
    let [Layer::Conv(first), Layer::Conv(second)] = body else {
        return None;
    };
    if first.kernel != 3 || second.kernel != 3 {
        return None;
    }
    let written = live_outputs(second);
    let between = inputs_read(second, written);
    let read = inputs_read(first, between);
    let busy = written.max(between).max(read);
    (blocks(busy) < blocks(second.outputs())).then_some(busy)
}

/// From this output on, all are zero whatever comes in.
fn live_outputs(conv: &Conv) -> usize {
    let lives = |&output: &usize| conv.bias[output] != 0.0 || inputs_of(conv, output).is_some();
    let last = (0..conv.outputs()).rev().find(lives);
    last.map_or(0, |last| last + 1)
}

/// Up to which input the first `outputs` outputs look.
fn inputs_read(conv: &Conv, outputs: usize) -> usize {
    let inputs = (0..outputs).filter_map(|output| inputs_of(conv, output));
    inputs.map(|inputs| inputs.end).max().unwrap_or(0)
}
