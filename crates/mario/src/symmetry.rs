//! What may be exchanged without changing the game: colours, left and right.

use crate::cell::Color;
use crate::pill::{Pill, Placement};

/// The six ways to rename the colours: colour c becomes `permutation[c]`.
pub const COLOR_PERMUTATIONS: [[Color; 3]; 6] = {
    use Color::{Blue as B, Red as R, Yellow as Y};
    [
        [R, Y, B],
        [R, B, Y],
        [Y, R, B],
        [Y, B, R],
        [B, R, Y],
        [B, Y, R],
    ]
};

impl Pill {
    /// The pill with its colours renamed.
    pub fn recolored(self, to: [Color; 3]) -> Self {
        Pill::new(to[self.left as usize], to[self.right as usize])
    }
}

impl Placement {
    /// The placement that puts a pill with its halves exchanged where this one puts the pill.
    pub fn for_swapped_pill(self) -> Self {
        Self {
            turns: self.turns ^ 2,
            ..self
        }
    }

    /// The placement that puts the same pill in the mirror image of where this one puts it. A
    /// flat pill is half a turn different there, an upright one looks the same.
    pub fn mirrored(self) -> Self {
        if self.is_vertical() {
            Self {
                x: 7 - self.x,
                ..self
            }
        } else {
            Self {
                turns: self.turns ^ 2,
                x: 6 - self.x,
                ..self
            }
        }
    }
}
