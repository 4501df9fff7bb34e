//! What one square of the bottle holds: a colour and a shape, or nothing.

/// The three colours, in the order of the network's planes and of the text codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// Red, code 1.
    Red = 0,
    /// Yellow, code 2.
    Yellow = 1,
    /// Blue, code 3.
    Blue = 2,
}

impl Color {
    /// All colours, in index order.
    pub const ALL: [Color; 3] = [Color::Red, Color::Yellow, Color::Blue];

    /// The letter used in pill lists of game input files: `r`, `y` or `b`.
    pub fn letter(self) -> char {
        match self {
            Color::Red => 'r',
            Color::Yellow => 'y',
            Color::Blue => 'b',
        }
    }

    /// The colour of a letter, if it is one of `r`, `y`, `b`.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|color| color.letter() == letter)
    }
}

/// The shape of an occupied cell: a virus, a loose half, or a half joined to its neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A virus; it never falls.
    Virus = 0,
    /// A half whose partner is gone.
    Single = 1,
    /// The bottom half of a vertical pill; its partner is one row up.
    Bottom = 2,
    /// The top half of a vertical pill.
    Top = 3,
    /// The left half of a horizontal pill; its partner is one column right.
    Left = 4,
    /// The right half of a horizontal pill.
    Right = 5,
}

impl Shape {
    /// All shapes, in code order.
    pub const ALL: [Shape; 6] = [
        Shape::Virus,
        Shape::Single,
        Shape::Bottom,
        Shape::Top,
        Shape::Left,
        Shape::Right,
    ];
}

/// An occupied cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub color: Color,
    pub shape: Shape,
}

/// The text code of an empty cell.
pub(crate) const EMPTY_CODE: u8 = b'd';

/// Cell codes are letters counted from here: colour 1..=3 plus four times the shape.
const CODE_BASE: u8 = 0x60;

impl Cell {
    /// The one-letter protocol code, `a` (red virus) to `w` (blue right half).
    pub fn code(self) -> u8 {
        CODE_BASE + 1 + self.color as u8 + 4 * self.shape as u8
    }

    /// The cell of a code; `None` for anything else, the empty code `d` included.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        let value = code.checked_sub(CODE_BASE)?;
        let color = match value & 3 {
            1 => Color::Red,
            2 => Color::Yellow,
            3 => Color::Blue,
            _ => return None,
        };
        let shape = *Shape::ALL.get(usize::from(value >> 2))?;
        Some(Self { color, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_published_table() {
        let table = ["abc", "efg", "ijk", "mno", "qrs", "uvw"];
        for (shape, row) in Shape::ALL.into_iter().zip(table) {
            for (color, code) in Color::ALL.into_iter().zip(row.bytes()) {
                let cell = Cell { color, shape };
                assert_eq!(cell.code(), code);
                assert_eq!(Cell::from_code(code), Some(cell));
            }
        }
        for never in *b"dhlptxyz`A \n" {
            assert_eq!(Cell::from_code(never), None);
        }
    }
}
