//! The eight ways to lay a square board on itself.

use crate::{BoardSize, Move, Point};

/// A rotation or reflection of the board.
///
/// Numbered as Leela Zero numbers them, and applied in this order: bit 4 swaps x and y, bit 2
/// mirrors x, bit 1 mirrors y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symmetry(u8);

const MIRROR_Y: u8 = 1;
const MIRROR_X: u8 = 2;
const SWAP: u8 = 4;

impl Symmetry {
    /// The number of symmetries.
    pub const COUNT: usize = 8;

    /// Leaves every point where it is.
    pub const IDENTITY: Symmetry = Symmetry(0);

    /// All eight, in the order of their numbers.
    pub const ALL: [Symmetry; Self::COUNT] = {
        let mut all = [Symmetry(0); Self::COUNT];
        let mut number = 0;
        while number < Self::COUNT {
            all[number] = Symmetry(number as u8);
            number += 1;
        }
        all
    };

    /// The symmetry with a number from 0 to 7.
    pub const fn new(number: usize) -> Option<Symmetry> {
        if number < Self::COUNT {
            Some(Symmetry(number as u8))
        } else {
            None
        }
    }

    /// The number, from 0 to 7.
    #[inline]
    pub const fn number(self) -> usize {
        self.0 as usize
    }

    /// Where a point of a board of this size goes.
    #[inline]
    pub const fn point(self, size: BoardSize, point: Point) -> Point {
        let (mut x, mut y) = (point.x(), point.y());
        if self.0 & SWAP != 0 {
            (x, y) = (y, x);
        }
        if self.0 & MIRROR_X != 0 {
            x = size.get() - 1 - x;
        }
        if self.0 & MIRROR_Y != 0 {
            y = size.get() - 1 - y;
        }
        Point::new(x, y)
    }

    /// The same for a place `y * side + x`, as [`BoardSize::index`] counts them.
    #[inline]
    pub const fn index(self, size: BoardSize, index: usize) -> usize {
        size.index(self.point(size, size.point(index)))
    }

    /// Where a move goes; a pass stays a pass.
    pub const fn apply(self, size: BoardSize, mv: Move) -> Move {
        match mv {
            Move::Play(point) => Move::Play(self.point(size, point)),
            Move::Pass => Move::Pass,
        }
    }

    /// The symmetry that takes every point back.
    pub const fn inverse(self) -> Symmetry {
        if self.0 & SWAP == 0 {
            return self;
        }
        // A mirror moved past the swap acts on the other axis.
        Symmetry(SWAP | mirrors_swapped(self.0))
    }

    /// First this symmetry, then `next`.
    pub const fn then(self, next: Symmetry) -> Symmetry {
        let swap = (self.0 ^ next.0) & SWAP;
        let own_mirrors = if next.0 & SWAP == 0 {
            self.0 & (MIRROR_X | MIRROR_Y)
        } else {
            mirrors_swapped(self.0)
        };
        Symmetry(swap | (own_mirrors ^ (next.0 & (MIRROR_X | MIRROR_Y))))
    }
}

const fn mirrors_swapped(bits: u8) -> u8 {
    let x_to_y = if bits & MIRROR_X != 0 { MIRROR_Y } else { 0 };
    let y_to_x = if bits & MIRROR_Y != 0 { MIRROR_X } else { 0 };
    x_to_y | y_to_x
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn each_size() -> impl Iterator<Item = BoardSize> {
        (2..=25).filter_map(BoardSize::new)
    }

    #[test]
    fn numbers_mean_what_leela_zero_means_by_them() {
        let point = Point::new(2, 5);
        let on_nineteen = |number| {
            Symmetry::new(number)
                .unwrap()
                .point(BoardSize::NINETEEN, point)
        };
        assert_eq!(on_nineteen(0), Point::new(2, 5));
        assert_eq!(on_nineteen(1), Point::new(2, 13));
        assert_eq!(on_nineteen(2), Point::new(16, 5));
        assert_eq!(on_nineteen(3), Point::new(16, 13));
        assert_eq!(on_nineteen(4), Point::new(5, 2));
        assert_eq!(on_nineteen(5), Point::new(5, 16));
        assert_eq!(on_nineteen(6), Point::new(13, 2));
        assert_eq!(on_nineteen(7), Point::new(13, 16));
        assert_eq!(Symmetry::new(8), None);
    }

    #[test]
    fn the_eight_differ_and_keep_neighbours_neighbours() {
        for size in each_size() {
            let corner_and_side = (Point::new(0, 0), Point::new(1, 0));
            let images: HashSet<_> = Symmetry::ALL
                .map(|s| {
                    (
                        s.point(size, corner_and_side.0),
                        s.point(size, corner_and_side.1),
                    )
                })
                .into_iter()
                .collect();
            assert_eq!(images.len(), Symmetry::COUNT);
            assert!(images.iter().all(|(a, b)| a.neighbors().contains(b)));
        }
    }

    #[test]
    fn composition_and_inverse_act_as_on_points() {
        for size in each_size() {
            for a in Symmetry::ALL {
                assert_eq!(a.then(a.inverse()), Symmetry::IDENTITY);
                for b in Symmetry::ALL {
                    for point in size.points() {
                        assert_eq!(
                            a.then(b).point(size, point),
                            b.point(size, a.point(size, point))
                        );
                    }
                }
            }
        }
    }
}
