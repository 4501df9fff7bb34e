//! The last moves of a game, which players often leave out: neutral points are taken, and what is in atari then is protected.
//!
//! Two questions of counting are settled by making these moves. Which groups are in seki? Those beside neutral points
//! that no living group can take. Which points inside a territory are none? Those that must be filled once all
//! neutral points around are taken.

use crate::{Board, Color, Point, PointSet};

/// A group with one eye of at most this size may be in seki.
const LARGEST_SEKI_EYE: usize = 2;

/// Who surrounds which points.
pub(crate) struct Areas {
    pub territory: [PointSet; 2],
    pub neutral: PointSet,
}

/// Chains of a colour with the points they surround, linked so that nobody can cut them apart.
pub(crate) struct Group {
    pub points: PointSet,
    /// Whether it has two eyes, or room for them.
    pub has_eyes: bool,
}

/// A position after its last moves.
pub(crate) struct Ended {
    pub board: Board,
    /// Points inside a territory that its owner had to fill.
    pub protected: PointSet,
}

impl Areas {
    pub fn of(board: &Board) -> Areas {
        let mut areas = Areas {
            territory: [PointSet::EMPTY; 2],
            neutral: PointSet::EMPTY,
        };
        for region in board.empty_set().components() {
            let around = region.neighbors();
            let touches = Color::BOTH.map(|color| board.stone_set(color).intersects(&around));
            let owner = match touches {
                [true, false] => &mut areas.territory[0],
                [false, true] => &mut areas.territory[1],
                _ => &mut areas.neutral,
            };
            *owner = *owner | region;
        }
        areas
    }

    /// The groups of a colour.
    pub fn groups(&self, board: &Board, color: Color) -> Vec<Group> {
        let territory = self.territory[color.index()];
        let own = *board.stone_set(color) | territory;
        let mut groups: Vec<PointSet> = own.components().collect();
        let mut at = 0;
        while at < groups.len() {
            let linked = (at + 1..groups.len()).find(|&other| {
                let shared = groups[at].neighbors() & groups[other].neighbors() & board.empty_set();
                let enemy = color.opponent();
                shared.len() > 1 || shared.iter().any(|cut| is_hopeless_cut(board, cut, enemy))
            });
            match linked {
                // The larger group may reach others that were looked at before.
                Some(other) => {
                    groups[at] = groups[at] | groups.swap_remove(other);
                    at = 0;
                }
                None => at += 1,
            }
        }
        let with_eyes = |points: PointSet| {
            let eyes = points & territory;
            Group {
                points,
                has_eyes: eyes.len() > LARGEST_SEKI_EYE || eyes.components().count() > 1,
            }
        };
        groups.into_iter().map(with_eyes).collect()
    }
}

/// Whether a cut at `point` can be captured at once.
fn is_hopeless_cut(board: &Board, point: Point, cutter: Color) -> bool {
    if board.is_suicide(point, cutter) {
        return true;
    }
    let mut board = board.clone();
    let undo = board.play(point, cutter);
    undo.captured_stones() == 0 && board.liberty_count(point) == 1
}

/// Makes the last moves of a position whose dead stones are off the board.
pub(crate) fn end(mut board: Board) -> Ended {
    let mut protected = PointSet::EMPTY;
    // Every move fills a point, and captures are few; the limit is for positions that are not finished.
    for _ in 0..2 * board.size().area() {
        let areas = Areas::of(&board);
        if let Some((point, color)) = best_neutral(&mut board, &areas) {
            let _ = board.play(point, color);
        } else if let Some((point, color)) = protection(&board, &areas) {
            let _ = board.play(point, color);
            protected.insert(point);
        } else {
            break;
        }
    }
    Ended { board, protected }
}

/// The neutral point to be taken next, and by whom. A point that links chains goes to the side that needs it more, so
/// that nobody has to fill his territory for want of it.
fn best_neutral(board: &mut Board, areas: &Areas) -> Option<(Point, Color)> {
    if areas.neutral.is_empty() {
        return None;
    }
    let safe = Color::BOTH.map(|color| {
        let groups = areas.groups(board, color);
        let safe = groups.iter().filter(|group| group.has_eyes);
        safe.fold(PointSet::EMPTY, |all, group| all | group.points)
    });
    let mut best = None;
    for point in areas.neutral.iter() {
        for color in Color::BOTH {
            let chains: Vec<Point> = board.adjacent_blocks(point, color).collect();
            let safe = &safe[color.index()];
            let is_from_safety = chains.iter().any(|&chain| safe.contains(chain));
            if !is_from_safety || !is_quiet(board, point, color) {
                continue;
            }
            let rescues = chains.iter().any(|&chain| !safe.contains(chain));
            let liberties = chains.iter().map(|&chain| board.liberty_count(chain)).min();
            let need = (rescues, chains.len() > 1, std::cmp::Reverse(liberties));
            if best.as_ref().is_none_or(|(most, _)| need > *most) {
                best = Some((need, (point, color)));
            }
        }
    }
    best.map(|(_, chosen)| chosen)
}

/// Whether a move takes nothing and leaves its chain out of atari.
fn is_quiet(board: &mut Board, point: Point, color: Color) -> bool {
    if !board.is_legal(point, color) {
        return false;
    }
    let undo = board.play(point, color);
    let is_quiet = undo.captured_stones() == 0 && board.liberty_count(point) > 1;
    board.undo(undo);
    is_quiet
}

/// The last liberty of a chain inside its own territory.
fn protection(board: &Board, areas: &Areas) -> Option<(Point, Color)> {
    let mut last_liberties = Color::BOTH.into_iter().flat_map(|color| {
        let chains = board.stone_set(color).components();
        chains.filter_map(move |chain| {
            let stone = chain.first()?;
            let liberty = board.liberties(stone).next()?;
            (board.liberty_count(stone) == 1).then_some((liberty, color))
        })
    });
    last_liberties.find(|&(liberty, color)| {
        areas.territory[color.index()].contains(liberty) && board.is_legal(liberty, color)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoardSize;

    fn board(rows: &str) -> Board {
        let size = BoardSize::new(rows.lines().count()).unwrap();
        Board::from_diagram(size, rows).unwrap()
    }

    fn points(text: &str) -> PointSet {
        text.split_whitespace()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect()
    }

    #[test]
    fn neutral_points_are_taken_without_a_loss() {
        let ended = end(board(
            ". # . O .
             . # . O .
             . # . O .
             . # . O .
             . # . O .",
        ));
        assert!(Areas::of(&ended.board).neutral.is_empty());
        assert!(ended.protected.is_empty());
    }

    /// Once White has taken F4, the stones at D4 and E4 have only C4 left.
    const SHORT_OF_LIBERTIES: &str = ". # O . . . .
             . # O O . . .
             . # # O O O .
             . # . # # . O
             . # # O O O .
             . # O O . . .
             . # O . . . .";

    #[test]
    fn a_chain_in_atari_at_the_end_costs_its_owner_a_point() {
        assert_eq!(end(board(SHORT_OF_LIBERTIES)).protected, points("C4"));
    }

    #[test]
    fn a_neutral_point_that_links_saves_the_point_inside() {
        // With D3 free Black links there.
        let rows = SHORT_OF_LIBERTIES.replacen(
            ". # # O O O .\n             . # O O",
            ". # # . O O .\n             . # O O",
            1,
        );
        assert_ne!(rows, SHORT_OF_LIBERTIES);
        assert!(end(board(&rows)).protected.is_empty());
    }

    #[test]
    fn shared_liberties_of_a_seki_are_left() {
        let position = board(
            ". O . # .
             O O . # #
             # # O O #
             # # # O O
             . # . # O",
        );
        let ended = end(position);
        assert!(points("C5 C4").is_subset(&Areas::of(&ended.board).neutral));
    }
}
