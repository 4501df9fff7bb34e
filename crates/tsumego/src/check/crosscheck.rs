//! Holds the fast solver against brute force on small random problems.

use go::{Board, BoardSize, Color, Point};
use rand::{Rng, RngExt};

use crate::check::{BruteForce, Situation};
use crate::problem::Ko;
use crate::problem::{Goal, Problem, Side};
use crate::search::bits::Bits;
use crate::search::field::Field;
use crate::search::table::Table;
use crate::search::{Answer, Search};
use crate::solver::Limits;

/// The fast solver's limit for one situation.
pub const NODES: u64 = 100_000;

/// How two solvers compare on all situations of a problem.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Situations both have decided.
    pub situations: usize,
    /// How many of them are safe.
    pub safe: usize,
    /// Situations the fast solver gave up on, within [`NODES`].
    pub undecided: usize,
    /// The situations they judge differently.
    pub disagreements: Vec<Situation>,
}

/// Compares the solvers on every situation reachable from `problem`, if there are at most `most`.
///
/// `table_bytes` bounds the fast solver's memory: a table that forgets must not change an answer.
/// With `lazy` every node begins with the moves near the target and keeps its result as a
/// pattern, as in a wide zone.
pub fn compare(
    problem: &Problem,
    ko: Ko,
    most: usize,
    table_bytes: usize,
    lazy: bool,
) -> Option<Agreement> {
    let truth = BruteForce::solve(problem, ko, most)?;
    let field: Field<u64> = Field::new(problem);
    let mut table = Table::new(table_bytes);
    let limits = Limits::default().with_nodes(NODES);
    let mut search = Search::new(&field, &mut table, &limits, None);
    if lazy {
        search.all_at_once = 0;
        search.least_work_of_pattern = 0;
    }
    let mut agreement = Agreement::default();
    for (situation, safe) in truth.answers() {
        let position = field.position_of(
            |point| {
                let stone = situation.stones[problem.board().size().index(point)]?;
                Some(if stone == problem.defender() {
                    Side::Defender
                } else {
                    Side::Attacker
                })
            },
            situation.to_move,
            situation.ban,
            &situation.standing,
            situation.ko,
        );
        search.nodes = 0;
        let Ok(answer) = search.solve(&position, situation.to_move) else {
            agreement.undecided += 1;
            continue;
        };
        agreement.situations += 1;
        agreement.safe += usize::from(safe);
        let expected = if safe { Answer::Safe } else { Answer::Captured };
        if answer != expected {
            agreement.disagreements.push(situation.clone());
        }
    }
    Some(agreement)
}

/// A random position on a tiny board with random targets, zone and goal.
pub fn random_problem(rng: &mut impl Rng) -> Problem {
    const LARGEST_WINDOW: usize = u64::BITS as usize;
    loop {
        let side = rng.random_range(3..=6);
        let board = random_board(BoardSize::new(side).unwrap_or(BoardSize::NINE), rng);
        let defenders: Vec<Point> = board
            .size()
            .points()
            .filter(|&p| board.is_stone(p, Color::White))
            .collect();
        if defenders.is_empty() {
            continue;
        }
        let targets: Vec<Point> = (0..rng.random_range(1..=2))
            .map(|_| defenders[rng.random_range(0..defenders.len())])
            .collect();
        let goal = if rng.random() { Goal::All } else { Goal::Any };
        let found = if rng.random() {
            Problem::new(board, &targets)
        } else {
            // All of the board, or a random part of it.
            let share = if rng.random() {
                1.0
            } else {
                rng.random_range(0.2..1.0)
            };
            let zone: Vec<Point> = board
                .size()
                .points()
                .filter(|_| rng.random_bool(share))
                .collect();
            Problem::with_zone(board, &targets, zone)
        };
        if let Ok(problem) = found
            && crate::search::field::window_cells(&problem) <= LARGEST_WINDOW
        {
            return problem.with_goal(goal);
        }
    }
}

fn random_board(size: BoardSize, rng: &mut impl Rng) -> Board {
    let mut board = Board::new(size);
    let stones = rng.random_range(0.4..0.95);
    let white = rng.random_range(0.3..0.7);
    for point in size.points() {
        if rng.random_bool(stones) {
            let color = if rng.random_bool(white) {
                Color::White
            } else {
                Color::Black
            };
            if board.is_empty(point) && !board.is_suicide(point, color) {
                let _ = board.play(point, color);
            }
        }
    }
    board.clear_ko();
    board
}

const _: () = assert!(<u64 as Bits>::CELLS == 64);

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The whole comparison is the example `crosscheck`; this is a share of it.
    const SITUATIONS: usize = 4_000;
    const MOST: usize = 1_500;

    fn agree_under(ko: Ko, seed: u64, table_bytes: usize) {
        for lazy in [false, true] {
            agree_if(ko, seed, table_bytes, lazy);
        }
    }

    fn agree_if(ko: Ko, seed: u64, table_bytes: usize, lazy: bool) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut compared = 0;
        while compared < SITUATIONS {
            let problem = random_problem(&mut rng);
            if let Some(agreement) = compare(&problem, ko, MOST, table_bytes, lazy) {
                assert!(
                    agreement.disagreements.is_empty(),
                    "{:?}",
                    agreement.disagreements[0]
                );
                compared += agreement.situations;
            }
        }
    }

    #[test]
    fn agrees_with_brute_force_if_the_attacker_is_ko_master() {
        agree_under(Ko::ATTACKER, 1, 1 << 20);
    }

    #[test]
    fn agrees_with_brute_force_if_nobody_has_threats() {
        agree_under(Ko::NOBODY, 2, 1 << 20);
    }

    #[test]
    fn agrees_with_brute_force_if_the_defender_is_ko_master() {
        agree_under(Ko::DEFENDER, 3, 1 << 20);
    }

    #[test]
    fn agrees_with_brute_force_for_counted_threats() {
        let one = crate::problem::Threats::new(1);
        let two = crate::problem::Threats::new(2);
        agree_under(
            Ko {
                attacker: one,
                ..Ko::NOBODY
            },
            4,
            1 << 20,
        );
        agree_under(
            Ko {
                defender: two,
                ..Ko::NOBODY
            },
            5,
            1 << 20,
        );
    }

    #[test]
    fn a_table_that_forgets_changes_no_answer() {
        agree_under(Ko::ATTACKER, 6, 1 << 14);
    }
}
