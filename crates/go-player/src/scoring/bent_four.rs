//! Bent four in the corner: dead under territory rules, although neither side can attack as the board stands.
//!
//! Three stones in the corner keep the surrounding group from filling its last liberties. Their owner can start a ko
//! for the group's life when all threats on the board are gone, so the group is dead as it stands.

use go::{Board, Color, Count, Point, PointSet};

/// The stones of groups that are dead because of a bent four in a corner.
pub fn dead_around(board: &Board, count: &Count) -> PointSet {
    let last = board.size().get() - 1;
    let mut dead = PointSet::EMPTY;
    for corner in 0..4 {
        for is_swapped in [false, true] {
            let at = |along: usize, up: usize| {
                let (x, y) = if is_swapped { (up, along) } else { (along, up) };
                let x = if corner & 1 == 0 {
                    x
                } else {
                    last.saturating_sub(x)
                };
                let y = if corner & 2 == 0 {
                    y
                } else {
                    last.saturating_sub(y)
                };
                Point::new(x, y)
            };
            let shape = [at(0, 0), at(1, 0), at(2, 0), at(0, 1)];
            dead = dead | besieged(board, count, shape);
        }
    }
    dead
}

/// The group around three stones and one empty point of a bent four.
fn besieged(board: &Board, count: &Count, shape: [Point; 4]) -> PointSet {
    let shape: PointSet = shape.into_iter().collect();
    for attacker in Color::BOTH {
        let inside = shape & *board.stone_set(attacker);
        let Some(stone) = inside.first() else {
            continue;
        };
        let is_threat = inside.len() == 3
            && board.stone_count(stone) == 3
            && (shape - inside).is_subset(&board.empty_set())
            && board
                .liberties(stone)
                .any(|liberty| shape.contains(liberty))
            && inside.is_subset(&count.seki);
        if !is_threat {
            continue;
        }
        let liberties: PointSet = board.liberties(stone).collect();
        let around = (inside | liberties).neighbors() & *board.stone_set(attacker.opponent());
        return (around & count.seki)
            .iter()
            .flat_map(|stone| board.stones(stone))
            .collect();
    }
    PointSet::EMPTY
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    #[test]
    fn the_group_around_a_bent_four_is_dead_and_no_other() {
        // White lives at the top. Below, White has only A2 and C2 left, and Black holds A1, B1 and C1.
        let rows = ". O . O . O .
             O O O O O O O
             # # # # # # #
             # # # # # . #
             O O O O # # #
             . O . O # . #
             # # # O # # #";
        let board = Board::from_diagram(BoardSize::new(7).unwrap(), rows).unwrap();
        let count = board.count(&PointSet::EMPTY);
        let dead = dead_around(&board, &count);
        let expected: PointSet = ["A3", "B3", "C3", "D3", "B2", "D2", "D1"]
            .into_iter()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect();
        assert_eq!(dead, expected);
        let open = Board::from_diagram(
            BoardSize::new(7).unwrap(),
            &rows.replace("# # # O # # #", ". # # O # # #"),
        )
        .unwrap();
        assert!(dead_around(&open, &open.count(&PointSet::EMPTY)).is_empty());
    }
}
