//! The door to the search: a problem in, a verdict out.

mod explain;
mod limits;
mod map;
mod proof;
mod status;
mod verify;
mod walls;

pub use explain::{Difficulty, Explanation, Refutation, explain, explanation_tree};
pub(crate) use limits::Clock;
pub use limits::{Limits, thread_time};
pub use map::{Certainty, Fate, GroupFate, MapSettings, map};
pub use proof::{Plan, Proof, ProofError, ProofId};
pub use status::{MOST_THREATS, Status};
pub use verify::{Flaw, verify};

use std::collections::HashSet;

use go::{Move, Point};

use self::proof::Extraction;
use crate::problem::{Ko, Problem, Side};
use crate::search::bits::{Bits, Wide};
use crate::search::field::{Field, window_cells};
use crate::search::position::{NO_CELL, Position};
use crate::search::table::Table;
use crate::search::{Answer, Search, SearchMove};

/// Refines the order of the search. It never changes a verdict, only how many nodes it takes.
pub trait Guide: Send + Sync {
    /// How likely the target is to survive in each position, from 0 to 1, with `to_move` to play.
    /// A position is a function that returns the stone at every point near the fight; far from it
    /// nothing has changed. All positions of a call may be evaluated in one batch.
    fn chances_of_life(
        &self,
        positions: &[&dyn Fn(Point) -> Option<Side>],
        to_move: Side,
    ) -> Vec<f32>;
}

/// The answer to "is the target safe?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The attacker cannot capture it.
    Safe,
    /// The attacker captures it.
    Unsafe,
    /// A limit was reached before the answer was found.
    Unknown,
}

/// A verdict and how it was found.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The answer.
    pub verdict: Verdict,
    /// A first move that wins for the side to move, if it wins by a move. A defender who is safe
    /// even if he passes has none.
    pub first_move: Option<Point>,
    /// Positions expanded.
    pub nodes: u64,
    /// The relevance zone: the winner wins every position with the same stones here, whatever the
    /// loser adds elsewhere. Empty while the verdict is unknown.
    pub zone: Vec<Point>,
}

/// Solves positions of one problem, keeping what it learns for the next question.
pub struct Solver {
    engine: Box<dyn Engine>,
    nodes: u64,
}

impl Solver {
    /// A solver for a problem and for every position reached from it by play in its zone.
    pub fn new(problem: &Problem, limits: Limits) -> Solver {
        let cells = window_cells(problem);
        let engine: Box<dyn Engine> = if cells <= u64::CELLS {
            Box::new(Sized::<u64>::new(problem, limits))
        } else if cells <= u128::CELLS {
            Box::new(Sized::<u128>::new(problem, limits))
        } else {
            Box::new(Sized::<Wide>::new(problem, limits))
        };
        Solver { engine, nodes: 0 }
    }

    /// Positions expanded by all questions so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Other limits for the questions that follow; memory stays as it is.
    pub fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }

    /// Every legal move of `side` in the zone, the pass included, with the position it leads to;
    /// `None` where the attacker has then reached the goal.
    pub fn positions_after(&self, problem: &Problem, side: Side) -> Vec<(Move, Option<Problem>)> {
        let mut board = problem.board().clone();
        let mut after_pass = board.clone();
        after_pass.clear_ko();
        let mut after = vec![(Move::Pass, problem.at(after_pass))];
        for &point in problem.zone() {
            if board.is_legal(point, problem.color(side)) {
                let undo = board.play(point, problem.color(side));
                after.push((Move::Play(point), problem.at(board.clone())));
                board.undo(undo);
            }
        }
        after
    }

    /// Decides the problem with `first` to move under a ko rule. The problem must be the solver's
    /// own or one reached from it by play.
    pub fn solve(&mut self, problem: &Problem, first: Side, ko: Ko) -> Solution {
        let solution = self.engine.solve(problem, first, ko, None);
        self.nodes += solution.nodes;
        solution
    }

    /// The same, with a guide to order the search.
    pub fn solve_guided(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        guide: &dyn Guide,
    ) -> Solution {
        let solution = self.engine.solve(problem, first, ko, Some(guide));
        self.nodes += solution.nodes;
        solution
    }

    /// Every move of `first` that wins: the pass too, if that is enough. `None` if a limit was
    /// reached.
    pub fn winning_moves(&mut self, problem: &Problem, first: Side, ko: Ko) -> Option<Vec<Move>> {
        self.engine.winning_moves(problem, first, ko)
    }

    /// A line of play from the start, at most `most` moves long: the winner plays his plan, the
    /// loser a move that is not answered by a pass where there is one.
    pub fn line(&mut self, problem: &Problem, first: Side, ko: Ko, most: usize) -> Vec<Move> {
        self.engine.line(problem, first, ko, most)
    }

    /// The best reply of `side` in a position of the problem: the move of the plan if it wins, else
    /// the one that makes the winner answer. `None` for a pass, or if a limit was reached.
    pub fn reply(&mut self, problem: &Problem, side: Side, ko: Ko) -> Option<Point> {
        let line = self.engine.line(problem, side, ko, 1);
        line.first().and_then(|mv| mv.point())
    }

    /// Writes the winning plan out, up to a number of positions.
    pub fn proof(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        most_nodes: usize,
    ) -> Result<Proof, ProofError> {
        self.engine.proof(problem, first, ko, most_nodes)
    }
}

trait Engine: Send {
    fn set_limits(&mut self, limits: Limits);
    fn solve(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        guide: Option<&dyn Guide>,
    ) -> Solution;
    fn winning_moves(&mut self, problem: &Problem, first: Side, ko: Ko) -> Option<Vec<Move>>;
    fn line(&mut self, problem: &Problem, first: Side, ko: Ko, most: usize) -> Vec<Move>;
    fn proof(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        most_nodes: usize,
    ) -> Result<Proof, ProofError>;
}

struct Sized<B> {
    field: Field<B>,
    table: Table<B>,
    limits: Limits,
}

impl<B: Bits> Sized<B> {
    fn new(problem: &Problem, limits: Limits) -> Self {
        Sized {
            field: Field::new(problem),
            table: Table::new(limits.memory),
            limits,
        }
    }
}

impl<B: Bits> Engine for Sized<B> {
    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn solve(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        guide: Option<&dyn Guide>,
    ) -> Solution {
        let position = self.field.position(problem, first, ko);
        let mut search = Search::new(&self.field, &mut self.table, &self.limits, guide);
        let verdict = match search.solve(&position, first) {
            Ok(Answer::Captured) => Verdict::Unsafe,
            Ok(Answer::Safe) => Verdict::Safe,
            Err(_) => Verdict::Unknown,
        };
        let nodes = search.nodes;
        let wins = match first {
            Side::Attacker => verdict == Verdict::Unsafe,
            Side::Defender => verdict == Verdict::Safe,
        };
        let first_move = wins
            .then(|| winning_step(&mut search, &position, first))
            .flatten()
            .map(|cell| self.field.point(cell));
        let zone = search.zone_of_root(&position, first);
        let zone = zone.iter().map(|cell| self.field.point(cell)).collect();
        Solution {
            verdict,
            first_move,
            nodes,
            zone,
        }
    }

    fn winning_moves(&mut self, problem: &Problem, first: Side, ko: Ko) -> Option<Vec<Move>> {
        let position = self.field.position(problem, first, ko);
        let mut search = Search::new(&self.field, &mut self.table, &self.limits, None);
        let mut moves = Vec::new();
        for step in search.legal_steps(&position, first) {
            search.nodes = 0;
            if search.solve(&step.position, first.opponent()).ok()? == Answer::wanted_by(first) {
                moves.push(self.field.to_move(step.cell));
            }
        }
        Some(moves)
    }

    fn line(&mut self, problem: &Problem, first: Side, ko: Ko, most: usize) -> Vec<Move> {
        let mut position = self.field.position(problem, first, ko);
        let mut search = Search::new(&self.field, &mut self.table, &self.limits, None);
        let Ok(answer) = search.solve(&position, first) else {
            return Vec::new();
        };
        let mut side = first;
        let mut moves = Vec::new();
        let mut seen = HashSet::new();
        while moves.len() < most
            && !self.field.is_captured(&position)
            && seen.insert(self.field.key(&position, side))
        {
            let steps = search.legal_steps(&position, side);
            let cell = if Answer::wanted_by(side) == answer {
                winning_step(&mut search, &position, side).map_or(NO_CELL, |cell| cell as u16)
            } else {
                stiffest(&mut search, &position, side, &steps)
            };
            moves.push(self.field.to_move(cell));
            position = match steps.into_iter().find(|step| step.cell == cell) {
                Some(step) => step.position,
                None => break,
            };
            side = side.opponent();
        }
        while moves.last() == Some(&Move::Pass) {
            moves.pop();
        }
        moves
    }

    fn proof(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        most_nodes: usize,
    ) -> Result<Proof, ProofError> {
        let position = self.field.position(problem, first, ko);
        let mut search = Search::new(&self.field, &mut self.table, &self.limits, None);
        let winner = match search.solve(&position, first) {
            Ok(Answer::Captured) => Side::Attacker,
            Ok(Answer::Safe) => Side::Defender,
            Err(_) => return Err(ProofError::Unsolved),
        };
        Extraction::new(&mut search, winner, most_nodes).run(&position, first, ko)
    }
}

/// A move that keeps the win; a pass (`None`) comes last for the attacker, first for the defender.
fn winning_step<B: Bits>(
    search: &mut Search<B>,
    position: &Position<B>,
    side: Side,
) -> Option<usize> {
    let wanted = Answer::wanted_by(side);
    let mut steps: Vec<SearchMove<B>> = search.legal_steps(position, side);
    // What the search has solved already comes first: another answer could take long to find.
    steps.sort_by_cached_key(|step| search.plain(&step.position, side.opponent()) != Some(wanted));
    steps
        .into_iter()
        .find(|step| search.solve(&step.position, side.opponent()) == Ok(wanted))
        .filter(|step| step.cell != NO_CELL)
        .map(|step| step.cell as usize)
}

/// The loser's stiffest move: one that a pass would not answer, and the harder to refute the better.
/// A pass if there is none.
fn stiffest<B: Bits>(
    search: &mut Search<B>,
    position: &Position<B>,
    side: Side,
    steps: &[SearchMove<B>],
) -> u16 {
    let near = search.field.near(position);
    let mut best = (0, NO_CELL);
    for step in steps {
        if step.cell == NO_CELL || !near.has(step.cell as usize) {
            continue;
        }
        let tenuki = search.field.pass(&step.position);
        let threatens = search.solve_within(&tenuki, side, NODES_TO_SEE_A_THREAT)
            == Some(Answer::wanted_by(side));
        let work = 1 + search.work(&step.position, side.opponent());
        if threatens && work > best.0 {
            best = (work, step.cell);
        }
    }
    best.1
}

/// A threat that takes more reading to see is not told from a quiet move.
const NODES_TO_SEE_A_THREAT: u64 = 5_000;
