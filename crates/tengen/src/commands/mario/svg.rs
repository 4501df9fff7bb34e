//! Pictures as one animated SVG: every cell is an element that is visible for its time.
//!
//! The animation is SMIL, which browsers play without any script: an invisible clock repeats,
//! and each element is shown from one offset of the clock to another.

use std::collections::BTreeMap;
use std::fmt::Write;

use mario::board::{HEIGHT, WIDTH, bit};
use mario::{Cell, Color, Shape};

use super::film::Frame;

/// Side of a cell.
const CELL: i32 = 20;

/// Space around the bottle, above it, and beside it for the next pill and the counts.
const EDGE: i32 = 14;
const NECK: i32 = 26;
const SIDE: i32 = 96;

/// Something shown at a place: a cell, a flash, or a line of text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Cell(u8),
    Flash,
    Text(String),
}

/// The animation; with a single frame, a still picture.
pub fn svg(frames: &[Frame]) -> String {
    let (width, height) = (2 * EDGE + 8 * CELL + SIDE, NECK + 16 * CELL + EDGE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
    );
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
            Item::Cell(code) => format!("<use href=\"#{}\"", char::from(code)),
            Item::Flash => "<use href=\"#flash\"".to_owned(),
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
    text + "</svg>\n"
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
    let mut items = Vec::new();
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            if let Some(cell) = frame.board.cell(x, y) {
                let flashing = frame.clearing & bit(x, y) != 0;
                let item = if flashing {
                    Item::Flash
                } else {
                    Item::Cell(cell.code())
                };
                items.push((corner(x, y), item));
            }
        }
    }
    if let Some(placed) = frame.falling {
        let [first, second] = placed.content.cells().map(|cell| Item::Cell(cell.code()));
        let (dx, dy) = if placed.content.vertical {
            (0, 1)
        } else {
            (1, 0)
        };
        items.push((corner(placed.x, placed.y), first));
        items.push((corner(placed.x + dx, placed.y + dy), second));
    }
    let side = 2 * EDGE + 8 * CELL;
    if let Some(next) = frame.next {
        let [left, right] = next.turned(0).cells().map(|cell| Item::Cell(cell.code()));
        items.push(((side + 8, NECK + 12), left));
        items.push(((side + 8 + CELL, NECK + 12), right));
    }
    let viruses = Item::Text(format!("{} viruses", frame.board.viruses_left()));
    items.push(((side + 8, NECK + 66), viruses));
    items.push((
        (side + 8, NECK + 90),
        Item::Text(format!("{} pills", frame.pills)),
    ));
    items
}

fn corner(x: u8, y: u8) -> (i32, i32) {
    let up = i32::from(y) + 1;
    (
        EDGE + CELL * i32::from(x),
        NECK + CELL * (i32::from(HEIGHT) - up),
    )
}

fn bottle(width: i32, height: i32) -> String {
    let (left, right) = (EDGE, EDGE + 8 * CELL);
    let (neck_left, neck_right) = (left + 3 * CELL, left + 5 * CELL);
    let (top, bottom) = (NECK, NECK + 16 * CELL);
    format!(
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#0e1018\"/>\n\
         <path d=\"M{neck_left} 6V{top}H{left}V{bottom}H{right}V{top}H{neck_right}V6\" fill=\"#1c1f2c\" stroke=\"#7a86a4\" stroke-width=\"4\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n\
         <g font-family=\"sans-serif\" font-size=\"14\" fill=\"#dfe4f2\"><text x=\"{}\" y=\"{}\">next</text></g>\n\
         <style>text{{font:14px sans-serif;fill:#dfe4f2}}</style>\n",
        right + EDGE + 8,
        NECK + 4,
    )
}

/// One symbol for each cell letter, and the flash.
fn definitions() -> String {
    let mut text = "<defs>\n".to_owned();
    for color in Color::ALL {
        let fill = match color {
            Color::Red => "#e24042",
            Color::Yellow => "#f0c42e",
            Color::Blue => "#4080f0",
        };
        for shape in Shape::ALL {
            let id = char::from(Cell { color, shape }.code());
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
            let _ = writeln!(text, "<g id=\"{id}\">{body}</g>");
        }
    }
    text + "<g id=\"flash\"><circle cx=\"10\" cy=\"10\" r=\"8\" fill=\"none\" stroke=\"#fff\" stroke-width=\"3\"/></g>\n</defs>\n"
}

fn half(fill: &str, outline: &str) -> String {
    format!(
        "<path d=\"{outline}\" fill=\"{fill}\"/><circle cx=\"7\" cy=\"6.5\" r=\"2\" fill=\"#fff\" opacity=\".55\"/>"
    )
}
