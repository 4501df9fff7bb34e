//! A position as a picture.

use std::collections::HashSet;

use draw::{GoBoard, Stone, style};
use go::{Board, Color, Move, Point};

use crate::{Problem, Side, Verdict};

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

/// The problem with its target coloured by the verdict and the line that starts with `first` played out, as SVG.
pub fn answer_picture(problem: &Problem, first: Side, verdict: Verdict, line: &[Move]) -> String {
    /// Moves drawn; more would hide each other.
    const MOVES_DRAWN: usize = 9;
    let life = match verdict {
        Verdict::Safe => Some(1.0),
        Verdict::Unsafe => Some(0.0),
        Verdict::Unknown => None,
    };
    let mut picture = picture(problem.board());
    for stone in problem.target_stones() {
        if let Some(life) = life {
            picture = picture.heart(stone.x(), stone.y(), style::heat(life));
        }
    }
    let mut color = problem.color(first);
    let mut taken = HashSet::new();
    for (at, mv) in line.iter().take(MOVES_DRAWN).enumerate() {
        if let Some(point) = mv.point()
            && taken.insert(point)
        {
            let stone = match color {
                Color::Black => Stone::Black,
                Color::White => Stone::White,
            };
            picture = picture.ghost(point.x(), point.y(), stone).letter(
                point.x(),
                point.y(),
                &(at + 1).to_string(),
            );
        }
        color = color.opponent();
    }
    picture.to_svg()
}
