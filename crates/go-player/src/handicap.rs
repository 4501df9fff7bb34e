//! Where a player puts handicap stones when it may choose.

use go::{BoardSize, Color, Game, Point};
use search::{Search, Settings, Task};

use crate::dynamic_komi::Purpose;
use crate::player::Player;

/// One stone is no handicap: it is Black's first move.
pub(crate) const FEWEST_STONES: usize = 2;
/// The closest lattice of stones.
const CLOSEST: usize = 3;
/// Visits for all stones that are searched for, and the least and the most for one of them.
const ALL_VISITS: usize = 1600;
const LEAST_VISITS: usize = 8;
const MOST_VISITS: usize = 64;

/// The most handicap stones: half the board.
pub(crate) fn most_stones(size: BoardSize) -> usize {
    size.area() / 2
}

/// Points for `stones` handicap stones: the fixed pattern, then the lattice between its stones made
/// finer and finer, then what `best_next` says. `None` if the number makes no sense.
pub(crate) fn free_points(
    size: BoardSize,
    stones: usize,
    best_next: &mut dyn FnMut(&[Point]) -> Option<Point>,
) -> Option<Vec<Point>> {
    if stones < FEWEST_STONES || stones > most_stones(size) {
        return None;
    }
    let patterned = stones.min(go::max_fixed_handicap(size));
    let mut points = go::fixed_handicap(size, patterned).unwrap_or_default();
    let low = size.get().min(4) - 1;
    let mut step = size.get() / 2;
    while step >= CLOSEST && points.len() < stones {
        for y in (low..size.get()).step_by(step) {
            for x in (low..size.get()).step_by(step) {
                let point = Point::new(x, y);
                if points.len() < stones && has_room(&points, point) {
                    points.push(point);
                }
            }
        }
        step /= 2;
    }
    while points.len() < stones {
        points.push(best_next(&points)?);
    }
    Some(points)
}

impl Player {
    /// Where a short search puts Black's next stone, with `missing` stones to go.
    pub(crate) fn best_point_for_black(&self, placed: &[Point], missing: usize) -> Option<Point> {
        let mut game = Game::new(self.game.size(), self.game.komi());
        game.place_handicap(placed).ok()?;
        game.set_to_move(Color::Black);
        let visits = (ALL_VISITS / missing.max(1)).clamp(LEAST_VISITS, MOST_VISITS) as u64;
        let visits = self.options.visits.map_or(visits, |most| most.min(visits));
        let settings = Settings {
            noise: None,
            ..self.search_settings(Purpose::Move, self.memory_shares().tree_bytes)
        };
        let search = Search::new(self.options.seed);
        search
            .run(
                &self.position_of(&game),
                &self.controller.leaves(self.leaves()),
                &settings,
                &Task::visits(visits),
            )
            .ok()?;
        // A side so far ahead may want to pass.
        let ranked = search.snapshot().moves;
        ranked.iter().find_map(|candidate| candidate.mv.point())
    }
}

/// Whether no stone touches `point`, not even diagonally.
fn has_room(points: &[Point], point: Point) -> bool {
    points
        .iter()
        .all(|other| other.x().abs_diff(point.x()) > 1 || other.y().abs_diff(point.y()) > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn few_stones_stand_on_the_stars_and_many_never_on_each_other() {
        let size = BoardSize::NINETEEN;
        let mut asked = 0;
        let nine = free_points(size, 9, &mut |_| None).unwrap();
        assert_eq!(nine, go::fixed_handicap(size, 9).unwrap());
        let many = free_points(size, 40, &mut |placed| {
            asked += 1;
            size.points().find(|point| !placed.contains(point))
        })
        .unwrap();
        assert_eq!(many.iter().collect::<HashSet<_>>().len(), 40);
        assert!(
            asked > 0 && asked < 31,
            "the lattice gives most, not all: {asked}"
        );
    }

    #[test]
    fn senseless_numbers_are_refused() {
        for stones in [0, 1, 181, usize::MAX] {
            assert_eq!(
                free_points(BoardSize::NINETEEN, stones, &mut |_| None),
                None
            );
        }
    }
}
