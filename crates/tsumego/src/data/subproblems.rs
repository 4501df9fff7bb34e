//! The positions around a problem: every move of either side, each labelled by solving.
//!
//! Where only moves that change the answer become positions, the answer is always "the last mover
//! got what he wanted", and counting stones predicts it. So every move in the zone is taken, of
//! both colours, whether it changes the answer or not; only the ones that do are followed further.

use std::collections::HashSet;

use go::sgf::{NodeId, Tree};
use go::{Board, Move, Point};
use thiserror::Error;

use crate::problem::Ko;
use crate::problem::canonical_name;
use crate::problem::{
    ATTACKER_STARTS, DEFENDER_STARTS, LabelledPosition, RecordError, problem_of, problem_tree,
};
use crate::problem::{Problem, Side};
use crate::solver::{Limits, Solver, Verdict};

/// How far to go.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Moves from the root.
    pub depth: usize,
    /// A position with fewer moves available is a leaf.
    pub smallest: usize,
    /// At most this many positions.
    pub most: usize,
    /// Nodes for one label; a position that needs more is left out.
    pub nodes: u64,
}

impl Default for Reach {
    fn default() -> Reach {
        Reach {
            depth: 20,
            smallest: 4,
            most: 20_000,
            nodes: 1_000_000,
        }
    }
}

/// A tree that does not say what it must.
#[derive(Debug, Error)]
pub enum TreeError {
    /// The root holds no problem.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A node cannot be played, or has no label.
    #[error("node {node} of the tree: {what}")]
    Node {
        /// The node's number, from 0.
        node: usize,
        what: &'static str,
    },
}

/// Properties of a node for each side that may start: whether the target is safe then, and a move
/// that wins for that side.
fn properties(first: Side) -> (&'static str, &'static str) {
    match first {
        Side::Attacker => (ATTACKER_STARTS, "MS"),
        Side::Defender => (DEFENDER_STARTS, "MD"),
    }
}

/// Grows the tree of positions around a problem, labelled in `TS` (attacker starts) and `TD`
/// (defender starts), with a winning move of the side that starts in `MS` and `MD`.
pub fn grow_tree(problem: &Problem, name: &str, reach: &Reach, limits: &Limits) -> Tree {
    let mut tree = problem_tree(problem, name);
    let root = tree.root();
    let limits = limits.clone().with_nodes(reach.nodes);
    let mut solver = Solver::new(problem, limits);
    let Some(labels) = label(&mut solver, problem) else {
        return tree;
    };
    set_labels(&mut tree, root, labels);
    let mut seen = HashSet::from([canonical_name(problem)]);
    let mut level: Vec<(NodeId, Problem, Labels)> = vec![(root, problem.clone(), labels)];
    for _ in 0..reach.depth {
        let mut next = Vec::new();
        for (node, position, labels) in &level {
            for side in Side::BOTH {
                if position.size(side) < reach.smallest {
                    continue;
                }
                for (mv, after) in moves(position, side) {
                    if seen.len() >= reach.most {
                        return tree;
                    }
                    if !seen.insert(canonical_name(&after)) {
                        continue;
                    }
                    let Some(found) = label(&mut solver, &after) else {
                        continue;
                    };
                    let child = tree.add_move(*node, position.color(side), mv);
                    set_labels(&mut tree, child, found);
                    // The move that flips the answer for the side that wanted it.
                    let flips = match side {
                        Side::Attacker => labels.attacker_starts && !found.attacker_starts,
                        Side::Defender => !labels.attacker_starts && found.attacker_starts,
                    };
                    if flips {
                        next.push((child, after, found));
                    }
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    tree
}

/// Plays out every node of a tree but the root: one labelled position a node and starting side. A
/// tree of a labelled root alone gives the root's.
pub fn expand_tree(tree: &Tree, first: &[Side]) -> Result<Vec<LabelledPosition>, TreeError> {
    let record = problem_of(tree)?;
    let source = record.name.clone().unwrap_or_default();
    let mut boards: Vec<Option<Board>> = vec![None; tree.nodes().len()];
    boards[0] = Some(record.problem.board().clone());
    let mut positions = Vec::new();
    // The root of a generated problem has the same answers as all others, which teaches nothing.
    let is_labelled = tree.text(tree.root(), ATTACKER_STARTS).is_some();
    let is_alone = tree.nodes().len() == 1 && is_labelled;
    for node in tree.nodes().skip(usize::from(!is_alone)) {
        let fail = |what| TreeError::Node {
            node: node.index(),
            what,
        };
        let before = tree.parent(node).unwrap_or(node);
        let mut board = boards[before.index()]
            .clone()
            .ok_or_else(|| fail("has no position before it"))?;
        let moves = tree.moves(node).map_err(RecordError::from)?;
        for (color, mv) in moves {
            match mv {
                Move::Play(point) if board.is_empty(point) && !board.is_suicide(point, color) => {
                    let _ = board.play(point, color);
                }
                Move::Play(_) => return Err(fail("has a move that is not legal")),
                _ => board.clear_ko(),
            }
        }
        // A position stands for itself, without the ko of the move that led to it.
        board.clear_ko();
        boards[node.index()] = Some(board.clone());
        let Some(after) = record.problem.at(board.clone()) else {
            continue;
        };
        for &side in first {
            let (safe_name, move_name) = properties(side);
            let is_safe = match tree.text(node, safe_name) {
                Some("1") => true,
                Some("0") => false,
                _ => return Err(fail("has no label TS or TD")),
            };
            // Read from a file the zone is found anew, so a position must also be a problem then,
            // with the zone it was labelled in.
            let Ok(problem) = Problem::new(board.clone(), after.target()) else {
                continue;
            };
            if problem.zone() != after.zone() {
                continue;
            }
            positions.push(LabelledPosition {
                size: problem.size(side),
                problem,
                first: side,
                is_safe,
                moves: tree
                    .points(node, move_name)
                    .map_err(RecordError::from)?
                    .iter()
                    .collect(),
                source: source.clone(),
            });
        }
    }
    Ok(positions)
}

/// Solves a labelled position from scratch: whether the label is right, or `None` if a limit was
/// reached.
pub fn check_label(position: &LabelledPosition, limits: &Limits) -> Option<bool> {
    let mut solver = Solver::new(&position.problem, limits.clone());
    match solver
        .solve(&position.problem, position.first, Ko::ATTACKER)
        .verdict
    {
        Verdict::Safe => Some(position.is_safe),
        Verdict::Unsafe => Some(!position.is_safe),
        Verdict::Unknown => None,
    }
}

/// What a solver says of a position, for each side that may start.
#[derive(Clone, Copy)]
struct Labels {
    attacker_starts: bool,
    defender_starts: bool,
    winning_moves: [Option<Point>; 2],
}

fn label(solver: &mut Solver, problem: &Problem) -> Option<Labels> {
    let mut answer = |first| {
        let solution = solver.solve(problem, first, Ko::ATTACKER);
        match solution.verdict {
            Verdict::Safe => Some((true, solution.first_move)),
            Verdict::Unsafe => Some((false, solution.first_move)),
            Verdict::Unknown => None,
        }
    };
    let (attacker_starts, attack) = answer(Side::Attacker)?;
    let (defender_starts, defence) = answer(Side::Defender)?;
    Some(Labels {
        attacker_starts,
        defender_starts,
        winning_moves: [attack, defence],
    })
}

fn set_labels(tree: &mut Tree, node: NodeId, labels: Labels) {
    let answers = [labels.attacker_starts, labels.defender_starts];
    for ((first, is_safe), winning) in Side::BOTH
        .into_iter()
        .zip(answers)
        .zip(labels.winning_moves)
    {
        let (safe_name, move_name) = properties(first);
        tree.set_text(node, safe_name, if is_safe { "1" } else { "0" });
        if let Some(point) = winning {
            tree.set_points(node, move_name, [point]);
        }
    }
}

/// Every move of a side in the zone that leaves the target on the board.
fn moves(problem: &Problem, side: Side) -> Vec<(Move, Problem)> {
    let color = problem.color(side);
    let points = crate::problem::zone::playable(problem.board(), problem.zone(), color);
    points
        .into_iter()
        .filter_map(|point| {
            let mut board = problem.board().clone();
            let _ = board.play(point, color);
            board.clear_ko();
            Some((Move::Play(point), problem.at(board)?))
        })
        .collect()
}
