//! The exact solver as a reader of life and death at the end of a game.

use go::{Board, Point};
use go_player::LifeReader;
use tsumego::{Ko, Limits, Problem, Side, Solver, Verdict};

/// Positions for each question. A group of a finished game is decided by far fewer, or not at all.
const NODES: u64 = 5_000;
/// Bytes for the memory of each.
const TABLE_BYTES: usize = 8 << 20;

/// Asks the solver about chains in their surroundings: the points within a few steps.
pub struct SolverReader;

impl LifeReader for SolverReader {
    fn is_dead(&self, board: &Board, stone: Point) -> Option<bool> {
        let problem = Problem::in_game(board.clone(), &[stone]).ok()?;
        let limits = Limits::default().with_nodes(NODES).with_memory(TABLE_BYTES);
        let mut solver = Solver::new(&problem, limits);
        if solver.solve(&problem, Side::Defender, Ko::NOBODY).verdict == Verdict::Unsafe {
            return Some(true);
        }
        let attacked = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
        (attacked.verdict == Verdict::Safe).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    #[test]
    fn dead_alive_and_undecided_groups_are_told_apart() {
        let rows = ". . . . .
# # # . .
O O # . .
. O # . .
O O # . .";
        let board = Board::from_diagram(BoardSize::new(5).unwrap(), rows).unwrap();
        let stone = "A3".parse().unwrap();
        assert_eq!(SolverReader.is_dead(&board, stone), Some(true), "one eye");
        let rows = ". . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
# # # # # . .
O O O O # . .
. . . O # . .";
        let board = Board::from_diagram(BoardSize::new(7).unwrap(), rows).unwrap();
        let stone = "A2".parse().unwrap();
        assert_eq!(SolverReader.is_dead(&board, stone), None, "B1 decides");
        let rows = ". . . . . . .
. . . . . . .
. . . . . . .
# # # # # . .
O O O O # . .
. O . O # . .
O O O O # . .";
        let board = Board::from_diagram(BoardSize::new(7).unwrap(), rows).unwrap();
        let stone = "A1".parse().unwrap();
        assert_eq!(SolverReader.is_dead(&board, stone), Some(false), "two eyes");
    }
}
