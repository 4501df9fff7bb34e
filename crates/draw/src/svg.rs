//! Pictures as SVG.

use std::fmt::Write;

use crate::canvas::{Anchor, Canvas, Shape};
use crate::style::FONT;

impl Canvas {
    /// The picture as an SVG document, which also fits into an HTML page.
    pub fn to_svg(&self) -> String {
        let mut svg = head(self.width, self.height);
        for shape in &self.shapes {
            write_shape(&mut svg, shape);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// The start of a document.
pub(crate) fn head(width: f64, height: f64) -> String {
    let (width, height) = (number(width), number(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"{FONT}\">\n"
    )
}

fn write_shape(svg: &mut String, shape: &Shape) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Rectangle { at, size, fill } => {
            let (x, y) = (number(at.0), number(at.1));
            let (width, height) = (number(size.0), number(size.1));
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
            )
        }
        Shape::Disc {
            centre,
            radius,
            fill,
            stroke,
        } => {
            let (x, y, radius) = (number(centre.0), number(centre.1), number(*radius));
            let edge = stroke.map_or(String::new(), |stroke| format!(" stroke=\"{stroke}\""));
            writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"{edge}/>"
            )
        }
        Shape::Line {
            points,
            stroke,
            width,
            dashes,
        } => {
            let dashes = dashes.map_or(String::new(), |dashes| {
                format!(" stroke-dasharray=\"{dashes}\"")
            });
            writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{}\" \
                 stroke-linejoin=\"round\"{dashes}/>",
                list(points),
                number(*width)
            )
        }
        Shape::Polygon { points, fill } => {
            writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{fill}\"/>",
                list(points)
            )
        }
        Shape::Text {
            at,
            text,
            size,
            fill,
            anchor,
            bold,
        } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{fill}\"{anchor}{weight}>{}</text>",
                number(at.0),
                number(at.1),
                number(*size),
                escape(text)
            )
        }
        Shape::ClipStart { at, size } => {
            // A picture in the picture cuts off what lies outside.
            let (x, y) = (number(at.0), number(at.1));
            let (width, height) = (number(size.0), number(size.1));
            writeln!(
                svg,
                "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
            )
        }
        Shape::ClipEnd => writeln!(svg, "</svg>"),
    };
}

/// A text as the content or an attribute of an element.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write other control characters.
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A tenth of a pixel is as much as anyone can see.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn list(points: &[(f64, f64)]) -> String {
    let points = points
        .iter()
        .map(|point| format!("{},{}", number(point.0), number(point.1)));
    points.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Rgb;

    #[test]
    fn every_element_is_closed_and_texts_are_escaped() {
        let mut canvas = Canvas::new(20.0, 10.0, Rgb(1, 2, 3));
        canvas.clipped((1.0, 1.0), (5.0, 5.0), |canvas| {
            canvas.text(
                (1.5, 2.0),
                "a<b & \"c\"\u{7}",
                9.0,
                Rgb(0, 0, 0),
                Anchor::End,
            );
        });
        canvas.line(&[(0.0, 0.0)], Rgb(0, 0, 0), 1.0);
        let svg = canvas.to_svg();
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
        assert!(svg.contains("fill=\"#010203\""));
        assert!(svg.contains(">a&lt;b &amp; &quot;c&quot; </text>"), "{svg}");
        assert!(!svg.contains("polyline"), "one point is no line");
    }
}
