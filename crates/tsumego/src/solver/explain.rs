//! An answer worth reading: all solutions, the main line, why other moves fail, how hard it is, and
//! hints that give it away step by step.

use std::fmt;

use go::sgf::Tree;
use go::{Color, Move, Point};

use super::{Limits, MOST_THREATS, Solver, Status, Verdict};
use crate::problem::{Ko, Problem, Side, Threats, problem_tree};

/// Moves of a main line and of a refutation at most.
const LONGEST_LINE: usize = 60;
const LONGEST_REFUTATION: usize = 12;

/// Nodes for one wrong move, as a multiple of what the solution took, and at least.
const NODES_PER_WRONG_MOVE: u64 = 4;
const FEWEST_NODES_PER_MOVE: u64 = 20_000;

/// How hard a problem is for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difficulty {
    /// Seen at a glance.
    Trivial,
    /// A few moves of reading.
    Easy,
    /// Takes some reading.
    Medium,
    /// Takes much reading.
    Hard,
    /// Takes more reading than most solvers do.
    VeryHard,
}

impl Difficulty {
    /// The fewest nodes of each level: about fifths of 79 problems that people made, the attacker
    /// first and nobody with threats. Of nine from an elementary book the middle one takes 223
    /// nodes, of fifteen textbook shapes 38, of 54 from a problem site 4,094.
    const LEAST_NODES: [(u64, Difficulty); 4] = [
        (9_000, Difficulty::VeryHard),
        (2_400, Difficulty::Hard),
        (600, Difficulty::Medium),
        (100, Difficulty::Easy),
    ];

    /// The difficulty of a problem that took this many nodes.
    pub fn of_nodes(nodes: u64) -> Difficulty {
        Self::LEAST_NODES
            .iter()
            .find(|(least, _)| nodes >= *least)
            .map_or(Difficulty::Trivial, |&(_, difficulty)| difficulty)
    }
}

impl fmt::Display for Difficulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difficulty::Trivial => "trivial",
            Difficulty::Easy => "easy",
            Difficulty::Medium => "medium",
            Difficulty::Hard => "hard",
            Difficulty::VeryHard => "very hard",
        })
    }
}

/// Why a first move is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The wrong move.
    pub wrong: Point,
    /// The opponent's answer and what follows; empty if he need not answer.
    pub line: Vec<Move>,
    /// Whether it still reaches the goal by a ko, where the solution needs none.
    pub only_ko: bool,
}

/// What there is to say of a problem with one side to move.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Who moves first.
    pub first: Side,
    /// How the target stands.
    pub status: Status,
    /// Every first move that gives the best result; a pass among them if no move is needed.
    pub solutions: Vec<Move>,
    /// Whether every other move was shown to be worse, so that `solutions` is complete.
    pub is_complete: bool,
    /// The solution played to the end, both sides at their best.
    pub main_line: Vec<Move>,
    /// The moves near the target that fail, each with its refutation.
    pub refutations: Vec<Refutation>,
    /// How hard it is.
    pub difficulty: Difficulty,
    /// What the result rests on.
    pub zone: Vec<Point>,
    /// Hints, each giving away more than the one before.
    pub hints: Vec<String>,
    /// Nodes that the status took.
    pub nodes: u64,
}

impl Explanation {
    /// Whether exactly one first move is right.
    pub fn is_unique(&self) -> bool {
        self.is_complete && self.solutions.len() == 1 && self.solutions[0] != Move::Pass
    }
}

/// Solves a problem and explains the answer.
pub fn explain(problem: &Problem, first: Side, limits: &Limits) -> Explanation {
    let mut solver = Solver::new(problem, limits.clone());
    let solution = solver.solve(problem, first, Ko::NOBODY);
    let status = solver.status(problem, first);
    let mut explanation = Explanation {
        first,
        status,
        solutions: Vec::new(),
        is_complete: false,
        main_line: Vec::new(),
        refutations: Vec::new(),
        difficulty: Difficulty::of_nodes(solution.nodes),
        zone: solution.zone,
        hints: Vec::new(),
        nodes: solution.nodes,
    };
    let Some(ko) = status.rule_for(first) else {
        // The side to move cannot do better: the line shows how the opponent holds.
        explanation.is_complete = status != Status::Unknown;
        if let Some(ko) = status.rule_for(first.opponent()) {
            explanation.main_line = solver.line(problem, first, ko, LONGEST_LINE);
        }
        return explanation;
    };
    explanation.main_line = solver.line(problem, first, ko, LONGEST_LINE);
    explain_moves(problem, &mut solver, ko, limits, &mut explanation);
    explanation.hints = hints(problem, &explanation);
    explanation
}

/// Sorts the first moves into solutions and refuted ones.
fn explain_moves(
    problem: &Problem,
    solver: &mut Solver,
    ko: Ko,
    limits: &Limits,
    explanation: &mut Explanation,
) {
    let first = explanation.first;
    let nodes = (explanation.nodes * NODES_PER_WRONG_MOVE).max(FEWEST_NODES_PER_MOVE);
    solver.set_limits(limits.clone().with_nodes(nodes.min(limits.nodes)));
    let wins = match first {
        Side::Attacker => Verdict::Unsafe,
        Side::Defender => Verdict::Safe,
    };
    explanation.is_complete = true;
    for (mv, after) in solver.positions_after(problem, first) {
        let Some(after) = after else {
            // The target is gone with this very move.
            explanation.solutions.push(mv);
            continue;
        };
        match solver.solve(&after, first.opponent(), ko).verdict {
            Verdict::Unknown => explanation.is_complete = false,
            verdict if verdict == wins => explanation.solutions.push(mv),
            _ => {
                let Some(point) = mv.point().filter(|p| is_near(problem, *p)) else {
                    continue;
                };
                let line = solver.line(&after, first.opponent(), ko, LONGEST_REFUTATION);
                let only_ko = !explanation.status.is_ko()
                    && solver
                        .solve(&after, first.opponent(), master(first))
                        .verdict
                        == wins;
                explanation.refutations.push(Refutation {
                    wrong: point,
                    line,
                    only_ko,
                });
            }
        }
    }
    solver.set_limits(limits.clone());
}

/// The rule under which a side has all the threats that are ever counted.
fn master(side: Side) -> Ko {
    let all = Threats::new(MOST_THREATS);
    match side {
        Side::Attacker => Ko {
            attacker: all,
            ..Ko::NOBODY
        },
        Side::Defender => Ko {
            defender: all,
            ..Ko::NOBODY
        },
    }
}

/// Whether a point is within two steps of the target.
fn is_near(problem: &Problem, point: Point) -> bool {
    problem
        .target_stones()
        .iter()
        .any(|stone| stone.x().abs_diff(point.x()) <= 2 && stone.y().abs_diff(point.y()) <= 2)
}

/// Hints from the goal to the move.
fn hints(problem: &Problem, explanation: &Explanation) -> Vec<String> {
    let color = match problem.color(explanation.first) {
        Color::Black => "Black",
        Color::White => "White",
    };
    let goal = match (explanation.first, explanation.status.is_ko()) {
        (Side::Attacker, false) => "can capture the group",
        (Side::Attacker, true) => "can make it a ko",
        (Side::Defender, false) => "can live",
        (Side::Defender, true) => "can live by a ko",
    };
    let mut hints = vec![format!("{color} {goal}.")];
    let Some(best) = explanation.main_line.first().and_then(|mv| mv.point()) else {
        hints.push("No move is needed.".to_owned());
        return hints;
    };
    let board = problem.board();
    let stones = problem.target_stones();
    let beside = best.neighbors().iter().any(|p| stones.contains(p));
    let last = board.size().get() - 1;
    let line = [best.x(), best.y(), last - best.x(), last - best.y()]
        .into_iter()
        .min()
        .unwrap_or(0)
        + 1;
    let place = if beside {
        "touches the group"
    } else {
        "does not touch the group"
    };
    hints.push(format!("The first move is on line {line} and {place}."));
    let forced = explanation.main_line.len().div_ceil(2);
    hints.push(match forced {
        1 => "One move is enough.".to_owned(),
        moves => format!("The main line takes {moves} moves of {color}."),
    });
    hints.push(format!("{color} plays {best}."));
    hints
}

/// Solutions and refutations as variations: a tree to read, not a proof.
pub fn explanation_tree(problem: &Problem, name: Option<&str>, explanation: &Explanation) -> Tree {
    let mut tree = problem_tree(problem, name.unwrap_or_default());
    let root = tree.root();
    let first = problem.color(explanation.first);
    tree.set_text(root, "PL", if first == Color::Black { "B" } else { "W" });
    let comment = format!(
        "{}: {}. Difficulty: {}.",
        explanation.first, explanation.status, explanation.difficulty
    );
    tree.set_text(root, "C", &comment);
    let mut add_line = |moves: &[Move], comment: &str| {
        let mut node = root;
        let mut color = first;
        for (at, &mv) in moves.iter().enumerate() {
            node = tree.add_move(node, color, mv);
            if at == 0 {
                tree.set_text(node, "C", comment);
            }
            color = color.opponent();
        }
    };
    add_line(&explanation.main_line, "RIGHT");
    for &solution in &explanation.solutions {
        if explanation.main_line.first() != Some(&solution) && solution != Move::Pass {
            add_line(&[solution], "RIGHT");
        }
    }
    for wrong in &explanation.refutations {
        let mut moves = vec![Move::Play(wrong.wrong)];
        moves.extend(&wrong.line);
        let comment = if wrong.only_ko {
            "Only a ko."
        } else {
            "Wrong."
        };
        add_line(&moves, comment);
    }
    tree
}
