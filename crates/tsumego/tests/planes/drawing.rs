//! Positions that several planes are drawn on, and planes as drawings.

use go::{Board, BoardSize, Point};
use tsumego::{FeatureSet, Planes, Problem, Side, TENGEN_PLANES, features};

/// White has three in a row in the corner, behind a black wall.
pub const THREE_IN_A_ROW: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . . . O X . .";

/// The same group with two eyes.
pub const TWO_EYES: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . O . O X . .";

/// A black stone in the middle of the three.
pub const NAKADE_PLAYED: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . X . O X . .";

/// Blocks of one, two, three and more stones, with one, two, three and more liberties.
pub const MANY_BLOCKS: &str = "\
    O X . . . . .
    . . . O O . X
    . . . . . . X
    . . . . . . X
    X X X X X . .
    O O O O X . .
    . . . O X . .";

pub fn board(drawing: &str) -> Board {
    let side = drawing.lines().count();
    Board::from_diagram(BoardSize::new(side).unwrap(), drawing).unwrap()
}

/// The planes of a drawing whose target holds the first point of the second row from below.
pub fn planes(drawing: &str) -> Planes {
    planes_of(board(drawing), Point::new(0, 1))
}

pub fn planes_of(board: Board, target: Point) -> Planes {
    let problem = Problem::new(board, &[target]).unwrap();
    features(&problem, Side::Attacker, FeatureSet::Tengen)
}

pub fn plane_named(name: &str) -> usize {
    TENGEN_PLANES.iter().position(|&n| n == name).expect(name)
}

/// A plane as a drawing.
pub fn draw(planes: &Planes, name: &str) -> String {
    let plane = plane_named(name);
    drawing_of(planes, |point| planes.at(point, plane))
}

pub fn drawing_of(planes: &Planes, value: impl Fn(Point) -> i64) -> String {
    let rows = (0..planes.side).rev().map(|y| {
        let row = (0..planes.side).map(|x| match value(Point::new(x, y)) {
            0 => ".".to_owned(),
            value => value.to_string(),
        });
        row.collect::<Vec<_>>().join(" ")
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[track_caller]
pub fn expect(planes: &Planes, name: &str, drawing: &str) {
    let rows: Vec<&str> = drawing.trim().lines().map(str::trim).collect();
    let found = draw(planes, name);
    assert_eq!(found, rows.join("\n"), "{name}:\n{found}");
}

/// The points of a plane that are not zero.
pub fn marked(planes: &Planes, name: &str) -> Vec<(usize, usize)> {
    let plane = plane_named(name);
    let points = BoardSize::new(planes.side).unwrap().points();
    points
        .filter(|&point| planes.at(point, plane) != 0)
        .map(|point| (point.x(), point.y()))
        .collect()
}
