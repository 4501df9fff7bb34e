//! What the value learns from: fair results, and who has the points.

use go_player::planes::HISTORY;

use super::*;
use crate::owners;

#[test]
fn owners_turn_with_the_position() {
    let size = BoardSize::new(7).unwrap();
    let board = owners::tests::finished();
    let example = GoExample {
        planes: BitPlanes::of(size, Color::White, [board.all_stones()].into_iter()),
        to_move: Color::White,
        policy: example::Policy::Move(0),
        outcome: -1.0,
        owners: Some(owners::Owners::of(&board, 1)),
    };
    let settings = settings(7, 1, 8, Path::new(""));
    let mut task = GoTask::from_examples(settings, vec![example.clone()], Vec::new()).unwrap();
    task.load(Part::Train, 0, 1).unwrap();
    for symmetry in Symmetry::ALL {
        let mut row = [0.0; 49];
        task.writer.write_owners(&example, symmetry, &mut row);
        task.writer.write(
            &example,
            symmetry,
            0,
            &mut task.input,
            &mut task.policy,
            &mut task.outcome,
        );
        let planes = task.input.plain(0);
        let owned = |stones: &[f32], owner: f32| {
            let cells = stones.iter().zip(row);
            cells
                .filter(|&(&stone, o)| stone == 1.0 && o == owner)
                .count()
        };
        let (mine, theirs) = (&planes[..49], &planes[HISTORY * 49..(HISTORY + 1) * 49]);
        // One stone of each side is dead.
        assert_eq!(
            [owned(mine, 1.0), owned(mine, 0.0)],
            [17, 1],
            "{symmetry:?}"
        );
        assert_eq!(
            [owned(theirs, 0.0), owned(theirs, 1.0)],
            [24, 1],
            "{symmetry:?}"
        );
    }
}

#[test]
fn a_value_that_starts_anew_counts_what_the_third_head_gives() {
    const SAMPLES: usize = 6;
    let folder = folder_of_games(9, 6);
    let mut settings = settings(9, 1, 6, folder.path());
    settings.owner_weight = 1.0;
    settings.count_from = Some(3);
    let mut task = GoTask::new(settings).unwrap();
    for param in task.model.params_mut() {
        if param.name == "value/hidden/weights" {
            param.values.fill(0.0);
        }
    }
    task.begin_step(3);
    task.load(Part::Train, 3, SAMPLES).unwrap();
    task.forward(Mode::Train { seed: 1 });
    let rows = (0..SAMPLES).map(|index| &task.model.output(OWNER_HEAD).sample(index)[..81]);
    let rows: Vec<Vec<f64>> = rows
        .map(|row| row.iter().map(|&x| f64::from(x)).collect())
        .collect();
    let all = rows.concat();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
    for (index, row) in rows.iter().enumerate() {
        // A normalised plane, a standard deviation up, rectified and summed; 1.083 is its mean over random planes.
        let counted: f64 = row
            .iter()
            .map(|x| ((x - mean) / variance.sqrt() + 1.0).max(0.0))
            .sum();
        let expected = 0.004 * (counted - 1.083 * 81.0);
        let value = f64::from(task.model.output(VALUE_HEAD).sample(index)[0]);
        assert!((value - expected).abs() < 1e-3, "{value} {expected}");
    }
}

#[test]
fn both_colours_win_as_often_once_evened_out() {
    const MOVES: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    for number in 0..90 {
        let winner = if number % 3 == 0 { "B+R" } else { "W+3.5" };
        let text = random_sgf(5, MOVES, number, winner);
        std::fs::write(folder.path().join(format!("{number}.sgf")), text).unwrap();
    }
    let size = BoardSize::new(5).unwrap();
    let (mut games, _) = Games::read(&[folder.path().to_owned()], size).unwrap();
    let positions = games.positions();
    games.keep_fair_results();
    assert_eq!(games.positions(), positions, "moves are still learned");
    let mut fair = Games::read(&[folder.path().to_owned()], size).unwrap().0;
    fair.keep_fair_results();
    fair.keep_games_with_winner();
    assert_eq!(fair.positions(), 60 * MOVES as u64);
    assert!((0..fair.positions()).all(|index| !fair.example(index).outcome.is_nan()));
    let test = games.take_out(0.3);
    let wins = |games: &Games| {
        let mut wins = [0; 3];
        for index in (0..games.positions()).step_by(MOVES) {
            let example = games.example(index);
            let won = match example.outcome {
                outcome if outcome.is_nan() => 2,
                outcome => usize::from((outcome > 0.0) == (example.to_move == Color::Black)),
            };
            wins[won] += 1;
        }
        wins
    };
    let ([white, black, unknown], test) = (wins(&games), wins(&test));
    assert_eq!([white + test[0], black + test[1]], [30, 30]);
    assert_eq!(unknown + test[2], 30);
    assert!(test.iter().all(|&kind| kind > 0), "{test:?}");
}

#[test]
fn results_of_uneven_games_and_of_the_clock_are_not_learned() {
    let size = BoardSize::new(5).unwrap();
    let teach = |result: &str, komi: &str, handicap: &str| {
        let folder = tempfile::tempdir().unwrap();
        let even = random_sgf(5, 12, 1, "W+R");
        let mut tree = go::sgf::read(random_sgf(5, 12, 2, result).as_bytes())
            .unwrap()
            .games
            .remove(0);
        let root = tree.root();
        tree.set_text(root, "KM", komi);
        tree.set_text(root, "HA", handicap);
        for (name, text) in [("even.sgf", even), ("other.sgf", tree.to_string())] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (mut games, _) = Games::read(&[folder.path().to_owned()], size).unwrap();
        assert_eq!(games.with_winner(), 2);
        games.keep_fair_results();
        games.with_winner()
    };
    // An even win of White teaches as long as there is one of Black beside it.
    for fair in [
        ["B+R", "6.5", "0"],
        ["B+2.5", "7.5", "0"],
        ["B+", "5.5", "0"],
    ] {
        assert_eq!(teach(fair[0], fair[1], fair[2]), 2, "{fair:?}");
    }
    for unfair in [
        ["B+R", "0.5", "0"],
        ["B+R", "6.5", "2"],
        ["B+T", "6.5", "0"],
        ["B+F", "6.5", "0"],
    ] {
        assert_eq!(teach(unfair[0], unfair[1], unfair[2]), 0, "{unfair:?}");
    }
}
