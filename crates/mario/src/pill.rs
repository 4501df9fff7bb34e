//! Pills: their two colours, the four ways to turn them, and the console's list of 128.

use std::fmt;
use std::sync::Arc;

use crate::cell::{Cell, Color, Shape};
use crate::rng::Rng;

/// Where a pill enters: its left half in this column of the top row.
pub(crate) const LAUNCH_X: u8 = 3;

/// The row a pill enters in, the topmost one.
pub(crate) const LAUNCH_Y: u8 = 15;

/// Pills in the console's list; after the last one it starts again.
pub(crate) const LIST_LENGTH: usize = 128;

/// A pill as it is launched: horizontal, a left and a right colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pill {
    /// Colour of the left half at launch.
    pub left: Color,
    /// Colour of the right half at launch.
    pub right: Color,
}

impl Pill {
    /// A pill from its two colours.
    pub const fn new(left: Color, right: Color) -> Self {
        Self { left, right }
    }

    /// The nine pills, in the order of [`Pill::index`].
    pub fn all() -> impl Iterator<Item = Pill> {
        (0..9).map(Pill::from_index)
    }

    /// A number below nine: three times the left colour plus the right one.
    pub fn index(self) -> usize {
        3 * self.left as usize + self.right as usize
    }

    /// The pill of an index below nine.
    ///
    /// # Panics
    /// When `index` is nine or more.
    pub fn from_index(index: usize) -> Self {
        Self::new(Color::ALL[index / 3], Color::ALL[index % 3])
    }

    /// Whether both halves have one colour, so that half a turn changes nothing.
    pub fn is_double(self) -> bool {
        self.left == self.right
    }

    /// What the pill looks like after `turns` clockwise quarter turns.
    #[inline]
    pub fn turned(self, turns: u8) -> Content {
        let Pill { left, right } = self;
        match turns & 3 {
            0 => Content {
                first: left,
                second: right,
                vertical: false,
            },
            1 => Content {
                first: right,
                second: left,
                vertical: true,
            },
            2 => Content {
                first: right,
                second: left,
                vertical: false,
            },
            _ => Content {
                first: left,
                second: right,
                vertical: true,
            },
        }
    }

    /// The pill with its halves exchanged.
    pub fn swapped(self) -> Self {
        Self::new(self.right, self.left)
    }
}

/// A pill in one of its orientations: the bottom or left half first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// Colour of the bottom (vertical) or left (horizontal) half.
    pub first: Color,
    /// Colour of the top or right half.
    pub second: Color,
    /// Whether the pill stands upright.
    pub vertical: bool,
}

impl Content {
    /// The two cells, first half first.
    pub fn cells(self) -> [Cell; 2] {
        let (first, second) = if self.vertical {
            (Shape::Bottom, Shape::Top)
        } else {
            (Shape::Left, Shape::Right)
        };
        [
            Cell {
                color: self.first,
                shape: first,
            },
            Cell {
                color: self.second,
                shape: second,
            },
        ]
    }

    /// The content two cells spell, if they are the two halves of one pill.
    pub(crate) fn from_cells(first: Cell, second: Cell) -> Option<Self> {
        let vertical = match (first.shape, second.shape) {
            (Shape::Bottom, Shape::Top) => true,
            (Shape::Left, Shape::Right) => false,
            _ => return None,
        };
        Some(Self {
            first: first.color,
            second: second.color,
            vertical,
        })
    }

    /// The clockwise quarter turns (the fewest) that bring `pill` to this content, if any do.
    pub(crate) fn turns_of(self, pill: Pill) -> Option<u8> {
        (0..4).find(|&turns| pill.turned(turns) == self)
    }

    /// The launched pill whose left half is this content's first one. Its halves exchanged, with
    /// half a turn more, would be the same pill on the board.
    pub fn pill(self) -> Pill {
        Pill::new(self.first, self.second)
    }
}

/// A resting place for a pill: how often it was turned and where its bottom or left cell lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placement {
    /// Clockwise quarter turns from launch, 0..=3.
    pub turns: u8,
    /// Column of the bottom or left cell, 0 at the left.
    pub x: u8,
    /// Row of the bottom or left cell, 0 at the bottom.
    pub y: u8,
}

impl Placement {
    /// A placement from its parts.
    pub const fn new(turns: u8, x: u8, y: u8) -> Self {
        Self { turns, x, y }
    }

    /// Whether the pill stands upright.
    pub fn is_vertical(self) -> bool {
        self.turns & 1 == 1
    }

    /// A dense number below 512: `[turns][x][y]`, y fastest, as in the network's output.
    pub fn index(self) -> usize {
        usize::from(self.turns) * 128 + usize::from(self.x) * 16 + usize::from(self.y)
    }

    /// The placement of an index below 512.
    pub fn from_index(index: usize) -> Self {
        Self::new(
            (index >> 7 & 3) as u8,
            (index >> 4 & 7) as u8,
            (index & 15) as u8,
        )
    }

    /// Half a turn removed if there was one: the same pill on the board when it is a double.
    pub fn folded(self) -> Self {
        Self {
            turns: self.turns & 1,
            ..self
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} turns at ({}, {})", self.turns, self.x, self.y)
    }
}

/// An endless supply of pills: a list that starts again after its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PillList {
    pills: Arc<[Pill]>,
}

impl PillList {
    /// A list of given pills; `None` if there are none.
    pub fn new(pills: &[Pill]) -> Option<Self> {
        (!pills.is_empty()).then(|| Self {
            pills: pills.into(),
        })
    }

    /// The console's 128 pills for `seed`.
    pub fn console(seed: u16) -> Self {
        Self::draw(&mut Rng::new(seed))
    }

    /// Draws the console's 128 pills, leaving `rng` where virus placement continues.
    pub fn draw(rng: &mut Rng) -> Self {
        const CONSOLE_COLORS: [Color; 3] = [Color::Yellow, Color::Red, Color::Blue];
        let mut pills = [Pill::new(Color::Red, Color::Red); LIST_LENGTH];
        let mut running = 0;
        for drawn in 0..LIST_LENGTH {
            let high_byte = usize::from(rng.advance() >> 8);
            running = (running + (high_byte & 15)) % 9;
            // The console fills its list backwards and starts to play at slot one.
            let position = (2 * LIST_LENGTH - 2 - drawn) % LIST_LENGTH;
            pills[position] = Pill::new(CONSOLE_COLORS[running / 3], CONSOLE_COLORS[running % 3]);
        }
        Self {
            pills: pills.into(),
        }
    }

    /// `count` pills whose colours are drawn one by one from `rng` through the biased table of
    /// virus colours, as the corpus of round 0 has them.
    pub fn independent(rng: &mut Rng, count: usize) -> Option<Self> {
        let pills: Vec<Pill> = (0..count)
            .map(|_| {
                let left = crate::level::biased_color(rng);
                Pill::new(left, crate::level::biased_color(rng))
            })
            .collect();
        Self::new(&pills)
    }

    /// The pill at a play position, counted from 0, past the end from the start again.
    pub fn get(&self, position: usize) -> Pill {
        self.pills[position % self.pills.len()]
    }

    /// The pills once round.
    pub fn as_slice(&self) -> &[Pill] {
        &self.pills
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_quarter_turns_are_none() {
        for pill in Pill::all() {
            for turns in 0..4 {
                assert_eq!(pill.turned(turns), pill.turned(turns + 4));
                let content = pill.turned(turns);
                let [first, second] = content.cells();
                assert_eq!(Content::from_cells(first, second), Some(content));
                let fewest = content.turns_of(pill).unwrap();
                assert_eq!(pill.turned(fewest), content);
                assert!(content.turns_of(content.pill()).is_some());
            }
        }
    }

    #[test]
    fn half_a_turn_exchanges_the_colours() {
        for pill in Pill::all() {
            for turns in 0..4 {
                let (now, half) = (pill.turned(turns), pill.turned(turns + 2));
                assert_eq!((now.first, now.second), (half.second, half.first));
                assert_eq!(pill.swapped().turned(turns), half);
            }
        }
    }

    #[test]
    fn placement_indices_are_dense() {
        for index in 0..512 {
            assert_eq!(Placement::from_index(index).index(), index);
        }
    }
}
