//! What a move changed, so that it can be taken back.

use crate::{Color, Point};

/// The counts of a block, stored at its head.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub stones: u16,
    pub liberties: u16,
}

/// A block that joined another when a stone connected them.
#[derive(Clone, Copy)]
pub(crate) struct Join {
    pub absorbed: Point,
    pub survivor: Point,
    pub survivor_before: Counts,
}

impl Join {
    pub const NONE: Join = Join {
        absorbed: Point::BORDER,
        survivor: Point::BORDER,
        survivor_before: Counts {
            stones: 0,
            liberties: 0,
        },
    };
}

/// At most four neighbours of a move can be captured or joined.
#[derive(Clone, Copy)]
pub(crate) struct UpToFour<T> {
    pub items: [T; 4],
    pub len: u8,
}

impl<T: Copy> UpToFour<T> {
    #[inline]
    pub const fn new(filler: T) -> Self {
        Self {
            items: [filler; 4],
            len: 0,
        }
    }

    #[inline]
    pub fn push(&mut self, item: T) {
        self.items[self.len as usize & 3] = item;
        self.len += 1;
    }

    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

impl UpToFour<Point> {
    pub const NONE: Self = Self::new(Point::BORDER);

    /// Adds a head unless it is there.
    #[inline]
    pub fn note(&mut self, head: Point) {
        // Free places hold the border, which is no head.
        if !self.items.contains(&head) {
            self.push(head);
        }
    }
}

/// The blocks around a point, each once, and how many neighbours are empty.
pub(crate) struct Surroundings {
    pub own: UpToFour<Point>,
    pub theirs: UpToFour<Point>,
    pub empty: u16,
}

/// What [`Board::undo`](crate::Board::undo) needs to take a move back. Moves are taken back in reverse order.
#[must_use = "a move can only be taken back with its Undo"]
#[derive(Clone)]
pub struct Undo {
    pub(crate) stone: Option<Placed>,
    pub(crate) ko_before: Option<Point>,
    pub(crate) hash_before: u64,
}

#[derive(Clone)]
pub(crate) struct Placed {
    pub point: Point,
    pub color: Color,
    pub captured: UpToFour<Point>,
    pub joins: UpToFour<Join>,
    pub suicide: Option<Point>,
    pub overwritten_head: Point,
    pub overwritten_next: Point,
    pub overwritten_counts: Counts,
    pub captured_stones: u16,
}

impl Undo {
    /// How many stones of the opponent the move captured.
    pub fn captured_stones(&self) -> usize {
        self.stone
            .as_ref()
            .map_or(0, |placed| placed.captured_stones as usize)
    }

    /// Whether the move removed its own block.
    pub fn was_suicide(&self) -> bool {
        self.stone
            .as_ref()
            .is_some_and(|placed| placed.suicide.is_some())
    }
}
