//! Pictures as one animated SVG: every cell is an element that is visible for its time.
//!
//! The animation is SMIL, which browsers play without any script: an invisible clock repeats,
//! and each element is shown from one offset of the clock to another.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Cell, Color, Frame, HEIGHT, Shape, WIDTH};
use crate::style;
use crate::svg::head;

/// Side of a cell.
const CELL: i32 = 20;

/// Space around the bottle, above it, and beside it for the next pill and the counts.
const EDGE: i32 = 14;
const NECK: i32 = 26;
const SIDE: i32 = 96;
/// The inside of the bottle.
const INSIDE: (i32, i32) = (WIDTH as i32 * CELL, HEIGHT as i32 * CELL);

/// Something shown at a place: a cell, or a line of text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Cell(Cell),
    Text(String),
}

/// The animation; with a single frame, a still picture.
pub fn to_svg(frames: &[Frame]) -> String {
    let (width, height) = (2 * EDGE + INSIDE.0 + SIDE, NECK + INSIDE.1 + EDGE);
    let mut text = head(f64::from(width), f64::from(height));
    text += &definitions();
    text += &bottle(width, height);
    let total: f64 = frames.iter().map(|frame| frame.seconds).sum();
    if frames.len() > 1 {
        let _ = writeln!(
            text,
            "<rect width=\"0\" height=\"0\"><animate id=\"clock\" attributeName=\"x\" values=\"0;0\" begin=\"0s;clock.end\" dur=\"{total:.2}s\"/></rect>"
        );
    }
    for ((x, y), item, start, end) in intervals(frames) {
        let body = match item {
            Item::Cell(cell) => format!("<use href=\"#{}\"", id(cell)),
            Item::Text(_) => "<text".to_owned(),
        };
        let inner = match item {
            Item::Text(ref line) => line.as_str(),
            _ => "",
        };
        let tag = if body.starts_with("<text") {
            "text"
        } else {
            "use"
        };
        if start <= 0.0 && end >= total {
            let _ = writeln!(text, "{body} x=\"{x}\" y=\"{y}\">{inner}</{tag}>");
            continue;
        }
        // What is there at the start stays visible where nothing is animated.
        let hidden = if start > 0.0 {
            " visibility=\"hidden\""
        } else {
            ""
        };
        let _ = write!(text, "{body} x=\"{x}\" y=\"{y}\"{hidden}>{inner}");
        let show = |begin: f64, to: &str| {
            format!(
                "<set attributeName=\"visibility\" to=\"{to}\" begin=\"clock.begin+{begin:.2}s\"/>"
            )
        };
        let visible = if start > 0.0 || end < total {
            show(start, "visible")
        } else {
            String::new()
        };
        let gone = if end < total {
            show(end, "hidden")
        } else {
            String::new()
        };
        // Later offsets would leak into the next round without this.
        let reset = if start > 0.0 && end >= total {
            show(0.0, "hidden")
        } else {
            String::new()
        };
        let _ = writeln!(text, "{reset}{visible}{gone}</{tag}>");
    }
    text + "</g>\n</svg>\n"
}

/// Every item with its place and the seconds it is shown from and to.
fn intervals(frames: &[Frame]) -> Vec<((i32, i32), Item, f64, f64)> {
    let mut shown: BTreeMap<((i32, i32), Item), f64> = BTreeMap::new();
    let mut result = Vec::new();
    let mut now = 0.0;
    for frame in frames {
        let items = items_of(frame);
        shown.retain(|(place, item), start| {
            let stays = items.contains(&(*place, item.clone()));
            if !stays {
                result.push((*place, item.clone(), *start, now));
            }
            stays
        });
        for item in items {
            shown.entry(item).or_insert(now);
        }
        now += frame.seconds;
    }
    result.extend(
        shown
            .into_iter()
            .map(|((place, item), start)| (place, item, start, now)),
    );
    result.sort_by(|a, b| {
        a.2.total_cmp(&b.2)
            .then_with(|| (a.0, &a.1).cmp(&(b.0, &b.1)))
    });
    result
}

fn items_of(frame: &Frame) -> Vec<((i32, i32), Item)> {
    let cells = frame.each_cell();
    let mut items: Vec<_> = cells
        .map(|(x, y, cell)| (corner(x, y), Item::Cell(cell)))
        .collect();
    let side = 2 * EDGE + INSIDE.0 + 8;
    if let Some([left, right]) = frame.next {
        items.push(((side, NECK + 12), Item::Cell(left)));
        items.push(((side + CELL, NECK + 12), Item::Cell(right)));
        items.push(((side, NECK + 4), Item::Text("next".to_owned())));
    }
    let viruses = counted(frame.viruses, "virus", "viruses");
    items.push(((side, NECK + 66), Item::Text(viruses)));
    let pills = counted(frame.pills, "pill", "pills");
    items.push(((side, NECK + 90), Item::Text(pills)));
    items
}

fn counted(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The top left corner of a cell.
fn corner(x: usize, y: usize) -> (i32, i32) {
    let up = y as i32 + 1;
    (EDGE + CELL * x as i32, NECK + CELL * (HEIGHT as i32 - up))
}

fn bottle(width: i32, height: i32) -> String {
    let (left, right) = (EDGE, EDGE + INSIDE.0);
    let (neck_left, neck_right) = (left + 3 * CELL, left + 5 * CELL);
    let (top, bottom) = (NECK, NECK + INSIDE.1);
    let (night, inside, glass, ink) =
        (style::NIGHT, style::BOTTLE, style::GLASS, style::BOTTLE_INK);
    format!(
        "<rect width=\"{width}\" height=\"{height}\" fill=\"{night}\"/>\n\
         <path d=\"M{neck_left} 6V{top}H{left}V{bottom}H{right}V{top}H{neck_right}V6\" fill=\"{inside}\" \
         stroke=\"{glass}\" stroke-width=\"4\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n\
         <g font-size=\"14\" fill=\"{ink}\">\n"
    )
}

/// One symbol for each cell letter, and the flash.
fn definitions() -> String {
    let mut text = "<defs>\n".to_owned();
    for color in Color::ALL {
        let fill = style::PILLS[color as usize].to_string();
        let fill = fill.as_str();
        for shape in Shape::ALL {
            let cell = Cell {
                color,
                shape,
                flashes: false,
            };
            let body = match shape {
                Shape::Virus => format!(
                    "<path d=\"M5 5L3 1M15 5L17 1\" stroke=\"{fill}\" stroke-width=\"2\"/><circle cx=\"10\" cy=\"11\" r=\"8\" fill=\"{fill}\"/><circle cx=\"7\" cy=\"9\" r=\"2.4\" fill=\"#fff\"/><circle cx=\"13\" cy=\"9\" r=\"2.4\" fill=\"#fff\"/><circle cx=\"7.4\" cy=\"9.4\" r=\"1.1\"/><circle cx=\"12.6\" cy=\"9.4\" r=\"1.1\"/><path d=\"M6 14.5Q10 12.5 14 14.5\" fill=\"none\" stroke=\"#000\" stroke-width=\"1.2\"/>"
                ),
                Shape::Single => half(fill, "M10 1A9 9 0 0 1 10 19A9 9 0 0 1 10 1Z"),
                Shape::Left => half(fill, "M20 1H10A9 9 0 0 0 10 19H20Z"),
                Shape::Right => half(fill, "M0 1H10A9 9 0 0 1 10 19H0Z"),
                Shape::Top => half(fill, "M1 20V10A9 9 0 0 1 19 10V20Z"),
                Shape::Bottom => half(fill, "M1 0V10A9 9 0 0 0 19 10V0Z"),
            };
            let _ = writeln!(text, "<g id=\"{}\">{body}</g>", id(cell));
        }
    }
    text + "<g id=\"flash\"><circle cx=\"10\" cy=\"10\" r=\"8\" fill=\"none\" stroke=\"#fff\" stroke-width=\"3\"/></g>\n</defs>\n"
}

/// The name of a cell's symbol.
fn id(cell: Cell) -> String {
    let shape = match (cell.flashes, cell.shape) {
        (true, _) => return "flash".to_owned(),
        (_, Shape::Top) => "top",
        (_, Shape::Bottom) => "bottom",
        (_, Shape::Left) => "left",
        (_, Shape::Right) => "right",
        (_, Shape::Single) => "single",
        (_, Shape::Virus) => "virus",
    };
    format!("{shape}-{}", cell.color.letter())
}

fn half(fill: &str, outline: &str) -> String {
    format!(
        "<path d=\"{outline}\" fill=\"{fill}\"/><circle cx=\"7\" cy=\"6.5\" r=\"2\" fill=\"#fff\" opacity=\".55\"/>"
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn everything_shown_has_a_symbol_and_its_time() {
        let svg = to_svg(&sample());
        for reference in svg.split("href=\"#").skip(1) {
            let id = reference.split('"').next().unwrap();
            assert!(svg.contains(&format!("<g id=\"{id}\">")), "{id}");
        }
        // The virus goes after the first half second, the flash after the second.
        assert!(svg.contains("to=\"hidden\" begin=\"clock.begin+0.50s\""));
        assert!(svg.contains("to=\"hidden\" begin=\"clock.begin+1.00s\""));
        assert!(svg.contains(">1 virus<") && svg.contains(">0 viruses<"));
        assert!(svg.contains(">1 pill<") && svg.contains(">2 pills<"));
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }

    #[test]
    fn one_frame_does_not_move_and_without_a_next_pill_nothing_says_next() {
        let frames = sample();
        let with_next = to_svg(&frames[..1]);
        assert!(!with_next.contains("<animate") && with_next.contains(">next<"));
        assert!(!to_svg(&frames[2..]).contains(">next<"));
    }
}
