//! Go boards.

use crate::canvas::{Anchor, Canvas, Rgb};
use crate::style;

/// A stone's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stone {
    Black,
    White,
}

/// A board of any size with stones and marks. Columns count from the left and rows from the bottom, from 0.
#[derive(Clone, Debug)]
pub struct GoBoard {
    side: usize,
    cell: f64,
    has_coordinates: bool,
    stones: Vec<Option<Stone>>,
    fills: Vec<Option<Rgb>>,
    marks: Vec<(usize, usize, Mark)>,
}

#[derive(Clone, Debug)]
enum Mark {
    Letter(String),
    Dot(Rgb),
    Heart(Rgb),
    Ring(Rgb),
    /// A stone that may be played, half as strong as a real one.
    Ghost(Stone),
}

/// Pixels between two lines unless told otherwise.
const CELL: f64 = 32.0;
/// Column letters: I is left out, as everywhere in Go.
const LETTERS: &[u8] = b"ABCDEFGHJKLMNOPQRSTUVWXYZ";

impl GoBoard {
    /// A board of `side` lines; `stone` says what stands on column x, row y.
    pub fn new(side: usize, stone: impl Fn(usize, usize) -> Option<Stone>) -> Self {
        let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
        Self {
            side,
            cell: CELL,
            has_coordinates: true,
            stones: places.map(|(x, y)| stone(x, y)).collect(),
            fills: vec![None; side * side],
            marks: Vec::new(),
        }
    }

    /// Pixels between two lines.
    pub fn cell(mut self, pixels: f64) -> Self {
        self.cell = pixels;
        self
    }

    /// Without letters and numbers around the board.
    pub fn bare(mut self) -> Self {
        self.has_coordinates = false;
        self
    }

    /// Colours the square around a point, under its stone.
    pub fn fill(mut self, x: usize, y: usize, color: Rgb) -> Self {
        self.fills[y * self.side + x] = Some(color);
        self
    }

    /// Writes a short text on a point or stone.
    pub fn letter(self, x: usize, y: usize, text: &str) -> Self {
        self.mark(x, y, Mark::Letter(text.to_owned()))
    }

    /// A small dot.
    pub fn dot(self, x: usize, y: usize, color: Rgb) -> Self {
        self.mark(x, y, Mark::Dot(color))
    }

    /// A disc inside a stone: what is known about it.
    pub fn heart(self, x: usize, y: usize, color: Rgb) -> Self {
        self.mark(x, y, Mark::Heart(color))
    }

    /// A ring around a point or stone.
    pub fn ring(self, x: usize, y: usize, color: Rgb) -> Self {
        self.mark(x, y, Mark::Ring(color))
    }

    /// A move that may be played here, as a faint stone.
    pub fn ghost(self, x: usize, y: usize, stone: Stone) -> Self {
        self.mark(x, y, Mark::Ghost(stone))
    }

    fn mark(mut self, x: usize, y: usize, mark: Mark) -> Self {
        self.marks.push((x, y, mark));
        self
    }

    pub fn canvas(&self) -> Canvas {
        let span = (self.side.saturating_sub(1)) as f64 * self.cell;
        let all = span + 2.0 * self.margin();
        let mut canvas = Canvas::new(all, all, style::WOOD);
        self.draw_lines(&mut canvas, span);
        if self.has_coordinates {
            self.draw_coordinates(&mut canvas, all);
        }
        for (index, stone) in self.stones.iter().enumerate() {
            if let Some(stone) = stone {
                let at = self.at(index % self.side, index / self.side);
                canvas.edged_disc(at, self.cell * 0.47, color_of(*stone), style::BLACK);
            }
        }
        for (x, y, mark) in &self.marks {
            self.draw_mark(&mut canvas, *x, *y, mark);
        }
        canvas
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        self.canvas().to_svg()
    }

    /// Half a stone, and outside of it room for the coordinates.
    fn margin(&self) -> f64 {
        let half = self.cell * 0.5;
        match self.has_coordinates {
            true => half + 4.0 + 1.8 * self.letter_size(),
            false => half + 2.0,
        }
    }

    fn letter_size(&self) -> f64 {
        (self.cell * 0.4).clamp(7.0, 13.0)
    }

    fn at(&self, x: usize, y: usize) -> (f64, f64) {
        let up = (self.side - 1 - y) as f64;
        (
            self.margin() + x as f64 * self.cell,
            self.margin() + up * self.cell,
        )
    }

    fn draw_lines(&self, canvas: &mut Canvas, span: f64) {
        for (index, fill) in self.fills.iter().enumerate() {
            if let Some(color) = fill {
                let (x, y) = self.at(index % self.side, index / self.side);
                let half = self.cell / 2.0;
                canvas.rectangle((x - half, y - half), (self.cell, self.cell), *color);
            }
        }
        let (start, end) = (self.margin(), self.margin() + span);
        for index in 0..self.side {
            let at = start + index as f64 * self.cell;
            canvas.line(&[(start, at), (end, at)], style::WOOD_LINE, 1.0);
            canvas.line(&[(at, start), (at, end)], style::WOOD_LINE, 1.0);
        }
        for (x, y) in star_points(self.side) {
            canvas.disc(self.at(x, y), (self.cell / 10.0).max(1.5), style::WOOD_LINE);
        }
    }

    fn draw_coordinates(&self, canvas: &mut Canvas, all: f64) {
        let size = self.letter_size();
        for index in 0..self.side {
            let (x, y) = self.at(index, index);
            let mut write = |at: (f64, f64), text: &str, anchor| {
                canvas.text(at, text, size, style::WOOD_LINE, anchor);
            };
            let letter = LETTERS.get(index).map_or('?', |&letter| char::from(letter));
            write((x, all - 4.0), &letter.to_string(), Anchor::Middle);
            write(
                (2.0 + 1.5 * size, y + size * 0.35),
                &(index + 1).to_string(),
                Anchor::End,
            );
        }
    }

    fn draw_mark(&self, canvas: &mut Canvas, x: usize, y: usize, mark: &Mark) {
        let at = self.at(x, y);
        let stone = self.stones[y * self.side + x];
        match mark {
            Mark::Letter(text) => {
                let ink = match stone {
                    Some(Stone::Black) => style::WHITE,
                    _ => style::BLACK,
                };
                if stone.is_none() && !self.has_ghost(x, y) {
                    let ground = self.fills[y * self.side + x].unwrap_or(style::WOOD);
                    canvas.disc(at, self.cell * 0.34, ground);
                }
                let long = text.chars().count().max(1) as f64;
                let size = self.cell * (0.5_f64).min(1.1 / long);
                let base = (at.0, at.1 + size * 0.36);
                canvas.bold_text(base, text, size, ink, Anchor::Middle);
            }
            Mark::Dot(color) => canvas.disc(at, self.cell / 6.0, *color),
            Mark::Heart(color) => canvas.disc(at, self.cell * 0.28, *color),
            Mark::Ring(color) => {
                let ring: Vec<(f64, f64)> = (0..=32)
                    .map(|step| {
                        let (sin, cos) = (std::f64::consts::TAU * f64::from(step) / 32.0).sin_cos();
                        let radius = self.cell * 0.3;
                        (at.0 + radius * cos, at.1 + radius * sin)
                    })
                    .collect();
                canvas.line(&ring, *color, (self.cell / 14.0).max(1.5));
            }
            Mark::Ghost(stone) => {
                let fill = mixed(color_of(*stone), style::WOOD);
                canvas.edged_disc(at, self.cell * 0.42, fill, style::WOOD_LINE);
            }
        }
    }

    fn has_ghost(&self, x: usize, y: usize) -> bool {
        self.marks
            .iter()
            .any(|(at_x, at_y, mark)| (*at_x, *at_y) == (x, y) && matches!(mark, Mark::Ghost(_)))
    }
}

fn color_of(stone: Stone) -> Rgb {
    match stone {
        Stone::Black => style::BLACK,
        Stone::White => style::WHITE,
    }
}

fn mixed(first: Rgb, second: Rgb) -> Rgb {
    let half = |a: u8, b: u8| ((u16::from(a) + u16::from(b)) / 2) as u8;
    Rgb(
        half(first.0, second.0),
        half(first.1, second.1),
        half(first.2, second.2),
    )
}

/// The dots of a board: third line below 13, fourth from there on; the sides and the middle of odd boards.
fn star_points(side: usize) -> Vec<(usize, usize)> {
    if side < 7 {
        return if side >= 5 && side % 2 == 1 {
            vec![(side / 2, side / 2)]
        } else {
            Vec::new()
        };
    }
    let near = if side < 13 { 2 } else { 3 };
    let (far, middle) = (side - 1 - near, side / 2);
    let mut stars = vec![(near, near), (near, far), (far, near), (far, far)];
    if side % 2 == 1 {
        stars.push((middle, middle));
        if side >= 13 {
            stars.extend([(near, middle), (far, middle), (middle, near), (middle, far)]);
        }
    }
    stars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Shape;

    type At = (f64, f64);

    fn discs_and_texts(canvas: &Canvas) -> (Vec<(At, f64)>, Vec<At>) {
        let (mut discs, mut texts) = (Vec::new(), Vec::new());
        for shape in &canvas.shapes {
            match shape {
                Shape::Disc { centre, radius, .. } => discs.push((*centre, *radius)),
                Shape::Text { at, .. } => texts.push(*at),
                _ => {}
            }
        }
        (discs, texts)
    }

    #[test]
    fn no_stone_covers_a_coordinate() {
        for side in [2, 5, 9, 13, 19, 25] {
            for cell in [16.0, 32.0, 50.0] {
                let board = GoBoard::new(side, |_, _| Some(Stone::White)).cell(cell);
                let (discs, texts) = discs_and_texts(&board.canvas());
                assert_eq!(texts.len(), 2 * side);
                for (centre, radius) in discs {
                    for text in &texts {
                        let (dx, dy) = (text.0 - centre.0, text.1 - centre.1);
                        assert!(dx * dx + dy * dy > radius * radius, "side {side}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_row_is_at_the_bottom_and_everything_is_inside() {
        let board = GoBoard::new(9, |x, y| ((x, y) == (8, 0)).then_some(Stone::Black));
        let canvas = board.bare().canvas();
        let (discs, _) = discs_and_texts(&canvas);
        let (centre, radius) = *discs.last().unwrap();
        assert!(centre.0 > canvas.width / 2.0 && centre.1 > canvas.height / 2.0);
        assert!(centre.0 + radius <= canvas.width && centre.1 + radius <= canvas.height);
    }

    #[test]
    fn marks_are_drawn_over_stones_and_texts_escaped() {
        let board = GoBoard::new(3, |_, _| Some(Stone::Black))
            .letter(1, 1, "<")
            .heart(0, 0, style::heat(0.0))
            .ring(0, 1, style::MARK)
            .dot(2, 2, style::MARK)
            .ghost(2, 1, Stone::White);
        let svg = board.to_svg();
        assert!(svg.contains("&lt;</text>"));
        assert!(svg.contains(&style::heat(0.0).to_string()));
    }
}
