//! Where a fight can take place: the points either side may play on.
//!
//! The zone is the flood from the target, over empty points and defender's stones, in all eight
//! directions; attacker's blocks that bound it either have room outside (the wall) or are drawn
//! into the fight with all their liberties.

use std::collections::{BTreeSet, HashMap, VecDeque};

use go::{Board, Color, Point, PointSet};

/// An attacker's block that keeps this many liberties outside the flood belongs to the wall.
const WALL_LIBERTIES: usize = 2;

/// Steps from a group in a game to the end of its surroundings.
const STEPS_AROUND: usize = 3;

/// A block with no more liberties than this may be captured in the fight around it.
const WEAK_LIBERTIES: usize = 3;

/// Finds the zone of a target; `None` when no attacker's block around it is safe.
///
/// The target's own stones are part of the result: they become playable once captured.
pub fn find_zone(board: &Board, target: &[Point], defender: Color) -> Option<BTreeSet<Point>> {
    let attacker = defender.opponent();
    let flood = flood(board, target, attacker);
    let mut zone = flood.clone();
    let mut has_wall = false;
    for block in blocks_beside(board, &flood, attacker) {
        let outside = board.liberties(block).filter(|p| !flood.contains(p));
        if outside.count() >= WALL_LIBERTIES {
            has_wall = true;
        } else {
            zone.extend(board.stones(block));
            zone.extend(board.liberties(block));
        }
    }
    has_wall.then_some(zone)
}

/// Where a target without a wall gets out: the first point of a shortest way to the open board,
/// five lines from every stone of the attacker, that no stone of the defender stands beside.
pub fn find_leak(board: &Board, target: &[Point], defender: Color) -> Option<Point> {
    const OPEN: usize = 5;
    let is_near = |point: Point, color: Color, steps: usize| {
        board.stone_set(color).iter().any(|stone| {
            stone.x().abs_diff(point.x()) < steps && stone.y().abs_diff(point.y()) < steps
        })
    };
    let attacker = defender.opponent();
    let mut from: HashMap<Point, Point> = HashMap::new();
    let mut open: VecDeque<Point> = target.iter().copied().collect();
    while let Some(point) = open.pop_front() {
        if board.is_empty(point) && !is_near(point, attacker, OPEN) {
            let mut way = vec![point];
            while let Some(&before) = from.get(way.last()?) {
                if target.contains(&before) {
                    break;
                }
                way.push(before);
            }
            let outside = way.iter().rev().find(|&&p| !is_near(p, defender, 2));
            return outside.copied();
        }
        for next in point.neighbors().into_iter().chain(point.diagonals()) {
            let is_new = !from.contains_key(&next) && !target.contains(&next);
            if is_new && board.is_on_board(next) && !board.is_stone(next, attacker) {
                from.insert(next, point);
                open.push_back(next);
            }
        }
    }
    None
}

/// The points of the zone where `color` may play now: no suicide, ko ignored. Their number is the
/// size of a problem.
pub fn playable(board: &Board, zone: &BTreeSet<Point>, color: Color) -> Vec<Point> {
    zone.iter()
        .copied()
        .filter(|&p| board.is_empty(p) && !board.is_suicide(p, color))
        .collect()
}

fn flood(board: &Board, target: &[Point], attacker: Color) -> BTreeSet<Point> {
    let mut flood: BTreeSet<Point> = target.iter().copied().collect();
    let mut open: Vec<Point> = target.to_vec();
    while let Some(point) = open.pop() {
        for next in point.neighbors().into_iter().chain(point.diagonals()) {
            if board.is_on_board(next) && !board.is_stone(next, attacker) && flood.insert(next) {
                open.push(next);
            }
        }
    }
    flood
}

fn blocks_beside(board: &Board, points: &BTreeSet<Point>, color: Color) -> BTreeSet<Point> {
    points
        .iter()
        .flat_map(|&point| board.adjacent_blocks(point, color))
        .collect()
}

/// The stones of the attacker's blocks that make the wall.
pub fn wall_stones(board: &Board, target: &[Point], defender: Color) -> PointSet {
    let attacker = defender.opponent();
    let flood = flood(board, target, attacker);
    blocks_beside(board, &flood, attacker)
        .into_iter()
        .filter(|&block| {
            let outside = board.liberties(block).filter(|p| !flood.contains(p));
            outside.count() >= WALL_LIBERTIES
        })
        .flat_map(|block| board.stones(block))
        .collect()
}

/// The points within a few steps of a group, over everything but stones of the other side, with the
/// weak blocks of the other side and their liberties.
pub(crate) fn surroundings(board: &Board, blocks: &[Point]) -> BTreeSet<Point> {
    let Some(color) = board.stone(blocks[0]) else {
        return BTreeSet::new();
    };
    let mut steps: HashMap<Point, usize> = HashMap::new();
    let mut open: VecDeque<Point> = VecDeque::new();
    for &block in blocks {
        for stone in board.stones(block) {
            steps.insert(stone, 0);
            open.push_back(stone);
        }
    }
    while let Some(point) = open.pop_front() {
        let so_far = steps[&point];
        if so_far == STEPS_AROUND {
            continue;
        }
        for next in point.neighbors() {
            if board.is_on_board(next)
                && !board.is_stone(next, color.opponent())
                && !steps.contains_key(&next)
            {
                steps.insert(next, so_far + 1);
                open.push_back(next);
            }
        }
    }
    let mut zone: BTreeSet<Point> = steps.into_keys().collect();
    let weak: BTreeSet<Point> = zone
        .iter()
        .flat_map(|&point| board.adjacent_blocks(point, color.opponent()))
        .filter(|&block| board.liberty_count(block) <= WEAK_LIBERTIES)
        .collect();
    for block in weak {
        zone.extend(board.stones(block));
        zone.extend(board.liberties(block));
    }
    zone
}
