//! The passes that move the tiles of one plane to their points and back, and the transposes of both.
//!
//! A tile is moved in two steps, first down its columns, then along its rows, with a small scratch memory between
//! them. Convolutions use [`enter`] and [`leave`]; their gradients the transposes: [`enter_gradient`] is that of
//! [`leave`], [`leave_gradient`] that of [`enter`].

use super::BLOCK;
use super::lanes::Lanes;
use super::layout::{PlaneLayout, TileLayout};
use super::tile::{Four2, MAX_OUT, MAX_POINTS, Seven4, Seven5, Six3, Six4, Tile, TileKind};
use super::tiling::Tiling;

/// Which tiles of a batch a pass works on: those of one plane of one board.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) tiling: &'a Tiling,
    /// Boards of the batch, and which of them.
    pub(crate) batch: usize,
    pub(crate) board: usize,
    pub(crate) layout: TileLayout,
}

impl Place<'_> {
    #[inline(always)]
    fn point_row(&self) -> usize {
        self.tiling.points_across() * self.layout.point_stride
    }

    /// Makes sure that the points of all tiles lie within `numbers`, which start with the block of the plane.
    #[inline(always)]
    fn check(&self, numbers: &[f32], pairs: bool) {
        let last_tile = (self.tiling.tiles.len() * self.batch - 1) * BLOCK;
        let last_point = (self.tiling.points() - 1) * self.layout.point_stride;
        let line = if pairs { BLOCK / 2 } else { BLOCK };
        assert!(self.board < self.batch && numbers.len() >= last_point + last_tile + line);
    }
}

/// A tile between its two steps.
#[repr(align(64))]
pub(crate) struct Scratch([f32; MAX_POINTS * MAX_POINTS * BLOCK]);

impl Scratch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([0.0; MAX_POINTS * MAX_POINTS * BLOCK])
    }
}

/// From one cell or point to the next in the scratch, and from one row to the next.
const COLUMN: usize = BLOCK;
const ROW: usize = MAX_POINTS * BLOCK;

/// Calls a step with the formulas of a tile kind.
macro_rules! with_tile {
    ($kind:expr, $step:ident, $lanes:ident, $($argument:expr),*) => {
        match $kind {
            TileKind::Seven5 => $step::<$lanes, Seven5>($($argument),*),
            TileKind::Seven4 => $step::<$lanes, Seven4>($($argument),*),
            TileKind::Six4 => $step::<$lanes, Six4>($($argument),*),
            TileKind::Six3 => $step::<$lanes, Six3>($($argument),*),
            TileKind::Four2 => $step::<$lanes, Four2>($($argument),*),
        }
    };
}

/// The same for a step with one more type.
macro_rules! with_tile_and {
    ($kind:expr, $step:ident, $lanes:ident, $more:ident, $($argument:expr),*) => {
        match $kind {
            TileKind::Seven5 => $step::<$lanes, Seven5, $more>($($argument),*),
            TileKind::Seven4 => $step::<$lanes, Seven4, $more>($($argument),*),
            TileKind::Six4 => $step::<$lanes, Six4, $more>($($argument),*),
            TileKind::Six3 => $step::<$lanes, Six3, $more>($($argument),*),
            TileKind::Four2 => $step::<$lanes, Four2, $more>($($argument),*),
        }
    };
}

/// From the cells of a bordered plane to points. `tiles` starts with the block of the plane. With `PAIRS` the points are
/// rounded to bf16, and a block shares its 16 numbers a tile with another one.
#[inline(always)]
pub(crate) fn enter<L: Lanes, const PAIRS: bool>(
    place: Place<'_>,
    plane: &[f32],
    tiles: &mut [f32],
    scratch: &mut Scratch,
) {
    let planes = PlaneLayout::new(place.tiling.height, place.tiling.width);
    place.check(tiles, PAIRS);
    assert!(plane.len() >= planes.plane_len);
    let scratch = scratch.0.as_mut_ptr();
    let (point_row, point_stride) = (place.point_row(), place.layout.point_stride);
    for tile in &place.tiling.tiles {
        let at = place.tiling.place(tile, place.board, place.batch) * BLOCK;
        for half in (0..BLOCK).step_by(L::WIDTH) {
            let offset = if PAIRS { half / 2 } else { half };
            let corner = tile.row * planes.row_stride + tile.column * BLOCK;
            let from = plane.as_ptr().wrapping_add(corner + half);
            let to = tiles.as_mut_ptr().wrapping_add(at + offset);
            let (rows, columns) = (tile.down.points(), tile.across.points());
            // SAFETY: a tile and the ring round it lie within the plane and its border; the places of its points
            // lie within `tiles`; the scratch holds the largest tile.
            unsafe {
                with_tile!(
                    tile.down,
                    enter_down,
                    L,
                    from,
                    planes.row_stride,
                    columns,
                    scratch
                );
                with_tile!(
                    tile.across,
                    enter_across,
                    L,
                    scratch,
                    rows,
                    to,
                    point_row,
                    point_stride,
                    PAIRS
                );
            }
        }
    }
}

/// From cells to points, down each column, into the scratch.
#[inline(always)]
unsafe fn enter_down<L: Lanes, T: Tile>(
    from: *const f32,
    row_stride: usize,
    columns: usize,
    scratch: *mut f32,
) {
    for column in 0..columns {
        // SAFETY: the caller's plane holds `T::POINTS` rows of `columns` cells from here, the scratch MAX_POINTS of
        // both.
        unsafe {
            let cells = load_points::<L, T>(from.add(column * BLOCK), row_stride);
            store_points::<L, T>(T::input(cells), scratch.add(column * COLUMN), ROW);
        }
    }
}

/// From columns of points to points, along each row, to their final places.
#[inline(always)]
unsafe fn enter_across<L: Lanes, T: Tile>(
    scratch: *const f32,
    rows: usize,
    to: *mut f32,
    point_row: usize,
    point_stride: usize,
    pairs: bool,
) {
    for row in 0..rows {
        // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS; the caller's tiles have a place for every point.
        unsafe {
            let cells = load_points::<L, T>(scratch.add(row * ROW), COLUMN);
            let (points, to) = (T::input(cells), to.add(row * point_row));
            if pairs {
                round_points::<L, T>(points, to, point_stride);
            } else {
                store_points::<L, T>(points, to, point_stride);
            }
        }
    }
}

/// What happens to the cells of a plane that were moved back; one of these for every vector of a block.
pub(crate) trait Cells<L>: Copy {
    /// Takes the cell that lies `at` numbers from the start of the plane.
    ///
    /// # Safety
    ///
    /// The cell is on the plane.
    unsafe fn put(&mut self, at: usize, cell: L);
}

/// Vectors of a block, at most.
pub(crate) const HALVES: usize = 2;

/// From points to cells. `products` starts with the block of the plane; `origin` is the first cell of the board in
/// the plane that `cells` writes, and `row_stride` leads from one of its rows to the next.
///
/// # Safety
///
/// `cells` takes every cell of the board.
#[inline(always)]
pub(crate) unsafe fn leave<L: Lanes, C: Cells<L>>(
    place: Place<'_>,
    products: &[f32],
    (origin, row_stride): (usize, usize),
    cells: &mut [C; HALVES],
    scratch: &mut Scratch,
) {
    place.check(products, false);
    let scratch = scratch.0.as_mut_ptr();
    let (point_row, point_stride) = (place.point_row(), place.layout.point_stride);
    for tile in &place.tiling.tiles {
        let at = place.tiling.place(tile, place.board, place.batch) * BLOCK;
        let cell = origin + tile.row * row_stride + tile.column * BLOCK;
        for half in (0..BLOCK).step_by(L::WIDTH) {
            let from = products.as_ptr().wrapping_add(at + half);
            let (rows, columns) = (tile.down.out(), tile.across.points());
            // A copy stays in registers for as long as the tile takes.
            let mut taker = cells[half / L::WIDTH];
            // SAFETY: the places of the tile's points lie within `products`, its cells on the board.
            unsafe {
                with_tile!(
                    tile.down,
                    leave_down,
                    L,
                    from,
                    point_row,
                    point_stride,
                    columns,
                    scratch
                );
                with_tile_and!(
                    tile.across,
                    leave_across,
                    L,
                    C,
                    scratch,
                    rows,
                    cell + half,
                    row_stride,
                    &mut taker
                );
            }
            cells[half / L::WIDTH] = taker;
        }
    }
}

/// From points to cells, down each column of points, into the scratch.
#[inline(always)]
unsafe fn leave_down<L: Lanes, T: Tile>(
    from: *const f32,
    point_row: usize,
    point_stride: usize,
    columns: usize,
    scratch: *mut f32,
) {
    for column in 0..columns {
        // SAFETY: the caller's products have a place for every point, the scratch holds MAX_POINTS rows of them.
        unsafe {
            let points = load_points::<L, T>(from.add(column * point_stride), point_row);
            store_out::<L, T>(T::output(points), scratch.add(column * COLUMN), ROW);
        }
    }
}

/// From points to cells, along each row, to whoever takes them.
#[inline(always)]
unsafe fn leave_across<L: Lanes, T: Tile, C: Cells<L>>(
    scratch: *const f32,
    rows: usize,
    at: usize,
    row_stride: usize,
    taker: &mut C,
) {
    for row in 0..rows {
        // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS.
        let points = unsafe { load_points::<L, T>(scratch.add(row * ROW), COLUMN) };
        for (column, cell) in T::output(points).into_iter().enumerate().take(T::OUT) {
            // SAFETY: the tile lies on the board.
            unsafe { taker.put(at + row * row_stride + column * BLOCK, cell) };
        }
    }
}

/// Writes the cells to a plane without a border, and adds them and their squares up.
#[derive(Clone, Copy)]
struct Summed<L> {
    plane: *mut f32,
    sum: L,
    square: L,
}

impl<L: Lanes> Cells<L> for Summed<L> {
    #[inline(always)]
    unsafe fn put(&mut self, at: usize, cell: L) {
        // SAFETY: the plane holds every cell of the board.
        unsafe { cell.store(self.plane.add(at)) };
        self.sum = self.sum.add(cell);
        self.square = cell.mul_add(cell, self.square);
    }
}

/// From points to the cells of a plane without a border. Returns the sum of the cells and of their squares, for
/// every vector of the block.
#[inline(always)]
pub(crate) fn leave_summed<L: Lanes>(
    place: Place<'_>,
    products: &[f32],
    plane: &mut [f32],
    scratch: &mut Scratch,
) -> [(L, L); HALVES] {
    let row_stride = place.tiling.width * BLOCK;
    assert!(plane.len() >= place.tiling.height * row_stride);
    let summed = Summed {
        plane: plane.as_mut_ptr(),
        sum: L::zero(),
        square: L::zero(),
    };
    let mut cells = [summed; HALVES];
    // SAFETY: the plane holds every cell of the board.
    unsafe { leave(place, products, (0, row_stride), &mut cells, scratch) };
    cells.map(|summed| (summed.sum, summed.square))
}

/// The transpose of [`leave`]: gradients of cells, in a plane without a border, to gradients of points.
#[inline(always)]
pub(crate) fn enter_gradient<L: Lanes>(
    place: Place<'_>,
    plane: &[f32],
    tiles: &mut [f32],
    scratch: &mut Scratch,
) {
    let row_stride = place.tiling.width * BLOCK;
    place.check(tiles, false);
    assert!(plane.len() >= place.tiling.height * row_stride);
    let scratch = scratch.0.as_mut_ptr();
    let (point_row, point_stride) = (place.point_row(), place.layout.point_stride);
    for tile in &place.tiling.tiles {
        let at = place.tiling.place(tile, place.board, place.batch) * BLOCK;
        for half in (0..BLOCK).step_by(L::WIDTH) {
            let cell = tile.row * row_stride + tile.column * BLOCK + half;
            let from = plane.as_ptr().wrapping_add(cell);
            let to = tiles.as_mut_ptr().wrapping_add(at + half);
            let (rows, columns) = (tile.down.points(), tile.across.out());
            // SAFETY: the tile lies on the board, the places of its points within `tiles`.
            unsafe {
                with_tile!(
                    tile.down,
                    gradient_down,
                    L,
                    from,
                    row_stride,
                    columns,
                    scratch
                );
                with_tile!(
                    tile.across,
                    gradient_across,
                    L,
                    scratch,
                    rows,
                    to,
                    point_row,
                    point_stride
                );
            }
        }
    }
}

#[inline(always)]
unsafe fn gradient_down<L: Lanes, T: Tile>(
    from: *const f32,
    row_stride: usize,
    columns: usize,
    scratch: *mut f32,
) {
    for column in 0..columns {
        // SAFETY: the caller's plane holds `T::OUT` rows of `columns` cells from here.
        unsafe {
            let cells = load_out::<L, T>(from.add(column * BLOCK), row_stride);
            store_points::<L, T>(
                T::output_transposed(cells),
                scratch.add(column * COLUMN),
                ROW,
            );
        }
    }
}

#[inline(always)]
unsafe fn gradient_across<L: Lanes, T: Tile>(
    scratch: *const f32,
    rows: usize,
    to: *mut f32,
    point_row: usize,
    point_stride: usize,
) {
    for row in 0..rows {
        // SAFETY: the scratch holds MAX_POINTS rows; the caller's tiles have a place for every point.
        unsafe {
            let cells = load_out::<L, T>(scratch.add(row * ROW), COLUMN);
            store_points::<L, T>(
                T::output_transposed(cells),
                to.add(row * point_row),
                point_stride,
            );
        }
    }
}

/// The transpose of [`enter`]: gradients of points to gradients of cells, added to a bordered plane, where the rings
/// of neighbouring tiles overlap.
#[inline(always)]
pub(crate) fn leave_gradient<L: Lanes>(
    place: Place<'_>,
    tiles: &[f32],
    plane: &mut [f32],
    scratch: &mut Scratch,
) {
    let planes = PlaneLayout::new(place.tiling.height, place.tiling.width);
    place.check(tiles, false);
    assert!(plane.len() >= planes.plane_len);
    let scratch = scratch.0.as_mut_ptr();
    let (point_row, point_stride) = (place.point_row(), place.layout.point_stride);
    for tile in &place.tiling.tiles {
        let at = place.tiling.place(tile, place.board, place.batch) * BLOCK;
        for half in (0..BLOCK).step_by(L::WIDTH) {
            let corner = tile.row * planes.row_stride + tile.column * BLOCK;
            let from = tiles.as_ptr().wrapping_add(at + half);
            let to = plane.as_mut_ptr().wrapping_add(corner + half);
            let (rows, columns) = (tile.down.points(), tile.across.points());
            // SAFETY: as in `enter`.
            unsafe {
                with_tile!(
                    tile.down,
                    ungradient_down,
                    L,
                    from,
                    point_row,
                    point_stride,
                    columns,
                    scratch
                );
                with_tile!(
                    tile.across,
                    ungradient_across,
                    L,
                    scratch,
                    rows,
                    to,
                    planes.row_stride
                );
            }
        }
    }
}

#[inline(always)]
unsafe fn ungradient_down<L: Lanes, T: Tile>(
    from: *const f32,
    point_row: usize,
    point_stride: usize,
    columns: usize,
    scratch: *mut f32,
) {
    for column in 0..columns {
        // SAFETY: the caller's tiles have a place for every point.
        unsafe {
            let points = load_points::<L, T>(from.add(column * point_stride), point_row);
            store_points::<L, T>(
                T::input_transposed(points),
                scratch.add(column * COLUMN),
                ROW,
            );
        }
    }
}

#[inline(always)]
unsafe fn ungradient_across<L: Lanes, T: Tile>(
    scratch: *const f32,
    rows: usize,
    to: *mut f32,
    row_stride: usize,
) {
    for row in 0..rows {
        // SAFETY: the scratch holds MAX_POINTS rows; the caller's plane every cell of the tile and its ring.
        unsafe {
            let points = load_points::<L, T>(scratch.add(row * ROW), COLUMN);
            let cells = T::input_transposed(points);
            let to = to.add(row * row_stride);
            for (column, cell) in cells.into_iter().enumerate().take(T::POINTS) {
                let to = to.add(column * BLOCK);
                L::load(to).add(cell).store(to);
            }
        }
    }
}

/// # Safety
///
/// A vector can be read at `from` and at `T::POINTS - 1` strides from it.
#[inline(always)]
unsafe fn load_points<L: Lanes, T: Tile>(from: *const f32, stride: usize) -> [L; MAX_POINTS] {
    let mut points = [L::zero(); MAX_POINTS];
    for (index, point) in points.iter_mut().enumerate().take(T::POINTS) {
        // SAFETY: the caller says so.
        *point = unsafe { L::load(from.add(index * stride)) };
    }
    points
}

/// # Safety
///
/// A vector can be written at `to` and at `T::POINTS - 1` strides from it.
#[inline(always)]
unsafe fn store_points<L: Lanes, T: Tile>(points: [L; MAX_POINTS], to: *mut f32, stride: usize) {
    for (index, point) in points.into_iter().enumerate().take(T::POINTS) {
        // SAFETY: the caller says so.
        unsafe { point.store(to.add(index * stride)) };
    }
}

/// # Safety
///
/// Half a vector can be written at `to` and at `T::POINTS - 1` strides from it.
#[inline(always)]
unsafe fn round_points<L: Lanes, T: Tile>(points: [L; MAX_POINTS], to: *mut f32, stride: usize) {
    for (index, point) in points.into_iter().enumerate().take(T::POINTS) {
        // SAFETY: the caller says so.
        unsafe { point.store_rounded(to.add(index * stride)) };
    }
}

/// # Safety
///
/// A vector can be read at `from` and at `T::OUT - 1` strides from it.
#[inline(always)]
unsafe fn load_out<L: Lanes, T: Tile>(from: *const f32, stride: usize) -> [L; MAX_OUT] {
    let mut cells = [L::zero(); MAX_OUT];
    for (index, cell) in cells.iter_mut().enumerate().take(T::OUT) {
        // SAFETY: the caller says so.
        *cell = unsafe { L::load(from.add(index * stride)) };
    }
    cells
}

/// # Safety
///
/// A vector can be written at `to` and at `T::OUT - 1` strides from it.
#[inline(always)]
unsafe fn store_out<L: Lanes, T: Tile>(cells: [L; MAX_OUT], to: *mut f32, stride: usize) {
    for (index, cell) in cells.into_iter().enumerate().take(T::OUT) {
        // SAFETY: the caller says so.
        unsafe { cell.store(to.add(index * stride)) };
    }
}
