//! The problem in a position that nobody has marked.
//!
//! A book shows stones in a corner or on a side and leaves the rest to the reader: which group is
//! in question, and that the outside belongs to whoever surrounds it. Both are inferred. The
//! surrounded side is the one that has the longer way to the open board; where its surroundings
//! leak, a few sure stones of the attacker close them some steps away.

use std::collections::{BTreeSet, HashMap, VecDeque};

use go::{Board, Color, Point, PointSet};
use thiserror::Error;

use super::stakes::{Stakes, stakes};
use super::ways_out::{NO_WAY_OUT, WaysOut};
use super::{Goal, Problem, ProblemError, Side};

/// A zone of more points than this is closed nearer to the group.
const WIDE_ZONE: usize = 40;

/// How many steps outwards from the group's surroundings a leaking zone is closed: the walls that
/// are tried, the nearest first.
const STEPS_TO_WALL: [usize; 3] = [1, 2, 3];

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
    /// The first move of a recorded solution: of several groups it tells which one is meant.
    pub solution: Option<(Color, Point)>,
}

/// A problem and what was assumed to make it one.
#[derive(Clone)]
pub struct Inferred {
    pub problem: Problem,
    /// The same problem with its outside closed nearer to the group, the nearest wall first; none
    /// if nothing had to be closed. What lives behind a near wall lives behind a far one.
    pub nearer: Vec<Problem>,
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
    let given = hints.target.iter().chain(&hints.wall);
    if let Some(&off) = given
        .chain(hints.zone.iter().flatten())
        .find(|&&point| !board.is_on_board(point))
    {
        return Err(InferError::OffBoard(off));
    }
    let ways_out = WaysOut::of(board);
    if !hints.target.is_empty() {
        if is_marked && narrow_problem(board, &hints.target).is_none() {
            check_mark(board, &hints.target, &ways_out)?;
        }
        return problem_of_group(board, &hints.target, hints, &ways_out);
    }
    let candidates = surrounded_groups(board, &ways_out)?;
    let mut found: Vec<Inferred> = candidates
        .iter()
        .filter_map(|target| problem_of_group(board, target, hints, &ways_out).ok())
        .collect();
    // Where a group of either side could be meant, it is the one whose life is at stake; if that
    // is true of both, the one with less room.
    let is_meant = |at: usize| {
        let stakes = stakes(&found[at], hints.solution);
        let room = match stakes {
            Stakes::Settled => at,
            _ => found[at].problem.size(Side::Attacker),
        };
        let is_open = stakes != Stakes::Settled;
        (stakes == Stakes::Solved, is_open, std::cmp::Reverse(room))
    };
    let Some(best) = (0..found.len()).max_by_key(|&at| (is_meant(at), std::cmp::Reverse(at)))
    else {
        return problem_of_group(board, &candidates[0], hints, &ways_out);
    };
    let mut inferred = found.swap_remove(best);
    let target = inferred.problem.target()[0];
    let color = color_name(inferred.problem.defender());
    inferred
        .assumptions
        .insert(0, format!("the group in question is {color} at {target}"));
    Ok(inferred)
}

/// The problem of a group, with what the caller knows of it.
fn problem_of_group(
    board: &Board,
    target: &[Point],
    hints: &Hints,
    ways_out: &WaysOut,
) -> Result<Inferred, InferError> {
    let defender = board.stone(target[0]).ok_or(ProblemError::EmptyTarget {
        column: target[0].x() + 1,
        row: target[0].y() + 1,
    })?;
    let board = with_wall(board, &hints.wall, defender.opponent())?;
    let mut inferred = match &hints.zone {
        Some(zone) => Inferred {
            problem: Problem::with_zone(board, target, zone.iter().copied())?,
            nearer: Vec::new(),
            assumptions: Vec::new(),
        },
        None => enclosed(&board, target, defender, ways_out)?,
    };
    let goal = hints.goal.unwrap_or_default();
    inferred.problem = inferred.problem.with_goal(goal);
    for nearer in &mut inferred.nearer {
        *nearer = nearer.clone().with_goal(goal);
    }
    Ok(inferred)
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
    board: &Board,
    target: &[Point],
    defender: Color,
    ways_out: &WaysOut,
) -> Result<Inferred, InferError> {
    let as_it_stands = |problem| Inferred {
        problem,
        nearer: Vec::new(),
        assumptions: Vec::new(),
    };
    if let Some(problem) = narrow_problem(board, target) {
        return Ok(as_it_stands(problem));
    }
    let mut closed = Vec::new();
    if !board.stone_set(defender.opponent()).is_empty() {
        for steps in STEPS_TO_WALL {
            closed.extend(closed_after(board, target, defender, ways_out, steps)?);
        }
    }
    let Some((problem, stubs)) = closed.pop() else {
        return Ok(as_it_stands(Problem::new(board.clone(), target)?));
    };
    let attacker = color_name(defender.opponent());
    let leak = stubs.iter().next().unwrap_or(target[0]);
    let assumption = format!(
        "the outside is {attacker}'s: {} sure stones close it, one of them at {leak}",
        stubs.len()
    );
    Ok(Inferred {
        problem,
        nearer: closed.into_iter().map(|(problem, _)| problem).collect(),
        assumptions: vec![assumption],
    })
}

/// The problem of a group whose outside is closed a few steps away, and the stones that close it;
/// `None` if nothing leaks that far.
fn closed_after(
    board: &Board,
    target: &[Point],
    defender: Color,
    ways_out: &WaysOut,
    steps_to_wall: usize,
) -> Result<Option<(Problem, PointSet)>, InferError> {
    let attacker = defender.opponent();
    let steps = steps_outwards(board, target, attacker, ways_out, steps_to_wall);
    let stubs: PointSet = steps
        .iter()
        .filter(|&(&point, &steps)| steps == steps_to_wall && board.is_empty(point))
        .map(|(&point, _)| point)
        .collect();
    if stubs.is_empty() {
        return Ok(None);
    }
    let zone: BTreeSet<Point> = steps
        .iter()
        .filter(|&(_, &steps)| steps < steps_to_wall)
        .map(|(&point, _)| point)
        .collect();
    let closed = with_wall(board, &stubs.iter().collect::<Vec<Point>>(), attacker)?;
    let zone = with_weak_walls(&closed, zone, attacker);
    Ok(Some((Problem::with_zone(closed, target, zone)?, stubs)))
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
    most_steps: usize,
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
        if so_far == most_steps {
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

/// The groups that could be in question: that of the surrounded side, the one that has the longer
/// way to the open board, and that of the other side if it is surrounded as well.
fn surrounded_groups(board: &Board, ways_out: &WaysOut) -> Result<Vec<Vec<Point>>, InferError> {
    let mean_way = |color: Color| -> Option<f64> {
        let stones = board.stone_set(color);
        let sum: usize = stones.iter().map(|stone| ways_out.from(stone, color)).sum();
        (!stones.is_empty()).then(|| sum as f64 / stones.len() as f64)
    };
    let (Some(black), Some(white)) = (mean_way(Color::Black), mean_way(Color::White)) else {
        return Err(InferError::OneColor);
    };
    let inner = if black > white {
        Color::Black
    } else {
        Color::White
    };
    let [surrounded, surrounding] =
        [inner, inner.opponent()].map(|color| surrounded_group(board, color, ways_out));
    let nearest = |stones: &mut dyn Iterator<Item = Point>, color: Color| {
        stones.map(|stone| ways_out.from(stone, color)).min()
    };
    // Stones of the inner side beyond the other side's group surround that group in turn.
    let outermost = nearest(&mut board.stone_set(inner).iter(), inner);
    let mut stones = surrounding.iter().flat_map(|&block| board.stones(block));
    let is_nested = outermost < nearest(&mut stones, inner.opponent());
    Ok(if is_nested {
        vec![surrounded, surrounding]
    } else {
        vec![surrounded]
    })
}

/// The blocks of a side that are surrounded, the largest first.
fn surrounded_group(board: &Board, defender: Color, ways_out: &WaysOut) -> Vec<Point> {
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
    blocks
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
        .collect()
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
    fn the_group_whose_life_is_at_stake_is_meant_not_the_stones_inside_it() {
        // White's two stones inside have no way out at all, but they are dead whoever moves.
        let nakade = board(
            "
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            O O O O O O . . .
            X X X X X O . . .
            . . . . X O . . .
            O O . . X O . . .
            . . . . X O . . .",
        );
        let found = infer(&nakade, &Hints::default(), false).unwrap();
        assert_eq!(found.problem.defender(), Color::Black);
    }

    #[test]
    fn what_lives_behind_a_near_wall_is_answered_there() {
        let eight = board(
            "
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            . . . . . . . . . . . . .
            X X X X X X X X X X . . .
            X O O O O O O O O X . . .
            . . . . . . . . . . . . .",
        );
        let found = infer(&eight, &Hints::default(), false).unwrap();
        assert_eq!(found.problem.defender(), Color::White);
        let limits = crate::Limits::default().with_nodes(20_000);
        let (near, note) = found.problem_for(Side::Attacker, &limits);
        assert_eq!(note, None);
        assert!(near.size(Side::Attacker) < found.problem.size(Side::Attacker));
        let status = crate::Solver::new(&near, limits).status(&near, Side::Attacker);
        assert_eq!(status, crate::Status::Safe);
    }

    #[test]
    fn a_leak_is_named_by_its_point() {
        let open = board(
            "
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            X X X X . . . . .
            O O O X . . . . .
            . . O . . . . . .",
        );
        let leak = Problem::new(open, &[Point::new(0, 1)]).err();
        assert_eq!(leak, Some(ProblemError::Leak(Point::new(4, 0))));
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
