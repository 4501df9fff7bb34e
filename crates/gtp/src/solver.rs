//! The exact solver as a reader of life and death at the end of a game.

use std::cell::RefCell;

use go::{Board, Point};
use go_player::LifeReader;
use tsumego::{Certainty, Fate, GroupFate, MapSettings};

/// Positions for each group. One of a finished game is decided by far fewer, or not at all.
const NODES: u64 = 5_000;

/// Asks the solver about every group of a board, once, and tells what is proved for the whole board. What was only read
/// in the surroundings of a group is no help: in finished games it was wrong more often than playouts.
#[derive(Default)]
pub struct SolverReader {
    read: RefCell<Option<(u64, Vec<GroupFate>)>>,
}

impl LifeReader for SolverReader {
    fn is_dead(&self, board: &Board, stone: Point) -> Option<bool> {
        let mut read = self.read.borrow_mut();
        let (_, groups) = match read.take() {
            Some(found) if found.0 == board.hash() => read.insert(found),
            _ => {
                let settings = MapSettings {
                    nodes: NODES,
                    interrupt: None,
                };
                let groups = tsumego::map(board, &settings, &mut |_| ());
                read.insert((board.hash(), groups))
            }
        };
        let group = groups.iter().find(|group| group.stones.contains(&stone))?;
        if !matches!(group.certainty, Certainty::Benson | Certainty::Search) {
            return None;
        }
        match group.fate {
            Fate::Dead => Some(true),
            // A group lives if one of its chains does.
            Fate::Alive if group.stones.len() == board.stone_count(stone) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    #[test]
    fn dead_alive_and_undecided_groups_are_told_apart() {
        let read = |rows: &str, vertex: &str| {
            let board = Board::from_diagram(BoardSize::new(7).unwrap(), rows).unwrap();
            SolverReader::default().is_dead(&board, vertex.parse().unwrap())
        };
        // One eye inside a wall that lives.
        let rows = ". # . # . . .
# # # # . . .
O O O # . . .
. O O # . . .
O O O # . . .
# # # # . . .
. # . # . . .";
        assert_eq!(read(rows, "A5"), Some(true));
        let rows = ". . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
# # # # # . .
O O O O # . .
. . . O # . .";
        assert_eq!(read(rows, "A2"), None, "B1 decides");
        let rows = ". . . . . . .
. . . . . . .
. . . . . . .
# # # # # . .
O O O O # . .
. O . O # . .
O O O O # . .";
        assert_eq!(read(rows, "A1"), Some(false), "two eyes");
    }
}
