//! Pictures of a [journey](crate::journey): a board for each stage, with a title and a legend.

use draw::{Anchor, Canvas, GoBoard, Rgb, Stone, style};
use go::{Board, Color, Point};

use crate::journey::{Journey, News};
use crate::positions::Question;

/// Pixels from one point of the board to the next.
const CELL: f64 = 18.0;
/// Pixels around a panel.
const MARGIN: f64 = 12.0;
/// Pixels of a line of text.
const LINE: f64 = 20.0;
/// Panels side by side.
const COLUMNS: usize = 3;
/// Pixels of a legend's sample.
const SAMPLE: f64 = 12.0;

const OPEN: Rgb = Rgb(240, 224, 186);
const OUT: Rgb = Rgb(32, 120, 60);
const SAFE: Rgb = Rgb(112, 196, 120);
const TURN: Rgb = Rgb(214, 96, 60);
const PATH: Rgb = Rgb(40, 80, 200);

/// What the colours mean, in the order in which a reader meets them.
const LEGEND: [(Rgb, &str); 6] = [
    (
        style::MARK,
        "ringed: the move asked about; discs: the string that runs",
    ),
    (PATH, "blue dots: where the runner goes, every second step"),
    (OPEN, "open: the ladder goes on, nothing decided yet"),
    (
        OUT,
        "out: the runner gets three liberties here or one step on",
    ),
    (SAFE, "safe as far as the scan has read"),
    (TURN, "turn: the chaser may turn the ladder here"),
];

/// All stages side by side, each a board coloured by what the scan knows, under a title.
pub fn picture(board: &Board, question: &Question, journey: &Journey, title: &str) -> Canvas {
    let panels: Vec<Canvas> = journey
        .stages
        .iter()
        .map(|stage| panel(board, question, journey, &stage.news))
        .collect();
    let side = panels.first().map_or(0.0, |panel| panel.size().0) + MARGIN;
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(COLUMNS);
    let legend_rows = LEGEND.len().div_ceil(legend_columns(columns));
    let width = columns as f64 * side + MARGIN;
    let top = MARGIN + 1.5 * LINE;
    let bottom = top + rows as f64 * (side + LINE);
    let height = bottom + legend_rows as f64 * LINE + MARGIN;
    let mut canvas = Canvas::new(width, height, style::PAPER);
    canvas.bold_text(
        (MARGIN, MARGIN + style::TITLE_SIZE),
        title,
        style::TITLE_SIZE,
        style::INK,
        Anchor::Start,
    );
    for (index, (panel, stage)) in panels.iter().zip(&journey.stages).enumerate() {
        let left = (index % COLUMNS) as f64 * side + MARGIN;
        let top = top + (index / COLUMNS) as f64 * (side + LINE);
        let caption = caption(journey, stage.block, index);
        canvas.text(
            (left, top + style::CAPTION_SIZE),
            &caption,
            style::CAPTION_SIZE,
            style::INK,
            Anchor::Start,
        );
        canvas.paste(panel, (left, top + LINE));
    }
    for (index, (color, words)) in LEGEND.iter().enumerate() {
        let columns = legend_columns(columns);
        let left = MARGIN + (index % columns) as f64 * (width - MARGIN) / columns as f64;
        let top = bottom + (index / columns) as f64 * LINE;
        canvas.rectangle((left, top), (SAMPLE, SAMPLE), *color);
        canvas.text(
            (left + SAMPLE + 6.0, top + SAMPLE - 2.0),
            words,
            style::LABEL_SIZE,
            style::INK,
            Anchor::Start,
        );
    }
    canvas
}

/// Two entries beside each other need two panels of room.
fn legend_columns(panels: usize) -> usize {
    if panels > 1 { 2 } else { 1 }
}

fn caption(journey: &Journey, block: usize, index: usize) -> String {
    match (journey.frame, index) {
        (None, _) => "decided at the landing, no scan".to_owned(),
        (Some(_), 0) => format!("after block {block}: every point judged by itself"),
        (Some(_), _) => format!("after block {block}"),
    }
}

fn panel(board: &Board, question: &Question, journey: &Journey, news: &[News]) -> Canvas {
    let size = board.size();
    let stone_of = |color: Color| match color {
        Color::Black => Stone::Black,
        Color::White => Stone::White,
    };
    let stone = |x, y| board.stone(Point::new(x, y)).map(stone_of);
    let mut picture = GoBoard::new(size.get(), stone).cell(CELL);
    for point in journey.way(board) {
        let fill = match news[size.index(point)] {
            News::None => None,
            News::Open => Some(OPEN),
            News::Out => Some(OUT),
            News::Safe => Some(SAFE),
            News::Turn => Some(TURN),
        };
        if let Some(fill) = fill {
            picture = picture.fill(point.x(), point.y(), fill);
        }
        picture = picture.dot(point.x(), point.y(), PATH);
    }
    for point in board.stones(question.prey) {
        picture = picture.heart(point.x(), point.y(), style::MARK);
    }
    let asked = question.point;
    picture
        .ghost(asked.x(), asked.y(), stone_of(question.to_move))
        .ring(asked.x(), asked.y(), style::MARK)
        .canvas()
}
