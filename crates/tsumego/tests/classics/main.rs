//! Classical corner and side positions, open outside, nothing marked: what the inference and the
//! solver make of them.

mod book;

use book::classics;
use tsumego::{Hints, Limits, Side, Solver, Status, infer};

/// At least this many of the positions must come out right, both answers each.
const LEAST_RIGHT: usize = 62;

/// Nodes for each question about a position.
const NODES: u64 = 100_000;

#[test]
fn classical_positions_come_out_as_books_say() {
    let classics = classics();
    assert!(classics.len() >= 60, "{}", classics.len());
    let mut right = 0;
    for classic in &classics {
        let inferred = match infer(&classic.board, &Hints::default(), false) {
            Ok(inferred) => inferred,
            Err(error) => {
                println!("{}: {error}", classic.name);
                continue;
            }
        };
        let problem = &inferred.problem;
        if problem.defender() != classic.defender {
            println!("{}: the wrong side is asked about", classic.name);
            continue;
        }
        let found = Side::BOTH.map(|first| {
            let limits = Limits::default().with_nodes(NODES).with_memory(64 << 20);
            let (problem, _) = inferred.problem_for(first, &limits);
            match Solver::new(&problem, limits).status(&problem, first) {
                Status::Safe => 'S',
                Status::Unsafe => 'U',
                Status::KoForAttacker(_) | Status::KoForDefender(_) => 'K',
                Status::Unknown => '?',
            }
        });
        if found == classic.answers {
            right += 1;
        } else {
            println!(
                "{}: {found:?}, expected {:?}",
                classic.name, classic.answers
            );
        }
    }
    println!("{right} of {} right", classics.len());
    assert!(right >= LEAST_RIGHT, "{right} of {}", classics.len());
}
