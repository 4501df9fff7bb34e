//! Every group of a position with its fate, and how certain that is.
//!
//! What Benson's theorem settles needs no reading. Every other group is asked about in its
//! surroundings: the points within a few steps of it. Whoever gets out of them counts as safe, and
//! stones of the other side with liberties beyond them cannot be captured. A result that used
//! neither assumption is proved for the whole board; any other is the reading of a strong player,
//! who also looks no farther than that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use go::{Board, Color, Point, PointSet};

use super::{Limits, Solver, Verdict};
use crate::problem::{Ko, Problem, Side};

/// Nodes for each group unless told otherwise.
const DEFAULT_NODES: u64 = 20_000;

/// The table of one group.
const TABLE_BYTES: usize = 32 << 20;

/// The largest number of blocks asked about as one group.
const MOST_BLOCKS: usize = 8;

/// How long to read, and when to stop.
#[derive(Clone, Debug)]
pub struct MapSettings {
    /// Nodes for each question about a group.
    pub nodes: u64,
    /// Set to cancel: the groups that are left stay [`Fate::Unknown`].
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for MapSettings {
    fn default() -> MapSettings {
        MapSettings {
            nodes: DEFAULT_NODES,
            interrupt: None,
        }
    }
}

/// What becomes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It lives even if the opponent plays first and may retake any ko.
    Alive,
    /// Whoever plays first decides, or a ko does.
    Critical,
    /// It dies even if its owner plays first, unless a ko threat helps him.
    Dead,
    /// Nothing could be said.
    Unknown,
}

/// How certain a fate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// By Benson's theorem and what follows from it, without reading a move.
    Benson,
    /// Proved by search for the whole board.
    Search,
    /// Read: proved if what gets away is safe and the stones around are.
    Read,
    /// Not known.
    None,
}

/// A group and what becomes of it.
#[derive(Clone, Debug)]
pub struct GroupFate {
    /// Whose group it is.
    pub color: Color,
    pub stones: Vec<Point>,
    /// What becomes of it.
    pub fate: Fate,
    /// How certain that is.
    pub certainty: Certainty,
    /// Where the opponent plays to capture it, if it is critical.
    pub kill: Option<Point>,
    /// Where its owner plays to save it, if it is critical.
    pub save: Option<Point>,
    /// Positions read.
    pub nodes: u64,
}

/// Finds the fate of every group. Groups are handed to `on_group` as they are decided, those that
/// need no reading first; all of them are returned.
pub fn map(
    board: &Board,
    settings: &MapSettings,
    on_group: &mut dyn FnMut(&GroupFate),
) -> Vec<GroupFate> {
    let fates = board.fates();
    let mut settled = Vec::new();
    let mut open = Vec::new();
    for blocks in groups(board) {
        let Some(color) = board.stone(blocks[0]) else {
            continue;
        };
        let group = GroupFate {
            color,
            stones: blocks.iter().flat_map(|&b| board.stones(b)).collect(),
            fate: Fate::Unknown,
            certainty: Certainty::None,
            kill: None,
            save: None,
            nodes: 0,
        };
        let fate = match fates.at(blocks[0]) {
            go::Fate::Alive => Fate::Alive,
            go::Fate::Dead => Fate::Dead,
            _ => {
                open.push((blocks, group));
                continue;
            }
        };
        settled.push(GroupFate {
            fate,
            certainty: Certainty::Benson,
            ..group
        });
    }
    settled.iter().for_each(&mut *on_group);
    // Small groups are read sooner and matter to their neighbours.
    open.sort_by_key(|(_, group)| group.stones.len());
    let alive = *fates.alive(Color::Black) | *fates.alive(Color::White);
    for (blocks, group) in open {
        let is_cancelled = settings
            .interrupt
            .as_ref()
            .is_some_and(|flag| flag.load(Ordering::Relaxed));
        let group = if is_cancelled {
            group
        } else {
            read_group(board, &blocks, group, &alive, settings)
        };
        on_group(&group);
        settled.push(group);
    }
    settled
}

/// Reads the fate of one group.
fn read_group(
    board: &Board,
    blocks: &[Point],
    group: GroupFate,
    alive: &PointSet,
    settings: &MapSettings,
) -> GroupFate {
    let Ok(problem) = Problem::in_game(board.clone(), blocks) else {
        return group;
    };
    let mut limits = Limits::default()
        .with_nodes(settings.nodes)
        .with_memory(TABLE_BYTES);
    if let Some(flag) = &settings.interrupt {
        limits = limits.with_interrupt(flag.clone());
    }
    let mut solver = Solver::new(&problem, limits);
    let attacked = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
    let mut nodes = attacked.nodes;
    let defended = (attacked.verdict == Verdict::Unsafe).then(|| {
        let found = solver.solve(&problem, Side::Defender, Ko::NOBODY);
        nodes += found.nodes;
        found
    });
    let (fate, proved) = match (attacked.verdict, &defended) {
        (Verdict::Safe, _) => (Fate::Alive, stays_inside(&problem, &attacked.zone)),
        (Verdict::Unsafe, Some(defended)) => {
            let walls = walls_are_alive(&problem, alive);
            match defended.verdict {
                Verdict::Safe => (
                    Fate::Critical,
                    walls && stays_inside(&problem, &defended.zone),
                ),
                Verdict::Unsafe => (Fate::Dead, walls),
                Verdict::Unknown => (Fate::Unknown, false),
            }
        }
        _ => (Fate::Unknown, false),
    };
    let is_critical = fate == Fate::Critical;
    GroupFate {
        fate,
        certainty: match (fate, proved) {
            (Fate::Unknown, _) => Certainty::None,
            (_, true) => Certainty::Search,
            (_, false) => Certainty::Read,
        },
        kill: attacked.first_move.filter(|_| is_critical),
        save: defended
            .and_then(|defended| defended.first_move)
            .filter(|_| is_critical),
        nodes,
        ..group
    }
}

/// Whether a life rests on a part of the zone alone, so that nothing beyond it was used.
fn stays_inside(problem: &Problem, relevant: &[Point]) -> bool {
    !relevant.is_empty() && relevant.iter().all(|point| problem.zone().contains(point))
}

/// Whether every attacker's block that the search could not capture lives unconditionally.
fn walls_are_alive(problem: &Problem, alive: &PointSet) -> bool {
    let board = problem.board();
    let attacker = problem.attacker();
    problem.zone().iter().all(|&point| {
        board
            .adjacent_blocks(point, attacker)
            .into_iter()
            .all(|block| {
                alive.contains(block)
                    || board
                        .liberties(block)
                        .all(|liberty| problem.zone().contains(&liberty))
            })
    })
}

/// The blocks of each group: blocks of a colour that share two liberties, or touch at a corner
/// with a point between them that the opponent has not taken, belong together.
fn groups(board: &Board) -> Vec<Vec<Point>> {
    let blocks: Vec<Point> = board
        .size()
        .points()
        .filter(|&point| board.stone(point).is_some() && board.block(point) == point)
        .collect();
    let mut leader: Vec<usize> = (0..blocks.len()).collect();
    for a in 0..blocks.len() {
        for b in a + 1..blocks.len() {
            if board.stone(blocks[a]) == board.stone(blocks[b])
                && are_linked(board, blocks[a], blocks[b])
            {
                let (from, to) = (leader[b], leader[a]);
                leader
                    .iter_mut()
                    .filter(|l| **l == from)
                    .for_each(|l| *l = to);
            }
        }
    }
    let mut groups: Vec<Vec<Point>> = vec![Vec::new(); blocks.len()];
    for (at, &block) in blocks.iter().enumerate() {
        groups[leader[at]].push(block);
    }
    groups
        .into_iter()
        .flat_map(|group| {
            let parts = group.chunks(MOST_BLOCKS);
            parts.map(<[Point]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

/// Whether two blocks cannot be cut by one move: they share two liberties.
fn are_linked(board: &Board, a: Point, b: Point) -> bool {
    let liberties: PointSet = board.liberties(a).collect();
    board
        .liberties(b)
        .filter(|&p| liberties.contains(p))
        .count()
        >= 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    fn fates(drawing: &str) -> Vec<GroupFate> {
        let size = BoardSize::new(drawing.trim().lines().count()).unwrap();
        let board = Board::from_diagram(size, drawing).unwrap();
        map(&board, &MapSettings::default(), &mut |_| ())
    }

    fn at(groups: &[GroupFate], x: usize, y: usize) -> &GroupFate {
        let point = Point::new(x, y);
        groups.iter().find(|g| g.stones.contains(&point)).unwrap()
    }

    const CORNERS: &str = "\
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        X X X X X . . . .
        O O O O X . . X X
        . . . O X . X X O
        X X X X X . X O O
        . X . X . . X O .";

    #[test]
    fn a_group_is_alive_critical_or_dead_and_says_how_that_is_known() {
        let groups = fates(
            "\
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            X X X X X . . . .
            O O O O X . X X X
            . . . O X . X O O
            O O O O X . X O .
            . O . O X . X O O",
        );
        // Two eyes below, three points between: alive by Benson.
        assert_eq!(at(&groups, 0, 1).fate, Fate::Alive);
        assert_eq!(at(&groups, 0, 1).certainty, Certainty::Benson);
        assert_eq!(at(&groups, 7, 0).fate, Fate::Dead, "one eye");
    }

    #[test]
    fn three_in_a_row_are_critical_and_the_middle_decides() {
        let groups = fates(
            "\
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .
            X X X X X . .
            O O O O X . .
            . . . O X . .",
        );
        let group = at(&groups, 0, 1);
        assert_eq!(group.fate, Fate::Critical);
        assert_eq!(group.kill, Some(Point::new(1, 0)));
        assert_eq!(group.save, Some(Point::new(1, 0)));
        assert_eq!(
            group.certainty,
            Certainty::Read,
            "Black's wall has no eyes yet"
        );
    }

    #[test]
    fn a_cancelled_map_knows_what_needs_no_reading_and_nothing_else() {
        let board = Board::from_diagram(BoardSize::new(9).unwrap(), CORNERS).unwrap();
        let settings = MapSettings {
            interrupt: Some(Arc::new(AtomicBool::new(true))),
            ..MapSettings::default()
        };
        let mut heard = 0;
        let groups = map(&board, &settings, &mut |_| heard += 1);
        assert_eq!(heard, groups.len());
        assert!(groups.iter().all(|g| g.certainty != Certainty::Read));
        let stones: usize = groups.iter().map(|g| g.stones.len()).sum();
        let on_board = board.size().points().filter(|&p| board.stone(p).is_some());
        assert_eq!(stones, on_board.count(), "every stone is in one group");
    }
}
