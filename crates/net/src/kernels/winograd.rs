//! 3x3 convolutions: tiles to points, a matrix product at every point, and back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::activation::Act;
use super::gemm::{Gemm, Panel};
use super::isa::Isa;
use super::lanes::{Job, Lanes, bf16_bits};
use super::layout::{PlaneLayout, TileLayout};
use super::memory::Buffer;
use super::passes::{self, Cells, HALVES, Place, Scratch};
use super::tiling::Tiling;
use super::weights::{Weigh, panels_of};
use super::{BLOCK, blocks};
use crate::network::Conv;

/// A convolution with its weights moved to the points of a tiling.
pub(crate) struct Conv3 {
    tiling: Arc<Tiling>,
    panels: Vec<Panel>,
    /// Weights of one point.
    point_len: usize,
    weights: Arc<Buffer>,
    /// Inputs and weights are bf16, two in each number.
    pub(crate) pairs: bool,
    /// One per output, padded with zeros to whole blocks.
    pub(crate) bias: Arc<Buffer>,
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
            weights: Arc::new(weights),
            pairs: false,
            bias: Arc::new(bias),
            in_blocks,
            out_blocks: blocks(outputs),
            uses: AtomicU32::new(0),
            settles_after: 0,
        }
    }

    /// Rounds transformed weights to bf16, and tiles from now on; sums stay f32.
    pub(crate) fn round(&mut self) {
        let mut point_len = 0;
        let panels: Vec<Panel> = self
            .panels
            .iter()
            .map(|panel| {
                let first_block = panel.first_block / 2;
                let skipped = (panel.first_block - 2 * first_block) * BLOCK;
                let pairs = Panel {
                    first_block,
                    depth: (skipped + panel.depth).div_ceil(2),
                    offset: point_len,
                };
                point_len += pairs.len();
                pairs
            })
            .collect();
        let points = self.tiling.points();
        let mut weights = Buffer::on_small_pages(points * point_len);
        for point in 0..points {
            let from = &self.weights[point * self.point_len..];
            let to = &mut weights[point * point_len..];
            for (old, new) in self.panels.iter().zip(&panels) {
                let skipped = (old.first_block - 2 * new.first_block) * BLOCK;
                let weight = |input: usize, lane: usize| match input.checked_sub(skipped) {
                    Some(line) if line < old.depth => from[old.offset + line * BLOCK + lane],
                    _ => 0.0,
                };
                for pair in 0..new.depth {
                    for lane in 0..BLOCK {
                        let [first, second] =
                            [2 * pair, 2 * pair + 1].map(|input| bf16_bits(weight(input, lane)));
                        let bits = u32::from(second) << 16 | u32::from(first);
                        to[new.offset + pair * BLOCK + lane] = f32::from_bits(bits);
                    }
                }
            }
        }
        self.panels = panels;
        self.point_len = point_len;
        self.weights = Arc::new(weights);
        self.pairs = true;
    }

    /// The same convolution on another board, if its tiles have the same points; the weights are shared.
    pub(crate) fn on(&self, tiling: &Arc<Tiling>) -> Option<Self> {
        (tiling.coefficients() == self.tiling.coefficients()).then(|| Self {
            tiling: tiling.clone(),
            panels: self.panels.clone(),
            point_len: self.point_len,
            weights: self.weights.clone(),
            pairs: self.pairs,
            bias: self.bias.clone(),
            in_blocks: self.in_blocks,
            out_blocks: self.out_blocks,
            uses: AtomicU32::new(0),
            settles_after: self.settles_after,
        })
    }

    /// Multiplies the transformed tiles of `batch` boards with the weights, point by point.
    pub(crate) fn multiply(&self, isa: Isa, batch: usize, tiles: &[f32], products: &mut [f32]) {
        if self.uses.fetch_add(1, Ordering::Relaxed) == self.settles_after {
            self.weights.move_to_huge_pages();
        }
        let input = TileLayout::new(&self.tiling, tile_blocks(self.in_blocks, self.pairs), batch);
        let output = TileLayout::new(&self.tiling, self.out_blocks, batch);
        for point in 0..self.tiling.points() {
            let places = self.tiling.places_at(point, batch);
            let first = places.start * BLOCK;
            let product = Gemm {
                input: &tiles[point * input.point_stride + first..(point + 1) * input.point_stride],
                input_stride: input.block_stride,
                output: &mut products
                    [point * output.point_stride + first..(point + 1) * output.point_stride],
                output_stride: output.block_stride,
                rows: places.len(),
                panels: &self.panels,
                weights: &self.weights[point * self.point_len..],
            };
            if self.pairs {
                product.run_pairs(isa);
            } else {
                product.run(isa);
            }
        }
    }
}

/// Blocks of transformed tiles that so many blocks of planes become.
fn tile_blocks(blocks: usize, pairs: bool) -> usize {
    if pairs { blocks.div_ceil(2) } else { blocks }
}

/// Where the tiles of a block start.
#[inline(always)]
fn tile_start(block: usize, pairs: bool, layout: TileLayout) -> usize {
    if pairs {
        block / 2 * layout.block_stride + block % 2 * (BLOCK / 2)
    } else {
        block * layout.block_stride
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
    /// Rounded to bf16.
    pub(crate) pairs: bool,
}

impl Scatter<'_> {
    pub(crate) fn run(self, isa: Isa) {
        let layout = PlaneLayout::new(self.tiling.height, self.tiling.width);
        assert!(self.blocks <= self.plane_blocks);
        assert!(self.planes.len() >= self.batch * self.plane_blocks * layout.plane_len);
        let blocks = tile_blocks(self.blocks, self.pairs);
        let tiles = TileLayout::new(self.tiling, blocks, self.batch);
        assert!(self.tiles.len() >= tiles.len(self.tiling));
        if self.pairs {
            isa.run_pairs(self);
        } else {
            isa.run(self);
        }
    }
}

impl Job for Scatter<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let plane_len = PlaneLayout::new(self.tiling.height, self.tiling.width).plane_len;
        let blocks = tile_blocks(self.blocks, self.pairs);
        let layout = TileLayout::new(self.tiling, blocks, self.batch);
        let mut scratch = Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (board * self.plane_blocks + block) * plane_len;
                let plane = &self.planes[index..][..plane_len];
                let tiles = &mut self.tiles[tile_start(block, self.pairs, layout)..];
                let place = Place {
                    tiling: self.tiling,
                    batch: self.batch,
                    board,
                    layout,
                };
                if self.pairs {
                    passes::enter::<L, true>(place, plane, tiles, &mut scratch);
                } else {
                    passes::enter::<L, false>(place, plane, tiles, &mut scratch);
                }
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
    pub(crate) act: Act,
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
    /// Rounded to bf16.
    pub(crate) pairs: bool,
    /// What it does to the planes before it reads them.
    pub(crate) before: Option<Before<'a>>,
}

/// A scale, a bias and an activation between two convolutions, on the way from one to the other.
pub(crate) struct Before<'a> {
    /// One per plane, padded to whole blocks.
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) act: Act,
    /// One plane whose border is zero.
    pub(crate) plane: &'a mut [f32],
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
            let needed = tiles(tile_blocks(next.blocks, next.pairs));
            assert!(next.blocks <= self.blocks && next.tiles.len() >= needed);
            if let Some(before) = &next.before {
                let numbers = before.scale.len().min(before.bias.len());
                assert!(numbers >= next.blocks * BLOCK && before.plane.len() >= plane_len);
            }
        }
        assert!(self.bias.len() >= self.blocks * BLOCK);
        if let Skip::Planes(skip) = &self.skip {
            assert!(skip.len() >= self.batch * self.plane_blocks * plane_len);
        }
        if self.next.as_ref().is_some_and(|next| next.pairs) {
            isa.run_pairs(self);
        } else {
            isa.run(self);
        }
    }
}

impl Job for Gather<'_> {
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let planes = PlaneLayout::new(self.tiling.height, self.tiling.width);
        let plane_len = planes.plane_len;
        let layout = TileLayout::new(self.tiling, self.blocks, self.batch);
        let mut scratch = Scratch::new();
        for board in 0..self.batch {
            for block in 0..self.blocks {
                let index = (board * self.plane_blocks + block) * plane_len;
                let plane = &mut self.planes[if self.transient { 0 } else { index }..][..plane_len];
                let to = plane.as_mut_ptr();
                let finish = Finish {
                    plane: to,
                    skip: match &self.skip {
                        Skip::Nothing => None,
                        Skip::Planes(planes) => Some(planes[index..].as_ptr()),
                        Skip::InPlace => Some(to.cast_const()),
                    },
                    bias: L::zero(),
                    act: self.act,
                    before: None,
                };
                let bias = &self.bias[block * BLOCK..][..BLOCK];
                let mut halves = [finish; HALVES];
                for (half, numbers) in halves.iter_mut().zip(bias.chunks_exact(L::WIDTH)) {
                    half.bias = L::read(numbers);
                }
                let mut next = self.next.as_mut().filter(|next| block < next.blocks);
                if let Some(before) = next.as_mut().and_then(|next| next.before.as_mut()) {
                    for (index, half) in halves.iter_mut().enumerate().take(BLOCK / L::WIDTH) {
                        let first = block * BLOCK + index * L::WIDTH;
                        half.before = Some(FinishBefore {
                            plane: before.plane.as_mut_ptr(),
                            scale: L::read(&before.scale[first..]),
                            bias: L::read(&before.bias[first..]),
                            act: before.act,
                        });
                    }
                }
                let products = &self.products[block * layout.block_stride..];
                let place = Place {
                    tiling: self.tiling,
                    batch: self.batch,
                    board,
                    layout,
                };
                let origin = (planes.cell(0, 0), planes.row_stride);
                // SAFETY: `plane` is a whole plane, and `Gather::run` has checked that the skipped planes and the one for the
                // next convolution are.
                unsafe { passes::leave(place, products, origin, &mut halves, &mut scratch) };
                if let Some(next) = next {
                    let blocks = tile_blocks(next.blocks, next.pairs);
                    let layout = TileLayout::new(self.tiling, blocks, self.batch);
                    let tiles = &mut next.tiles[tile_start(block, next.pairs, layout)..];
                    let place = Place { layout, ..place };
                    let plane = next.before.as_ref().map_or(&*plane, |before| before.plane);
                    if next.pairs {
                        passes::enter::<L, true>(place, plane, tiles, &mut scratch);
                    } else {
                        passes::enter::<L, false>(place, plane, tiles, &mut scratch);
                    }
                }
            }
        }
    }
}

/// The last steps of a layer, for one vector of a block.
#[derive(Clone, Copy)]
struct Finish<L> {
    plane: *mut f32,
    skip: Option<*const f32>,
    bias: L,
    act: Act,
    before: Option<FinishBefore<L>>,
}

/// What the next convolution reads instead of the layer's own result.
#[derive(Clone, Copy)]
struct FinishBefore<L> {
    plane: *mut f32,
    scale: L,
    bias: L,
    act: Act,
}

impl<L: Lanes> Cells<L> for Finish<L> {
    #[inline(always)]
    unsafe fn put(&mut self, at: usize, cell: L) {
        let mut cell = cell.add(self.bias);
        // SAFETY: all planes hold every cell of the board.
        unsafe {
            if let Some(skip) = self.skip {
                cell = cell.add(L::load(skip.add(at)));
            }
            let cell = self.act.apply(cell);
            cell.store(self.plane.add(at));
            if let Some(before) = &self.before {
                let scaled = cell.mul_add(before.scale, before.bias);
                before.act.apply(scaled).store(before.plane.add(at));
            }
        }
    }
}
