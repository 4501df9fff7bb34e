//! A picture as a list of shapes, in pixels from the top left corner.

use std::fmt;

use crate::style;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    Middle,
    /// Its right end.
    End,
}

/// Something to draw.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Rectangle {
        at: (f64, f64),
        size: (f64, f64),
        fill: Rgb,
    },
    Disc {
        centre: (f64, f64),
        radius: f64,
        fill: Rgb,
        stroke: Option<Rgb>,
    },
    Line {
        points: Vec<(f64, f64)>,
        stroke: Rgb,
        width: f64,
        dashes: Option<&'static str>,
    },
    Polygon {
        points: Vec<(f64, f64)>,
        fill: Rgb,
    },
    Text {
        at: (f64, f64),
        text: String,
        size: f64,
        fill: Rgb,
        anchor: Anchor,
        bold: bool,
    },
    /// From here to the matching end, nothing outside of a rectangle is drawn.
    ClipStart {
        at: (f64, f64),
        size: (f64, f64),
    },
    ClipEnd,
}

/// A picture in the making: shapes cover those added before them.
#[derive(Clone, Debug)]
pub struct Canvas {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

impl Canvas {
    /// An empty picture on a ground of one colour.
    pub fn new(width: f64, height: f64, ground: Rgb) -> Self {
        let mut canvas = Self {
            width,
            height,
            shapes: Vec::new(),
        };
        canvas.rectangle((0.0, 0.0), (width, height), ground);
        canvas
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Fills a rectangle, given by its top left corner and its size.
    pub fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), fill: Rgb) {
        self.shapes.push(Shape::Rectangle { at, size, fill });
    }

    pub fn disc(&mut self, centre: (f64, f64), radius: f64, fill: Rgb) {
        self.shapes.push(Shape::Disc {
            centre,
            radius,
            fill,
            stroke: None,
        });
    }

    /// Fills a disc and draws its edge, one pixel wide.
    pub fn edged_disc(&mut self, centre: (f64, f64), radius: f64, fill: Rgb, stroke: Rgb) {
        self.shapes.push(Shape::Disc {
            centre,
            radius,
            fill,
            stroke: Some(stroke),
        });
    }

    /// Joins points by straight lines.
    pub fn line(&mut self, points: &[(f64, f64)], stroke: Rgb, width: f64) {
        self.push_line(points, stroke, width, None);
    }

    /// The same, dashed and one pixel wide.
    pub fn dashed_line(&mut self, points: &[(f64, f64)], stroke: Rgb) {
        self.push_line(points, stroke, 1.0, Some("2 4"));
    }

    fn push_line(
        &mut self,
        points: &[(f64, f64)],
        stroke: Rgb,
        width: f64,
        dashes: Option<&'static str>,
    ) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line {
                points: points.to_vec(),
                stroke,
                width,
                dashes,
            });
        }
    }

    /// Fills what a closed line surrounds.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: Rgb) {
        self.shapes.push(Shape::Polygon {
            points: points.to_vec(),
            fill,
        });
    }

    /// Writes a text; `at` is on its base line.
    pub fn text(&mut self, at: (f64, f64), text: &str, size: f64, fill: Rgb, anchor: Anchor) {
        self.push_text(at, text, size, fill, anchor, false);
    }

    /// Writes a text in bold letters.
    pub fn bold_text(&mut self, at: (f64, f64), text: &str, size: f64, fill: Rgb, anchor: Anchor) {
        self.push_text(at, text, size, fill, anchor, true);
    }

    fn push_text(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        fill: Rgb,
        anchor: Anchor,
        bold: bool,
    ) {
        self.shapes.push(Shape::Text {
            at,
            text: text.to_owned(),
            size,
            fill,
            anchor,
            bold,
        });
    }

    /// The title, at the top left.
    pub fn title(&mut self, text: &str) {
        self.bold_text(
            (16.0, 22.0),
            text,
            style::TITLE_SIZE,
            style::INK,
            Anchor::Start,
        );
    }

    /// Draws with everything outside of a rectangle cut off.
    pub fn clipped(&mut self, at: (f64, f64), size: (f64, f64), draw: impl FnOnce(&mut Self)) {
        self.shapes.push(Shape::ClipStart { at, size });
        draw(self);
        self.shapes.push(Shape::ClipEnd);
    }

    /// Copies another picture into this one, its top left corner at `at`.
    pub fn paste(&mut self, other: &Canvas, at: (f64, f64)) {
        let moved = |point: &(f64, f64)| (point.0 + at.0, point.1 + at.1);
        self.shapes.extend(other.shapes.iter().map(|shape| {
            let mut shape = shape.clone();
            match &mut shape {
                Shape::Rectangle { at, .. } | Shape::Text { at, .. } => *at = moved(at),
                Shape::ClipStart { at, .. } => *at = moved(at),
                Shape::Disc { centre, .. } => *centre = moved(centre),
                Shape::Line { points, .. } | Shape::Polygon { points, .. } => {
                    for point in points {
                        *point = moved(point);
                    }
                }
                Shape::ClipEnd => {}
            }
            shape
        }));
    }
}

/// About how wide a text is, for leaving room; fonts differ.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    const WIDTH_TO_HEIGHT: f64 = 0.58;
    text.chars().count() as f64 * size * WIDTH_TO_HEIGHT
}
