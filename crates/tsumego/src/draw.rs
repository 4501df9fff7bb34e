//! A position as a picture.

use draw::{GoBoard, Stone, style};
use go::{Board, Color, Point};

/// Draws a board as SVG. `chance` gives the chance that a stone lives: the stone is coloured from
/// red (dies) over yellow to green (lives). `marks` puts a letter on points.
pub fn to_svg(
    board: &Board,
    chance: &dyn Fn(Point) -> Option<f32>,
    marks: &[(Point, String)],
) -> String {
    let mut picture = picture(board);
    for point in board.size().points() {
        if let Some(chance) = chance(point).filter(|_| !board.is_empty(point)) {
            picture = picture.heart(point.x(), point.y(), style::heat(chance));
        }
    }
    for (point, mark) in marks {
        picture = picture.letter(point.x(), point.y(), mark);
    }
    picture.to_svg()
}

/// The stones of a board, to be marked and drawn.
pub fn picture(board: &Board) -> GoBoard {
    let stone = |x, y| {
        board.stone(Point::new(x, y)).map(|color| match color {
            Color::Black => Stone::Black,
            Color::White => Stone::White,
        })
    };
    GoBoard::new(board.size().get(), stone)
}
