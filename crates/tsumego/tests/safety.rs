//! The network inside the program.

use go::{Board, BoardSize, Point};
use tsumego::{
    Accuracy, Limits, Problem, Reach, Recipe, SafetyNet, Side, expand_tree, generate, grow_tree,
};

fn inside() -> SafetyNet {
    SafetyNet::find(None, None).expect("the network inside the program is sound")
}

#[test]
fn whoever_starts_decides_three_in_a_row() {
    let drawing = "
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        X X X X X . .
        O O O O X . .
        . . . O X . .";
    let board = Board::from_diagram(BoardSize::new(7).unwrap(), drawing).unwrap();
    let problem = Problem::new(board, &[Point::new(0, 1)]).unwrap();
    let net = inside();
    assert!(net.chance_of_life(&problem, Side::Attacker, true) < 0.5);
    assert!(net.chance_of_life(&problem, Side::Defender, true) > 0.5);
}

#[test]
fn two_eyes_live_and_one_does_not() {
    for (bottom, is_safe) in [(". O . O X . .", true), (". O O O X . .", false)] {
        let drawing = format!(
            "
            . . . . . . .
            . . . . . . .
            . . . . . . .
            . . . . . . .
            X X X X X . .
            O O O O X . .
            {bottom}"
        );
        let board = Board::from_diagram(BoardSize::new(7).unwrap(), &drawing).unwrap();
        let problem = Problem::new(board, &[Point::new(0, 1)]).unwrap();
        let chance = inside().chance_of_life(&problem, Side::Attacker, true);
        assert_eq!(chance > 0.5, is_safe, "{bottom}: {chance}");
    }
}

/// Fails if the planes come to mean something else than what the network was trained on.
#[test]
fn it_is_mostly_right_about_problems_it_has_not_seen() {
    const SEED_NOBODY_TRAINED_ON: u64 = 990_001;
    const PROBLEMS: usize = 25;
    const LEAST: f64 = 0.8;
    let recipe = Recipe {
        seed: SEED_NOBODY_TRAINED_ON,
        most_nodes: 5_000,
        ..Recipe::default()
    };
    let reach = Reach {
        most: 25,
        ..Reach::default()
    };
    let net = inside();
    let mut score = Accuracy::default();
    let problems = (0..).filter_map(|number| generate(&recipe, number));
    for found in problems.take(PROBLEMS) {
        let tree = grow_tree(&found.problem, "", &reach, &Limits::default());
        for position in expand_tree(&tree, &Side::BOTH).unwrap() {
            let chance = net.chance_of_life(&position.problem, position.first, false);
            score.add(position.is_safe, chance > 0.5);
        }
    }
    assert!(score.balanced_accuracy() > LEAST, "{score:?}");
}
