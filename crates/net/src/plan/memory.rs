//! Pieces of memory between the steps of a plan: what lies in them, and when they can be used again.

/// What flows between layers while compiling.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Input,
    Planes {
        at: usize,
        planes: usize,
        /// An activation has cut off what was below zero.
        never_negative: bool,
    },
    Vector {
        at: usize,
    },
}

impl Value {
    pub(super) fn of_planes(at: usize, planes: usize) -> Self {
        Self::Planes {
            at,
            planes,
            never_negative: false,
        }
    }

    pub(super) fn never_negative(self) -> bool {
        matches!(
            self,
            Self::Planes {
                never_negative: true,
                ..
            }
        )
    }

    pub(super) fn shares_memory_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Planes { at: a, .. }, Self::Planes { at: b, .. }) => a == b,
            (Self::Vector { at: a, .. }, Self::Vector { at: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// Pieces of memory, used again once nobody reads them any more.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) blocks: Vec<usize>,
    free: Vec<bool>,
    pub(super) pinned: Vec<bool>,
}

impl Slots {
    pub(super) fn take(&mut self, blocks: usize) -> usize {
        if let Some(at) =
            (0..self.free.len()).find(|&at| self.free[at] && self.blocks[at] == blocks)
        {
            self.free[at] = false;
            return at;
        }
        self.blocks.push(blocks);
        self.free.push(false);
        self.pinned.push(false);
        self.blocks.len() - 1
    }

    pub(super) fn release(&mut self, at: usize) {
        if !self.pinned[at] {
            self.free[at] = true;
        }
    }

    pub(super) fn pin(&mut self, at: usize) -> bool {
        std::mem::replace(&mut self.pinned[at], true)
    }
}
