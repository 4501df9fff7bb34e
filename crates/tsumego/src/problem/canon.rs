//! One name for a problem however it is turned, mirrored, shifted along an edge or recoloured.

use go::Point;

use crate::problem::{Problem, Side};
use base::mix;

/// A 64-bit name that is equal for problems that differ by symmetry, colours, and where they lie
/// along an edge they do not touch.
pub fn canonical_name(problem: &Problem) -> u64 {
    let grid = Grid::of(problem);
    let mut turned = grid;
    let mut best = u64::MAX;
    for _ in 0..2 {
        for _ in 0..4 {
            best = best.min(turned.hash());
            turned = turned.quarter_turn();
        }
        turned = turned.mirrored();
    }
    best
}

/// What each cell of the bounding box holds.
#[derive(Clone)]
struct Grid {
    width: usize,
    height: usize,
    cells: Vec<u8>,
    /// Whether the box reaches the board's edge: west, north, east, south.
    edges: [bool; 4],
}

const ZONE: u8 = 4;
const TARGET: u8 = 8;

impl Grid {
    /// The zone, the stones around it, and the edges it touches. What lies farther out is the
    /// back of the wall.
    fn of(problem: &Problem) -> Grid {
        let board = problem.board();
        let last = board.size().get() - 1;
        let near: Vec<Point> = problem.zone().iter().copied().collect();
        let min = |coordinate: fn(Point) -> usize| {
            near.iter()
                .map(|&p| coordinate(p))
                .min()
                .unwrap_or(0)
                .saturating_sub(1)
        };
        let max = |coordinate: fn(Point) -> usize| {
            (near.iter().map(|&p| coordinate(p)).max().unwrap_or(0) + 1).min(last)
        };
        let (left, right) = (min(Point::x), max(Point::x));
        let (bottom, top) = (min(Point::y), max(Point::y));
        let reaches = |coordinate: fn(Point) -> usize, edge: usize| {
            near.iter().any(|&p| coordinate(p) == edge)
        };
        let target = problem.target_stones();
        let cell = |point: Point| {
            let stone = match board.stone(point) {
                None => 0,
                Some(color) if color == problem.color(Side::Attacker) => 1,
                Some(_) => 2,
            };
            let in_zone = problem.zone().contains(&point);
            // Empty points behind the wall are all the same.
            stone
                | if in_zone { ZONE } else { 0 }
                | if target.contains(&point) { TARGET } else { 0 }
        };
        let cells = (bottom..=top)
            .flat_map(|y| (left..=right).map(move |x| Point::new(x, y)))
            .map(cell)
            .collect();
        Grid {
            width: right - left + 1,
            height: top - bottom + 1,
            cells,
            edges: [
                reaches(Point::x, 0),
                reaches(Point::y, last),
                reaches(Point::x, last),
                reaches(Point::y, 0),
            ],
        }
    }

    fn quarter_turn(&self) -> Grid {
        let (width, height) = (self.height, self.width);
        let cells = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| self.cells[(self.height - 1 - x) * self.width + y])
            .collect();
        let [west, north, east, south] = self.edges;
        Grid {
            width,
            height,
            cells,
            // (x, y) comes from column y, row height - 1 - x: the north edge becomes the west.
            edges: [north, east, south, west],
        }
    }

    fn mirrored(&self) -> Grid {
        let cells = self
            .cells
            .chunks(self.width)
            .flat_map(|row| row.iter().rev().copied())
            .collect();
        let [west, north, east, south] = self.edges;
        Grid {
            cells,
            edges: [east, north, west, south],
            ..*self
        }
    }

    fn hash(&self) -> u64 {
        let mut hash = mix((self.width * 64 + self.height) as u64);
        for &cell in self.cells.iter().chain(self.edges.map(u8::from).iter()) {
            hash = mix(hash ^ u64::from(cell));
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::{Board, Color, PointSet, Symmetry};

    fn problem(symmetry: Symmetry, swap: bool) -> Problem {
        let drawing = "\
            . . . . . . .\n\
            . . . . . . .\n\
            . . . . . . .\n\
            . . . . . . .\n\
            X X X X X . .\n\
            O O O O X . .\n\
            . . . O X . .";
        let size = go::BoardSize::new(7).unwrap();
        let board = Board::from_diagram(size, drawing).unwrap();
        let turn = |color: Color| -> PointSet {
            let stones = board.stone_set(color).iter();
            stones.map(|p| symmetry.point(size, p)).collect()
        };
        let (mut black, mut white) = (turn(Color::Black), turn(Color::White));
        if swap {
            std::mem::swap(&mut black, &mut white);
        }
        let turned = Board::with_stones(size, &black, &white).unwrap();
        let target = symmetry.point(size, Point::new(0, 1));
        Problem::new(turned, &[target]).unwrap()
    }

    #[test]
    fn symmetry_and_colour_do_not_change_the_name() {
        let name = canonical_name(&problem(Symmetry::IDENTITY, false));
        for symmetry in Symmetry::ALL {
            for swap in [false, true] {
                assert_eq!(
                    canonical_name(&problem(symmetry, swap)),
                    name,
                    "{symmetry:?}"
                );
            }
        }
    }
}
