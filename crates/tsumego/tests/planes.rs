//! Every plane on a drawn position. `X` is black, `O` white; the target is white.

use go::{Board, BoardSize, Color, Point};
use tsumego::{
    FeatureSet, Planes, Problem, Side, TENGEN_PLANES, can_be_eye, euler_number, eyes_in, features,
    is_sure_eye, nakade_centre,
};

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

fn tengen(drawing: &str, target: (usize, usize)) -> Planes {
    features(
        &problem(drawing, target),
        Side::Attacker,
        FeatureSet::Tengen,
    )
}

/// The points where one of our planes is not zero.
fn marked(planes: &Planes, name: &str) -> Vec<(usize, usize)> {
    let plane = TENGEN_PLANES.iter().position(|&n| n == name).expect(name);
    let size = BoardSize::new(planes.side).unwrap();
    size.points()
        .filter(|&point| planes.at(point, plane) != 0)
        .map(|point| (point.x(), point.y()))
        .collect()
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
fn sure_eyes_lie_in_the_centre_at_the_edge_and_in_the_corner() {
    let eyes = board(
        "\
        . O . O . O .\n\
        O O . O O O .\n\
        . . . . . . .\n\
        . O O . . . .\n\
        O . O . . . .\n\
        O O O . O O X\n\
        . O . O . O .",
    );
    let sure = |x, y| is_sure_eye(&eyes, Point::new(x, y));
    assert!(sure(0, 6), "corner");
    assert!(sure(4, 6), "edge");
    assert!(sure(1, 2), "centre, one diagonal open");
    assert!(!sure(4, 0), "edge without a stone above on one side");
    assert!(!sure(2, 6));
}

#[test]
fn an_eye_needs_room_from_safe_enemies() {
    let position = problem(THREE_IN_A_ROW, (0, 1));
    let safe = tsumego::wall_stones(position.board(), position.target(), Color::White);
    let can = |x, y| can_be_eye(position.board(), Point::new(x, y), Color::White, &safe);
    assert!(can(0, 0) && can(1, 0) && can(2, 0));
    assert!(!can(5, 0), "a black stone is beside it");
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    assert!(marked(&planes, "can be an eye of the ally").contains(&(1, 0)));
    assert!(!marked(&planes, "no enemy beside the point").contains(&(5, 0)));
    assert!(!marked(&planes, "can be an eye of the enemy").contains(&(1, 0)));
    assert!(!marked(&planes, "no ally beside the point").contains(&(1, 0)));
}

#[test]
fn nakade_centres_are_where_the_shape_is_decided() {
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    assert_eq!(marked(&planes, "nakade centre"), [(1, 0)]);
    let shape = |cells: &[(usize, usize)]| {
        nakade_centre(&cells.iter().map(|&(x, y)| Point::new(x, y)).collect())
    };
    assert_eq!(
        shape(&[(0, 0), (1, 0), (2, 0), (1, 1)]),
        Some(Point::new(1, 0)),
        "pyramid four"
    );
    assert_eq!(
        shape(&[(0, 0), (1, 0), (0, 1), (1, 1)]),
        None,
        "square four"
    );
    assert_eq!(
        shape(&[(0, 0), (1, 0), (2, 0), (3, 0)]),
        None,
        "straight four"
    );
    let bulky = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)];
    assert_eq!(shape(&bulky), Some(Point::new(1, 0)), "bulky five");
    let cross = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2)];
    assert_eq!(shape(&cross), Some(Point::new(1, 1)), "cross five");
    let rabbity = [(0, 1), (1, 1), (2, 1), (1, 0), (1, 2), (2, 2)];
    assert_eq!(shape(&rabbity), Some(Point::new(1, 1)), "rabbity six");
}

#[test]
fn eye_shapes_give_what_proverbs_say() {
    let eyes = |cells: &[(usize, usize)]| {
        let points = cells.iter().map(|&(x, y)| Point::new(x, y)).collect();
        let none = go::PointSet::EMPTY;
        (
            eyes_in(&points, &none, true),
            eyes_in(&points, &none, false),
        )
    };
    assert_eq!(eyes(&[(0, 0)]), (1, 1));
    assert_eq!(eyes(&[(0, 0), (1, 0)]), (1, 1));
    assert_eq!(eyes(&[(0, 0), (1, 0), (2, 0)]), (2, 1), "three in a row");
    assert_eq!(
        eyes(&[(0, 0), (1, 0), (2, 0), (3, 0)]),
        (2, 2),
        "straight four lives"
    );
    assert_eq!(
        eyes(&[(0, 0), (1, 0), (0, 1), (1, 1)]),
        (1, 1),
        "square four is dead"
    );
    assert_eq!(
        eyes(&[(0, 0), (1, 0), (2, 0), (1, 1)]),
        (2, 1),
        "pyramid four"
    );
}

#[test]
fn regions_are_measured() {
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    let row = [(0, 0), (1, 0), (2, 0)];
    assert_eq!(marked(&planes, "region of 3"), row);
    assert_eq!(marked(&planes, "region vital to the target"), row);
    assert_eq!(marked(&planes, "two eyes if the defender starts"), row);
    assert!(marked(&planes, "two eyes if the attacker starts").is_empty());
    assert_eq!(marked(&planes, "an eye if the attacker starts"), row);
    assert_eq!(marked(&planes, "an eye if the defender starts"), row);
    let count = TENGEN_PLANES
        .iter()
        .position(|&n| n == "empty points of the region");
    assert_eq!(planes.at(Point::new(0, 0), count.unwrap()), 3);
    assert!(marked(&planes, "enemy stones in the region").is_empty());
}

#[test]
fn the_euler_number_is_blocks_less_holes() {
    let one_ring = board(". . . .\nO O O .\nO . O .\nO O O .");
    assert_eq!(euler_number(&one_ring, Color::White), 0);
    let two_stones = board(". . . .\n. O . .\n. . O .\n. . . .");
    assert_eq!(euler_number(&two_stones, Color::White), 2);
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    assert_eq!(marked(&planes, "Euler number of the ally").len(), 49);
}

#[test]
fn walls_and_living_groups_are_safe() {
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    let wall = marked(&planes, "safe enemy");
    assert_eq!(wall.len(), 7);
    assert!(marked(&planes, "safe ally").is_empty());
    let living = "\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        X X X X X . .\n\
        O O O O X . .\n\
        . O . O X . .";
    assert_eq!(marked(&tengen(living, (0, 1)), "safe ally").len(), 6);
}

#[test]
fn ladders_and_nets_are_seen() {
    // The stone in the far corner cannot even run.
    let ladder = "\
        . . . . . X O\n\
        . . . . . X .\n\
        . . . . . . X\n\
        . . . . . . .\n\
        X X X X X . .\n\
        O O O O X . .\n\
        . . . O X . .";
    let planes = tengen(ladder, (0, 1));
    assert_eq!(marked(&planes, "captured in a ladder"), [(6, 6)]);
    let hopeless = marked(&planes, "captured in a ladder even if its owner starts");
    assert_eq!(hopeless, [(6, 6)]);
    let net = "\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . . . . . . .\n\
        . . . X X . . . .\n\
        . . X O . . . . .\n\
        . . X . . . . . .\n\
        X X X X X . . . .\n\
        O O O O X . . . .\n\
        . . . O X . . . .";
    let planes = tengen(net, (0, 1));
    let both = [
        marked(&planes, "captured in a net"),
        marked(&planes, "captured in a ladder"),
    ];
    assert!(both.iter().any(|plane| plane.contains(&(3, 4))), "{both:?}");
}

#[test]
fn plays_tell_liberties_captures_and_self_atari() {
    let drawing = "\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        . . . . . . .\n\
        X X X X X . .\n\
        O O O O X . .\n\
        . X . O X . .";
    let planes = tengen(drawing, (0, 1));
    assert!(marked(&planes, "stones the ally captures").is_empty());
    assert!(marked(&planes, "ally plays: 1 liberty").contains(&(0, 0)));
    assert!(marked(&planes, "enemy plays: 1 liberty").contains(&(0, 0)));
    assert!(marked(&planes, "self-atari of the enemy").contains(&(0, 0)));
    assert!(marked(&planes, "self-atari of the ally").contains(&(0, 0)));
    assert!(marked(&planes, "ally plays: 4 liberties or more").contains(&(3, 5)));
    assert!(marked(&planes, "enemy plays: 4 liberties or more").contains(&(3, 3)));
    let capture = drawing.replace(". X . O", ". X O O");
    let planes = tengen(&capture, (0, 1));
    assert_eq!(marked(&planes, "stones the ally captures"), [(0, 0)]);
    assert_eq!(marked(&planes, "stones the enemy captures"), [(0, 0)]);
}

#[test]
fn places_tell_zone_distance_and_second_liberties() {
    let planes = tengen(THREE_IN_A_ROW, (0, 1));
    let zone = marked(&planes, "zone");
    assert_eq!(zone.len(), 8);
    let distance = TENGEN_PLANES
        .iter()
        .position(|&n| n == "distance to the target")
        .unwrap();
    assert_eq!(planes.at(Point::new(0, 0), distance), 1);
    assert_eq!(planes.at(Point::new(6, 1), distance), 3);
    assert!(marked(&planes, "second liberty of the target").is_empty());
    assert!(marked(&planes, "ko").is_empty());
    assert_eq!(marked(&planes, "attacker starts").len(), 49);
    assert!(marked(&planes, "defender starts").is_empty());
    assert_eq!(marked(&planes, "on the board").len(), 49);
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
