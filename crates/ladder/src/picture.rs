//! Pictures of a [journey](crate::journey): a board for each stage.

use draw::{Anchor, Canvas, GoBoard, Rgb, Stone, style};
use go::{Board, Color, Point};

use crate::journey::{Journey, News};

/// Pixels from one point of the board to the next.
const CELL: f64 = 16.0;
/// Pixels around a panel.
const MARGIN: f64 = 14.0;
/// Panels side by side.
const COLUMNS: usize = 4;

const OPEN: Rgb = Rgb(240, 224, 186);
const OUT: Rgb = Rgb(32, 120, 60);
const SAFE: Rgb = Rgb(112, 196, 120);
const TURN: Rgb = Rgb(214, 96, 60);
const PATH: Rgb = Rgb(40, 80, 200);

/// All stages side by side, each a board coloured by what the scan knows.
pub fn picture(board: &Board, journey: &Journey) -> Canvas {
    let panels: Vec<Canvas> = journey
        .stages
        .iter()
        .map(|stage| panel(board, journey, &stage.news))
        .collect();
    let side = panels.first().map_or(0.0, |panel| panel.size().0) + 2.0 * MARGIN;
    let rows = panels.len().div_ceil(COLUMNS);
    let columns = panels.len().min(COLUMNS);
    let size = (columns as f64 * side, rows as f64 * side);
    let mut canvas = Canvas::new(size.0, size.1, style::PAPER);
    for (index, (panel, stage)) in panels.iter().zip(&journey.stages).enumerate() {
        let left = (index % COLUMNS) as f64 * side + MARGIN;
        let top = (index / COLUMNS) as f64 * side + MARGIN;
        let caption = format!("after block {}", stage.block);
        canvas.text(
            (left, top - 3.0),
            &caption,
            style::LABEL_SIZE,
            style::INK,
            Anchor::Start,
        );
        canvas.paste(panel, (left, top));
    }
    canvas
}

fn panel(board: &Board, journey: &Journey, news: &[News]) -> Canvas {
    let size = board.size();
    let stone = |x, y| {
        board.stone(Point::new(x, y)).map(|color| match color {
            Color::Black => Stone::Black,
            Color::White => Stone::White,
        })
    };
    let mut picture = GoBoard::new(size.get(), stone).cell(CELL).bare();
    for point in size.points() {
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
        if board.is_empty(point) && journey.path.contains(&point) {
            picture = picture.dot(point.x(), point.y(), PATH);
        }
    }
    picture.canvas()
}
