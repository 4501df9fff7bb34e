//! A picture as palette indices: the bottle, the next pill, and two counts in small digits.

use super::{Cell, Color, Frame, HEIGHT, Shape, WIDTH};
use crate::canvas::Rgb;
use crate::{font, style};

/// Pixels of a cell's side.
const CELL: usize = 16;

/// Pixels around the bottle.
const EDGE: usize = 12;

/// Pixels above the bottle, for its neck.
const NECK: usize = 20;

/// Pixels beside the bottle, for the next pill and the counts.
const SIDE: usize = 72;

/// Width of the whole picture.
pub(super) const PICTURE_WIDTH: usize = EDGE + WIDTH * CELL + EDGE + SIDE;

/// Height of the whole picture.
pub(super) const PICTURE_HEIGHT: usize = NECK + HEIGHT * CELL + EDGE;

/// The colour of each palette entry.
pub(super) const PALETTE: [Rgb; 11] = [
    style::NIGHT,
    style::BOTTLE,
    style::GLASS,
    style::PILLS[0],
    style::PILLS[1],
    style::PILLS[2],
    style::PILL_LIGHTS[0],
    style::PILL_LIGHTS[1],
    style::PILL_LIGHTS[2],
    Rgb(10, 10, 14), // eyes
    style::BOTTLE_INK,
];

const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const GLASS: u8 = 2;
const EYES: u8 = 9;
const WHITE: u8 = 10;

/// A picture under way.
pub(super) struct Raster {
    /// One palette index a pixel, row by row.
    pub(super) pixels: Vec<u8>,
}

impl Raster {
    /// Paints one frame.
    pub(super) fn paint(frame: &Frame) -> Self {
        let mut raster = Self {
            pixels: vec![OUTSIDE; PICTURE_WIDTH * PICTURE_HEIGHT],
        };
        raster.paint_bottle();
        for (x, y, cell) in frame.each_cell() {
            if let Some(corner) = cell_corner(x, y) {
                raster.paint_cell(corner, cell);
            }
        }
        let side = 2 * EDGE + WIDTH * CELL;
        if let Some([left, right]) = frame.next {
            raster.paint_cell((side + 10, NECK + 8), left);
            raster.paint_cell((side + 10 + CELL, NECK + 8), right);
        }
        raster.paint_virus_count(side, frame.viruses);
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
        let (width, height) = (WIDTH * CELL, HEIGHT * CELL);
        let outer = EDGE - GLASS_WIDTH;
        self.fill(outer, NECK - GLASS_WIDTH, width + 6, height + 6, GLASS);
        self.fill(EDGE, NECK, width, height, INSIDE);
        // The neck, over the two columns a pill enters by.
        let neck = EDGE + 3 * CELL;
        self.fill(neck - GLASS_WIDTH, 4, GLASS_WIDTH, NECK - 4, GLASS);
        self.fill(neck + 2 * CELL, 4, GLASS_WIDTH, NECK - 4, GLASS);
        self.fill(neck, 4, 2 * CELL, NECK - 4, INSIDE);
    }

    fn paint_cell(&mut self, (left, top): (usize, usize), cell: Cell) {
        let (ink, light) = match (cell.flashes, cell.color) {
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
        if cell.shape == Shape::Virus && !cell.flashes {
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
            flashes: false,
        };
        self.paint_cell((side + 10, NECK + 48), virus);
        self.paint_number(side + 32, NECK + 50, viruses, WHITE);
    }

    fn paint_number(&mut self, x: usize, y: usize, number: u32, ink: u8) {
        const SCALE: usize = 2;
        for (place, digit) in number.to_string().chars().enumerate() {
            for row in 0..font::HEIGHT {
                for column in 0..font::WIDTH {
                    if font::has_dot(digit, column, row) {
                        let left = x + (font::ADVANCE * place + column) * SCALE;
                        self.fill(left, y + row * SCALE, SCALE, SCALE, ink);
                    }
                }
            }
        }
    }
}

/// The top left pixel of a cell; the neck is too short for one.
fn cell_corner(x: usize, y: usize) -> Option<(usize, usize)> {
    let down = (HEIGHT - 1).checked_sub(y)?;
    Some((EDGE + CELL * x, NECK + CELL * down))
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
