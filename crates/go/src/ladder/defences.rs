//! The few moves that can save a block in a ladder.

use crate::Point;

/// Few enough for a plain ladder to need no allocation.
const FEW_DEFENCES: usize = 4;

/// The defender's moves, each once, in the order they were found.
pub(super) struct Defences {
    few: [Point; FEW_DEFENCES],
    len: usize,
    more: Vec<Point>,
}

impl Default for Defences {
    fn default() -> Defences {
        Defences {
            few: [Point::BORDER; FEW_DEFENCES],
            len: 0,
            more: Vec::new(),
        }
    }
}

impl Defences {
    #[inline]
    pub(super) fn add(&mut self, point: Option<Point>) {
        let Some(point) = point else { return };
        if self.few[..self.len].contains(&point) || self.more.contains(&point) {
            return;
        }
        if self.len < FEW_DEFENCES {
            self.few[self.len] = point;
            self.len += 1;
        } else {
            self.more.push(point);
        }
    }
}

impl IntoIterator for Defences {
    type Item = Point;
    type IntoIter = std::iter::Chain<
        std::iter::Take<std::array::IntoIter<Point, FEW_DEFENCES>>,
        std::vec::IntoIter<Point>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.few.into_iter().take(self.len).chain(self.more)
    }
}
