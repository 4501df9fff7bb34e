//! How far it is to the open board.

use std::collections::{HashMap, VecDeque};

use go::{Board, Color, Point};

/// The open board begins this many steps from all stones.
const OPEN_DISTANCE: usize = 3;

/// A way to the open board that is longer than this counts as none.
pub(super) const NO_WAY_OUT: usize = 40;

/// How far each point is from the open board for either colour, over empty points and own stones.
pub(super) struct WaysOut {
    steps: [HashMap<Point, usize>; 2],
    /// The same over empty points alone.
    pub bare: HashMap<Point, usize>,
    /// Where the open board begins.
    pub exits: Vec<Point>,
}

impl WaysOut {
    pub fn of(board: &Board) -> WaysOut {
        let stones: Vec<Point> = board
            .size()
            .points()
            .filter(|&p| board.stone(p).is_some())
            .collect();
        let nearest = |point: Point| {
            stones
                .iter()
                .map(|s| s.x().abs_diff(point.x()).max(s.y().abs_diff(point.y())))
                .min()
                .unwrap_or(OPEN_DISTANCE)
        };
        let distances: Vec<(Point, usize)> = board
            .size()
            .points()
            .filter(|&p| board.is_empty(p))
            .map(|p| (p, nearest(p)))
            .collect();
        // A small board has no point that far from everything: then the farthest will do.
        let farthest = distances.iter().map(|&(_, d)| d).max().unwrap_or(0);
        let least = OPEN_DISTANCE.min(farthest);
        let exits: Vec<Point> = distances
            .into_iter()
            .filter(|&(_, d)| d >= least)
            .map(|(p, _)| p)
            .collect();
        let steps = [Color::Black, Color::White]
            .map(|color| flood_from(board, &exits, |p| !board.is_stone(p, color.opponent())));
        let bare = flood_from(board, &exits, |p| board.is_empty(p));
        WaysOut { steps, bare, exits }
    }

    /// Steps from a stone to the open board.
    pub fn from(&self, stone: Point, color: Color) -> usize {
        let steps = &self.steps[usize::from(color == Color::White)];
        steps.get(&stone).copied().unwrap_or(NO_WAY_OUT)
    }
}

/// Steps from a set of points over all points that `may_enter` allows.
fn flood_from(
    board: &Board,
    from: &[Point],
    may_enter: impl Fn(Point) -> bool,
) -> HashMap<Point, usize> {
    let mut steps: HashMap<Point, usize> = from.iter().map(|&p| (p, 0)).collect();
    let mut open: VecDeque<Point> = from.iter().copied().collect();
    while let Some(point) = open.pop_front() {
        let so_far = steps[&point];
        for next in point.neighbors() {
            if board.is_on_board(next) && may_enter(next) && !steps.contains_key(&next) {
                steps.insert(next, so_far + 1);
                open.push_back(next);
            }
        }
    }
    steps
}
