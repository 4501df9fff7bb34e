//! Random enclosed problems, solved and each of its kind.
//!
//! A blob of cells is grown at a random place, walled in, and strewn with stones of both sides;
//! what the solver finds critical (the first move decides) is kept. Candidate `n` of a seed is
//! always the same position, whichever thread makes it, so a run can be stopped and resumed.

use go::{Board, BoardSize, Color, Point, PointSet};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::canon::canonical_name;
use crate::field::split_mix;
use crate::ko::Ko;
use crate::problem::{Problem, Side};
use crate::solver::{Limits, Solver, Verdict};

/// What problems to make.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Every random choice follows from this.
    pub seed: u64,
    /// Side of the board.
    pub board: BoardSize,
    /// Fewest moves available to the attacker.
    pub smallest: usize,
    /// Most moves available to the attacker.
    pub largest: usize,
    /// Fewest nodes of the harder of the two questions: how difficult a problem must be.
    pub fewest_nodes: u64,
    /// A problem that takes more nodes is dropped.
    pub most_nodes: u64,
    /// Keep problems whose answer does not depend on who starts, too.
    pub settled_too: bool,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            seed: 1,
            board: BoardSize::NINE,
            smallest: 5,
            largest: 12,
            fewest_nodes: 0,
            most_nodes: 20_000,
            settled_too: false,
        }
    }
}

/// A generated problem with its answers.
#[derive(Clone)]
pub struct Generated {
    /// The candidate's number under its seed.
    pub number: u64,
    /// The problem.
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

/// Chance that a cell inside is a stone of the defender, beside the ones the target starts from.
const DEFENDER_SHARE: std::ops::Range<f64> = 0.15..0.55;
/// Chance that a cell inside is a stone of the attacker.
const ATTACKER_SHARE: std::ops::Range<f64> = 0.0..0.2;
/// A wall's back needs room: cells keep this far from a far edge.
const ROOM_BEHIND_WALL: usize = 2;
/// The table of one small problem.
const TABLE_BYTES: usize = 16 << 20;

/// Makes candidate `number` of a recipe; `None` if it is not a problem worth keeping.
pub fn generate(recipe: &Recipe, number: u64) -> Option<Generated> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(split_mix(recipe.seed) ^ split_mix(number));
    let problem = draw(recipe, &mut rng)?;
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
    let keeps = (recipe.settled_too || safe != defended) && nodes >= recipe.fewest_nodes;
    keeps.then(|| Generated {
        number,
        canonical: canonical_name(&problem),
        problem,
        is_safe: safe,
        is_safe_if_defended: defended,
        nodes,
    })
}

/// A random position with a wall around a random blob.
fn draw(recipe: &Recipe, rng: &mut impl Rng) -> Option<Problem> {
    let blob = grow_blob(recipe, rng);
    let (defender, attacker) = if rng.random() {
        (Color::White, Color::Black)
    } else {
        (Color::Black, Color::White)
    };
    let mut wall = PointSet::EMPTY;
    for &cell in &blob {
        for next in cell.neighbors().into_iter().chain(cell.diagonals()) {
            if recipe.board.contains(next) && !blob.contains(&next) {
                wall.insert(next);
            }
        }
    }
    let defender_share = rng.random_range(DEFENDER_SHARE);
    let attacker_share = rng.random_range(ATTACKER_SHARE);
    let mut inside = [PointSet::EMPTY; 2];
    for &cell in &blob {
        // The target grows along the wall, as groups do.
        let at_wall = cell.neighbors().into_iter().any(|next| wall.contains(next));
        let lean = if at_wall { 1.4 } else { 0.6 };
        if rng.random_bool((defender_share * lean).min(1.0)) {
            inside[0].insert(cell);
        } else if rng.random_bool(attacker_share) {
            inside[1].insert(cell);
        }
    }
    let attackers = wall | inside[1];
    let (black, white) = match defender {
        Color::Black => (inside[0], attackers),
        Color::White => (attackers, inside[0]),
    };
    let board = Board::with_stones(recipe.board, &black, &white).ok()?;
    let target = board
        .stone_set(defender)
        .iter()
        .max_by_key(|&stone| (board.stone_count(stone), stone.y(), stone.x()))?;
    debug_assert!(board.is_stone(target, attacker.opponent()));
    Problem::new(board, &[target]).ok()
}

/// A connected set of cells, often along an edge or in a corner.
fn grow_blob(recipe: &Recipe, rng: &mut impl Rng) -> Vec<Point> {
    let side = recipe.board.get();
    let reach = side.saturating_sub(ROOM_BEHIND_WALL).max(1);
    let cells = rng.random_range(recipe.smallest + 2..=recipe.largest * 2 + 2);
    let start = match rng.random_range(0..3) {
        0 => Point::new(0, 0),
        1 => Point::new(rng.random_range(1..reach), 0),
        _ => Point::new(rng.random_range(1..reach), rng.random_range(1..reach)),
    };
    let mut blob = vec![start];
    let mut attempts = 0;
    while blob.len() < cells && attempts < cells * 20 {
        attempts += 1;
        let from = blob[rng.random_range(0..blob.len())];
        let next = from.neighbors()[rng.random_range(0..4)];
        let fits = recipe.board.contains(next) && next.x() < reach && next.y() < reach;
        if fits && !blob.contains(&next) {
            blob.push(next);
        }
    }
    blob
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
