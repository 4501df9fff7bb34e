//! How far away the outside of a book's problem has to be closed.

use super::{Limits, Solver, Status};
use crate::problem::{Inferred, Problem, Side};

/// Nodes for a far wall, where the near one has given an answer already and the caller sets no
/// limit of his own.
const NODES_FOR_A_FAR_WALL: u64 = 2_000_000;

impl Inferred {
    /// The version of the problem to answer with `first` to move, and a sentence if it is not the
    /// one with the farthest wall.
    ///
    /// What lives behind a near wall lives behind every wall farther out, so the near ones are
    /// read first, which is quick. What dies there may yet get out: the farthest wall decides,
    /// and if reading it takes too long, the answer is that of the farthest wall that was read.
    pub fn problem_for(&self, first: Side, limits: &Limits) -> (Problem, Option<String>) {
        if self.nearer.is_empty() {
            return (self.problem.clone(), None);
        }
        let mut answered: Option<&Problem> = None;
        for problem in self.nearer.iter().chain([&self.problem]) {
            let nodes = match answered {
                Some(_) => limits.nodes.min(NODES_FOR_A_FAR_WALL),
                None => limits.nodes,
            };
            let mut solver = Solver::new(problem, limits.clone().with_nodes(nodes));
            match solver.status(problem, first) {
                Status::Safe => return (problem.clone(), None),
                Status::Unknown => break,
                _ => answered = Some(problem),
            }
        }
        let farthest = self.problem.clone();
        match answered {
            Some(problem) if !std::ptr::eq(problem, &self.problem) => {
                let note = "read with the outside closed nearer to the group: with a wall farther \
                            away it is not decided within the limits";
                (problem.clone(), Some(note.to_owned()))
            }
            _ => (farthest, None),
        }
    }
}
