//! The original's planes on a drawn position. `X` is black, `O` white; the target is white.

use go::{Board, BoardSize, Point};
use tsumego::{FeatureSet, Problem, Side, features};

/// White has three in a row in the corner, behind a black wall.
const THREE_IN_A_ROW: &str = "\
    . . . . . . .\n\
    . . . . . . .\n\
    . . . . . . .\n\
    . . . . . . .\n\
    X X X X X . .\n\
    O O O O X . .\n\
    . . . O X . .";

fn board(drawing: &str) -> Board {
    let side = drawing.lines().count();
    Board::from_diagram(BoardSize::new(side).unwrap(), drawing).unwrap()
}

fn problem(drawing: &str, target: (usize, usize)) -> Problem {
    Problem::new(board(drawing), &[Point::new(target.0, target.1)]).unwrap()
}

#[test]
fn thirteen_planes_have_a_ring_and_the_stones_inside() {
    let planes = features(
        &problem(THREE_IN_A_ROW, (0, 1)),
        Side::Attacker,
        FeatureSet::Original13,
    );
    assert_eq!((planes.side, planes.values.len()), (9, 9 * 9 * 13));
    let ring: i64 = planes.values.iter().step_by(13).sum();
    assert_eq!(ring, 4 * 8);
    let at = |x, y, plane| planes.at(Point::new(x, y), plane);
    // A white stone of the target: ally, target, three liberties, five stones.
    let corner: Vec<i64> = (0..13).map(|plane| at(0, 1, plane)).collect();
    assert_eq!(corner, [0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    // A black stone of the wall: enemy, four liberties or more, four stones or more.
    let wall: Vec<i64> = (0..13).map(|plane| at(4, 2, plane)).collect();
    assert_eq!(wall, [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!((0..13).map(|plane| at(0, 0, plane)).sum::<i64>(), 0);
}

#[test]
fn fourteen_planes_tell_the_edge_or_who_starts() {
    let problem = problem(THREE_IN_A_ROW, (0, 1));
    let planes = features(&problem, Side::Attacker, FeatureSet::Original14);
    assert_eq!((planes.side, planes.values.len()), (7, 7 * 7 * 14));
    assert!(planes.values.iter().step_by(14).all(|&value| value == 0));
    assert!(
        planes
            .values
            .iter()
            .skip(1)
            .step_by(14)
            .all(|&value| value == 1)
    );
    for (first, expected) in [(Side::Attacker, [1, 0]), (Side::Defender, [0, 1])] {
        let planes = features(&problem, first, FeatureSet::Original14First);
        assert_eq!(planes.values[..2], expected);
    }
    // The rest is as in the thirteen planes, one place further on.
    let thirteen = features(&problem, Side::Attacker, FeatureSet::Original13);
    for point in problem.board().size().points() {
        for plane in 1..13 {
            assert_eq!(thirteen.at(point, plane), planes.at(point, plane + 1));
        }
    }
}

#[test]
fn five_planes_are_the_first_ones() {
    let planes = features(
        &problem(THREE_IN_A_ROW, (0, 1)),
        Side::Attacker,
        FeatureSet::Original5,
    );
    let at = |x, y| {
        (0..5)
            .map(|p| planes.at(Point::new(x, y), p))
            .collect::<Vec<i64>>()
    };
    assert_eq!(at(0, 1), [0, 1, 0, 0, 1]);
    assert_eq!(at(4, 0), [0, 0, 1, 0, 1]);
}

#[test]
fn a_window_turns_with_its_symmetry() {
    let planes = features(
        &problem(THREE_IN_A_ROW, (0, 1)),
        Side::Attacker,
        FeatureSet::Original13,
    );
    let plain = planes.window((1, 5), 11, 0);
    for symmetry in 1..8 {
        let turned = planes.window((1, 5), 11, symmetry);
        let sum = |window: &[f32]| window.iter().sum::<f32>();
        assert_eq!(sum(&plain), sum(&turned));
        // The target stone in the middle stays in the middle.
        let middle = 3 * 121 + 60;
        assert_eq!((plain[middle], turned[middle]), (1.0, 1.0));
        assert_ne!(plain, turned, "symmetry {symmetry}");
    }
}
