//! Drawn positions whose ko has a name, under all ko rules: what books say of them, what brute force
//! says, and what the fast solver says must be the same.

use go::{Board, BoardSize, Point};

use crate::check::BruteForce;
use crate::problem::{Ko, Problem, Side};
use crate::solver::{Limits, Solver, Status, Verdict};

/// Situations that brute force may list for a probe.
const MOST_SITUATIONS: usize = 400_000;

struct Probe {
    name: &'static str,
    drawing: &'static str,
    /// A stone of the target.
    target: (usize, usize),
    /// Where both sides may play, if it is not to be found.
    zone: &'static [(usize, usize)],
    /// Whether the target is safe (S) or not (U) if the attacker starts and may retake any ko, if
    /// nobody may, and if the defender may; then the same if the defender starts.
    truth: &'static str,
    /// How it stands over all ko rules, the attacker first.
    status: Status,
}

const PROBES: &[Probe] = &[
    // Black throws in at C1; White takes, and Black takes all of it back.
    Probe {
        name: "snapback",
        drawing: "\
            . . . . .
            . . . . .
            X X X X X
            X O O X X
            X O . . X",
        target: (1, 1),
        zone: &[],
        truth: "UUU UUU",
        status: Status::Unsafe,
    },
    // Black B1, White A1, Black A2 takes the ko first: White needs a threat.
    Probe {
        name: "bent four in the corner",
        drawing: "\
            . . . . . .
            . . . . . .
            X X X . . .
            O O X X X .
            . O O O X .
            . . . O X .",
        target: (1, 1),
        zone: &[],
        truth: "UUS SSS",
        status: Status::KoForDefender(1),
    },
    // One eye and one ko. Black connects; White takes, cannot finish it, and needs a threat
    // every time.
    Probe {
        name: "a ko that White cannot finish",
        drawing: "\
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .
            X X X X X X .
            X O O O O X .
            . X O . O X .",
        target: (1, 1),
        zone: &[],
        truth: "UUU UUS",
        status: Status::Unsafe,
    },
    // One eye and two such kos: when Black takes one, White takes the other, but Black finishes
    // his and comes back for the last one. No number of threats lets White finish.
    Probe {
        name: "two kos that White cannot finish",
        drawing: "\
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .
            X X X X X X X
            X O O O O O X
            . X O . O . O",
        target: (1, 1),
        zone: &[],
        truth: "UUS UUS",
        status: Status::Unsafe,
    },
    // One eye, and a ko on either side for the connection to a living group. When Black takes the
    // right one, White takes the left one; Black cuts on the right, White connects on the left.
    // Only threats without end keep Black going round.
    Probe {
        name: "double ko",
        drawing: "\
            . . . . . . . . . . .
            . . . . . . . . . . .
            . . . . . . . . . . .
            . . . . . . . . . . .
            . . . . . . . . . . .
            . . . . . . . . . . .
            . . . . . . . . . . .
            O X . . X X X . . X O
            O X X X O O O X X X O
            O X . X O . O X O X O
            O O X O O O O O . O O",
        target: (4, 1),
        zone: &[(2, 0), (2, 1), (5, 1), (8, 0), (8, 1)],
        truth: "USS SSS",
        status: Status::Safe,
    },
    // Nine points in the corner, the wall around them whole: whatever Black does, White keeps two
    // eyes or a seki.
    Probe {
        name: "nine points in the corner behind a whole wall",
        drawing: "\
            . . . . . . .
            . . . . . . .
            X X X X X . .
            O O O O X . .
            . . . O X . .
            . . . O X . .
            . . . O X . .",
        target: (3, 3),
        zone: &[],
        truth: "SSS SSS",
        status: Status::Safe,
    },
    // B6 kills without a ko; A6 and B7 only with one.
    Probe {
        name: "a kill without a ko beside kills with one",
        drawing: "\
            . . . O X . .
            . . . O X . .
            O O O O X . .
            X X X X X . .
            . . . . . . .
            . . . . . . .
            . . . . . . .",
        target: (3, 6),
        zone: &[],
        truth: "UUU SSS",
        status: Status::Unsafe,
    },
];

fn problem(probe: &Probe) -> Problem {
    let side = probe.drawing.lines().count();
    let board = Board::from_diagram(BoardSize::new(side).unwrap(), probe.drawing).unwrap();
    let point = |&(x, y): &(usize, usize)| Point::new(x, y);
    let target = [point(&probe.target)];
    if probe.zone.is_empty() {
        return Problem::new(board, &target).unwrap();
    }
    Problem::with_zone(board, &target, probe.zone.iter().map(point)).unwrap()
}

fn letter(is_safe: bool) -> char {
    if is_safe { 'S' } else { 'U' }
}

/// The answers for either side to start under each rule, as a probe states them.
fn stated(answer: impl Fn(Side, Ko) -> char) -> String {
    let answers = |first| Ko::NAMED.map(|ko| answer(first, ko)).iter().collect();
    let parts: [String; 2] = Side::BOTH.map(answers);
    parts.join(" ")
}

#[test]
fn brute_force_judges_the_probes_as_books_do() {
    let mut wrong: Vec<String> = Vec::new();
    for probe in PROBES {
        let problem = problem(probe);
        let truths = Ko::NAMED.map(|ko| {
            let truth = BruteForce::solve(&problem, ko, MOST_SITUATIONS).expect("a small probe");
            let roots: Vec<bool> = truth.answers().take(2).map(|(_, safe)| safe).collect();
            roots
        });
        let found = stated(|first, ko| {
            let rule = Ko::NAMED.iter().position(|&named| named == ko).unwrap();
            letter(truths[rule][usize::from(first == Side::Defender)])
        });
        wrong.extend((found != probe.truth).then(|| format!("{}: {found}", probe.name)));
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_solver_judges_the_probes_as_brute_force_does() {
    for probe in PROBES {
        let problem = problem(probe);
        let found = stated(|first, ko| {
            let mut solver = Solver::new(&problem, Limits::default());
            letter(solver.solve(&problem, first, ko).verdict == Verdict::Safe)
        });
        assert_eq!(found, probe.truth, "{}", probe.name);
        let mut solver = Solver::new(&problem, Limits::default());
        let status = solver.status(&problem, Side::Attacker);
        assert_eq!(status, probe.status, "{}", probe.name);
    }
}

#[test]
fn a_stated_result_always_comes_with_a_move_that_gives_it() {
    for probe in PROBES {
        let problem = problem(probe);
        for first in Side::BOTH {
            let mut solver = Solver::new(&problem, Limits::default());
            let status = solver.status(&problem, first);
            let Some(ko) = status.rule_for(first) else {
                continue;
            };
            let moves = solver.best_moves(&problem, first, status).unwrap();
            assert!(!moves.is_empty(), "{}, {first} first", probe.name);
            let wanted = match first {
                Side::Attacker => Verdict::Unsafe,
                Side::Defender => Verdict::Safe,
            };
            for (mv, after) in solver.positions_after(&problem, first) {
                let verdict = match &after {
                    Some(after) => solver.solve(after, first.opponent(), ko).verdict,
                    None => Verdict::Unsafe,
                };
                let gives_it = verdict == wanted;
                assert_eq!(moves.contains(&mv), gives_it, "{}: {mv}", probe.name);
            }
        }
    }
}
