//! Planes of the regions that a group closes in.

use go::Point;

use crate::drawing::{MANY_BLOCKS, board, draw, marked, plane_named, planes, planes_of};

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
fn planes_show_the_euler_number_of_either_colour() {
    // Three blocks of either colour, without a hole.
    let planes = planes(MANY_BLOCKS);
    for name in ["Euler number of the ally", "Euler number of the enemy"] {
        assert_eq!(draw(&planes, name), ["3 3 3 3 3 3 3"; 7].join("\n"));
    }
}
