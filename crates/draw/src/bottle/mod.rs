//! Dr. Mario's bottle: a moving picture as SVG or GIF, and a still one as text.

mod gif;
mod pixels;
mod svg;
mod text;

pub use gif::{GifError, to_gif};
pub use svg::to_svg;
pub use text::to_rows;

/// Columns of a bottle.
pub const WIDTH: usize = 8;
/// Rows of a bottle.
pub const HEIGHT: usize = 16;

/// The colour of a pill's half or a virus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    Red,
    Yellow,
    Blue,
}

impl Color {
    const ALL: [Self; 3] = [Self::Red, Self::Yellow, Self::Blue];

    fn letter(self) -> char {
        match self {
            Self::Red => 'r',
            Self::Yellow => 'y',
            Self::Blue => 'b',
        }
    }
}

/// What a cell holds: a virus, a half by itself, or a half with its partner on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// The upper half of a pill.
    Top,
    /// The lower half of a pill.
    Bottom,
    /// The left half of a pill.
    Left,
    /// The right half of a pill.
    Right,
    /// A half whose partner is gone.
    Single,
    Virus,
}

impl Shape {
    const ALL: [Self; 6] = [
        Self::Top,
        Self::Bottom,
        Self::Left,
        Self::Right,
        Self::Single,
        Self::Virus,
    ];
}

/// A cell that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub color: Color,
    /// What it holds.
    pub shape: Shape,
    /// About to vanish: drawn as a flash.
    pub flashes: bool,
}

/// One picture, and how long it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Rows from the bottom; the last one is the neck, above the bottle.
    pub cells: [[Option<Cell>; WIDTH]; HEIGHT + 1],
    /// The two halves of the next pill.
    pub next: Option<[Cell; 2]>,
    /// Viruses left.
    pub viruses: u32,
    /// Pills placed so far.
    pub pills: u32,
    /// How long it is shown.
    pub seconds: f64,
}

impl Frame {
    /// The cells that are not empty, with their column and row.
    fn each_cell(&self) -> impl Iterator<Item = (usize, usize, Cell)> {
        let rows = self.cells.iter().enumerate();
        rows.flat_map(|(y, row)| {
            let cells = row.iter().enumerate();
            cells.filter_map(move |(x, cell)| Some((x, y, (*cell)?)))
        })
    }
}

#[cfg(test)]
fn sample() -> Vec<Frame> {
    let virus = Cell {
        color: Color::Red,
        shape: Shape::Virus,
        flashes: false,
    };
    let half = |shape| Cell {
        color: Color::Blue,
        shape,
        flashes: false,
    };
    let mut frame = Frame {
        cells: [[None; WIDTH]; HEIGHT + 1],
        next: Some([half(Shape::Left), half(Shape::Right)]),
        viruses: 1,
        pills: 1,
        seconds: 0.5,
    };
    frame.cells[0][0] = Some(virus);
    let mut flash = frame.clone();
    flash.cells[0][0] = Some(Cell {
        flashes: true,
        ..virus
    });
    let mut last = frame.clone();
    last.cells[0][0] = None;
    last.cells[HEIGHT][3] = Some(half(Shape::Top));
    (last.viruses, last.pills, last.next) = (0, 2, None);
    vec![frame, flash, last]
}
