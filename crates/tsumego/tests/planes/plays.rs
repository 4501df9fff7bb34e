//! Planes of what a play would do, of distance, zone and ko.

use go::{Color, Point};
use tsumego::Planes;

use crate::drawing::{
    NAKADE_PLAYED, THREE_IN_A_ROW, board, drawing_of, expect, marked, plane_named, planes,
    planes_of,
};

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
