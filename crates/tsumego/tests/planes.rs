//! Each of our planes on a drawn position, with a drawing of what it must hold by its definition.
//! `X` is black, `O` white; the target is white. In the drawings of planes a dot is zero.

use go::{Board, BoardSize, Color, Point, PointSet};
use tsumego::{
    FeatureSet, Planes, Problem, Side, TENGEN_PLANES, euler_number, eyes_in, features,
    nakade_centre,
};

/// White has three in a row in the corner, behind a black wall.
const THREE_IN_A_ROW: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . . . O X . .";

/// The same group with two eyes.
const TWO_EYES: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . O . O X . .";

/// A black stone in the middle of the three.
const NAKADE_PLAYED: &str = "\
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X X X X X . .
    O O O O X . .
    . X . O X . .";

/// Blocks of one, two, three and more stones, with one, two, three and more liberties.
const MANY_BLOCKS: &str = "\
    O X . . . . .
    . . . O O . X
    . . . . . . X
    . . . . . . X
    X X X X X . .
    O O O O X . .
    . . . O X . .";

fn board(drawing: &str) -> Board {
    let side = drawing.lines().count();
    Board::from_diagram(BoardSize::new(side).unwrap(), drawing).unwrap()
}

/// The planes of a drawing whose target holds the first point of the second row from below.
fn planes(drawing: &str) -> Planes {
    planes_of(board(drawing), Point::new(0, 1))
}

fn planes_of(board: Board, target: Point) -> Planes {
    let problem = Problem::new(board, &[target]).unwrap();
    features(&problem, Side::Attacker, FeatureSet::Tengen)
}

fn plane_named(name: &str) -> usize {
    TENGEN_PLANES.iter().position(|&n| n == name).expect(name)
}

/// A plane as a drawing.
fn draw(planes: &Planes, name: &str) -> String {
    let plane = plane_named(name);
    drawing_of(planes, |point| planes.at(point, plane))
}

fn drawing_of(planes: &Planes, value: impl Fn(Point) -> i64) -> String {
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
fn expect(planes: &Planes, name: &str, drawing: &str) {
    let rows: Vec<&str> = drawing.trim().lines().map(str::trim).collect();
    let found = draw(planes, name);
    assert_eq!(found, rows.join("\n"), "{name}:\n{found}");
}

/// The points of a plane that are not zero.
fn marked(planes: &Planes, name: &str) -> Vec<(usize, usize)> {
    let plane = plane_named(name);
    let points = BoardSize::new(planes.side).unwrap().points();
    points
        .filter(|&point| planes.at(point, plane) != 0)
        .map(|point| (point.x(), point.y()))
        .collect()
}

#[test]
fn whole_planes_tell_the_board_and_who_starts() {
    let problem = Problem::new(board(THREE_IN_A_ROW), &[Point::new(0, 1)]).unwrap();
    for (first, starts, waits) in [
        (Side::Attacker, "attacker starts", "defender starts"),
        (Side::Defender, "defender starts", "attacker starts"),
    ] {
        let planes = features(&problem, first, FeatureSet::Tengen);
        assert_eq!(marked(&planes, "on the board").len(), 49);
        assert_eq!(marked(&planes, starts).len(), 49);
        assert!(marked(&planes, waits).is_empty());
    }
}

#[test]
fn stones_are_told_by_side_and_target() {
    let planes = planes(MANY_BLOCKS);
    expect(
        &planes,
        "ally",
        "1 . . . . . .
         . . . 1 1 . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         1 1 1 1 . . .
         . . . 1 . . .",
    );
    expect(
        &planes,
        "enemy",
        ". 1 . . . . .
         . . . . . . 1
         . . . . . . 1
         . . . . . . 1
         1 1 1 1 1 . .
         . . . . 1 . .
         . . . . 1 . .",
    );
    expect(
        &planes,
        "target",
        ". . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         1 1 1 1 . . .
         . . . 1 . . .",
    );
}

#[test]
fn liberties_are_counted_up_to_four() {
    let planes = planes(MANY_BLOCKS);
    assert_eq!(marked(&planes, "1 liberty"), [(0, 6)]);
    assert_eq!(marked(&planes, "2 liberties"), [(1, 6)]);
    let target = [(3, 0), (0, 1), (1, 1), (2, 1), (3, 1)];
    assert_eq!(marked(&planes, "3 liberties"), target);
    expect(
        &planes,
        "4 liberties or more",
        ". . . . . . .
         . . . 1 1 . 1
         . . . . . . 1
         . . . . . . 1
         1 1 1 1 1 . .
         . . . . 1 . .
         . . . . 1 . .",
    );
}

#[test]
fn stones_of_a_block_are_counted_up_to_four() {
    let planes = planes(MANY_BLOCKS);
    assert_eq!(marked(&planes, "1 stone"), [(0, 6), (1, 6)]);
    assert_eq!(marked(&planes, "2 stones"), [(3, 5), (4, 5)]);
    assert_eq!(marked(&planes, "3 stones"), [(6, 3), (6, 4), (6, 5)]);
    expect(
        &planes,
        "4 stones or more",
        ". . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         1 1 1 1 1 . .
         1 1 1 1 1 . .
         . . . 1 1 . .",
    );
}

#[test]
fn a_sure_eye_is_closed_in_by_the_three_by_three_around_it() {
    // The corner has its three stones, the point at the edge its five.
    assert_eq!(marked(&planes(TWO_EYES), "sure eye"), [(0, 0), (2, 0)]);
    assert!(marked(&planes(THREE_IN_A_ROW), "sure eye").is_empty());
}

#[test]
fn an_eye_needs_no_enemy_beside_and_few_safe_ones_diagonal_to_it() {
    // At the edge one safe diagonal is too many, inside two are.
    let planes = planes(
        "\
        . . . . . . .
        . . . . . . .
        . . . X X . .
        . X . X . . .
        X X X X X . .
        O O O O X . .
        . . . O X . .",
    );
    expect(
        &planes,
        "no enemy beside the point",
        "1 1 1 1 1 1 1
         1 1 1 . . 1 1
         1 . . . . . 1
         . . . . . 1 1
         . . . . . . 1
         . . . . . . 1
         1 1 1 . . . 1",
    );
    expect(
        &planes,
        "can be an eye of the ally",
        "1 1 1 1 1 1 1
         1 1 1 . . 1 1
         . . . . . . 1
         . . . . . . 1
         . . . . . . 1
         . . . . . . 1
         1 1 1 . . . 1",
    );
}

#[test]
fn a_stone_that_may_be_captured_may_become_an_eye() {
    // Black's stone inside is not safe, and takes the eye from its neighbours.
    let ally = marked(&planes(NAKADE_PLAYED), "can be an eye of the ally");
    assert!(ally.contains(&(1, 0)));
    assert!(!ally.contains(&(0, 0)) && !ally.contains(&(2, 0)));
}

#[test]
fn the_enemy_has_eyes_where_the_ally_is_not_safe() {
    // Any stone of a group that is not safe yet may be captured.
    expect(
        &planes(THREE_IN_A_ROW),
        "can be an eye of the enemy",
        "1 1 1 1 1 1 1
         1 1 1 1 1 1 1
         1 1 1 1 1 1 1
         1 1 1 1 1 1 1
         . . . . . 1 1
         1 1 1 1 . 1 1
         . . . 1 . 1 1",
    );
    // None of a group that is.
    for name in ["can be an eye of the enemy", "no ally beside the point"] {
        expect(
            &planes(TWO_EYES),
            name,
            "1 1 1 1 1 1 1
             1 1 1 1 1 1 1
             1 1 1 1 1 1 1
             1 1 1 1 1 1 1
             . . . . . 1 1
             . . . . . 1 1
             . . . . . 1 1",
        );
    }
}

#[test]
fn a_stone_in_a_ladder_is_marked_and_one_that_cannot_even_run_twice() {
    // Extending gives the corner stone no liberty.
    let hopeless = planes(
        "\
        . . . . . X O
        . . . . . X .
        . . . . . . X
        . . . . . . .
        X X X X X . .
        O O O O X . .
        . O . O X . .",
    );
    let lost_anyway = "captured in a ladder even if its owner starts";
    assert_eq!(marked(&hopeless, "captured in a ladder"), [(6, 6)]);
    assert_eq!(marked(&hopeless, lost_anyway), [(6, 6)]);
    // Two liberties: Black plays the upper one, and down the edge White meets the stones there.
    let chased = planes(
        "\
        . . . . . . .
        . . . . . . .
        . . . . . X O
        . . . . . X .
        X X X X X . .
        O O O O X . .
        . O . O X . .",
    );
    assert_eq!(marked(&chased, "captured in a ladder"), [(6, 4)]);
    assert!(marked(&chased, lost_anyway).is_empty());
}

#[test]
fn a_stone_that_no_ladder_catches_may_be_caught_in_a_net() {
    // Either ladder runs into White's stone below on the right; the net stops both at once.
    let planes = planes(
        "\
        . . . . . . . . . . .
        . . . . . . . . . . .
        . . . . . . X X . . .
        . . . . . X O . . . .
        . . . . . X . . . . .
        . . . . . . . . O . .
        . . . . . . . . . . .
        . . . . . . . . . . .
        X X X X X . . . . . .
        O O O O X . . . . . .
        . O . O X . . . . . .",
    );
    assert!(marked(&planes, "captured in a ladder").is_empty());
    assert_eq!(marked(&planes, "captured in a net"), [(6, 7)]);
    assert!(marked(&planes, "net move").contains(&(7, 6)));
}

#[test]
fn nakade_centres_are_where_the_shape_is_decided() {
    let planes = planes(THREE_IN_A_ROW);
    assert_eq!(marked(&planes, "nakade centre"), [(1, 0)]);
    let shape = |cells: &[(usize, usize)]| {
        nakade_centre(&cells.iter().map(|&(x, y)| Point::new(x, y)).collect())
            .map(|point| (point.x(), point.y()))
    };
    let pyramid = [(0, 0), (1, 0), (2, 0), (1, 1)];
    let square = [(0, 0), (1, 0), (0, 1), (1, 1)];
    let straight = [(0, 0), (1, 0), (2, 0), (3, 0)];
    let bulky = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)];
    let cross = [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2)];
    let rabbity = [(0, 1), (1, 1), (2, 1), (1, 0), (1, 2), (2, 2)];
    assert_eq!(shape(&pyramid), Some((1, 0)));
    assert_eq!(shape(&square), None, "dead already");
    assert_eq!(shape(&straight), None, "the two middle points are miai");
    assert_eq!(shape(&bulky), Some((1, 0)));
    assert_eq!(shape(&cross), Some((1, 1)));
    assert_eq!(shape(&rabbity), Some((1, 1)));
}

#[test]
fn walls_and_living_groups_are_safe() {
    let wall = "
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        1 1 1 1 1 . .
        . . . . 1 . .
        . . . . 1 . .";
    for drawing in [THREE_IN_A_ROW, TWO_EYES, NAKADE_PLAYED] {
        // A stone inside the target's eye space is no wall.
        expect(&planes(drawing), "safe enemy", wall);
    }
    expect(
        &planes(TWO_EYES),
        "safe ally",
        ". . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         1 1 1 1 . . .
         . 1 . 1 . . .",
    );
    assert!(marked(&planes(THREE_IN_A_ROW), "safe ally").is_empty());
}

/// Regions of one, two, three (bent) and four (square) points.
const SMALL_REGIONS: &str = "\
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    X X X X X X X X X X X
    O O O O O O O O O O X
    . O . O . O O . . O X
    O O . O . . O . . O X";

/// Regions of five (bulky), six (two by three) and ten points, the last with two black stones.
const LARGE_REGIONS: &str = "\
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    . . . . . . . . . . . . .
    X X X X X X X X X X X X X
    O O O O O O O O O O O O O
    . . O O . . . O . . . . .
    . . . O . . . O . X X . .";

const FIVE: [(usize, usize); 5] = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)];
const SIX: [(usize, usize); 6] = [(4, 0), (5, 0), (6, 0), (4, 1), (5, 1), (6, 1)];

#[test]
fn regions_are_told_by_their_size() {
    let small = planes_of(board(SMALL_REGIONS), Point::new(0, 2));
    assert_eq!(marked(&small, "region of 1"), [(0, 1)]);
    assert_eq!(marked(&small, "region of 2"), [(2, 0), (2, 1)]);
    assert_eq!(marked(&small, "region of 3"), [(4, 0), (5, 0), (4, 1)]);
    let square = [(7, 0), (8, 0), (7, 1), (8, 1)];
    assert_eq!(marked(&small, "region of 4"), square);
    let large = planes_of(board(LARGE_REGIONS), Point::new(0, 2));
    assert_eq!(marked(&large, "region of 5"), FIVE);
    assert_eq!(marked(&large, "region of 6"), SIX);
    let ten = marked(&large, "region of 7 or more");
    assert_eq!(ten.len(), 10);
    assert!(ten.iter().all(|&(x, y)| x >= 8 && y <= 1), "{ten:?}");
}

#[test]
fn regions_hold_empty_points_and_stones_and_may_be_vital() {
    let large = planes_of(board(LARGE_REGIONS), Point::new(0, 2));
    let at = |x, y, name| large.at(Point::new(x, y), plane_named(name));
    assert_eq!(at(0, 0, "empty points of the region"), 5);
    assert_eq!(at(0, 0, "enemy stones in the region"), 0);
    // Eight empty points and two stones, of either kind of point in it.
    for x in [8, 9] {
        assert_eq!(at(x, 0, "empty points of the region"), 8);
        assert_eq!(at(x, 0, "enemy stones in the region"), 2);
    }
    // In each of these some point has no stone of the target beside it: (0, 0), (5, 0), (11, 0).
    assert_eq!(at(8, 0, "region vital to the target"), 0);
    let vital = marked(&large, "region vital to the target");
    assert!(vital.is_empty(), "{vital:?}");
    let small = planes_of(board(SMALL_REGIONS), Point::new(0, 2));
    assert_eq!(marked(&small, "region vital to the target").len(), 10);
}

#[test]
fn regions_give_the_eyes_that_proverbs_say() {
    let small = planes_of(board(SMALL_REGIONS), Point::new(0, 2));
    let large = planes_of(board(LARGE_REGIONS), Point::new(0, 2));
    for (planes, points) in [(&small, 10), (&large, 21)] {
        for name in [
            "an eye if the attacker starts",
            "an eye if the defender starts",
        ] {
            assert_eq!(marked(planes, name).len(), points, "{name}");
        }
    }
    // One, two and the square four give one eye whoever starts; three give two if defended.
    let three = [(4, 0), (5, 0), (4, 1)];
    assert_eq!(marked(&small, "two eyes if the defender starts"), three);
    assert!(marked(&small, "two eyes if the attacker starts").is_empty());
    // The bulky five gives two only if defended, six in a rectangle and more always.
    assert_eq!(marked(&large, "two eyes if the defender starts").len(), 21);
    let attacked = marked(&large, "two eyes if the attacker starts");
    assert_eq!(attacked.len(), 16);
    assert!(FIVE.iter().all(|point| !attacked.contains(point)));
}

#[test]
fn eye_shapes_give_what_proverbs_say() {
    let eyes = |cells: &[(usize, usize)]| {
        let points = cells.iter().map(|&(x, y)| Point::new(x, y)).collect();
        [true, false].map(|owner_first| eyes_in(&points, &PointSet::EMPTY, owner_first))
    };
    assert_eq!(eyes(&[(0, 0)]), [1, 1]);
    assert_eq!(eyes(&[(0, 0), (1, 0)]), [1, 1]);
    assert_eq!(eyes(&[(0, 0), (1, 0), (2, 0)]), [2, 1], "three in a row");
    let straight = [(0, 0), (1, 0), (2, 0), (3, 0)];
    assert_eq!(eyes(&straight), [2, 2], "straight four lives");
    let square = [(0, 0), (1, 0), (0, 1), (1, 1)];
    assert_eq!(eyes(&square), [1, 1], "square four is dead");
    let pyramid = [(0, 0), (1, 0), (2, 0), (1, 1)];
    assert_eq!(eyes(&pyramid), [2, 1], "pyramid four");
    assert_eq!(eyes(&FIVE), [2, 1], "bulky five");
    assert_eq!(eyes(&SIX), [2, 2], "rectangular six lives");
}

#[test]
fn the_euler_number_is_blocks_less_holes() {
    let one_ring = board(". . . .\nO O O .\nO . O .\nO O O .");
    assert_eq!(euler_number(&one_ring, Color::White), 0);
    let two_stones = board(". . . .\n. O . .\n. . O .\n. . . .");
    assert_eq!(euler_number(&two_stones, Color::White), 2);
    // Three blocks of either colour, without a hole.
    let planes = planes(MANY_BLOCKS);
    for name in ["Euler number of the ally", "Euler number of the enemy"] {
        assert_eq!(draw(&planes, name), ["3 3 3 3 3 3 3"; 7].join("\n"));
    }
}

/// The liberties a stone of a side would have, put together from the four planes.
fn liberties_after(planes: &Planes, side: &str) -> String {
    let names = [
        "1 liberty",
        "2 liberties",
        "3 liberties",
        "4 liberties or more",
    ];
    let numbers = names.map(|name| plane_named(&format!("{side} plays: {name}")));
    drawing_of(planes, |point| {
        (1..)
            .zip(numbers)
            .map(|(count, plane)| count * planes.at(point, plane))
            .sum()
    })
}

#[test]
fn plays_tell_the_liberties_a_stone_would_have() {
    let planes = planes(NAKADE_PLAYED);
    let rows = [
        "2 3 3 3 3 3 2",
        "3 4 4 4 4 4 3",
        "3 4 4 4 4 4 3",
        "2 3 3 3 3 4 3",
        ". . . . . 3 3",
        ". . . . . 3 3",
        "1 . 1 . . 2 2",
    ];
    assert_eq!(liberties_after(&planes, "ally"), rows.join("\n"));
    // A stone beside the wall has the wall's liberties.
    let rows = [
        "2 3 3 3 3 3 2",
        "3 4 4 4 4 4 3",
        "3 4 4 4 4 4 3",
        "4 4 4 4 4 4 3",
        ". . . . . 4 3",
        ". . . . . 4 3",
        "1 . 1 . . 4 2",
    ];
    assert_eq!(liberties_after(&planes, "enemy"), rows.join("\n"));
    for name in ["self-atari of the ally", "self-atari of the enemy"] {
        assert_eq!(marked(&planes, name), [(0, 0), (2, 0)]);
    }
}

#[test]
fn plays_tell_what_they_capture() {
    assert!(marked(&planes(NAKADE_PLAYED), "stones the ally captures").is_empty());
    // Both sides capture in the corner: White one stone, Black the six of the target.
    let planes = planes(&NAKADE_PLAYED.replace(". X . O", ". X O O"));
    expect(
        &planes,
        "stones the ally captures",
        ". . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         1 . . . . . .",
    );
    expect(
        &planes,
        "stones the enemy captures",
        ". . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         . . . . . . .
         6 . . . . . .",
    );
}

#[test]
fn the_distance_is_counted_in_steps_to_the_nearest_stone_of_the_target() {
    expect(
        &planes(THREE_IN_A_ROW),
        "distance to the target",
        "5 5 5 5 6 7 8
         4 4 4 4 5 6 7
         3 3 3 3 4 5 6
         2 2 2 2 3 4 5
         1 1 1 1 2 3 4
         . . . . 1 2 3
         1 1 1 . 1 2 3",
    );
}

#[test]
fn the_zone_is_the_room_and_the_stones_in_it() {
    for drawing in [THREE_IN_A_ROW, NAKADE_PLAYED] {
        expect(
            &planes(drawing),
            "zone",
            ". . . . . . .
             . . . . . . .
             . . . . . . .
             . . . . . . .
             . . . . . . .
             1 1 1 1 . . .
             1 1 1 1 . . .",
        );
    }
}

#[test]
fn second_liberties_lie_behind_the_first() {
    assert!(marked(&planes(THREE_IN_A_ROW), "second liberty of the target").is_empty());
    let deep = "\
        . . . . . . .
        . . . . . . .
        . . . . . . .
        X X X X X . .
        O O O O X . .
        . . . O X . .
        . . . O X . .";
    let planes = planes_of(board(deep), Point::new(0, 2));
    let second = marked(&planes, "second liberty of the target");
    assert_eq!(second, [(0, 0), (1, 0)]);
}

#[test]
fn the_ko_point_is_where_a_stone_was_just_taken() {
    let mut board = board(
        "\
        . . . . . . .
        . X O . . . .
        X O . O . . .
        . X O . . . .
        X X X X X . .
        O O O O X . .
        . . . O X . .",
    );
    let undo = board.play(Point::new(2, 4), Color::Black);
    assert_eq!(undo.captured_stones(), 1);
    let planes = planes_of(board, Point::new(0, 1));
    assert_eq!(marked(&planes, "ko"), [(1, 4)]);
}
