//! A position as a picture.

use std::fmt::Write;

use go::{Board, Color, Point, column_letter, star_points};

/// Pixels between two lines.
const STEP: usize = 32;
/// Pixels around the board, with room for coordinates.
const MARGIN: usize = 36;

/// Draws a board as SVG. `chance` gives the chance that a stone lives: the stone is coloured from
/// red (dies) over yellow to green (lives). `marks` puts a letter on points.
pub fn to_svg(
    board: &Board,
    chance: &dyn Fn(Point) -> Option<f32>,
    marks: &[(Point, String)],
) -> String {
    let side = board.size().get();
    let span = (side - 1) * STEP;
    let all = span + 2 * MARGIN;
    let place = |point: Point| {
        let x = MARGIN + point.x() * STEP;
        let y = MARGIN + (side - 1 - point.y()) * STEP;
        (x, y)
    };
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let mut line = |text: std::fmt::Arguments| {
        let _ = svg.write_fmt(text);
        svg.push('\n');
    };
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {all} {all}" width="{all}" height="{all}" font-family="sans-serif" text-anchor="middle">"#
    ));
    line(format_args!(
        r##"<rect width="{all}" height="{all}" fill="#e8c87a"/>"##
    ));
    for index in 0..side {
        let at = MARGIN + index * STEP;
        let end = MARGIN + span;
        line(format_args!(
            r##"<path d="M{MARGIN} {at}H{end}M{at} {MARGIN}V{end}" stroke="#5b4a22"/>"##
        ));
        let label = MARGIN / 2 - 4;
        let letter = column_letter(index);
        let text_y = at + 4;
        line(format_args!(
            r##"<text x="{at}" y="{}" font-size="12" fill="#5b4a22">{letter}</text><text x="{label}" y="{text_y}" font-size="12" fill="#5b4a22">{}</text>"##,
            all - label,
            side - index
        ));
    }
    for star in star_points(board.size()) {
        let (x, y) = place(star);
        line(format_args!(
            r##"<circle cx="{x}" cy="{y}" r="3" fill="#5b4a22"/>"##
        ));
    }
    for point in board.size().points() {
        let Some(color) = board.stone(point) else {
            continue;
        };
        let (x, y) = place(point);
        let fill = match color {
            Color::Black => "#1b1b1b",
            Color::White => "#fafafa",
        };
        line(format_args!(
            r##"<circle cx="{x}" cy="{y}" r="15" fill="{fill}" stroke="#1b1b1b"/>"##
        ));
        if let Some(chance) = chance(point) {
            let [red, green] = heat(chance);
            line(format_args!(
                r##"<circle cx="{x}" cy="{y}" r="9" fill="rgb({red},{green},40)"/>"##
            ));
        }
    }
    for (point, mark) in marks {
        let (x, y) = place(*point);
        let ink = match board.stone(*point) {
            Some(Color::Black) => "#fafafa",
            _ => "#1b1b1b",
        };
        if board.is_empty(*point) {
            line(format_args!(
                r##"<circle cx="{x}" cy="{y}" r="11" fill="#e8c87a"/>"##
            ));
        }
        line(format_args!(
            r##"<text x="{x}" y="{}" font-size="16" font-weight="bold" fill="{ink}">{}</text>"##,
            y + 6,
            escape(mark)
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Red and green parts: red at 0, yellow at one half, green at 1.
fn heat(chance: f32) -> [u8; 2] {
    const BRIGHT: f32 = 215.0;
    let chance = chance.clamp(0.0, 1.0);
    [2.0 * (1.0 - chance), 2.0 * chance].map(|part| (part.min(1.0) * BRIGHT) as u8)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
