//! Pictures of a [journey](crate::journey): SVG and PNG from one list of shapes.

use std::fmt::Write;
use std::io::Write as _;

use flate2::{Compression, Crc, write::ZlibEncoder};
use go::{Board, Color};

use crate::journey::{Journey, News};

/// Pixels from one point of the board to the next.
const CELL: usize = 16;
/// Pixels around a panel.
const MARGIN: usize = 14;
/// Panels side by side.
const COLUMNS: usize = 4;

const PAPER: Rgb = [250, 248, 242];
const WOOD: Rgb = [226, 196, 140];
const LINE: Rgb = [150, 118, 66];
const OPEN: Rgb = [240, 224, 186];
const OUT: Rgb = [32, 120, 60];
const SAFE: Rgb = [112, 196, 120];
const TURN: Rgb = [214, 96, 60];
const PATH: Rgb = [40, 80, 200];
const BLACK: Rgb = [20, 20, 20];
const WHITE: Rgb = [252, 252, 252];

type Rgb = [u8; 3];

/// Something to draw, in pixels.
enum Shape {
    Rectangle {
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        fill: Rgb,
    },
    Disc {
        x: usize,
        y: usize,
        radius: usize,
        fill: Rgb,
    },
}

/// A picture of all stages, each a board coloured by what the scan knows.
pub struct Picture {
    width: usize,
    height: usize,
    shapes: Vec<Shape>,
    captions: Vec<(usize, usize, String)>,
}

impl Picture {
    /// Draws a journey over its board.
    pub fn new(board: &Board, journey: &Journey) -> Picture {
        let side = board.size().get() * CELL;
        let panel = side + 2 * MARGIN;
        let rows = journey.stages.len().div_ceil(COLUMNS);
        let columns = journey.stages.len().min(COLUMNS);
        let mut picture = Picture {
            width: columns * panel,
            height: rows * panel,
            shapes: Vec::new(),
            captions: Vec::new(),
        };
        let (width, height) = (picture.width, picture.height);
        picture.rectangle(0, 0, width, height, PAPER);
        for (index, stage) in journey.stages.iter().enumerate() {
            let (left, top) = (
                index % COLUMNS * panel + MARGIN,
                index / COLUMNS * panel + MARGIN,
            );
            picture
                .captions
                .push((left, top - 3, format!("after block {}", stage.block)));
            picture.panel(board, journey, &stage.news, left, top);
        }
        picture
    }

    fn panel(&mut self, board: &Board, journey: &Journey, news: &[News], left: usize, top: usize) {
        let size = board.size();
        let side = size.get() * CELL;
        self.rectangle(left, top, side, side, WOOD);
        for point in size.points() {
            let fill = match news[size.index(point)] {
                News::None => continue,
                News::Open => OPEN,
                News::Out => OUT,
                News::Safe => SAFE,
                News::Turn => TURN,
            };
            let (x, y) = (
                left + point.x() * CELL,
                top + (size.get() - 1 - point.y()) * CELL,
            );
            self.rectangle(x, y, CELL, CELL, fill);
        }
        for line in 0..size.get() {
            let at = line * CELL + CELL / 2;
            self.rectangle(left + CELL / 2, top + at, side - CELL, 1, LINE);
            self.rectangle(left + at, top + CELL / 2, 1, side - CELL, LINE);
        }
        for point in size.points() {
            let (x, y) = (
                left + point.x() * CELL + CELL / 2,
                top + (size.get() - 1 - point.y()) * CELL + CELL / 2,
            );
            let mut disc = |radius, fill| self.shapes.push(Shape::Disc { x, y, radius, fill });
            match board.stone(point) {
                Some(Color::Black) => disc(CELL / 2 - 1, BLACK),
                Some(Color::White) => {
                    disc(CELL / 2 - 1, BLACK);
                    disc(CELL / 2 - 2, WHITE);
                }
                None if journey.path.contains(&point) => disc(CELL / 6, PATH),
                None => {}
            }
        }
    }

    fn rectangle(&mut self, x: usize, y: usize, width: usize, height: usize, fill: Rgb) {
        self.shapes.push(Shape::Rectangle {
            x,
            y,
            width,
            height,
            fill,
        });
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
        );
        let hex = |[red, green, blue]: &Rgb| format!("#{red:02x}{green:02x}{blue:02x}");
        for shape in &self.shapes {
            // Writing to a string cannot fail.
            let _ = match shape {
                Shape::Rectangle {
                    x,
                    y,
                    width,
                    height,
                    fill,
                } => writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
                    hex(fill)
                ),
                Shape::Disc { x, y, radius, fill } => {
                    writeln!(
                        svg,
                        "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>",
                        hex(fill)
                    )
                }
            };
        }
        for (x, y, caption) in &self.captions {
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"10\">{caption}</text>"
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The picture as PNG, without captions.
    pub fn to_png(&self) -> Vec<u8> {
        let mut pixels = vec![PAPER; self.width * self.height];
        for shape in &self.shapes {
            match *shape {
                Shape::Rectangle {
                    x,
                    y,
                    width,
                    height,
                    fill,
                } => {
                    for row in y..y + height {
                        pixels[row * self.width + x..][..width].fill(fill);
                    }
                }
                Shape::Disc { x, y, radius, fill } => {
                    for row in y - radius..=y + radius {
                        for column in x - radius..=x + radius {
                            let (dx, dy) = (column.abs_diff(x), row.abs_diff(y));
                            if dx * dx + dy * dy <= radius * radius {
                                pixels[row * self.width + column] = fill;
                            }
                        }
                    }
                }
            }
        }
        png(self.width, self.height, &pixels)
    }
}

/// A PNG file of 8-bit RGB pixels, no interlacing, no filters.
fn png(width: usize, height: usize, pixels: &[Rgb]) -> Vec<u8> {
    const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    /// Bit depth 8, colour type RGB, and the only compression, filter and interlace methods there are for us.
    const FORMAT: [u8; 5] = [8, 2, 0, 0, 0];
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend(FORMAT);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks_exact(width) {
        // Every row begins with its filter: none. Writing to memory cannot fail.
        let _ = encoder.write_all(&[0]);
        let _ = encoder.write_all(row.as_flattened());
    }
    let data = encoder.finish().unwrap_or_default();
    let mut file = SIGNATURE.to_vec();
    for (name, content) in [(b"IHDR", &header[..]), (b"IDAT", &data), (b"IEND", &[])] {
        let mut crc = Crc::new();
        crc.update(name);
        crc.update(content);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(name);
        file.extend(content);
        file.extend(crc.sum().to_be_bytes());
    }
    file
}
