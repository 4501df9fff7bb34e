//! 3x3 convolutions: tiles to points, a matrix product at every point, and back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::gemm::{Gemm, Panel};
use super::lanes::{Isa, Job, LANES, Lanes};
use super::memory::Buffer;
use super::tile::{Four2, MAX_POINTS, Seven4, Seven5, Six3, Six4, Tile, TileKind};
use super::tiling::{TileSpec, Tiling};
use super::weights::{Weigh, panels_of};
use super::{BLOCK, blocks, padded_rows};
use crate::network::Conv;

/// A convolution with its weights moved to the points of a tiling.
pub(crate) struct Conv3 {
    tiling: Arc<Tiling>,
    panels: Vec<Panel>,
    /// Weights of one point.
    point_len: usize,
    weights: Buffer,
    /// One per output, padded with zeros to whole blocks.
    pub(crate) bias: Buffer,
    pub(crate) in_blocks: usize,
    pub(crate) out_blocks: usize,
    uses: AtomicU32,
    /// After so many uses the weights are worth moving to huge pages; each layer its own number, so that no call has
    /// to wait for many.
    pub(crate) settles_after: u32,
}

impl Conv3 {
    /// The first `outputs` outputs of a convolution.
    pub(crate) fn new(tiling: Arc<Tiling>, conv: &Conv, outputs: usize) -> Self {
        let (panels, point_len) = panels_of(conv, outputs);
        let mut weights = Buffer::on_small_pages(point_len * tiling.points());
        Weigh {
            conv,
            outputs,
            panels: &panels,
            coefficients: tiling.coefficients(),
            point_len,
            weights: &mut weights,
        }
        .run(Isa::detect());
        let mut bias = Buffer::zeroed(blocks(outputs) * BLOCK);
        bias[..outputs].copy_from_slice(&conv.bias[..outputs]);
        let inputs_end = |panel: &Panel| panel.first_block + blocks(panel.depth);
        let in_blocks = panels.iter().map(inputs_end).fold(1, usize::max);
        Self {
            tiling,
            panels,
            point_len,
            weights,
            bias,
            in_blocks,
            out_blocks: blocks(outputs),
            uses: AtomicU32::new(0),
            settles_after: 0,
        }
    }

    /// Multiplies the transformed tiles of `batch` boards with the weights, point by point.
    pub(crate) fn multiply(&self, isa: Isa, batch: usize, tiles: &[f32], products: &mut [f32]) {
        if self.uses.fetch_add(1, Ordering::Relaxed) == self.settles_after {
            self.weights.move_to_huge_pages();
        }
        let input = TileLayout::new(&self.tiling, self.in_blocks, batch);
        let output = TileLayout::new(&self.tiling, self.out_blocks, batch);
        for point in 0..self.tiling.points() {
            let places = self.tiling.places_at(point, batch);
            let first = places.start * BLOCK;
            Gemm {
                input: &tiles[point * input.point_stride + first..(point + 1) * input.point_stride],
                input_stride: input.block_stride,
                output: &mut products
                    [point * output.point_stride + first..(point + 1) * output.point_stride],
                output_stride: output.block_stride,
                rows: places.len(),
                panels: &self.panels,
                weights: &self.weights[point * self.point_len..],
            }
            .run(isa);
        }
    }
}

/// Where the numbers of a batch of transformed tiles lie: `[point][block][tile][16]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileLayout {
    pub(crate) block_stride: usize,
    pub(crate) point_stride: usize,
}

/// Cache lines between points, odd so that the points of a tile fall into different cache sets.
const POINT_GAP: usize = 5 * BLOCK;

impl TileLayout {
    pub(crate) fn new(tiling: &Tiling, blocks: usize, batch: usize) -> Self {
        let block_stride = padded_rows(tiling.tiles.len() * batch) * BLOCK;
        let lines = blocks * block_stride;
        // An even number of lines plus an odd gap is odd.
        let point_stride = if (lines / BLOCK).is_multiple_of(2) {
            lines + POINT_GAP
        } else {
            lines
        };
        Self {
            block_stride,
            point_stride,
        }
    }

    /// Room for any layout of at most so many blocks and boards; [`len`](Self::len) alone may shrink as they grow.
    pub(crate) fn capacity(tiling: &Tiling, blocks: usize, batch: usize) -> usize {
        let block_stride = padded_rows(tiling.tiles.len() * batch) * BLOCK;
        tiling.points() * (blocks * block_stride + POINT_GAP)
    }

    /// Numbers of the whole batch.
    pub(crate) fn len(&self, tiling: &Tiling) -> usize {
        tiling.points() * self.point_stride
    }
}

/// Where activations lie: `[board][block][row][column][16]`, with a border of zeros round each plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneLayout {
    pub(crate) row_stride: usize,
    pub(crate) plane_len: usize,
}

impl PlaneLayout {
    pub(crate) fn new(height: usize, width: usize) -> Self {
        let row_stride = (width + 2) * BLOCK;
        Self {
            row_stride,
            plane_len: (height + 2) * row_stride,
        }
    }

    /// Where a cell of a block lies.
    pub(crate) fn cell(&self, row: usize, column: usize) -> usize {
        (row + 1) * self.row_stride + (column + 1) * BLOCK
    }
}

/// Moves planes to points.
pub(crate) struct Scatter<'a> {
    pub(crate) tiling: &'a Tiling,
    pub(crate) batch: usize,
    pub(crate) blocks: usize,
    /// Blocks of a board in `planes`, of which the first ones are moved.
    pub(crate) plane_blocks: usize,
    pub(crate) planes: &'a [f32],
    pub(crate) tiles: &'a mut [f32],
}

impl Scatter<'_> {
    pub(crate) fn run(self, isa: Isa) {
        let layout = PlaneLayout::new(self.tiling.height, self.tiling.width);
        assert!(self.blocks <= self.plane_blocks);
        assert!(self.planes.len() >= self.batch * self.plane_blocks * layout.plane_len);
        assert!(
            self.tiles.len()
                >= TileLayout::new(self.tiling, self.blocks, self.batch).len(self.tiling)
        );
        isa.run(self);
    }
}

impl Job for Scatter<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let plane_len = PlaneLayout::new(self.tiling.height, self.tiling.width).plane_len;
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let mut scratch = Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (board * self.plane_blocks + block) * plane_len;
                let plane = &self.planes[index..][..plane_len];
                let tiles = &mut self.tiles[block * layout.block_stride..];
                // SAFETY: `Scatter::run` has checked that the tiles of all blocks fit.
                unsafe {
                    scatter_plane::<L>(
                        self.tiling,
                        self.batch,
                        board,
                        plane,
                        tiles,
                        layout,
                        &mut scratch,
                    )
                };
            }
        }
    }
}

/// What is added to the result of a convolution before its activation.
pub(crate) enum Skip<'a> {
    Nothing,
    Planes(&'a [f32]),
    /// What is overwritten by the result.
    InPlace,
}

/// Moves products back to planes, finishes the layer, and moves the planes to the points of the next one.
pub(crate) struct Gather<'a> {
    pub(crate) tiling: &'a Tiling,
    pub(crate) batch: usize,
    pub(crate) blocks: usize,
    /// Blocks of a board in `planes`, of which the first ones are written.
    pub(crate) plane_blocks: usize,
    pub(crate) products: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) slope: f32,
    pub(crate) skip: Skip<'a>,
    pub(crate) planes: &'a mut [f32],
    /// Nobody else reads the planes: all blocks are written over one another.
    pub(crate) transient: bool,
    /// Where the tiles of the next convolution go, if one follows.
    pub(crate) next: Option<NextTiles<'a>>,
}

/// The tiles of the convolution after this one.
pub(crate) struct NextTiles<'a> {
    /// How many blocks it reads, of those that are written.
    pub(crate) blocks: usize,
    pub(crate) tiles: &'a mut [f32],
}

impl Gather<'_> {
    pub(crate) fn run(self, isa: Isa) {
        let plane_len = PlaneLayout::new(self.tiling.height, self.tiling.width).plane_len;
        let tiles = |blocks| TileLayout::new(self.tiling, blocks, self.batch).len(self.tiling);
        let planes = if self.transient {
            1
        } else {
            self.batch * self.plane_blocks
        };
        assert!(self.blocks <= self.plane_blocks);
        assert!(self.products.len() >= tiles(self.blocks));
        assert!(self.planes.len() >= planes * plane_len);
        if let Some(next) = &self.next {
            assert!(next.blocks <= self.blocks && next.tiles.len() >= tiles(next.blocks));
        }
        assert!(self.bias.len() >= self.blocks * BLOCK);
        if let Skip::Planes(skip) = &self.skip {
            assert!(skip.len() >= self.batch * self.plane_blocks * plane_len);
        }
        isa.run(self);
    }
}

impl Job for Gather<'_> {
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let plane_len = PlaneLayout::new(self.tiling.height, self.tiling.width).plane_len;
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let mut scratch = Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (board * self.plane_blocks + block) * plane_len;
                let plane = &mut self.planes[if self.transient { 0 } else { index }..][..plane_len];
                let skip = match &self.skip {
                    Skip::Nothing => Skip::Nothing,
                    Skip::Planes(planes) => Skip::Planes(&planes[index..]),
                    Skip::InPlace => Skip::InPlace,
                };
                let finish = Finish {
                    bias: &self.bias[block * BLOCK..][..BLOCK],
                    slope: self.slope,
                    skip,
                };
                let products = &self.products[block * layout.block_stride..];
                // SAFETY: `Gather::run` has checked that products, planes, skipped planes and the next layer's tiles
                // of all boards and blocks fit; `plane` is a whole plane.
                unsafe {
                    gather_plane::<L>(
                        self.tiling,
                        self.batch,
                        board,
                        products,
                        layout,
                        plane,
                        &finish,
                        &mut scratch,
                    );
                    if let Some(next) = &mut self.next
                        && block < next.blocks
                    {
                        let layout = TileLayout::new(self.tiling, next.blocks, self.batch);
                        let tiles = &mut next.tiles[block * layout.block_stride..];
                        scatter_plane::<L>(
                            self.tiling,
                            self.batch,
                            board,
                            plane,
                            tiles,
                            layout,
                            &mut scratch,
                        );
                    }
                }
            }
        }
    }
}

/// A tile between its two passes, eight planes at a time.
#[repr(align(64))]
struct Scratch([f32; MAX_POINTS * MAX_POINTS * LANES]);

impl Scratch {
    #[inline(always)]
    fn new() -> Self {
        Self([0.0; MAX_POINTS * MAX_POINTS * LANES])
    }
}

/// Calls a pass with the formulas of a tile kind.
macro_rules! with_tile {
    ($kind:expr, $pass:ident, $lanes:ident, $($argument:expr),*) => {
        match $kind {
            TileKind::Seven5 => $pass::<$lanes, Seven5>($($argument),*),
            TileKind::Seven4 => $pass::<$lanes, Seven4>($($argument),*),
            TileKind::Six4 => $pass::<$lanes, Six4>($($argument),*),
            TileKind::Six3 => $pass::<$lanes, Six3>($($argument),*),
            TileKind::Four2 => $pass::<$lanes, Four2>($($argument),*),
        }
    };
}

/// # Safety
///
/// `plane` is a whole plane of the tiling's board, and `tiles` reaches to the end of its block in the last point.
#[inline(always)]
unsafe fn scatter_plane<L: Lanes>(
    tiling: &Tiling,
    batch: usize,
    board: usize,
    plane: &[f32],
    tiles: &mut [f32],
    layout: TileLayout,
    scratch: &mut Scratch,
) {
    let planes = PlaneLayout::new(tiling.height, tiling.width);
    let scratch = scratch.0.as_mut_ptr();
    for tile in &tiling.tiles {
        let place = tiling.place(tile, board, batch) * BLOCK;
        for half in [0, LANES] {
            let from = plane
                .as_ptr()
                .wrapping_add(tile.row * planes.row_stride + tile.column * BLOCK + half);
            let to = tiles.as_mut_ptr().wrapping_add(place + half);
            let point_row = tiling.points_across() * layout.point_stride;
            // SAFETY: a tile and the ring round it lie within the plane and its border; the places of its points
            // lie within `tiles`; the scratch holds the largest tile.
            unsafe {
                with_tile!(
                    tile.down,
                    enter_down,
                    L,
                    from,
                    planes.row_stride,
                    tile.across.points(),
                    scratch
                );
                let rows = tile.down.points();
                with_tile!(
                    tile.across,
                    enter_across,
                    L,
                    scratch,
                    rows,
                    to,
                    point_row,
                    layout.point_stride
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
        let mut cells = [L::splat(0.0); MAX_POINTS];
        for (row, cell) in cells.iter_mut().enumerate().take(T::POINTS) {
            // SAFETY: the caller's plane holds `T::POINTS` rows of `columns` cells from here.
            *cell = unsafe { L::load(from.add(row * row_stride + column * BLOCK)) };
        }
        let points = T::input(cells);
        for (row, point) in points.into_iter().enumerate().take(T::POINTS) {
            // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS.
            unsafe { point.store(scratch.add((row * MAX_POINTS + column) * LANES)) };
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
) {
    for row in 0..rows {
        let mut cells = [L::splat(0.0); MAX_POINTS];
        for (column, cell) in cells.iter_mut().enumerate().take(T::POINTS) {
            // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS.
            *cell = unsafe { L::load(scratch.add((row * MAX_POINTS + column) * LANES)) };
        }
        let points = T::input(cells);
        for (column, point) in points.into_iter().enumerate().take(T::POINTS) {
            // SAFETY: the caller's tiles have a place for every point of the tile.
            unsafe { point.store(to.add(row * point_row + column * point_stride)) };
        }
    }
}

/// The last steps of a layer.
struct Finish<'a> {
    bias: &'a [f32],
    slope: f32,
    /// From the plane on that belongs to the one that is written.
    skip: Skip<'a>,
}

/// # Safety
///
/// `plane` and `finish.skip` are whole planes of the tiling's board, `finish.bias` a block, and `products` reaches to
/// the end of its block in the last point.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn gather_plane<L: Lanes>(
    tiling: &Tiling,
    batch: usize,
    board: usize,
    products: &[f32],
    layout: TileLayout,
    plane: &mut [f32],
    finish: &Finish<'_>,
    scratch: &mut Scratch,
) {
    let planes = PlaneLayout::new(tiling.height, tiling.width);
    let scratch = scratch.0.as_mut_ptr();
    for tile in &tiling.tiles {
        let place = tiling.place(tile, board, batch) * BLOCK;
        let cell = planes.cell(tile.row, tile.column);
        for half in [0, LANES] {
            let from = products.as_ptr().wrapping_add(place + half);
            let point_row = tiling.points_across() * layout.point_stride;
            let to = plane.as_mut_ptr().wrapping_add(cell + half);
            let target = Target {
                plane: to,
                row_stride: planes.row_stride,
                skip: match &finish.skip {
                    Skip::Nothing => None,
                    Skip::Planes(planes) => Some(planes.as_ptr().wrapping_add(cell + half)),
                    Skip::InPlace => Some(to.cast_const()),
                },
                // SAFETY: the bias is a whole block.
                bias: unsafe { L::load(finish.bias.as_ptr().add(half)) },
                slope: L::splat(finish.slope),
            };
            // SAFETY: the places of the tile's points lie within `products`, its cells within the planes.
            unsafe { leave::<L>(tile, from, point_row, layout.point_stride, scratch, &target) };
        }
    }
}

/// Where the cells of a tile go and what is done to them on the way.
struct Target<L> {
    plane: *mut f32,
    row_stride: usize,
    skip: Option<*const f32>,
    bias: L,
    slope: L,
}

#[inline(always)]
unsafe fn leave<L: Lanes>(
    tile: &TileSpec,
    from: *const f32,
    point_row: usize,
    point_stride: usize,
    scratch: *mut f32,
    target: &Target<L>,
) {
    // SAFETY: passed on to the caller.
    unsafe {
        with_tile!(
            tile.down,
            leave_down,
            L,
            from,
            point_row,
            point_stride,
            tile.across.points(),
            scratch
        );
        with_tile!(
            tile.across,
            leave_across,
            L,
            scratch,
            tile.down.out(),
            target
        );
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
        let mut points = [L::splat(0.0); MAX_POINTS];
        for (row, point) in points.iter_mut().enumerate().take(T::POINTS) {
            // SAFETY: the caller's products have a place for every point of the tile.
            *point = unsafe { L::load(from.add(row * point_row + column * point_stride)) };
        }
        let cells = T::output(points);
        for (row, cell) in cells.into_iter().enumerate().take(T::OUT) {
            // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS.
            unsafe { cell.store(scratch.add((row * MAX_POINTS + column) * LANES)) };
        }
    }
}

/// From points to cells, along each row, into the plane.
#[inline(always)]
unsafe fn leave_across<L: Lanes, T: Tile>(scratch: *const f32, rows: usize, target: &Target<L>) {
    for row in 0..rows {
        let mut points = [L::splat(0.0); MAX_POINTS];
        for (column, point) in points.iter_mut().enumerate().take(T::POINTS) {
            // SAFETY: the scratch holds MAX_POINTS rows of MAX_POINTS.
            *point = unsafe { L::load(scratch.add((row * MAX_POINTS + column) * LANES)) };
        }
        let cells = T::output(points);
        for (column, cell) in cells.into_iter().enumerate().take(T::OUT) {
            let at = row * target.row_stride + column * BLOCK;
            let mut cell = cell.add(target.bias);
            // SAFETY: the caller's planes hold every cell of the tile.
            unsafe {
                if let Some(skip) = target.skip {
                    cell = cell.add(L::load(skip.add(at)));
                }
                cell.max(cell.mul(target.slope)).store(target.plane.add(at));
            }
        }
    }
}
