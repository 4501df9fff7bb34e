//! Known shapes, and the curated set where it is at hand.

use std::path::{Path, PathBuf};

use go::{Board, BoardSize, Point};
use tsumego::{
    Goal, Ko, Limits, Problem, Recipe, Side, Solver, Status, Verdict, generate_problems,
    read_problem, verify,
};

fn problem(drawing: &str, target: &[(usize, usize)]) -> Problem {
    let side = drawing.lines().count();
    let board = Board::from_diagram(BoardSize::new(side).unwrap(), drawing).unwrap();
    let target: Vec<Point> = target.iter().map(|&(x, y)| Point::new(x, y)).collect();
    Problem::new(board, &target).unwrap()
}

fn verdicts(problem: &Problem) -> [Verdict; 2] {
    Side::BOTH.map(|first| {
        let mut solver = Solver::new(problem, Limits::default());
        let verdict = solver.solve(problem, first, Ko::ATTACKER).verdict;
        let proof = solver.proof(problem, first, Ko::ATTACKER, 100_000).unwrap();
        verify(problem, &proof).unwrap();
        verdict
    })
}

#[test]
fn straight_four_lives_and_square_four_dies() {
    let straight = "\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        X X X X X X .\n\
        O O O O O X .\n\
        . . . . O X .";
    assert_eq!(verdicts(&problem(straight, &[(0, 1)])), [Verdict::Safe; 2]);
    let square = "\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        X X X X . . .\n\
        O O O X . . .\n\
        . . O X . . .\n\
        . . O X . . .";
    assert_eq!(verdicts(&problem(square, &[(2, 1)])), [Verdict::Unsafe; 2]);
}

#[test]
fn several_targets_fall_together_or_one_by_one() {
    // Two blocks: the left one is dead, the right one has two eyes.
    let drawing = "\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        X X X X X X X X X\n\
        X O O X X O O O O\n\
        X . O X X O . O .";
    let both = problem(drawing, &[(1, 1), (5, 1)]);
    let solve = |problem: &Problem| {
        let mut solver = Solver::new(problem, Limits::default());
        solver.solve(problem, Side::Defender, Ko::ATTACKER).verdict
    };
    assert_eq!(solve(&both), Verdict::Safe, "one lives");
    assert_eq!(
        solve(&both.with_goal(Goal::Any)),
        Verdict::Unsafe,
        "one falls"
    );
}

#[test]
fn a_ko_is_told_by_the_threats_it_needs() {
    // White lives by winning the ko at the edge.
    let ko = "\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        X X X X X X .\n\
        O O O O O X .\n\
        . O X . O X .";
    let problem = problem(ko, &[(0, 1)]);
    let mut solver = Solver::new(&problem, Limits::default());
    let status = solver.status(&problem, Side::Attacker);
    // Whatever it is, the three rules must be in order: an attacker's threat never helps White.
    let [attacker, nobody, defender] =
        Ko::NAMED.map(|ko| solver.solve(&problem, Side::Attacker, ko).verdict);
    let rank = |verdict| usize::from(verdict == Verdict::Safe);
    assert!(rank(attacker) <= rank(nobody) && rank(nobody) <= rank(defender));
    assert_ne!(status, Status::Unknown);
}

#[test]
fn a_limit_never_ends_in_a_wrong_number_of_threats() {
    let recipe = Recipe {
        largest: 8,
        ..Recipe::default()
    };
    let mut kos = 0;
    for made in generate_problems(&recipe, 60) {
        let status = |limits: Limits| {
            let problem = &made.problem;
            Solver::new(problem, limits).status(problem, Side::Attacker)
        };
        let whole = status(Limits::default());
        if !matches!(whole, Status::KoForAttacker(_) | Status::KoForDefender(_)) {
            continue;
        }
        kos += 1;
        for nodes in 1..200 {
            let found = status(Limits::default().with_nodes(nodes));
            assert!(
                found == whole || found == Status::Unknown,
                "{found} {whole}"
            );
        }
    }
    assert!(kos > 3, "{kos}");
}

#[test]
fn limits_end_in_unknown() {
    let drawing = "\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        X X X X X X X X X\n\
        O O O O O O O O O\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .";
    let problem = problem(drawing, &[(0, 3)]);
    let mut solver = Solver::new(&problem, Limits::default().with_nodes(10));
    let found = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
    assert_eq!(found.verdict, Verdict::Unknown);
    assert!(
        solver
            .proof(&problem, Side::Attacker, Ko::ATTACKER, 10)
            .is_err()
    );
    let stopped = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let limits = Limits::default().with_interrupt(stopped);
    let mut solver = Solver::new(&problem, limits);
    let found = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
    assert_eq!(found.verdict, Verdict::Unknown);
}

/// Safe if the defender starts; all of the set are unsafe if the attacker does.
const DEAD_ANYWAY: [&str; 11] = [
    "gop/5780",
    "gop/7260",
    "gop/13031",
    "gop/14296",
    "sim/1",
    "sim/1-step-ko",
    "sim/2",
    "sim/4/basic",
    "sim/4/bent2",
    "sim/8/ko-1",
    "sim/8/ko-2",
];
const DEAD_ANYWAY_TOO: &str = "sim/9/basic";

#[test]
fn the_curated_set_is_judged_as_its_table_says() {
    let root = std::env::var_os("TENGEN_DATA")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from)
        .join("tsumego/problems");
    let mut files = Vec::new();
    collect(&root, &mut files);
    if files.is_empty() {
        println!("skipped: no data");
        return;
    }
    files.sort();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().with_extension("");
        let name = name.to_str().unwrap().to_owned();
        let problem = read_problem(&std::fs::read(&file).unwrap())
            .unwrap()
            .problem;
        for first in Side::BOTH {
            let mut solver = Solver::new(&problem, Limits::default().with_nodes(1_000_000));
            let dies = first == Side::Attacker
                || DEAD_ANYWAY.contains(&name.as_str())
                || name == DEAD_ANYWAY_TOO;
            let expected = if dies { Verdict::Unsafe } else { Verdict::Safe };
            let found = solver.solve(&problem, first, Ko::ATTACKER).verdict;
            assert_eq!(found, expected, "{name}, {first:?} first");
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}
