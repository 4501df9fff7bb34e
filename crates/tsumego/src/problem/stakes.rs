//! Whose life is at stake.
//!
//! Stones inside stones inside stones: by its shape alone a position does not say which of two
//! groups its author meant. It is the one whose fate the first move decides.

use go::{Color, Point};

use super::{Inferred, Ko, Problem, Side};
use crate::solver::{Limits, Solver, Verdict};

/// Nodes for each question about a candidate.
const NODES: u64 = 20_000;

/// How much a position says that it is about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stakes {
    /// Its fate is the same whoever starts.
    Settled,
    /// It takes more reading to see.
    Unknown,
    /// Whoever starts decides.
    Critical,
    /// The recorded first move decides.
    Solved,
}

/// What is at stake in a candidate, behind the nearest wall that does not kill it outright.
pub(super) fn stakes(candidate: &Inferred, solution: Option<(Color, Point)>) -> Stakes {
    for problem in candidate.nearer.iter().chain([&candidate.problem]) {
        let mut solver = Solver::new(problem, Limits::default().with_nodes(NODES));
        let mut verdict = |first| solver.solve(problem, first, Ko::ATTACKER).verdict;
        return match (verdict(Side::Attacker), verdict(Side::Defender)) {
            (Verdict::Unsafe, Verdict::Unsafe) => continue,
            (Verdict::Safe, _) => Stakes::Settled,
            (Verdict::Unsafe, Verdict::Safe) if solves(problem, &mut solver, solution) => {
                Stakes::Solved
            }
            (Verdict::Unsafe, Verdict::Safe) => Stakes::Critical,
            _ => Stakes::Unknown,
        };
    }
    Stakes::Settled
}

/// Whether a recorded first move gives its side what it wants.
fn solves(problem: &Problem, solver: &mut Solver, solution: Option<(Color, Point)>) -> bool {
    let Some((color, point)) = solution else {
        return false;
    };
    let first = if color == problem.defender() {
        Side::Defender
    } else {
        Side::Attacker
    };
    let wanted = match first {
        Side::Attacker => Verdict::Unsafe,
        Side::Defender => Verdict::Safe,
    };
    let mut board = problem.board().clone();
    if !board.is_legal(point, color) {
        return false;
    }
    let _ = board.play(point, color);
    match problem.at(board) {
        Some(after) => solver.solve(&after, first.opponent(), Ko::ATTACKER).verdict == wanted,
        None => first == Side::Attacker,
    }
}
