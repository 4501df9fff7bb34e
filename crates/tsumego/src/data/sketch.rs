//! Random positions with a wall around them: what the generator chooses its problems from.
//!
//! Two kinds of position are drawn. A *shell* is what most problems of books are: room for eyes in
//! a corner or at an edge, a group around it with holes and cuts in it, a wall around the group. A
//! *scatter* is a walled room strewn with stones of both sides, where the group has yet to link up.

use go::{Board, BoardSize, Color, Point, PointSet, Symmetry};
use rand::{Rng, RngExt};

use crate::problem::Problem;

/// Share of shells; the rest is scattered.
const SHELLS: f64 = 0.6;

/// Share of the rooms that start in the corner, and of the others that start at an edge.
const IN_CORNER: f64 = 0.5;
const AT_EDGE: f64 = 0.6;

/// A wall's back needs room: cells keep this far from the far edges.
const ROOM_BEHIND_WALL: usize = 2;

/// Chance that a cell of a scatter is a stone of the defender, and of the attacker.
const SCATTERED_DEFENDERS: std::ops::Range<f64> = 0.15..0.55;
const SCATTERED_ATTACKERS: std::ops::Range<f64> = 0.0..0.2;

/// Chance that a point of a shell is left open, is a stone of the attacker; and that a cell of
/// the room inside holds a stone of either side.
const OPEN_IN_SHELL: std::ops::Range<f64> = 0.0..0.3;
const CUTS_IN_SHELL: std::ops::Range<f64> = 0.0..0.1;
const DEFENDERS_IN_ROOM: std::ops::Range<f64> = 0.0..0.25;
const ATTACKERS_IN_ROOM: std::ops::Range<f64> = 0.0..0.25;

/// A random problem with about `moves` moves for the attacker; `None` if the stones make none.
pub(crate) fn sketch(board: BoardSize, moves: usize, rng: &mut impl Rng) -> Option<Problem> {
    let stones = if rng.random_bool(SHELLS) {
        shell(board, moves, rng)
    } else {
        scatter(board, moves, rng)
    };
    let symmetry = Symmetry::ALL[rng.random_range(0..Symmetry::COUNT)];
    let turned = |set: PointSet| -> PointSet {
        let points = set.iter();
        points.map(|point| symmetry.point(board, point)).collect()
    };
    let (defenders, attackers) = (turned(stones.defenders), turned(stones.attackers));
    let (defender, black, white) = if rng.random() {
        (Color::Black, defenders, attackers)
    } else {
        (Color::White, attackers, defenders)
    };
    let board = Board::with_stones(board, &black, &white).ok()?;
    let target = defenders
        .iter()
        .max_by_key(|&stone| (board.stone_count(stone), stone.y(), stone.x()))?;
    debug_assert!(board.is_stone(target, defender));
    Problem::new(board, &[target]).ok()
}

struct Stones {
    defenders: PointSet,
    attackers: PointSet,
}

/// Room for eyes inside a group with holes, inside a wall.
fn shell(board: BoardSize, moves: usize, rng: &mut impl Rng) -> Stones {
    let room = grow_room(board, (moves * 2 / 3).max(1), 1, rng);
    let group = around(board, &room);
    let attackers = around(board, &(room | group));
    let mut stones = Stones {
        defenders: PointSet::EMPTY,
        attackers,
    };
    let open = rng.random_range(OPEN_IN_SHELL);
    let cuts = rng.random_range(CUTS_IN_SHELL);
    for point in group.iter() {
        if rng.random_bool(cuts) {
            stones.attackers.insert(point);
        } else if !rng.random_bool(open) {
            stones.defenders.insert(point);
        }
    }
    let own = rng.random_range(DEFENDERS_IN_ROOM);
    let other = rng.random_range(ATTACKERS_IN_ROOM);
    strew(&mut stones, &room, |_| own, other, rng);
    stones
}

/// A walled room with stones of both sides.
fn scatter(board: BoardSize, moves: usize, rng: &mut impl Rng) -> Stones {
    let room = grow_room(board, moves * 2, 0, rng);
    let wall = around(board, &room);
    let mut stones = Stones {
        defenders: PointSet::EMPTY,
        attackers: wall,
    };
    let own = rng.random_range(SCATTERED_DEFENDERS);
    let other = rng.random_range(SCATTERED_ATTACKERS);
    // The target grows along the wall, as groups do.
    let own_at = |point: Point| {
        let at_wall = point
            .neighbors()
            .into_iter()
            .any(|next| wall.contains(next));
        (own * if at_wall { 1.4 } else { 0.6 }).min(1.0)
    };
    strew(&mut stones, &room, own_at, other, rng);
    stones
}

/// Fills a room with stones by chance.
fn strew(
    stones: &mut Stones,
    room: &PointSet,
    own_at: impl Fn(Point) -> f64,
    other: f64,
    rng: &mut impl Rng,
) {
    for point in room.iter() {
        if rng.random_bool(own_at(point)) {
            stones.defenders.insert(point);
        } else if rng.random_bool(other) {
            stones.attackers.insert(point);
        }
    }
}

/// The points around a set, diagonals too.
fn around(board: BoardSize, set: &PointSet) -> PointSet {
    let near = set
        .iter()
        .flat_map(|point| point.neighbors().into_iter().chain(point.diagonals()))
        .filter(|&point| board.contains(point))
        .collect::<PointSet>();
    near - *set
}

/// A connected set of about `cells` cells, often in a corner or along an edge, that leaves
/// `layers` points more than a wall needs to the far edges.
fn grow_room(board: BoardSize, cells: usize, layers: usize, rng: &mut impl Rng) -> PointSet {
    let reach = board.get().saturating_sub(ROOM_BEHIND_WALL + layers).max(2);
    let start = if rng.random_bool(IN_CORNER) {
        Point::new(0, 0)
    } else if rng.random_bool(AT_EDGE) {
        Point::new(rng.random_range(1..reach), 0)
    } else {
        Point::new(rng.random_range(1..reach), rng.random_range(1..reach))
    };
    let mut grown = vec![start];
    let mut room = PointSet::EMPTY;
    room.insert(start);
    for _ in 0..cells * 20 {
        if grown.len() >= cells {
            break;
        }
        let from = grown[rng.random_range(0..grown.len())];
        let next = from.neighbors()[rng.random_range(0..4)];
        let fits = board.contains(next) && next.x() < reach && next.y() < reach;
        if fits && !room.contains(next) {
            room.insert(next);
            grown.push(next);
        }
    }
    room
}
