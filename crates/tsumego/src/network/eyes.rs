//! Eyes and eye shapes, for the feature planes.

use std::collections::HashMap;

use go::{Board, Color, Point, PointSet};

/// A one-point eye of either colour that cannot be taken away, by the 3x3 around the point.
pub fn is_sure_eye(board: &Board, point: Point) -> bool {
    board.is_empty(point) && Color::BOTH.iter().any(|&c| is_sure_eye_of(board, point, c))
}

fn is_sure_eye_of(board: &Board, point: Point, color: Color) -> bool {
    let around = point.neighbors().into_iter().chain(point.diagonals());
    let own = around.clone().filter(|&p| board.is_stone(p, color)).count();
    let own_diagonals = point
        .diagonals()
        .into_iter()
        .filter(|&p| board.is_stone(p, color))
        .count();
    let off_board = around.clone().filter(|&p| !board.is_on_board(p)).count();
    let empty_corners = around
        .filter(|&p| board.is_empty(p) && is_corner(board, p))
        .count();
    // All eight; one diagonal missing; a corner beside it empty; along the edge; in the corner.
    own == 8
        || own == 7 && own_diagonals == 3
        || own == 6 && empty_corners == 1
        || own == 5 && off_board == 3
        || own == 3 && off_board == 5
}

fn is_corner(board: &Board, point: Point) -> bool {
    let last = board.size().get() - 1;
    (point.x() == 0 || point.x() == last) && (point.y() == 0 || point.y() == last)
}

/// Whether an empty point has no enemy of `color` beside it.
pub fn can_be_eye_simply(board: &Board, point: Point, color: Color) -> bool {
    board.is_empty(point)
        && !point
            .neighbors()
            .into_iter()
            .any(|n| board.is_stone(n, color.opponent()))
}

/// Whether `color` may still get an eye at a point: no enemy beside it and not too many safe
/// enemies diagonal to it; or an enemy stone there that is not safe, for it may be captured.
pub fn can_be_eye(board: &Board, point: Point, color: Color, safe_enemies: &PointSet) -> bool {
    if board.is_stone(point, color.opponent()) {
        return !safe_enemies.contains(point);
    }
    let diagonals = point.diagonals();
    let at_edge = diagonals.iter().any(|&p| !board.is_on_board(p));
    let taken = diagonals
        .into_iter()
        .filter(|&p| board.is_on_board(p) && safe_enemies.contains(p))
        .count();
    can_be_eye_simply(board, point, color) && taken <= usize::from(!at_edge)
}

/// A region that `color` encloses: empty points and enemy stones that are not safe.
pub struct Region {
    pub points: PointSet,
    /// Those without stones.
    pub empty: PointSet,
}

/// The regions of `color`, without the ones that safe enemies reach.
pub fn regions(board: &Board, color: Color, safe_enemies: &PointSet) -> Vec<Region> {
    let outside = PointSet::full(board.size()) - *board.stone_set(color);
    outside
        .components()
        .filter(|points| !points.intersects(safe_enemies))
        .map(|points| Region {
            points,
            empty: points & board.empty_set(),
        })
        .collect()
}

/// The point that makes or takes the second eye of a nakade shape, if the shape is one: the cells'
/// numbers of neighbours inside it tell.
pub fn nakade_centre(points: &PointSet) -> Option<Point> {
    let degree = |point: Point| {
        let neighbors = point.neighbors().into_iter();
        neighbors.filter(|&n| points.contains(n)).count()
    };
    let mut degrees: Vec<usize> = points.iter().map(degree).collect();
    degrees.sort_unstable();
    let is_nakade = matches!(
        degrees.as_slice(),
        [1, 1, 2] | [1, 1, 1, 3] | [1, 1, 1, 1, 4] | [1, 2, 2, 2, 3] | [1, 1, 2, 2, 2, 4]
    );
    is_nakade
        .then(|| points.iter().max_by_key(|&point| degree(point)))
        .flatten()
}

/// Regions up to this size are searched for eyes; a larger one is taken to give two.
const LARGEST_SEARCHED: usize = 7;

/// How many separate eyes (0 to 2) the owner of a region gets out of it alone.
///
/// Both sides play inside by turns or pass. A stone of the owner divides the region, a stone of the
/// enemy keeps him from dividing it there; the enemy cannot fill a part completely. What counts at
/// the end is the number of parts.
pub fn eyes_in(points: &PointSet, enemy_stones: &PointSet, owner_first: bool) -> usize {
    if points.len() > LARGEST_SEARCHED {
        return 2;
    }
    let cells: Vec<Point> = points.iter().collect();
    let mut beside = [0u8; LARGEST_SEARCHED];
    for (a, &point) in cells.iter().enumerate() {
        for (b, &other) in cells.iter().enumerate() {
            if point.neighbors().contains(&other) {
                beside[a] |= 1 << b;
            }
        }
    }
    let enemy = cells
        .iter()
        .enumerate()
        .filter(|(_, point)| enemy_stones.contains(**point))
        .fold(0, |set, (cell, _)| set | 1 << cell);
    let mut shape = Shape {
        all: ((1u16 << cells.len()) - 1) as u8,
        beside,
        known: HashMap::new(),
    };
    shape.eyes(0, enemy, owner_first, false)
}

struct Shape {
    all: u8,
    beside: [u8; LARGEST_SEARCHED],
    known: HashMap<(u8, u8, bool, bool), usize>,
}

impl Shape {
    fn eyes(&mut self, own: u8, enemy: u8, owner_moves: bool, passed: bool) -> usize {
        let key = (own, enemy, owner_moves, passed);
        if let Some(&eyes) = self.known.get(&key) {
            return eyes;
        }
        let mut best = if passed {
            self.parts(own).count().min(2)
        } else {
            self.eyes(own, enemy, !owner_moves, true)
        };
        for cell in 0..LARGEST_SEARCHED {
            let stone = 1 << cell;
            if (self.all & !own & !enemy) & stone == 0 {
                continue;
            }
            if owner_moves {
                best = best.max(self.eyes(own | stone, enemy, false, false));
            } else {
                let filled = self.parts(own).any(|part| part & !(enemy | stone) == 0);
                if !filled {
                    best = best.min(self.eyes(own, enemy | stone, true, false));
                }
            }
        }
        self.known.insert(key, best);
        best
    }

    /// The parts that the owner's stones leave.
    fn parts(&self, own: u8) -> impl Iterator<Item = u8> + '_ {
        let mut left = self.all & !own;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let mut part = left & left.wrapping_neg();
            loop {
                let grown = (0..LARGEST_SEARCHED)
                    .filter(|&cell| part >> cell & 1 == 1)
                    .fold(part, |set, cell| set | self.beside[cell] & left);
                if grown == part {
                    break;
                }
                part = grown;
            }
            left &= !part;
            Some(part)
        })
    }
}

/// The Euler number of a colour's stones, by fours: components less holes. It needs only the
/// windows of two by two points, one ring outside the board included (Gray 1971).
pub fn euler_number(board: &Board, color: Color) -> i32 {
    let side = board.size().get() as isize;
    let stone = |x: isize, y: isize| {
        (0..side).contains(&x)
            && (0..side).contains(&y)
            && board.is_stone(Point::new(x as usize, y as usize), color)
    };
    let mut fourfold = 0;
    for y in -1..side {
        for x in -1..side {
            let window = [
                stone(x, y),
                stone(x + 1, y),
                stone(x, y + 1),
                stone(x + 1, y + 1),
            ];
            fourfold += match window.iter().filter(|&&is_stone| is_stone).count() {
                1 => 1,
                3 => -1,
                2 if window[0] == window[3] => 2,
                _ => 0,
            };
        }
    }
    fourfold / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    fn board(drawing: &str) -> Board {
        let size = BoardSize::new(drawing.lines().count()).unwrap();
        Board::from_diagram(size, drawing).unwrap()
    }

    const FIVE: [(usize, usize); 5] = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)];
    const SIX: [(usize, usize); 6] = [(4, 0), (5, 0), (6, 0), (4, 1), (5, 1), (6, 1)];

    #[test]
    fn eye_shapes_give_what_proverbs_say() {
        let eyes = |cells: &[(usize, usize)]| {
            let points = cells.iter().map(|&(x, y)| Point::new(x, y)).collect();
            [true, false].map(|owner_first| eyes_in(&points, &PointSet::EMPTY, owner_first))
        };
        assert_eq!(eyes(&[(0, 0)]), [1, 1]);
        assert_eq!(eyes(&[(0, 0), (1, 0)]), [1, 1]);
        assert_eq!(eyes(&[(0, 0), (1, 0), (2, 0)]), [2, 1], "three in a row");
        let straight = [(0, 0), (1, 0), (2, 0), (3, 0)];
        assert_eq!(eyes(&straight), [2, 2], "straight four lives");
        let square = [(0, 0), (1, 0), (0, 1), (1, 1)];
        assert_eq!(eyes(&square), [1, 1], "square four is dead");
        let pyramid = [(0, 0), (1, 0), (2, 0), (1, 1)];
        assert_eq!(eyes(&pyramid), [2, 1], "pyramid four");
        assert_eq!(eyes(&FIVE), [2, 1], "bulky five");
        assert_eq!(eyes(&SIX), [2, 2], "rectangular six lives");
    }

    #[test]
    fn the_euler_number_is_blocks_less_holes() {
        let one_ring = board(". . . .\nO O O .\nO . O .\nO O O .");
        assert_eq!(euler_number(&one_ring, Color::White), 0);
        let two_stones = board(". . . .\n. O . .\n. . O .\n. . . .");
        assert_eq!(euler_number(&two_stones, Color::White), 2);
    }

    #[test]
    fn nakade_centres_are_where_the_shape_is_decided() {
        let shape = |cells: &[(usize, usize)]| {
            nakade_centre(&cells.iter().map(|&(x, y)| Point::new(x, y)).collect())
                .map(|point| (point.x(), point.y()))
        };
        let pyramid = [(0, 0), (1, 0), (2, 0), (1, 1)];
        let square = [(0, 0), (1, 0), (0, 1), (1, 1)];
        let straight = [(0, 0), (1, 0), (2, 0), (3, 0)];
        let bulky = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)];
        let cross = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2)];
        let rabbity = [(0, 1), (1, 1), (2, 1), (1, 0), (1, 2), (2, 2)];
        assert_eq!(shape(&pyramid), Some((1, 0)));
        assert_eq!(shape(&square), None, "dead already");
        assert_eq!(shape(&straight), None, "the two middle points are miai");
        assert_eq!(shape(&bulky), Some((1, 0)));
        assert_eq!(shape(&cross), Some((1, 1)));
        assert_eq!(shape(&rabbity), Some((1, 1)));
    }

    #[test]
    fn sure_eyes_lie_in_the_centre_at_the_edge_and_in_the_corner() {
        let eyes = board(
            "\
            . O . O . O .\n\
            O O . O O O .\n\
            . . . . . . .\n\
            . O O . . . .\n\
            O . O . . . .\n\
            O O O . O O X\n\
            . O . O . O .",
        );
        let sure = |x, y| is_sure_eye(&eyes, Point::new(x, y));
        assert!(sure(0, 6), "corner");
        assert!(sure(4, 6), "edge");
        assert!(sure(1, 2), "centre, one diagonal open");
        assert!(!sure(4, 0), "edge without a stone above on one side");
        assert!(!sure(2, 6));
    }
}
