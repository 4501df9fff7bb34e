//! Pictures as pixels, and pixels as PNG.
//!
//! Every pixel is an average over a grid of samples, which makes edges smooth.

use std::io::Write;

use flate2::{Compression, Crc, write::ZlibEncoder};

use crate::canvas::{Anchor, Canvas, Rgb, Shape};
use crate::font;

/// Samples along a pixel's side.
const SAMPLES: usize = 3;

impl Canvas {
    /// The picture as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let (width, height, pixels) = self.pixels();
        png(width, height, &pixels)
    }

    /// Width, height and the pixels row by row.
    fn pixels(&self) -> (usize, usize, Vec<Rgb>) {
        let (width, height) = (self.width.ceil() as usize, self.height.ceil() as usize);
        let mut samples = Samples::new(width * SAMPLES, height * SAMPLES);
        for shape in &self.shapes {
            samples.draw(shape);
        }
        let pixels = (0..width * height)
            .map(|index| samples.average(index % width, index / width))
            .collect();
        (width, height, pixels)
    }
}

/// The picture at a multiple of its size.
struct Samples {
    width: usize,
    height: usize,
    colors: Vec<Rgb>,
    /// Left, top, right and bottom of what may be drawn, innermost last.
    clips: Vec<[usize; 4]>,
}

/// A point in samples.
type At = (f64, f64);

impl Samples {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            colors: vec![Rgb(255, 255, 255); width * height],
            clips: vec![[0, 0, width, height]],
        }
    }

    fn average(&self, x: usize, y: usize) -> Rgb {
        let mut sums = [0_usize; 3];
        for row in y * SAMPLES..(y + 1) * SAMPLES {
            for &Rgb(red, green, blue) in &self.colors[row * self.width + x * SAMPLES..][..SAMPLES]
            {
                for (sum, part) in sums.iter_mut().zip([red, green, blue]) {
                    *sum += usize::from(part);
                }
            }
        }
        let [red, green, blue] = sums.map(|sum| (sum / (SAMPLES * SAMPLES)) as u8);
        Rgb(red, green, blue)
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { at, size, fill } => {
                let (left, top) = scaled(*at);
                let (width, height) = scaled(*size);
                self.fill([left, top, left + width, top + height], *fill, |_, _| true);
            }
            Shape::Disc {
                centre,
                radius,
                fill,
                stroke,
            } => {
                // An edge of one pixel lies half inside and half outside.
                if let Some(stroke) = stroke {
                    self.disc(*centre, radius + 0.5, *stroke);
                    self.disc(*centre, radius - 0.5, *fill);
                } else {
                    self.disc(*centre, *radius, *fill);
                }
            }
            Shape::Line {
                points,
                stroke,
                width,
                dashes,
            } => {
                for pair in points.windows(2) {
                    match dashes {
                        None => self.segment(pair[0], pair[1], *width, *stroke),
                        Some(_) => self.dashes(pair[0], pair[1], *width, *stroke),
                    }
                }
            }
            Shape::Polygon { points, fill } => self.polygon(points, *fill),
            Shape::Text {
                at,
                text,
                size,
                fill,
                anchor,
                bold,
            } => self.text(*at, text, *size, *fill, *anchor, *bold),
            Shape::ClipStart { at, size } => {
                let (left, top) = scaled(*at);
                let (width, height) = scaled(*size);
                let inner = self.bounds([left, top, left + width, top + height]);
                self.clips.push(inner);
            }
            Shape::ClipEnd => {
                if self.clips.len() > 1 {
                    self.clips.pop();
                }
            }
        }
    }

    /// The samples of a rectangle that may be drawn: left, top, right, bottom.
    fn bounds(&self, [left, top, right, bottom]: [f64; 4]) -> [usize; 4] {
        let clip = self.clips[self.clips.len() - 1];
        let within =
            |value: f64, low: usize, high: usize| (value.max(0.0) as usize).clamp(low, high);
        [
            within(left.round(), clip[0], clip[2]),
            within(top.round(), clip[1], clip[3]),
            within(right.round(), clip[0], clip[2]),
            within(bottom.round(), clip[1], clip[3]),
        ]
    }

    /// Colours the samples of a rectangle whose middle a shape covers.
    fn fill(&mut self, rectangle: [f64; 4], color: Rgb, covers: impl Fn(f64, f64) -> bool) {
        let [left, top, right, bottom] = self.bounds(rectangle);
        debug_assert!(bottom <= self.height);
        for y in top..bottom {
            for x in left..right {
                if covers(x as f64 + 0.5, y as f64 + 0.5) {
                    self.colors[y * self.width + x] = color;
                }
            }
        }
    }

    fn disc(&mut self, centre: At, radius: f64, color: Rgb) {
        if radius <= 0.0 {
            return;
        }
        let ((x, y), radius) = (scaled(centre), radius * SAMPLES as f64);
        let around = [x - radius, y - radius, x + radius + 1.0, y + radius + 1.0];
        self.fill(around, color, |at_x, at_y| {
            (at_x - x).powi(2) + (at_y - y).powi(2) <= radius * radius
        });
    }

    fn segment(&mut self, from: At, to: At, width: f64, color: Rgb) {
        let (from, to) = (scaled(from), scaled(to));
        let half = (width * SAMPLES as f64 / 2.0).max(0.5);
        let around = [
            from.0.min(to.0) - half,
            from.1.min(to.1) - half,
            from.0.max(to.0) + half + 1.0,
            from.1.max(to.1) + half + 1.0,
        ];
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
        self.fill(around, color, |x, y| {
            let along = (((x - from.0) * dx + (y - from.1) * dy) / length).clamp(0.0, 1.0);
            let (near_x, near_y) = (from.0 + along * dx, from.1 + along * dy);
            (x - near_x).powi(2) + (y - near_y).powi(2) <= half * half
        });
    }

    /// Two pixels of line, four without.
    fn dashes(&mut self, from: At, to: At, width: f64, color: Rgb) {
        const DASH: f64 = 2.0;
        const PERIOD: f64 = 6.0;
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |distance: f64| {
            let share = (distance / length).min(1.0);
            (
                from.0 + (to.0 - from.0) * share,
                from.1 + (to.1 - from.1) * share,
            )
        };
        let mut start = 0.0;
        while start < length {
            self.segment(at(start), at(start + DASH), width, color);
            start += PERIOD;
        }
    }

    fn polygon(&mut self, points: &[At], color: Rgb) {
        let points: Vec<At> = points.iter().map(|&point| scaled(point)).collect();
        let range = |part: fn(&At) -> f64| {
            let all = || points.iter().map(part);
            (
                all().fold(f64::INFINITY, f64::min),
                all().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let ((left, right), (top, bottom)) = (range(|point| point.0), range(|point| point.1));
        if points.len() < 3 {
            return;
        }
        let edges: Vec<(At, At)> = points
            .iter()
            .zip(points.iter().cycle().skip(1))
            .map(|(&from, &to)| (from, to))
            .collect();
        let [_, first, _, last] = self.bounds([left, top, right, bottom + 1.0]);
        for row in first..last {
            let y = row as f64 + 0.5;
            let mut crossings: Vec<f64> = edges
                .iter()
                .filter(|(from, to)| (from.1 <= y) != (to.1 <= y))
                .map(|(from, to)| from.0 + (y - from.1) / (to.1 - from.1) * (to.0 - from.0))
                .collect();
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let line = [pair[0], row as f64, pair[1], row as f64 + 1.0];
                self.fill(line, color, |_, _| true);
            }
        }
    }

    fn text(&mut self, at: At, text: &str, size: f64, color: Rgb, anchor: Anchor, bold: bool) {
        /// Height of a capital letter, in sizes of the font.
        const CAPITAL: f64 = 0.72;
        let dot = size * CAPITAL / font::HEIGHT as f64;
        let count = text.chars().count();
        let length = (count * font::ADVANCE) as f64 * dot - dot;
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - length / 2.0,
            Anchor::End => at.0 - length,
        };
        let top = at.1 - size * CAPITAL;
        let wide = if bold { 1.35 * dot } else { dot };
        for (place, letter) in text.chars().enumerate() {
            for y in 0..font::HEIGHT {
                for x in 0..font::WIDTH {
                    if font::has_dot(letter, x, y) {
                        let column = (place * font::ADVANCE + x) as f64;
                        let (x, y) = scaled((left + column * dot, top + y as f64 * dot));
                        let (width, height) = scaled((wide, dot));
                        self.fill([x, y, x + width, y + height], color, |_, _| true);
                    }
                }
            }
        }
    }
}

fn scaled((x, y): At) -> At {
    (x * SAMPLES as f64, y * SAMPLES as f64)
}

/// A PNG file of 8-bit RGB pixels, without interlacing or filters.
fn png(width: usize, height: usize, pixels: &[Rgb]) -> Vec<u8> {
    const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    /// Bit depth 8, colour type RGB, and the standard compression, filter and interlace methods.
    const FORMAT: [u8; 5] = [8, 2, 0, 0, 0];
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend(FORMAT);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in pixels.chunks(width.max(1)) {
        // Every row begins with its filter: none. Writing to memory cannot fail.
        let _ = encoder.write_all(&[0]);
        let bytes: Vec<u8> = row
            .iter()
            .flat_map(|&Rgb(red, green, blue)| [red, green, blue])
            .collect();
        let _ = encoder.write_all(&bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLUE: Rgb = Rgb(0, 0, 255);
    const RED: Rgb = Rgb(255, 0, 0);

    fn drawn(draw: impl FnOnce(&mut Canvas)) -> (usize, Vec<Rgb>) {
        let mut canvas = Canvas::new(12.0, 8.0, Rgb(255, 255, 255));
        draw(&mut canvas);
        let (width, _, pixels) = canvas.pixels();
        (width, pixels)
    }

    #[test]
    fn rectangles_and_polygons_fill_exactly_their_pixels() {
        let square = [(2.0, 3.0), (5.0, 3.0), (5.0, 7.0), (2.0, 7.0)];
        let (width, filled) = drawn(|canvas| canvas.rectangle((2.0, 3.0), (3.0, 4.0), BLUE));
        let (_, outlined) = drawn(|canvas| canvas.polygon(&square, BLUE));
        assert_eq!(filled, outlined);
        for (index, &pixel) in filled.iter().enumerate() {
            let (x, y) = (index % width, index / width);
            let inside = (2..5).contains(&x) && (3..7).contains(&y);
            assert_eq!(pixel == BLUE, inside, "{x} {y}");
        }
    }

    #[test]
    fn nothing_is_drawn_outside_of_a_clip() {
        let (width, pixels) = drawn(|canvas| {
            canvas.clipped((1.0, 1.0), (4.0, 4.0), |canvas| {
                canvas.disc((3.0, 3.0), 50.0, RED);
            });
            canvas.rectangle((11.0, 7.0), (1.0, 1.0), BLUE);
        });
        assert_eq!(pixels.iter().filter(|&&pixel| pixel == RED).count(), 16);
        assert_eq!(pixels[7 * width + 11], BLUE);
    }

    #[test]
    fn lines_and_letters_leave_their_colour() {
        let (_, pixels) = drawn(|canvas| {
            canvas.line(&[(0.0, 0.5), (12.0, 0.5)], BLUE, 1.0);
            canvas.dashed_line(&[(0.0, 7.5), (12.0, 7.5)], RED);
        });
        assert_eq!(pixels[..12], [BLUE; 12]);
        let row: Vec<bool> = pixels[84..].iter().map(|&pixel| pixel == RED).collect();
        assert!(row.contains(&true) && row.contains(&false), "{row:?}");
        let (_, pixels) = drawn(|canvas| {
            canvas.text((0.0, 8.0), "I", 11.0, RED, Anchor::Start);
        });
        assert!(pixels.iter().any(|&Rgb(_, green, _)| green < 128));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn shapes_anywhere_are_drawn_without_a_panic(
            points in proptest::collection::vec((-1e4..1e4_f64, -1e4..1e4_f64), 0..6),
            size in 0.0..50.0_f64,
        ) {
            drawn(|canvas| {
                for &point in &points {
                    canvas.disc(point, size, RED);
                    canvas.rectangle(point, (size, size), RED);
                    canvas.text(point, "text", size, RED, Anchor::Middle);
                }
                canvas.polygon(&points, BLUE);
                canvas.line(&points, BLUE, size);
            });
        }
    }
}
