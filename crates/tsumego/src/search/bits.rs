//! Sets of cells as machine words.
//!
//! A problem is small, so its cells fit into one or two words and whole-board questions (where
//! are this block's liberties?) become a few shifts. The search is generic over the width and is
//! compiled three times: most problems run on `u64`, the 9x9 board needs `u128`, the 19x19 board
//! [`Wide`].

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitOrAssign, BitXor, Not};

/// A set of cells, numbered from 0.
pub(crate) trait Bits:
    Copy
    + Eq
    + Hash
    + Debug
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitOrAssign
    + Not<Output = Self>
    + 'static
{
    /// How many cells a set can hold.
    const CELLS: usize;
    /// The empty set.
    const NONE: Self;

    /// The set of one cell.
    fn cell(index: usize) -> Self;
    /// Whether the set has no cells.
    fn none(self) -> bool;
    /// The number of cells.
    fn count(self) -> u32;
    /// The lowest cell of a set that is not empty.
    fn first(self) -> usize;
    /// Every cell moved up by `by` places.
    fn up(self, by: u32) -> Self;
    /// Every cell moved down by `by` places.
    fn down(self, by: u32) -> Self;

    /// Whether the set has cells.
    #[inline]
    fn any(self) -> bool {
        !self.none()
    }

    /// The set without the cells of `other`.
    #[inline]
    fn without(self, other: Self) -> Self {
        self & !other
    }

    /// Whether the cell is in the set.
    #[inline]
    fn has(self, index: usize) -> bool {
        (self & Self::cell(index)).any()
    }

    /// Whether the set has exactly one cell.
    #[inline]
    fn is_single(self) -> bool {
        self.any() && self.without(Self::cell(self.first())).none()
    }

    /// The cells, lowest first.
    #[inline]
    fn iter(self) -> Cells<Self> {
        Cells(self)
    }
}

/// The cells of a set, lowest first.
pub(crate) struct Cells<B>(B);

impl<B: Bits> Iterator for Cells<B> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0.none() {
            return None;
        }
        let cell = self.0.first();
        self.0 = self.0.without(B::cell(cell));
        Some(cell)
    }
}

macro_rules! bits_of_integer {
    ($word:ty) => {
        impl Bits for $word {
            const CELLS: usize = <$word>::BITS as usize;
            const NONE: Self = 0;

            #[inline]
            fn cell(index: usize) -> Self {
                1 << index
            }
            #[inline]
            fn none(self) -> bool {
                self == 0
            }
            #[inline]
            fn count(self) -> u32 {
                self.count_ones()
            }
            #[inline]
            fn first(self) -> usize {
                self.trailing_zeros() as usize
            }
            #[inline]
            fn up(self, by: u32) -> Self {
                self << by
            }
            #[inline]
            fn down(self, by: u32) -> Self {
                self >> by
            }
        }
    };
}

bits_of_integer!(u64);
bits_of_integer!(u128);

const WORDS: usize = 6;
const WORD_BITS: usize = u64::BITS as usize;

/// A set wide enough for every point of a 19x19 board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Wide([u64; WORDS]);

impl Wide {
    #[inline]
    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Wide(std::array::from_fn(|word| {
            join(self.0[word], other.0[word])
        }))
    }
}

impl BitAnd for Wide {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for Wide {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl BitXor for Wide {
    type Output = Self;
    #[inline]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}

impl BitOrAssign for Wide {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl Not for Wide {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Wide(self.0.map(|word| !word))
    }
}

impl Bits for Wide {
    const CELLS: usize = WORDS * WORD_BITS;
    const NONE: Self = Wide([0; WORDS]);

    #[inline]
    fn cell(index: usize) -> Self {
        let mut words = [0; WORDS];
        words[index / WORD_BITS] = 1 << (index % WORD_BITS);
        Wide(words)
    }

    #[inline]
    fn none(self) -> bool {
        self.0 == [0; WORDS]
    }

    #[inline]
    fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    fn first(self) -> usize {
        let word = self.0.iter().position(|&word| word != 0).unwrap_or(WORDS);
        if word == WORDS {
            return Self::CELLS;
        }
        word * WORD_BITS + self.0[word].trailing_zeros() as usize
    }

    /// Shifts by less than a word, which is all a board row needs.
    #[inline]
    fn up(self, by: u32) -> Self {
        let carry = u64::BITS - by;
        Wide(std::array::from_fn(|word| {
            let low = if word == 0 {
                0
            } else {
                self.0[word - 1] >> carry
            };
            self.0[word] << by | low
        }))
    }

    #[inline]
    fn down(self, by: u32) -> Self {
        let carry = u64::BITS - by;
        Wide(std::array::from_fn(|word| {
            let high = if word + 1 == WORDS {
                0
            } else {
                self.0[word + 1] << carry
            };
            self.0[word] >> by | high
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_sets_shift_as_the_numbers_they_hold(low in any::<u64>(), high in any::<u64>(), by in 1u32..25) {
            let number = u128::from(high >> 25) << 64 | u128::from(low);
            let mut words = [0; WORDS];
            words[0] = low;
            words[1] = high >> 25;
            let wide = Wide(words);
            let shifted = number << by;
            prop_assert_eq!(wide.up(by).0[0], shifted as u64);
            prop_assert_eq!(wide.up(by).0[1], (shifted >> 64) as u64);
            let shifted = number >> by;
            prop_assert_eq!(wide.down(by).0[0], shifted as u64);
            prop_assert_eq!(wide.down(by).0[1], (shifted >> 64) as u64);
        }

        #[test]
        fn cells_come_out_as_they_went_in(mut cells in proptest::collection::btree_set(0usize..361, 0..40)) {
            let set = cells.iter().fold(Wide::NONE, |set, &cell| set | Wide::cell(cell));
            prop_assert_eq!(set.count() as usize, cells.len());
            for cell in set.iter() {
                prop_assert!(cells.remove(&cell));
            }
            prop_assert!(cells.is_empty());
        }
    }
}
