//! How a board is cut into tiles.

use std::ops::Range;

use super::tile::{Family, MAX_OUT, TileKind};
use super::weights::Coefficients;

/// One side of a board as a row of tiles, the larger ones first.
#[derive(Clone, Debug)]
struct Axis {
    family: Family,
    large: (TileKind, usize),
    small: (TileKind, usize),
}

impl Axis {
    /// The fewest tiles of at most so many cells, as equal as possible; `None` below 2 cells.
    fn new(cells: usize, most: usize) -> Option<Self> {
        if cells < 2 {
            return None;
        }
        let tiles = match cells {
            // No tile of two cells goes with one of three, so five cells are one tile whatever is asked for.
            MAX_OUT => 1,
            cells => cells.div_ceil(most),
        };
        let larger = cells % tiles;
        let small = cells / tiles;
        let large = if larger > 0 { small + 1 } else { small };
        let count = if larger > 0 { larger } else { tiles };
        let (family, kinds) = match large {
            5 => (Family::Seven, [TileKind::Seven5, TileKind::Seven4]),
            4 => (Family::Six, [TileKind::Six4, TileKind::Six3]),
            3 => (Family::Six, [TileKind::Six3, TileKind::Six3]),
            _ => (Family::Four, [TileKind::Four2, TileKind::Four2]),
        };
        Some(Self {
            family,
            large: (kinds[0], count),
            small: (kinds[1], tiles - count),
        })
    }

    fn kinds(&self) -> impl Iterator<Item = TileKind> {
        let (large, small) = (self.large, self.small);
        std::iter::repeat_n(large.0, large.1).chain(std::iter::repeat_n(small.0, small.1))
    }

    fn points(&self) -> usize {
        self.large.0.points()
    }

    /// Points from here on exist in large tiles only.
    fn shared_points(&self) -> usize {
        if self.small.1 > 0 {
            self.small.0.points()
        } else {
            self.points()
        }
    }
}

/// One tile of a board.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileSpec {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) down: TileKind,
    pub(crate) across: TileKind,
    class: usize,
    index_in_class: usize,
}

/// Tiles that are alike in size; the order makes those with any given point consecutive.
const CLASSES: usize = 4;
const LARGE_SMALL: usize = 0;
const LARGE_LARGE: usize = 1;
const SMALL_LARGE: usize = 2;
const SMALL_SMALL: usize = 3;

/// The tiles of a board and the points they are transformed to.
#[derive(Clone, Debug)]
pub(crate) struct Tiling {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) tiles: Vec<TileSpec>,
    down: Axis,
    across: Axis,
    class_sizes: [usize; CLASSES],
    /// `classes_at[point]`: the classes of tiles that have the point.
    classes_at: Vec<Range<usize>>,
}

impl Tiling {
    /// `None` when a side is shorter than 2.
    pub(crate) fn new(height: usize, width: usize) -> Option<Self> {
        Self::with_tiles_up_to(MAX_OUT, height, width)
    }

    /// The same with tiles of at most `most` cells a side, which is 4 or 5: smaller tiles round less.
    pub(crate) fn with_tiles_up_to(most: usize, height: usize, width: usize) -> Option<Self> {
        let (down, across) = (Axis::new(height, most)?, Axis::new(width, most)?);
        let mut tiles = Vec::new();
        let mut class_sizes = [0; CLASSES];
        let mut row = 0;
        for (i, kind_down) in down.kinds().enumerate() {
            let mut column = 0;
            for (j, kind_across) in across.kinds().enumerate() {
                let class = match (i < down.large.1, j < across.large.1) {
                    (true, false) => LARGE_SMALL,
                    (true, true) => LARGE_LARGE,
                    (false, true) => SMALL_LARGE,
                    (false, false) => SMALL_SMALL,
                };
                let index_in_class = class_sizes[class];
                class_sizes[class] += 1;
                tiles.push(TileSpec {
                    row,
                    column,
                    down: kind_down,
                    across: kind_across,
                    class,
                    index_in_class,
                });
                column += kind_across.out();
            }
            row += kind_down.out();
        }
        let mut classes_at = Vec::new();
        for i in 0..down.points() {
            for j in 0..across.points() {
                classes_at.push(
                    match (i < down.shared_points(), j < across.shared_points()) {
                        (true, true) => LARGE_SMALL..SMALL_SMALL + 1,
                        (false, true) => LARGE_SMALL..LARGE_LARGE + 1,
                        (true, false) => LARGE_LARGE..SMALL_LARGE + 1,
                        (false, false) => LARGE_LARGE..LARGE_LARGE + 1,
                    },
                );
            }
        }
        Some(Self {
            height,
            width,
            tiles,
            down,
            across,
            class_sizes,
            classes_at,
        })
    }

    /// The cells of the largest tile's longer side.
    pub(crate) fn largest_tile(&self) -> usize {
        self.down.large.0.out().max(self.across.large.0.out())
    }

    /// Points of a whole tile.
    pub(crate) fn points(&self) -> usize {
        self.classes_at.len()
    }

    /// Points along a row of a tile: point `(i, j)` has the index `i * points_across() + j`.
    pub(crate) fn points_across(&self) -> usize {
        self.across.points()
    }

    /// Where in a batch a board's tile is kept: class by class, then board by board.
    pub(crate) fn place(&self, tile: &TileSpec, board: usize, batch: usize) -> usize {
        let before: usize = self.class_sizes[..tile.class].iter().sum();
        before * batch + board * self.class_sizes[tile.class] + tile.index_in_class
    }

    /// The places of all tiles in a batch that have the point.
    pub(crate) fn places_at(&self, point: usize, batch: usize) -> Range<usize> {
        let classes = &self.classes_at[point];
        let upto = |class: usize| self.class_sizes[..class].iter().sum::<usize>() * batch;
        upto(classes.start)..upto(classes.end)
    }

    /// Multiplications of one board for a pair of planes, for comparing with the direct method's `9 * area`.
    pub(crate) fn multiplications(&self) -> usize {
        (0..self.points())
            .map(|point| self.places_at(point, 1).len())
            .sum()
    }

    /// What the weights count at every point, down and across.
    pub(crate) fn coefficients(&self) -> [&[Coefficients]; 2] {
        [&self.down, &self.across].map(|axis| &axis.family.coefficients()[..axis.points()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_cell_once_and_places_are_a_permutation() {
        let sides = || (2..=25).flat_map(|height| (2..=25).map(move |width| (height, width)));
        for most in [4, MAX_OUT] {
            for (height, width) in sides() {
                let tiling = Tiling::with_tiles_up_to(most, height, width).unwrap();
                let mut cells = vec![0; height * width];
                for tile in &tiling.tiles {
                    assert!(
                        tile.row + tile.down.out() <= height,
                        "{height}x{width}, {most}"
                    );
                    assert!(
                        tile.column + tile.across.out() <= width,
                        "{height}x{width}, {most}"
                    );
                    for row in tile.row..tile.row + tile.down.out() {
                        for column in tile.column..tile.column + tile.across.out() {
                            cells[row * width + column] += 1;
                        }
                    }
                }
                assert!(cells.iter().all(|&count| count == 1), "{height}x{width}");
                let batch = 3;
                let mut places: Vec<usize> = (0..batch)
                    .flat_map(|board| tiling.tiles.iter().map(move |tile| (tile, board)))
                    .map(|(tile, board)| tiling.place(tile, board, batch))
                    .collect();
                places.sort_unstable();
                assert_eq!(places, (0..batch * tiling.tiles.len()).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_point_is_multiplied_for_exactly_the_tiles_that_have_it() {
        for (height, width) in [(19, 19), (9, 13), (7, 8), (11, 17), (8, 16), (2, 25)] {
            let tiling = Tiling::new(height, width).unwrap();
            for point in 0..tiling.points() {
                let (i, j) = (
                    point / tiling.points_across(),
                    point % tiling.points_across(),
                );
                for tile in &tiling.tiles {
                    let has = i < tile.down.points() && j < tile.across.points();
                    assert_eq!(
                        has,
                        tiling
                            .places_at(point, 2)
                            .contains(&tiling.place(tile, 1, 2))
                    );
                }
            }
        }
    }

    #[test]
    fn the_board_of_19_takes_27_squared_multiplications() {
        assert_eq!(Tiling::new(19, 19).unwrap().multiplications(), 27 * 27);
        assert_eq!(Tiling::new(16, 8).unwrap().multiplications(), 24 * 12);
    }
}
