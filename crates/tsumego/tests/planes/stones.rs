//! Planes of stones, eyes, ladders and safety.

use go::Point;
use tsumego::{FeatureSet, Problem, Side, features};

use crate::drawing::{
    MANY_BLOCKS, NAKADE_PLAYED, THREE_IN_A_ROW, TWO_EYES, board, expect, marked, planes,
};

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

/// The original's windows lie around the stone that the problem marks, not around the first of its block.
#[test]
fn windows_on_the_originals_planes_are_centred_on_the_marked_stone() {
    let board = board(THREE_IN_A_ROW);
    let block = Problem::new(board.clone(), &[Point::new(0, 1)]).unwrap();
    for stone in block.target_stones() {
        let problem = Problem::new(board.clone(), &[stone]).unwrap();
        for set in [FeatureSet::Original5, FeatureSet::Original13] {
            let planes = features(&problem, Side::Attacker, set);
            let top = board.size().get() - 1;
            assert_eq!(planes.centre(11), (stone.x(), top - stone.y()), "{stone}");
        }
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
