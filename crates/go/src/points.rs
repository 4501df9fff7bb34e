//! Sets of points, one bit each, that grow over the board a whole row of words at a time.

use std::ops::{BitAnd, BitOr, Not, Sub};

use crate::{
    BoardSize, Point,
    point::{GRID, STRIDE},
};

const WORD_BITS: usize = u64::BITS as usize;
const WORDS: usize = GRID.div_ceil(WORD_BITS);

/// A set of points. It does not know a board size: a point means the same on every board.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointSet([u64; WORDS]);

impl PointSet {
    /// The set without points.
    pub const EMPTY: PointSet = PointSet([0; WORDS]);

    /// Every point of a board.
    pub const fn full(size: BoardSize) -> PointSet {
        FULL[size.get()]
    }

    /// Adds a point.
    #[inline]
    pub const fn insert(&mut self, point: Point) {
        let index = point.grid_index();
        self.0[index / WORD_BITS] |= 1 << (index % WORD_BITS);
    }

    /// Takes a point out.
    #[inline]
    pub const fn remove(&mut self, point: Point) {
        let index = point.grid_index();
        self.0[index / WORD_BITS] &= !(1 << (index % WORD_BITS));
    }

    /// Whether the point is in the set.
    #[inline]
    pub const fn contains(&self, point: Point) -> bool {
        let index = point.grid_index();
        self.0[index / WORD_BITS] >> (index % WORD_BITS) & 1 == 1
    }

    /// The number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is no point in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether every point of this set is in `other`.
    #[inline]
    pub fn is_subset(&self, other: &PointSet) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// Whether the sets share a point.
    #[inline]
    pub fn intersects(&self, other: &PointSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// The points row by row from the bottom, each row from the left.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Point> + use<> {
        self.iter_from(Point::BORDER)
    }

    /// The same, without the points before `start`.
    #[inline]
    pub fn iter_from(&self, start: Point) -> impl Iterator<Item = Point> + use<> {
        let mut words = self.0;
        let mut at = start.grid_index() / WORD_BITS;
        words[at] &= u64::MAX << (start.grid_index() % WORD_BITS);
        std::iter::from_fn(move || {
            while at < WORDS {
                let word = words[at];
                if word != 0 {
                    words[at] = word & (word - 1);
                    let bit = word.trailing_zeros() as usize;
                    return Some(Point::from_grid_index(at * WORD_BITS + bit));
                }
                at += 1;
            }
            None
        })
    }

    /// The lowest point, in the order of [`PointSet::iter`].
    #[inline]
    pub fn first(&self) -> Option<Point> {
        self.iter().next()
    }

    /// The points beside a point of the set, borders included: intersect the result with points
    /// of a board.
    #[inline]
    pub fn neighbors(&self) -> PointSet {
        self.shifted_up(1)
            | self.shifted_down(1)
            | self.shifted_up(STRIDE)
            | self.shifted_down(STRIDE)
    }

    /// The set together with all its neighbours, borders included.
    #[inline]
    pub fn grown(&self) -> PointSet {
        *self | self.neighbors()
    }

    /// The points of `within` that can be reached from this set, stepping from neighbour to
    /// neighbour through `within`. Points of this set outside `within` start the walk but do
    /// not belong to the result unless they lie in `within`.
    pub fn flood(&self, within: &PointSet) -> PointSet {
        let mut reached = self.grown() & *within;
        loop {
            let next = reached.grown() & *within;
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// The connected pieces of the set.
    pub fn components(&self) -> impl Iterator<Item = PointSet> + use<> {
        let mut rest = *self;
        std::iter::from_fn(move || {
            let piece = PointSet::from_iter([rest.first()?]).flood(&rest);
            rest = rest - piece;
            Some(piece)
        })
    }

    #[inline]
    fn shifted_up(&self, by: usize) -> PointSet {
        PointSet(std::array::from_fn(|at| {
            let carried = if at > 0 { self.0[at - 1] } else { 0 };
            self.0[at] << by | carried >> (WORD_BITS - by)
        }))
    }

    #[inline]
    fn shifted_down(&self, by: usize) -> PointSet {
        PointSet(std::array::from_fn(|at| {
            let carried = self.0.get(at + 1).copied().unwrap_or(0);
            self.0[at] >> by | carried << (WORD_BITS - by)
        }))
    }
}

/// The boards by side length; sides that no board has stay empty.
static FULL: [PointSet; BoardSize::MAX as usize + 1] = {
    let mut full = [PointSet::EMPTY; BoardSize::MAX as usize + 1];
    let mut side = BoardSize::MIN as usize;
    while side <= BoardSize::MAX as usize {
        let mut index = 0;
        while index < side * side {
            full[side].insert(Point::new(index % side, index / side));
            index += 1;
        }
        side += 1;
    }
    full
};

impl Default for PointSet {
    fn default() -> PointSet {
        PointSet::EMPTY
    }
}

impl FromIterator<Point> for PointSet {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> PointSet {
        let mut set = PointSet::EMPTY;
        set.extend(points);
        set
    }
}

impl Extend<Point> for PointSet {
    fn extend<I: IntoIterator<Item = Point>>(&mut self, points: I) {
        for point in points {
            self.insert(point);
        }
    }
}

impl BitOr for PointSet {
    type Output = PointSet;

    #[inline]
    fn bitor(self, other: PointSet) -> PointSet {
        PointSet(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

impl BitAnd for PointSet {
    type Output = PointSet;

    #[inline]
    fn bitand(self, other: PointSet) -> PointSet {
        PointSet(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}

impl Sub for PointSet {
    type Output = PointSet;

    #[inline]
    fn sub(self, other: PointSet) -> PointSet {
        PointSet(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

impl Not for PointSet {
    type Output = PointSet;

    #[inline]
    fn not(self) -> PointSet {
        PointSet(std::array::from_fn(|at| !self.0[at]))
    }
}

impl std::fmt::Debug for PointSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_board_has_every_point_once_in_order() {
        for side in 2..=25 {
            let size = BoardSize::new(side).unwrap();
            assert!(PointSet::full(size).iter().eq(size.points()));
            assert_eq!(PointSet::full(size).len(), size.area());
        }
    }

    #[test]
    fn growing_adds_exactly_the_neighbours() {
        let size = BoardSize::new(25).unwrap();
        for point in size.points() {
            let grown = PointSet::from_iter([point]).grown();
            let expected: PointSet = point.neighbors().into_iter().chain([point]).collect();
            assert_eq!(grown, expected);
        }
    }

    #[test]
    fn rows_do_not_run_into_each_other() {
        let size = BoardSize::new(25).unwrap();
        let east = PointSet::from_iter([Point::new(24, 3)]);
        assert!(!east.grown().contains(Point::new(0, 4)));
        let wall: PointSet = (0..25).map(|x| Point::new(x, 12)).collect();
        assert_eq!((PointSet::full(size) - wall).components().count(), 2);
    }
}
