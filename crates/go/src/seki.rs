//! Can a besieged side hold out in seki around stones it does not capture?
//!
//! Capturing stones inside one's own wall gives one eye, often too few. Leaving them there can
//! be better: with the right liberties shared, whoever fills one loses by it. Which liberties
//! to leave is tried in every way, and each way is played out: the other side moves first and
//! has to capture the wall. The places are small, so this is a complete search.

use std::collections::HashMap;

use crate::{Board, Color, Point, PointSet};

/// More shared liberties than this are not looked at: no seki needs them.
const MOST_SHARED: usize = 8;

/// Whether `besieger` lives in seki around the block at `inside`, when he may first play as
/// often as he likes in `region`, the points around it that are not of alive blocks.
pub(crate) fn is_possible(
    board: &Board,
    besieger: Color,
    inside: Point,
    region: &PointSet,
) -> bool {
    let liberties: Vec<Point> = board.liberties(inside).collect();
    if liberties.len() > MOST_SHARED {
        return true;
    }
    let choices = 1..1usize << liberties.len();
    choices.into_iter().any(|choice| {
        let shared: PointSet = liberties
            .iter()
            .enumerate()
            .filter(|(bit, _)| choice >> bit & 1 == 1)
            .map(|(_, &liberty)| liberty)
            .collect();
        shared.len() > 1 && holds_out(board, besieger, inside, region, &shared)
    })
}

fn holds_out(
    board: &Board,
    besieger: Color,
    inside: Point,
    region: &PointSet,
    shared: &PointSet,
) -> bool {
    let Some(board) = walled_in(board, besieger, inside, region, shared) else {
        return false;
    };
    let block: PointSet = board.stones(inside).collect();
    let mut walls: Vec<Point> = (block | *shared)
        .grown()
        .iter()
        .filter(|&point| board.is_stone(point, besieger))
        .map(|stone| board.block(stone))
        .collect();
    walls.sort_unstable();
    walls.dedup();
    walls.into_iter().any(|wall| {
        let mut fight = Fight {
            besieger,
            wall,
            place: block | *shared,
            decided: HashMap::new(),
            path: Vec::new(),
        };
        !fight.wall_falls(&mut board.clone(), besieger.opponent(), 0)
    })
}

/// The position after the besieger filled all of the region but the shared liberties.
fn walled_in(
    board: &Board,
    besieger: Color,
    inside: Point,
    region: &PointSet,
    shared: &PointSet,
) -> Option<Board> {
    let mut board = board.clone();
    let fill = (*region & board.empty_set()) - *shared;
    for point in fill.iter() {
        if board.is_empty(point) && !board.is_suicide(point, besieger) {
            let _ = board.play(point, besieger);
        }
    }
    let stands = board.is_stone(inside, besieger.opponent());
    stands.then_some(board)
}

/// The fight over the shared liberties, the other side against the wall.
struct Fight {
    besieger: Color,
    wall: Point,
    place: PointSet,
    decided: HashMap<(u64, Color, usize), bool>,
    path: Vec<(u64, Color)>,
}

impl Fight {
    /// Whether the wall is captured. Two passes or a repeated position leave it standing.
    fn wall_falls(&mut self, board: &mut Board, turn: Color, passes: usize) -> bool {
        if !board.is_stone(self.wall, self.besieger) {
            return true;
        }
        if passes == 2 {
            return false;
        }
        let key = (board.hash(), turn, passes);
        if let Some(&falls) = self.decided.get(&key) {
            return falls;
        }
        if passes == 0 && self.path.contains(&(board.hash(), turn)) {
            return false;
        }
        self.path.push((board.hash(), turn));
        let falls = self.best(board, turn, passes);
        self.path.pop();
        self.decided.insert(key, falls);
        falls
    }

    /// Each side takes the first move that gives it what it wants.
    fn best(&mut self, board: &mut Board, turn: Color, passes: usize) -> bool {
        let wants_fall = turn != self.besieger;
        for point in (self.place & board.empty_set()).iter() {
            if board.is_suicide(point, turn) {
                continue;
            }
            let undo = board.play(point, turn);
            let falls = self.wall_falls(board, turn.opponent(), 0);
            board.undo(undo);
            if falls == wants_fall {
                return falls;
            }
        }
        self.wall_falls(board, turn.opponent(), passes + 1)
    }
}
