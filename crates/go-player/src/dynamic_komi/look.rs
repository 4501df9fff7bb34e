//! Positions looked at again with another komi.

use std::thread;

use go::{Color, Symmetry};

use super::turn_komi;
use crate::{encoder::LeelaEncoder, judge::Judge, planes::BitPlanes};

/// A position to look at again with another komi.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The stones, as the side to move sees them.
    pub planes: &'a BitPlanes,
    /// How the board is laid before the network.
    pub symmetry: Symmetry,
    /// Whose turn it is.
    pub to_move: Color,
    /// The komi to tell the network.
    pub komi: f64,
}

/// The winrate of the side to move at each look, past the judge's memory: one batch, shared by threads. One half for
/// networks that have no turn planes, which dynamic komi refuses before it comes to this, and where the network cannot
/// be evaluated, which the search that follows reports.
pub fn winrates(judge: &Judge, looks: &[Look<'_>], threads: usize) -> Vec<f64> {
    let mut winrates = vec![0.5; looks.len()];
    let Some(encoder) = judge.encoder().as_leela() else {
        return winrates;
    };
    let share = looks.len().div_ceil(threads.max(1)).max(1);
    let mut parts = looks.chunks(share).zip(winrates.chunks_mut(share));
    // The first part is for the thread that asks, once the others are at work.
    let own = parts.next();
    thread::scope(|scope| {
        for (looks, winrates) in parts {
            scope.spawn(move || look(judge, encoder, looks, winrates));
        }
        if let Some((looks, winrates)) = own {
            look(judge, encoder, looks, winrates);
        }
    });
    winrates
}

fn look(judge: &Judge, encoder: &LeelaEncoder, looks: &[Look<'_>], winrates: &mut [f64]) {
    let shape = judge.shape();
    let (input_len, output_len) = (shape.input_len(), shape.output_len());
    let mut inputs = vec![0.0; looks.len() * input_len];
    let mut outputs = vec![0.0; looks.len() * output_len];
    for (row, look) in inputs.chunks_exact_mut(input_len).zip(looks) {
        let turn_planes = turn_komi::planes(look.komi, look.to_move);
        encoder.write_planes(look.planes, look.symmetry, turn_planes, row);
    }
    if judge.run(&inputs, &mut outputs).is_err() {
        return;
    }
    let rows = outputs.chunks_exact(output_len).zip(looks);
    for (winrate, (row, look)) in winrates.iter_mut().zip(rows) {
        *winrate = f64::from(encoder.winrate(row, look.to_move));
    }
}
