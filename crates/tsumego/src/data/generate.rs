//! Random enclosed problems, solved and each of its kind.
//!
//! Positions are drawn by chance, and what the solver finds critical (the first move decides) is
//! kept; if wanted, so are some that are settled. Candidate `n` of a seed is always the same
//! position, whichever thread makes it, so a run can be stopped and resumed.

use go::BoardSize;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::sketch::sketch;
use crate::problem::Ko;
use crate::problem::canonical_name;
use crate::problem::{Problem, Side};
use crate::solver::{Limits, Solver, Verdict};
use base::mix;

/// What problems to make.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Every random choice follows from this.
    pub seed: u64,
    /// Boards to place problems on, each as often as the others. There must be one.
    pub boards: Vec<BoardSize>,
    /// Fewest moves available to the attacker.
    pub smallest: usize,
    /// Most moves available to the attacker.
    pub largest: usize,
    /// Fewest nodes of the harder of the two questions: how difficult a problem must be.
    pub fewest_nodes: u64,
    /// A problem that takes more nodes is dropped.
    pub most_nodes: u64,
    /// Largest share of problems whose answer does not depend on who starts: half of it for safe
    /// ones, half for unsafe ones.
    pub settled: f64,
}

/// Problems of several boards differ in where the far edges are.
const DEFAULT_BOARDS: [usize; 4] = [7, 9, 11, 13];

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            seed: 1,
            boards: DEFAULT_BOARDS
                .into_iter()
                .filter_map(BoardSize::new)
                .collect(),
            smallest: 4,
            largest: 14,
            fewest_nodes: 0,
            most_nodes: 20_000,
            settled: 0.0,
        }
    }
}

/// A generated problem with its answers.
#[derive(Clone)]
pub struct Generated {
    /// The candidate's number under its seed.
    pub number: u64,
    pub problem: Problem,
    /// Its name up to symmetry.
    pub canonical: u64,
    /// Whether the target is safe if the attacker starts.
    pub is_safe: bool,
    /// Whether the target is safe if the defender starts.
    pub is_safe_if_defended: bool,
    /// Nodes of the harder question.
    pub nodes: u64,
}

impl Generated {
    /// Whether it does not matter who starts.
    pub fn is_settled(&self) -> bool {
        self.is_safe == self.is_safe_if_defended
    }
}

/// A settled position that takes fewer nodes is plain to see and not kept.
const FEWEST_NODES_IF_SETTLED: u64 = 20;
/// The table of one small problem.
const TABLE_BYTES: usize = 16 << 20;

/// Makes candidate `number` of a recipe; `None` if it is not a problem worth keeping.
pub fn generate(recipe: &Recipe, number: u64) -> Option<Generated> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(mix(recipe.seed) ^ mix(number));
    let board = recipe.boards[rng.random_range(0..recipe.boards.len())];
    let moves = rng.random_range(recipe.smallest..=recipe.largest);
    let problem = sketch(board, moves, &mut rng)?;
    let size = problem.size(Side::Attacker);
    if !(recipe.smallest..=recipe.largest).contains(&size) {
        return None;
    }
    let limits = Limits::default()
        .with_nodes(recipe.most_nodes)
        .with_memory(TABLE_BYTES);
    let mut solver = Solver::new(&problem, limits);
    let mut nodes = 0;
    let mut is_safe = |first: Side| {
        let solution = solver.solve(&problem, first, Ko::ATTACKER);
        nodes = nodes.max(solution.nodes);
        match solution.verdict {
            Verdict::Safe => Some(true),
            Verdict::Unsafe => Some(false),
            Verdict::Unknown => None,
        }
    };
    let safe = is_safe(Side::Attacker)?;
    let defended = is_safe(Side::Defender)?;
    let fewest_nodes = if safe != defended {
        recipe.fewest_nodes
    } else if recipe.settled > 0.0 {
        recipe.fewest_nodes.max(FEWEST_NODES_IF_SETTLED)
    } else {
        return None;
    };
    (nodes >= fewest_nodes).then(|| Generated {
        number,
        canonical: canonical_name(&problem),
        problem,
        is_safe: safe,
        is_safe_if_defended: defended,
        nodes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_depends_on_seed_and_number_alone() {
        let recipe = Recipe {
            most_nodes: 2_000,
            ..Recipe::default()
        };
        let found: Vec<Generated> = (0..60).filter_map(|n| generate(&recipe, n)).collect();
        assert!(!found.is_empty());
        for first in &found {
            let again = generate(&recipe, first.number).expect("kept before");
            assert_eq!(again.canonical, first.canonical);
            assert_eq!(again.problem.board().hash(), first.problem.board().hash());
            assert!(!first.is_safe && first.is_safe_if_defended, "critical");
        }
    }
}
