//! The door to the search: a problem in, a verdict out.

mod proof;
mod verify;

pub use proof::{Plan, Proof, ProofError, ProofId};
pub use verify::{Flaw, verify};

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use go::{Move, Point};

use self::proof::Extraction;
use crate::problem::{Ko, Threats};
use crate::problem::{Problem, Side};
use crate::search::bits::{Bits, Wide};
use crate::search::field::{Field, window_cells};
use crate::search::position::{NO_CELL, Position};
use crate::search::table::Table;
use crate::search::{Answer, Search, Step};

/// Where a search must stop, whatever it has found.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Positions expanded.
    pub nodes: u64,
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Bytes for the transposition table.
    pub memory: usize,
    interrupt: Option<Arc<AtomicBool>>,
}

impl Default for Limits {
    /// No limit on nodes or time, 256 MiB of memory.
    fn default() -> Limits {
        const DEFAULT_TABLE_BYTES: usize = 256 << 20;
        Limits {
            nodes: u64::MAX,
            time: None,
            memory: DEFAULT_TABLE_BYTES,
            interrupt: None,
        }
    }
}

impl Limits {
    /// At most this many nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u64) -> Limits {
        self.nodes = nodes;
        self
    }

    /// At most this long.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Limits {
        self.time = Some(time);
        self
    }

    /// At most this many bytes of table.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Limits {
        self.memory = bytes;
        self
    }

    /// Stops soon after the flag is set.
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Limits {
        self.interrupt = Some(flag);
        self
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Refines the order of the search. It never changes a verdict, only how many nodes it takes.
pub trait Guide: Send + Sync {
    /// How likely the target is to survive, from 0 to 1, with `to_move` to play.
    /// `stone_at` answers for every point near the fight; far from it nothing has changed.
    fn chance_of_life(&self, stone_at: &dyn Fn(Point) -> Option<Side>, to_move: Side) -> f32;
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
}

/// How a target stands over all ko rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Safe even if the attacker may retake every ko.
    Safe,
    /// Captured even if the defender may retake every ko.
    Unsafe,
    /// Lives unless the attacker has this many threats more; `None` for more than were tried.
    KoForAttacker(Option<usize>),
    /// Dies unless the defender has this many threats more; `None` for more than were tried.
    KoForDefender(Option<usize>),
    /// A limit was reached.
    Unknown,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs = |f: &mut fmt::Formatter<'_>, side: &str, threats: Option<usize>| match threats {
            Some(1) => write!(f, "ko ({side} needs 1 threat)"),
            Some(count) => write!(f, "ko ({side} needs {count} threats)"),
            None => write!(f, "ko ({side} needs more than {MOST_THREATS} threats)"),
        };
        match *self {
            Status::Safe => f.write_str("safe"),
            Status::Unsafe => f.write_str("unsafe"),
            Status::KoForAttacker(threats) => needs(f, "the attacker", threats),
            Status::KoForDefender(threats) => needs(f, "the defender", threats),
            Status::Unknown => f.write_str("unknown"),
        }
    }
}

/// Threats are counted up to this number.
const MOST_THREATS: usize = 4;

/// Solves positions of one problem, keeping what it learns for the next question.
pub struct Solver {
    engine: Box<dyn Engine>,
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
        Solver { engine }
    }

    /// Decides the problem with `first` to move under a ko rule. The problem must be the solver's
    /// own or one reached from it by play.
    pub fn solve(&mut self, problem: &Problem, first: Side, ko: Ko) -> Solution {
        self.engine.solve(problem, first, ko, None)
    }

    /// The same, with a guide to order the search.
    pub fn solve_guided(
        &mut self,
        problem: &Problem,
        first: Side,
        ko: Ko,
        guide: &dyn Guide,
    ) -> Solution {
        self.engine.solve(problem, first, ko, Some(guide))
    }

    /// Every move of `first` that wins: the pass too, if that is enough. `None` if a limit was
    /// reached.
    pub fn winning_moves(&mut self, problem: &Problem, first: Side, ko: Ko) -> Option<Vec<Move>> {
        self.engine.winning_moves(problem, first, ko)
    }

    /// How the target stands over all ko rules, with `first` to move.
    pub fn status(&mut self, problem: &Problem, first: Side) -> Status {
        let mut verdict = |ko| self.solve(problem, first, ko).verdict;
        let [attacker, nobody, defender] = Ko::NAMED.map(&mut verdict);
        // Nothing within if a limit was reached before the question was answered.
        let mut fewest = |wanted: Verdict, with: &dyn Fn(Threats) -> Ko| -> Option<Option<usize>> {
            for count in 1..=MOST_THREATS {
                match verdict(with(Threats::new(count))) {
                    Verdict::Unknown => return None,
                    found if found == wanted => return Some(Some(count)),
                    _ => {}
                }
            }
            Some(None)
        };
        match (attacker, nobody, defender) {
            (Verdict::Unknown, ..) | (_, Verdict::Unknown, _) | (.., Verdict::Unknown) => {
                Status::Unknown
            }
            (Verdict::Safe, ..) => Status::Safe,
            (.., Verdict::Unsafe) => Status::Unsafe,
            (_, Verdict::Safe, _) => {
                let with = |attacker| Ko {
                    attacker,
                    ..Ko::NOBODY
                };
                fewest(Verdict::Unsafe, &with).map_or(Status::Unknown, Status::KoForAttacker)
            }
            _ => {
                let with = |defender| Ko {
                    defender,
                    ..Ko::NOBODY
                };
                fewest(Verdict::Safe, &with).map_or(Status::Unknown, Status::KoForDefender)
            }
        }
    }

    /// A line of play from the start, at most `most` moves long: the winner plays his plan, the
    /// loser a move that is not answered by a pass where there is one.
    pub fn line(&mut self, problem: &Problem, first: Side, ko: Ko, most: usize) -> Vec<Move> {
        self.engine.line(problem, first, ko, most)
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
        Solution {
            verdict,
            first_move,
            nodes,
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
                // The loser's stiffest reply is one that a pass would not answer.
                let stiff = steps
                    .iter()
                    .filter(|step| step.cell != NO_CELL)
                    .find(|step| {
                        let tenuki = self.field.pass(&step.position);
                        search
                            .known(&tenuki, side)
                            .is_some_and(|known| known != answer)
                    });
                stiff.map_or(NO_CELL, |step| step.cell)
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
    let mut steps: Vec<Step<B>> = search.legal_steps(position, side);
    // What the search has solved already comes first: another answer could take long to find.
    steps.sort_by_cached_key(|step| search.plain(&step.position, side.opponent()) != Some(wanted));
    steps
        .into_iter()
        .find(|step| search.solve(&step.position, side.opponent()) == Ok(wanted))
        .filter(|step| step.cell != NO_CELL)
        .map(|step| step.cell as usize)
}
