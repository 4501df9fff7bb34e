//! Blocks of stones and their liberties, kept move by move.

use super::{Board, Cell};
use crate::{
    Color, Point, PointSet, SetupError,
    undo::{Counts, Join, Surroundings, UpToFour},
    zobrist,
};

impl Board {
    /// Puts a whole block on the board whose empty points are `empty`.
    pub(super) fn add_block(
        &mut self,
        block: &PointSet,
        color: Color,
        empty: &PointSet,
    ) -> Result<(), SetupError> {
        let Some(head) = block.first() else {
            return Ok(());
        };
        let liberties = (block.grown() & *empty).len();
        if liberties == 0 {
            return Err(SetupError::NoLiberty(head));
        }
        let mut last = head;
        for stone in block.iter() {
            let at = stone.grid_index();
            self.cells[at] = Cell::of(color);
            self.all_stones.of_mut(color).insert(stone);
            self.hash ^= zobrist::stone(color, at);
            self.heads[at] = head;
            self.nexts[last.grid_index()] = stone;
            last = stone;
        }
        self.nexts[last.grid_index()] = head;
        self.counts[head.grid_index()] = Counts {
            stones: block.len() as u16,
            liberties: liberties as u16,
        };
        Ok(())
    }

    #[inline]
    pub(super) fn cell(&self, point: Point) -> Cell {
        self.cells[point.grid_index()]
    }

    #[inline]
    pub(super) fn counts_of(&self, point: Point) -> Counts {
        self.counts[self.block(point).grid_index()]
    }

    #[inline(always)]
    pub(super) fn surroundings(&self, point: Point, color: Color) -> Surroundings {
        let own = Cell::of(color);
        let mut around = Surroundings {
            own: UpToFour::NONE,
            theirs: UpToFour::NONE,
            empty: 0,
        };
        for neighbor in point.neighbors() {
            match self.cell(neighbor) {
                Cell::Empty => around.empty += 1,
                Cell::Border => {}
                cell if cell == own => around.own.note(self.block(neighbor)),
                _ => around.theirs.note(self.block(neighbor)),
            }
        }
        around
    }

    /// Puts a stone down as a block of its own; neighbours are not told.
    #[inline]
    pub(super) fn add_stone(&mut self, point: Point, color: Color, liberties: u16) {
        let at = point.grid_index();
        self.cells[at] = Cell::of(color);
        self.all_stones.of_mut(color).insert(point);
        self.hash ^= zobrist::stone(color, at);
        self.heads[at] = point;
        self.nexts[at] = point;
        self.counts[at] = Counts {
            stones: 1,
            liberties,
        };
    }

    /// Whether the empty `point` is a liberty of the block `head` of `color`.
    #[inline]
    pub(super) fn touches(&self, point: Point, head: Point, color: Color) -> bool {
        point
            .neighbors()
            .into_iter()
            .any(|n| self.is_stone(n, color) && self.block(n) == head)
    }

    pub(super) fn block_hash(&self, head: Point, color: Color) -> u64 {
        self.stones(head).fold(0, |hash, stone| {
            hash ^ zobrist::stone(color, stone.grid_index())
        })
    }

    /// Takes a block off the board; its ring and counts stay behind for [`Board::put_block_back`].
    pub(super) fn lift_block(&mut self, head: Point, color: Color) {
        let mut stone = head;
        loop {
            let at = stone.grid_index();
            self.cells[at] = Cell::Empty;
            self.all_stones.of_mut(color).remove(stone);
            self.hash ^= zobrist::stone(color, at);
            self.change_liberties_around(stone, color.opponent(), 1);
            stone = self.nexts[at];
            if stone == head {
                return;
            }
        }
    }

    pub(super) fn put_block_back(&mut self, head: Point, color: Color) {
        let mut stone = head;
        loop {
            let at = stone.grid_index();
            self.cells[at] = Cell::of(color);
            self.all_stones.of_mut(color).insert(stone);
            self.change_liberties_around(stone, color.opponent(), -1);
            stone = self.nexts[at];
            if stone == head {
                return;
            }
        }
    }

    /// Adds `change` to the liberties of each block of `color` that touches `point`.
    #[inline]
    pub(super) fn change_liberties_around(&mut self, point: Point, color: Color, change: i16) {
        for head in self.adjacent_blocks(point, color) {
            let liberties = &mut self.counts[head.grid_index()].liberties;
            *liberties = liberties.wrapping_add_signed(change);
        }
    }

    /// Joins two blocks of one colour; the larger one keeps its head.
    pub(super) fn join(&mut self, a: Point, b: Point) -> Join {
        let (survivor, absorbed) =
            if self.counts[a.grid_index()].stones >= self.counts[b.grid_index()].stones {
                (a, b)
            } else {
                (b, a)
            };
        let survivor_before = self.counts[survivor.grid_index()];
        let absorbed_counts = self.counts[absorbed.grid_index()];
        let gained = self.liberties_gained(absorbed, absorbed_counts, survivor);
        let mut stone = absorbed;
        loop {
            self.heads[stone.grid_index()] = survivor;
            stone = self.nexts[stone.grid_index()];
            if stone == absorbed {
                break;
            }
        }
        self.nexts
            .swap(survivor.grid_index(), absorbed.grid_index());
        self.counts[survivor.grid_index()] = Counts {
            stones: survivor_before.stones + absorbed_counts.stones,
            liberties: survivor_before.liberties + gained,
        };
        Join {
            absorbed,
            survivor,
            survivor_before,
        }
    }

    /// The liberties of one block that are not liberties of another of its colour.
    #[inline]
    pub(super) fn liberties_gained(&self, block: Point, counts: Counts, other: Point) -> u16 {
        if counts.liberties == 0 {
            return 0;
        }
        let color = match self.cell(block) {
            Cell::Black => Color::Black,
            _ => Color::White,
        };
        if counts.stones == 1 {
            let gained = block
                .neighbors()
                .into_iter()
                .filter(|&n| self.is_empty(n) && !self.touches(n, other, color));
            return gained.count() as u16;
        }
        let gained = self
            .liberties(block)
            .filter(|&l| !self.touches(l, other, color));
        gained.count() as u16
    }

    /// The inverse of [`Board::join`].
    pub(super) fn part(&mut self, join: Join) {
        let Join {
            absorbed,
            survivor,
            survivor_before,
        } = join;
        self.nexts
            .swap(survivor.grid_index(), absorbed.grid_index());
        let mut stone = absorbed;
        loop {
            self.heads[stone.grid_index()] = absorbed;
            stone = self.nexts[stone.grid_index()];
            if stone == absorbed {
                break;
            }
        }
        self.counts[survivor.grid_index()] = survivor_before;
    }
}
