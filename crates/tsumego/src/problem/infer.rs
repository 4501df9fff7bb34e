//! The problem in a position that nobody has marked.
//!
//! A book shows stones in a corner or on a side and leaves the rest to the reader: which group is
//! in question, and that the outside belongs to whoever surrounds it. Both are inferred. The
//! surrounded side is the one that has the longer way to the open board; where its surroundings
//! leak, a few sure stones of the attacker close them some steps away.

use std::collections::{BTreeSet, HashMap, VecDeque};

use go::{Board, Color, Point, PointSet};
use thiserror::Error;

use super::{Goal, Problem, ProblemError};

/// The open board begins this many steps from all stones.
const OPEN_DISTANCE: usize = 3;

/// A way to the open board that is longer than this counts as none.
const NO_WAY_OUT: usize = 40;

/// A zone of more points than this is closed nearer to the group.
const WIDE_ZONE: usize = 40;

/// How many steps outwards from the group's surroundings a leaking zone is closed.
const STEPS_TO_WALL: usize = 3;

/// A block belongs to the target if it is at least this share of the largest one.
const TARGET_SHARE: usize = 2;

/// What a caller knows of a problem already. The default is nothing.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Stones of the group in question.
    pub target: Vec<Point>,
    /// Where both sides may play; replaces the zone found.
    pub zone: Option<Vec<Point>>,
    /// Where sure stones of the attacker are added before the zone is found.
    pub wall: Vec<Point>,
    /// Which of several target blocks must fall.
    pub goal: Option<Goal>,
}

/// A problem and what was assumed to make it one.
#[derive(Clone)]
pub struct Inferred {
    pub problem: Problem,
    /// Sentences for the reader; empty if nothing had to be assumed.
    pub assumptions: Vec<String>,
}

/// Why no problem could be found in a position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InferError {
    /// Nothing to ask about.
    #[error(
        "the board has stones of one colour only, so no group is surrounded; name one with --target"
    )]
    OneColor,
    /// A point given is not on the board.
    #[error("{0} is not on the board")]
    OffBoard(Point),
    /// Stones for the wall where there is a stone already.
    #[error("{0} has a stone, so no wall stone can be added there")]
    WallOnStone(Point),
    /// The marked group surrounds instead of being surrounded.
    #[error(
        "the marked group at {marked} is not surrounded: it reaches the open board at {leak}, while the group at {other} is; mark that one, or name the group with --target"
    )]
    WrongGroup {
        /// A stone of the marked group.
        marked: Point,
        /// Where it gets out.
        leak: Point,
        /// A stone of the surrounded group.
        other: Point,
    },
    /// The parts do not make a problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// Finds the problem in a position. `is_marked` says that the target comes from the record rather
/// than from the caller, so that a mark on the wrong group is an error.
pub fn infer(board: &Board, hints: &Hints, is_marked: bool) -> Result<Inferred, InferError> {
    let mut assumptions = Vec::new();
    let given = hints.target.iter().chain(&hints.wall);
    if let Some(&off) = given
        .chain(hints.zone.iter().flatten())
        .find(|&&point| !board.is_on_board(point))
    {
        return Err(InferError::OffBoard(off));
    }
    let ways_out = WaysOut::of(board);
    let target = if hints.target.is_empty() {
        let target = surrounded_group(board, &ways_out)?;
        let color = board.stone(target[0]).map_or("", color_name);
        assumptions.push(format!("the group in question is {color} at {}", target[0]));
        target
    } else {
        if is_marked && narrow_problem(board, &hints.target).is_none() {
            check_mark(board, &hints.target, &ways_out)?;
        }
        hints.target.clone()
    };
    let defender = board.stone(target[0]).ok_or(ProblemError::EmptyTarget {
        column: target[0].x() + 1,
        row: target[0].y() + 1,
    })?;
    let board = with_wall(board, &hints.wall, defender.opponent())?;
    let problem = match &hints.zone {
        Some(zone) => Problem::with_zone(board, &target, zone.iter().copied())?,
        None => enclosed(board, &target, defender, &ways_out, &mut assumptions)?,
    };
    let goal = hints.goal.unwrap_or_default();
    Ok(Inferred {
        problem: problem.with_goal(goal),
        assumptions,
    })
}

/// The problem of a group that a wall encloses as it stands, in a zone of no more points than
/// problems have.
fn narrow_problem(board: &Board, target: &[Point]) -> Option<Problem> {
    let problem = Problem::new(board.clone(), target).ok()?;
    let room = problem.zone().iter().filter(|&&p| board.is_empty(p));
    (room.count() <= WIDE_ZONE).then_some(problem)
}

/// The problem of a group, its outside closed where it leaks.
fn enclosed(
    board: Board,
    target: &[Point],
    defender: Color,
    ways_out: &WaysOut,
    assumptions: &mut Vec<String>,
) -> Result<Problem, InferError> {
    if let Some(problem) = narrow_problem(&board, target) {
        return Ok(problem);
    }
    let found = Problem::new(board.clone(), target);
    if board.stone_set(defender.opponent()).is_empty() {
        return Ok(found?);
    }
    let steps = steps_outwards(&board, target, defender.opponent(), ways_out);
    let stubs: PointSet = steps
        .iter()
        .filter(|&(&point, &steps)| steps == STEPS_TO_WALL && board.is_empty(point))
        .map(|(&point, _)| point)
        .collect();
    if stubs.is_empty() {
        return Ok(found?);
    }
    let zone: BTreeSet<Point> = steps
        .iter()
        .filter(|&(_, &steps)| steps < STEPS_TO_WALL)
        .map(|(&point, _)| point)
        .collect();
    let closed = with_wall(
        &board,
        &stubs.iter().collect::<Vec<Point>>(),
        defender.opponent(),
    )?;
    let zone = with_weak_walls(&closed, zone, defender.opponent());
    let attacker = color_name(defender.opponent());
    let leak = stubs.iter().next().unwrap_or(target[0]);
    assumptions.push(format!(
        "the outside is {attacker}'s: {} sure stones close it, one of them at {leak}",
        stubs.len()
    ));
    Ok(Problem::with_zone(closed, target, zone)?)
}

/// A zone with the attacker's blocks beside it that have no liberty outside, so that they can be
/// captured, and with their liberties.
fn with_weak_walls(board: &Board, zone: BTreeSet<Point>, attacker: Color) -> BTreeSet<Point> {
    let mut all = zone.clone();
    let blocks: BTreeSet<Point> = zone
        .iter()
        .flat_map(|&point| board.adjacent_blocks(point, attacker))
        .collect();
    for block in blocks {
        let outside = board.liberties(block).filter(|p| !zone.contains(p)).count();
        if outside < 2 {
            all.extend(board.stones(block));
            all.extend(board.liberties(block));
        }
    }
    all
}

/// Steps outwards from the group, in eight directions over points without a stone of `blocker`. A
/// step counts if it does not lead away from the open board: steps inside the group's room are free.
fn steps_outwards(
    board: &Board,
    target: &[Point],
    blocker: Color,
    ways_out: &WaysOut,
) -> HashMap<Point, usize> {
    let mut steps: HashMap<Point, usize> = HashMap::new();
    let mut open: VecDeque<Point> = VecDeque::new();
    for &stone in target {
        for point in board.stones(stone) {
            steps.insert(point, 0);
            open.push_back(point);
        }
    }
    let way = |point: Point| ways_out.bare.get(&point).copied();
    while let Some(point) = open.pop_front() {
        let so_far = steps[&point];
        if so_far == STEPS_TO_WALL {
            continue;
        }
        for next in point.neighbors().into_iter().chain(point.diagonals()) {
            if !board.is_on_board(next) || board.is_stone(next, blocker) {
                continue;
            }
            let is_outwards =
                board.is_empty(point) && way(next).is_some() && way(next) <= way(point);
            let count = so_far + usize::from(is_outwards);
            if steps.get(&next).is_none_or(|&known| count < known) {
                steps.insert(next, count);
                if is_outwards {
                    open.push_back(next);
                } else {
                    open.push_front(next);
                }
            }
        }
    }
    steps
}

fn with_wall(board: &Board, wall: &[Point], color: Color) -> Result<Board, InferError> {
    let mut stones = [Color::Black, Color::White].map(|c| *board.stone_set(c));
    for &point in wall {
        if !board.is_empty(point) {
            return Err(InferError::WallOnStone(point));
        }
        stones[usize::from(color == Color::White)].insert(point);
    }
    let [black, white] = stones;
    match Board::with_stones(board.size(), &black, &white) {
        Ok(walled) => Ok(walled),
        // A stone that would stand without liberties is left out: the board is closed there anyway.
        Err(_) => Ok(board.clone()),
    }
}

/// How far each point is from the open board for either colour, over empty points and own stones.
struct WaysOut {
    steps: [HashMap<Point, usize>; 2],
    /// The same over empty points alone.
    bare: HashMap<Point, usize>,
    exits: Vec<Point>,
}

impl WaysOut {
    fn of(board: &Board) -> WaysOut {
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
    fn from(&self, stone: Point, color: Color) -> usize {
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

/// The blocks of the surrounded side that are surrounded, the largest first.
fn surrounded_group(board: &Board, ways_out: &WaysOut) -> Result<Vec<Point>, InferError> {
    let mean_way = |color: Color| -> Option<f64> {
        let stones = board.stone_set(color);
        let sum: usize = stones.iter().map(|stone| ways_out.from(stone, color)).sum();
        (!stones.is_empty()).then(|| sum as f64 / stones.len() as f64)
    };
    let (Some(black), Some(white)) = (mean_way(Color::Black), mean_way(Color::White)) else {
        return Err(InferError::OneColor);
    };
    let defender = if black > white {
        Color::Black
    } else {
        Color::White
    };
    let mut blocks: Vec<Point> = board
        .stone_set(defender)
        .iter()
        .filter(|&stone| board.block(stone) == stone)
        .collect();
    // The group in question is the largest of those with the longest way out.
    let key = |&block: &Point| {
        let way = board
            .stones(block)
            .map(|stone| ways_out.from(stone, defender))
            .min()
            .unwrap_or(0);
        (board.stone_count(block) * way.min(NO_WAY_OUT), way)
    };
    blocks.sort_by_key(|block| std::cmp::Reverse(key(block)));
    let largest = board.stone_count(blocks[0]);
    let way = key(&blocks[0]).1;
    let near = |block: Point| {
        board.stones(block).any(|stone| {
            board.stones(blocks[0]).any(|other| {
                stone
                    .x()
                    .abs_diff(other.x())
                    .max(stone.y().abs_diff(other.y()))
                    <= 2
            })
        })
    };
    let target: Vec<Point> = blocks
        .iter()
        .copied()
        .enumerate()
        .filter(|&(at, block)| {
            at == 0
                || board.stone_count(block) * TARGET_SHARE >= largest
                    && key(&block).1 + 2 >= way
                    && near(block)
        })
        .map(|(_, block)| block)
        .take(super::question::MAX_TARGETS)
        .collect();
    Ok(target)
}

/// A mark on the surrounding side while the other side is surrounded is a mistake.
fn check_mark(board: &Board, target: &[Point], ways_out: &WaysOut) -> Result<(), InferError> {
    const NEAR_THE_OPEN: usize = 4;
    let Some(color) = board.stone(target[0]) else {
        return Ok(());
    };
    let way = |stone: Point, color: Color| {
        let stones = board.stones(stone);
        stones.map(|s| ways_out.from(s, color)).min().unwrap_or(0)
    };
    if ways_out.exits.is_empty() || way(target[0], color) > NEAR_THE_OPEN {
        return Ok(());
    }
    let enemies = board.stone_set(color.opponent()).iter();
    let surrounded = enemies
        .filter(|&stone| way(stone, color.opponent()) >= NO_WAY_OUT)
        .max_by_key(|&stone| board.stone_count(stone));
    let Some(other) = surrounded else {
        return Ok(());
    };
    let leak = ways_out
        .exits
        .iter()
        .copied()
        .min_by_key(|exit| {
            let stone = target[0];
            exit.x().abs_diff(stone.x()) + exit.y().abs_diff(stone.y())
        })
        .unwrap_or(target[0]);
    Err(InferError::WrongGroup {
        marked: target[0],
        leak,
        other,
    })
}

fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "Black",
        Color::White => "White",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    fn board(drawing: &str) -> Board {
        let size = BoardSize::new(drawing.trim().lines().count()).unwrap();
        Board::from_diagram(size, drawing).unwrap()
    }

    fn marked(board: &Board, x: usize, y: usize) -> Result<Inferred, InferError> {
        let hints = Hints {
            target: vec![Point::new(x, y)],
            ..Hints::default()
        };
        infer(board, &hints, true)
    }

    const CORNER: &str = "
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        X X X X X . . . .
        O O O O X . . . .
        . . . O X . . . .
        . . . O X . . . .";

    #[test]
    fn a_mark_on_the_side_that_surrounds_is_refused_by_name() {
        let corner = board(CORNER);
        assert!(marked(&corner, 0, 2).is_ok());
        let wrong = marked(&corner, 0, 3).err().expect("Black surrounds");
        assert!(matches!(wrong, InferError::WrongGroup { .. }), "{wrong}");
        // Whoever names the group himself is believed.
        let hints = Hints {
            target: vec![Point::new(0, 3)],
            ..Hints::default()
        };
        assert!(infer(&corner, &hints, false).is_ok());
    }

    #[test]
    fn a_marked_group_in_a_narrow_zone_is_taken_as_marked() {
        // White's wall has more room than the marked stones of Black, which have none.
        let inside = board(
            "
            . . . . .
            O O O O .
            X X X O .
            . O X O .
            O . X O .",
        );
        let found = marked(&inside, 0, 2).expect("enclosed as it stands");
        assert_eq!(found.problem.defender(), Color::Black);
        assert!(found.assumptions.is_empty());
    }
}
