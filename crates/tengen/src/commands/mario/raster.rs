//! A picture as palette indices: the bottle, the next pill, and two counts in small digits.

use mario::board::{HEIGHT, WIDTH, bit};
use mario::{Cell, Color, Shape};

use super::film::Frame;

/// Pixels of a cell's side.
pub const CELL: usize = 16;

/// Pixels around the bottle.
const EDGE: usize = 12;

/// Pixels above the bottle, for its neck.
const NECK: usize = 20;

/// Pixels beside the bottle, for the next pill and the counts.
const SIDE: usize = 72;

/// Width of the whole picture.
pub const PICTURE_WIDTH: usize = EDGE + 8 * CELL + EDGE + SIDE;

/// Height of the whole picture.
pub const PICTURE_HEIGHT: usize = NECK + 16 * CELL + EDGE;

/// Red, green and blue of each palette entry.
pub const PALETTE: [[u8; 3]; 11] = [
    [14, 16, 24],    // outside
    [28, 31, 44],    // inside the bottle
    [122, 134, 164], // glass
    [226, 64, 66],   // red
    [240, 196, 46],  // yellow
    [64, 128, 240],  // blue
    [255, 150, 146], // light red
    [255, 232, 146], // light yellow
    [158, 196, 255], // light blue
    [10, 10, 14],    // eyes
    [240, 242, 250], // text and flash
];

const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const GLASS: u8 = 2;
const EYES: u8 = 9;
const WHITE: u8 = 10;

/// A picture under way.
pub struct Raster {
    /// One palette index a pixel, row by row.
    pub pixels: Vec<u8>,
}

impl Raster {
    /// Paints one frame.
    pub fn paint(frame: &Frame) -> Self {
        let mut raster = Self {
            pixels: vec![OUTSIDE; PICTURE_WIDTH * PICTURE_HEIGHT],
        };
        raster.paint_bottle();
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                if let Some(cell) = frame.board.cell(x, y) {
                    let flashing = frame.clearing & bit(x, y) != 0;
                    raster.paint_cell(cell_corner(x, y), cell, flashing);
                }
            }
        }
        if let Some(placed) = frame.falling {
            let [first, second] = placed.content.cells();
            raster.paint_cell(cell_corner(placed.x, placed.y), first, false);
            if !placed.content.vertical {
                raster.paint_cell(cell_corner(placed.x + 1, placed.y), second, false);
            } else if placed.y + 1 < HEIGHT {
                raster.paint_cell(cell_corner(placed.x, placed.y + 1), second, false);
            }
        }
        let side = 2 * EDGE + 8 * CELL;
        if let Some(next) = frame.next {
            let [left, right] = next.turned(0).cells();
            raster.paint_cell((side + 10, NECK + 8), left, false);
            raster.paint_cell((side + 10 + CELL, NECK + 8), right, false);
        }
        raster.paint_virus_count(side, frame.board.viruses_left());
        raster.paint_number(side + 10, NECK + 96, frame.pills, GLASS);
        raster
    }

    fn set(&mut self, x: usize, y: usize, ink: u8) {
        if x < PICTURE_WIDTH && y < PICTURE_HEIGHT {
            self.pixels[y * PICTURE_WIDTH + x] = ink;
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, ink: u8) {
        for row in y..y + height {
            for column in x..x + width {
                self.set(column, row, ink);
            }
        }
    }

    fn paint_bottle(&mut self) {
        const GLASS_WIDTH: usize = 3;
        let (width, height) = (8 * CELL, 16 * CELL);
        let outer = EDGE - GLASS_WIDTH;
        self.fill(outer, NECK - GLASS_WIDTH, width + 6, height + 6, GLASS);
        self.fill(EDGE, NECK, width, height, INSIDE);
        // The neck, over the two columns a pill enters by.
        let neck = EDGE + 3 * CELL;
        self.fill(neck - GLASS_WIDTH, 4, GLASS_WIDTH, NECK - 4, GLASS);
        self.fill(neck + 2 * CELL, 4, GLASS_WIDTH, NECK - 4, GLASS);
        self.fill(neck, 4, 2 * CELL, NECK - 4, INSIDE);
    }

    fn paint_cell(&mut self, (left, top): (usize, usize), cell: Cell, flashing: bool) {
        let (ink, light) = match (flashing, cell.color) {
            (true, _) => (WHITE, WHITE),
            (_, Color::Red) => (3, 6),
            (_, Color::Yellow) => (4, 7),
            (_, Color::Blue) => (5, 8),
        };
        for y in 0..CELL {
            for x in 0..CELL {
                if covers(cell.shape, x, y) {
                    let shine = cell.shape != Shape::Virus && covers_shine(cell.shape, x, y);
                    self.set(left + x, top + y, if shine { light } else { ink });
                }
            }
        }
        if cell.shape == Shape::Virus && !flashing {
            for eye in [4, 9] {
                self.fill(left + eye, top + 5, 3, 3, WHITE);
                self.fill(left + eye + 1, top + 6, 1, 2, EYES);
            }
            self.fill(left + 5, top + 11, 6, 1, EYES);
            // Two feelers.
            self.set(left + 3, top, ink);
            self.set(left + 12, top, ink);
        }
    }

    fn paint_virus_count(&mut self, side: usize, viruses: u32) {
        let virus = Cell {
            color: Color::Red,
            shape: Shape::Virus,
        };
        self.paint_cell((side + 10, NECK + 48), virus, false);
        self.paint_number(side + 32, NECK + 50, viruses, WHITE);
    }

    fn paint_number(&mut self, x: usize, y: usize, number: u32, ink: u8) {
        const SCALE: usize = 2;
        for (place, digit) in number.to_string().bytes().enumerate() {
            let rows = DIGITS[usize::from(digit - b'0')];
            for (row, bits) in rows.into_iter().enumerate() {
                for column in 0..3 {
                    if bits >> (2 - column) & 1 == 1 {
                        let left = x + (4 * place + column) * SCALE;
                        self.fill(left, y + row * SCALE, SCALE, SCALE, ink);
                    }
                }
            }
        }
    }
}

/// Digits, five rows of three bits each.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

/// The top left pixel of a cell.
fn cell_corner(x: u8, y: u8) -> (usize, usize) {
    (
        EDGE + CELL * usize::from(x),
        NECK + CELL * usize::from(HEIGHT - 1 - y),
    )
}

/// Whether a shape covers a pixel of its cell: a disc, stretched towards the partner.
fn covers(shape: Shape, x: usize, y: usize) -> bool {
    let centre = (CELL as f32 - 1.0) / 2.0;
    let (mut dx, mut dy) = (x as f32 - centre, y as f32 - centre);
    match shape {
        Shape::Left => dx = dx.min(0.0),
        Shape::Right => dx = dx.max(0.0),
        // Pixels count downwards, so a top half is stretched towards larger y.
        Shape::Top => dy = dy.min(0.0),
        Shape::Bottom => dy = dy.max(0.0),
        Shape::Single | Shape::Virus => {}
    }
    let radius = if shape == Shape::Virus { 6.6 } else { 7.4 };
    dx * dx + dy * dy <= radius * radius
}

/// A stripe of light along the upper left of a half.
fn covers_shine(shape: Shape, x: usize, y: usize) -> bool {
    match shape {
        Shape::Left => y == 3 && x >= 5,
        Shape::Right => y == 3 && x <= 9,
        Shape::Top => x == 4 && y >= 5,
        Shape::Bottom => x == 4 && y <= 9,
        _ => (4..=6).contains(&x) && (4..=5).contains(&y),
    }
}
