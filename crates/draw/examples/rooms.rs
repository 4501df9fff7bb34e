//! Draws the crates of the workspace, one layer above the other: `cargo run -p draw --example rooms > docs/pictures/rooms.svg`.

use draw::{Anchor, Canvas, Rgb, style};

/// Layers from the top, each with its crates and what they are for.
const LAYERS: [(&str, &[&str]); 11] = [
    ("the program", &["tengen"]),
    ("the page in the browser", &["studio"]),
    ("protocols", &["gtp", "analysis"]),
    ("a run on many machines", &["gateway", "broker", "worker"]),
    (
        "what a game teaches",
        &["go-training", "mario-training", "safety-training"],
    ),
    ("the loop and training, without a game", &["fleet", "learn"]),
    (
        "what to do in a position",
        &["go-player", "mario-player", "tsumego", "ladder"],
    ),
    ("one tree search", &["search"]),
    ("networks as data", &["net"]),
    ("the rules", &["go", "mario"]),
    ("pictures, files, seeds", &["draw", "base"]),
];

const WIDTH: f64 = 880.0;
const ROW: f64 = 52.0;
const LEFT: f64 = 280.0;
const MARGIN: f64 = 16.0;
const GAP: f64 = 10.0;
const ROOM: Rgb = Rgb(232, 240, 248);

fn main() {
    let height = 2.0 * MARGIN + ROW * LAYERS.len() as f64;
    let mut canvas = Canvas::new(WIDTH, height, style::PAPER);
    for (index, (meaning, rooms)) in LAYERS.iter().enumerate() {
        let top = MARGIN + index as f64 * ROW;
        let middle = top + ROW / 2.0;
        canvas.text(
            (LEFT - 14.0, middle + 4.0),
            meaning,
            style::CAPTION_SIZE,
            style::FAINT_INK,
            Anchor::End,
        );
        let space = WIDTH - LEFT - MARGIN;
        let width = (space - GAP * (rooms.len() as f64 - 1.0)) / rooms.len() as f64;
        for (place, room) in rooms.iter().enumerate() {
            let left = LEFT + place as f64 * (width + GAP);
            canvas.rectangle((left, top + 6.0), (width, ROW - 12.0), style::CURVE);
            canvas.rectangle((left + 1.0, top + 7.0), (width - 2.0, ROW - 14.0), ROOM);
            canvas.bold_text(
                (left + width / 2.0, middle + 5.0),
                room,
                style::TITLE_SIZE,
                style::INK,
                Anchor::Middle,
            );
        }
    }
    print!("{}", canvas.to_svg());
}
