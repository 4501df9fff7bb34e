//! Board sizes and intersections.
//!
//! A point is an index into a grid that is laid out for the largest board, with one
//! column of border between rows (the east edge of a row is the west edge of the next).
//! So a point means the same intersection on every board size, its neighbours are fixed
//! offsets, and reading a neighbour needs no bounds check against the board's size.

use std::fmt;

/// Distance between a point and its northern neighbour.
pub(crate) const STRIDE: usize = BoardSize::MAX as usize + 1;

/// Cells of the padded grid, borders included.
pub(crate) const GRID: usize = (BoardSize::MAX as usize + 2) * STRIDE + 2;

/// The side length of a board, from 2 to 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoardSize(u8);

impl BoardSize {
    /// The smallest board.
    pub const MIN: u8 = 2;
    /// The largest board: GTP has letters for no more columns.
    pub const MAX: u8 = 25;
    /// The full-size board.
    pub const NINETEEN: BoardSize = BoardSize(19);
    /// The small board.
    pub const NINE: BoardSize = BoardSize(9);

    /// A board size, if `side` is within 2..=25.
    pub const fn new(side: usize) -> Option<BoardSize> {
        if side >= Self::MIN as usize && side <= Self::MAX as usize {
            Some(BoardSize(side as u8))
        } else {
            None
        }
    }

    /// The side length.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }

    /// The number of intersections.
    #[inline]
    pub const fn area(self) -> usize {
        self.get() * self.get()
    }

    /// Whether `point` lies on a board of this size.
    #[inline]
    pub const fn contains(self, point: Point) -> bool {
        point.x() < self.get() && point.y() < self.get()
    }

    /// Every point, row by row from the bottom (y = 0), each row from the left.
    pub fn points(self) -> impl DoubleEndedIterator<Item = Point> + Clone {
        let side = self.get();
        (0..side).flat_map(move |y| (0..side).map(move |x| Point::new(x, y)))
    }

    /// The place of `point` in the order of [`BoardSize::points`]: `y * side + x`.
    #[inline]
    pub const fn index(self, point: Point) -> usize {
        point.y() * self.get() + point.x()
    }

    /// The point at a place in the order of [`BoardSize::points`].
    #[inline]
    pub const fn point(self, index: usize) -> Point {
        Point::new(index % self.get(), index / self.get())
    }
}

impl fmt::Display for BoardSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{0}x{0}", self.0)
    }
}

/// An intersection. `x` counts from the left, `y` from the bottom, both from 0: (0, 0) is GTP's A1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point(u16);

impl Point {
    /// The point in column `x` from the left and row `y` from the bottom.
    ///
    /// # Panics
    /// If a coordinate is not on the largest board.
    #[inline]
    pub const fn new(x: usize, y: usize) -> Point {
        assert!(x < BoardSize::MAX as usize && y < BoardSize::MAX as usize);
        Point(((y + 1) * STRIDE + x + 1) as u16)
    }

    /// Column from the left.
    #[inline]
    pub const fn x(self) -> usize {
        // The border column of the padded grid maps past the largest board, so no board contains it.
        (self.0 as usize % STRIDE).wrapping_sub(1)
    }

    /// Row from the bottom.
    #[inline]
    pub const fn y(self) -> usize {
        (self.0 as usize / STRIDE).wrapping_sub(1)
    }

    /// The four neighbours: east, north, west, south. They may lie on the border.
    #[inline]
    pub const fn neighbors(self) -> [Point; 4] {
        let p = self.0;
        let row = STRIDE as u16;
        [Point(p + 1), Point(p + row), Point(p - 1), Point(p - row)]
    }

    /// The four diagonal neighbours: north-east, north-west, south-west, south-east.
    #[inline]
    pub const fn diagonals(self) -> [Point; 4] {
        let p = self.0;
        let row = STRIDE as u16;
        [
            Point(p + row + 1),
            Point(p + row - 1),
            Point(p - row - 1),
            Point(p - row + 1),
        ]
    }

    /// A number below [`Point::GRID`], unique for each point: for tables with one entry a point.
    #[inline]
    pub const fn grid_index(self) -> usize {
        self.0 as usize
    }

    /// The length of a table indexed by [`Point::grid_index`].
    pub const GRID: usize = GRID;

    /// A point that is on no board.
    pub(crate) const BORDER: Point = Point(0);

    pub(crate) const fn from_grid_index(index: usize) -> Point {
        Point(index as u16)
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Point({}, {})", self.x() as isize, self.y() as isize)
    }
}
