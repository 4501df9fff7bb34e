//! How the solver does in wide zones: `cargo run --release -p tsumego --example wide [PROBLEMS] [SECONDS]`.
//!
//! First generated problems on a 13x13 board with more and more of the outside in the zone; every
//! wall block keeps a liberty that nobody may fill, so the answer must stay as it was. Then the
//! same problems with holes in their walls and the outside closed three steps away: the answer may
//! be another, and every proof is checked.

use std::collections::BTreeSet;
use std::time::Duration;

use go::{Board, BoardSize, Color, Point, PointSet};
use tsumego::{
    Generated, Hints, Ko, Limits, Problem, Recipe, Side, Solver, Verdict, generate, infer,
    thread_time, verify,
};

const WIDTHS: [usize; 5] = [10, 20, 40, 80, 135];

/// One stone in so many of a wall is taken away.
const HOLES: u64 = 4;

/// An opened problem has at least this many moves.
const FEWEST_MOVES: usize = 20;

/// Longer proofs are not written out.
const MOST_PROOF_NODES: usize = 2_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let wanted: usize = arguments.next().unwrap_or(40);
    let seconds: usize = arguments.next().unwrap_or(10);
    let limits = Limits::default().with_processor_time(Duration::from_secs(seconds as u64));
    let recipe = Recipe {
        boards: BoardSize::new(13).into_iter().collect(),
        smallest: 8,
        largest: 10,
        fewest_nodes: 100,
        ..Recipe::default()
    };
    let made = || (0..).filter_map(|number| generate(&recipe, number));
    closed(&made().take(wanted).collect::<Vec<_>>(), &limits);
    opened(made(), wanted, &limits);
}

/// The same problem with more and more of the outside.
fn closed(problems: &[Generated], limits: &Limits) {
    println!("moves | solved | problems | nodes | seconds | nodes a second | wrong");
    for width in WIDTHS {
        let (mut nodes, mut solved, mut wrong) = (0, 0, 0);
        let mut time = Duration::ZERO;
        for made in problems {
            let problem = widened(&made.problem, width);
            let expected = [made.is_safe, made.is_safe_if_defended];
            let mut all_solved = true;
            for (first, is_safe) in Side::BOTH.into_iter().zip(expected) {
                let started = thread_time();
                let mut solver = Solver::new(&problem, limits.clone());
                let verdict = solver.solve(&problem, first, Ko::ATTACKER).verdict;
                time += thread_time().saturating_sub(started);
                nodes += solver.nodes();
                all_solved &= verdict != Verdict::Unknown;
                wrong += usize::from(
                    verdict != Verdict::Unknown && (verdict == Verdict::Safe) != is_safe,
                );
            }
            solved += usize::from(all_solved);
        }
        println!(
            "{width} | {solved} | {} | {nodes} | {:.2} | {:.0} | {wrong}",
            problems.len(),
            time.as_secs_f64(),
            nodes as f64 / time.as_secs_f64()
        );
    }
}

/// Problems with holes in their walls.
fn opened(made: impl Iterator<Item = Generated>, wanted: usize, limits: &Limits) {
    println!("problem | moves | attacker first | defender first | nodes | seconds");
    let problems = made.filter_map(|made| Some((made.number, with_holes(&made)?)));
    let mut solved = 0;
    for (number, problem) in problems.take(wanted) {
        let started = thread_time();
        let mut nodes = 0;
        let verdicts = Side::BOTH.map(|first| {
            let mut solver = Solver::new(&problem, limits.clone());
            let verdict = solver.solve(&problem, first, Ko::ATTACKER).verdict;
            nodes += solver.nodes();
            if verdict != Verdict::Unknown
                && let Ok(proof) = solver.proof(&problem, first, Ko::ATTACKER, MOST_PROOF_NODES)
            {
                verify(&problem, &proof).expect("a proof that holds");
            }
            verdict
        });
        let [attacked, defended] = verdicts;
        solved += usize::from(!verdicts.contains(&Verdict::Unknown));
        println!(
            "{number} | {} | {attacked:?} | {defended:?} | {nodes} | {:.2}",
            problem.size(Side::Attacker),
            thread_time().saturating_sub(started).as_secs_f64()
        );
    }
    println!("{solved} of {wanted} solved for both sides");
}

/// The problem with some stones of its wall taken away and its outside closed farther out; `None`
/// if it does not become wide by that.
fn with_holes(made: &Generated) -> Option<Problem> {
    let problem = &made.problem;
    let board = problem.board();
    let attacker = problem.attacker();
    let [mut black, mut white] = [Color::Black, Color::White].map(|c| *board.stone_set(c));
    let holes: PointSet = board
        .stone_set(attacker)
        .iter()
        .filter(|point| !problem.zone().contains(point))
        .filter(|point| {
            let number = (point.x() * board.size().get() + point.y()) as u64;
            base::mix(made.number.wrapping_mul(1_000) + number).is_multiple_of(HOLES)
        })
        .collect();
    for hole in holes.iter() {
        black.remove(hole);
        white.remove(hole);
    }
    let opened = Board::with_stones(board.size(), &black, &white).ok()?;
    let hints = Hints {
        target: problem.target().to_vec(),
        goal: Some(problem.goal()),
        ..Hints::default()
    };
    let found = infer(&opened, &hints, false).ok()?;
    let is_wide = !found.nearer.is_empty() && found.problem.size(Side::Attacker) >= FEWEST_MOVES;
    is_wide.then_some(found.problem)
}

/// The problem with outside points added to its zone, the nearest first, until about `moves`
/// points are empty in it.
fn widened(problem: &Problem, moves: usize) -> Problem {
    let board = problem.board();
    let mut zone = problem.zone().clone();
    let kept = kept_liberties(board, &zone);
    let empty_in = |zone: &BTreeSet<Point>| zone.iter().filter(|&&p| board.is_empty(p)).count();
    let target = problem.target()[0];
    let mut outside: Vec<Point> = board
        .size()
        .points()
        .filter(|&p| board.is_empty(p) && !zone.contains(&p) && !kept.contains(&p))
        .collect();
    outside.sort_by_key(|p| p.x().abs_diff(target.x()) + p.y().abs_diff(target.y()));
    let missing = moves.saturating_sub(empty_in(&zone));
    zone.extend(outside.into_iter().take(missing));
    Problem::with_zone(board.clone(), problem.target(), zone)
        .expect("a problem with more room is a problem")
        .with_goal(problem.goal())
}

/// A liberty outside the zone for each block that has one.
fn kept_liberties(board: &Board, zone: &BTreeSet<Point>) -> BTreeSet<Point> {
    board
        .size()
        .points()
        .filter(|&point| board.stone(point).is_some() && board.block(point) == point)
        .filter_map(|block| board.liberties(block).filter(|p| !zone.contains(p)).min())
        .collect()
}
