use std::{path::Path, sync::atomic::AtomicBool};

use fleet::{Beginning, Event, Game, Learner, PlayerFor, Run, SelfPlayTask};
use go::{BoardSize, Symmetry};

use super::{ScoredGame, ScoredGo, ScoredHead, ScoredSettings, start};

const SMALL: &str = "sizes = [5, 4]
    blocks = 2
    channels = 16
    [selfplay]
    at_once = 4
    first_games = 6
    games = 4
    [selfplay.play]
    simulations = 4
    quick_simulations = 2
    full_share = 1.0
    resign_winrate = 0.0
    [training]
    window = 400
    batch = 8
    threads = 1
    [gate]
    simulations = 2
    at_once = 4
    min_games = 2
    max_games = 6
    [rating]
    games = 2
    anchors = ['random']";

fn small() -> ScoredSettings {
    toml::from_str(SMALL).unwrap()
}

/// A game of a random network, with the task it came from.
fn played(settings: &ScoredSettings, seed: u64) -> (ScoredGame, SelfPlayTask<'static>) {
    let folder = tempfile::tempdir().unwrap();
    let first = ScoredGo::first_network(settings).unwrap();
    let path = folder.path().join("first.net");
    std::fs::write(&path, &first.files.last().unwrap().1).unwrap();
    let player = ScoredGo::player(settings, PlayerFor::SelfPlay, Some(&path)).unwrap();
    let task = SelfPlayTask {
        number: 3,
        round: 1,
        network: "first",
        seed,
    };
    let stop = AtomicBool::new(false);
    let game = ScoredGo::play(settings, &player, &task, &stop)
        .unwrap()
        .unwrap();
    (game, task)
}

#[test]
fn every_setting_is_explained_in_the_file_of_a_new_run() {
    fleet::check_settings_table::<ScoredGo>();
}

#[test]
fn impossible_values_are_named() {
    let refused = |text: &str| {
        let settings: ScoredSettings = toml::from_str(text).unwrap();
        settings.check().unwrap_err().to_string()
    };
    assert_eq!(
        refused("sizes = [9, 40]"),
        "sizes is [9, 40]: it must be a list of sizes from 2 to 25"
    );
    assert!(refused("sizes = []").contains("a list of sizes"));
    assert!(refused("[selfplay.play]\nresign_winrate = 0.1").contains("played to the end"));
}

#[test]
fn a_seed_fixes_board_and_komi_and_all_boards_are_played() {
    let settings = small();
    let mut seen = [0; 2];
    let mut komi = Vec::new();
    for seed in 0..200 {
        let game = start(&settings, seed);
        assert_eq!(game.komi(), start(&settings, seed).komi());
        seen[usize::from(game.size().get() == 5)] += 1;
        komi.push(game.komi().points_for_white());
    }
    assert!(seen[0] > 60 && seen[1] > 60, "{seen:?}");
    assert!(komi.iter().all(|komi| (2.0 * komi).fract() == 0.0));
    let mean = komi.iter().sum::<f32>() / komi.len() as f32;
    assert!((mean - settings.selfplay.play.komi).abs() < 0.5, "{mean}");
    assert!(komi.iter().any(|&komi| komi != settings.selfplay.play.komi));
}

/// Black's wall on the third column of five: two columns for White, and both pass.
fn divided() -> ScoredGame {
    let moves = [
        "C1", "D1", "C2", "D2", "C3", "D3", "C4", "D4", "C5", "D5", "pass", "pass",
    ];
    ScoredGame {
        head: ScoredHead {
            number: 0,
            round: 0,
            network: String::new(),
            size: 5,
            komi: 4.5,
            moves: moves.map(String::from).to_vec(),
            // Three columns against two, less komi.
            result: "B+0.5".into(),
            turns: vec![0, 11],
        },
        policies: vec![vec![(2, 0.5), (12, 0.5)], vec![(25, 1.0)]],
    }
}

#[test]
fn the_end_of_a_game_tells_score_winner_and_owners_to_both_sides() {
    let record = divided();
    let examples = ScoredGo::examples(&record).unwrap();
    assert_eq!(examples.len(), 2);
    let unit = go_player::SCORE_UNIT;
    for (example, side) in examples.iter().zip([1.0, -1.0]) {
        assert_eq!(example.winrate, 0.5 + 0.5 * side);
        // The network learns the lead of the stones alone: fifteen points against ten.
        assert!((example.lead * unit - 5.0 * side).abs() < 1e-4);
        let mut owners = Vec::new();
        example.write_ownership(Symmetry::IDENTITY, &mut owners);
        for (cell, owner) in owners.into_iter().enumerate() {
            let black = if cell % 5 < 3 { 1.0 } else { -1.0 };
            assert_eq!(owner, black * side, "cell {cell}");
        }
    }
    let mut policy = Vec::new();
    examples[0].write_policy(Symmetry::IDENTITY, &mut policy);
    assert_eq!(
        (policy[2], policy[12], policy.iter().sum()),
        (0.5, 0.5, 1.0)
    );
    examples[1].write_policy(Symmetry::IDENTITY, &mut policy);
    assert_eq!(policy[25], 1.0);
}

#[test]
fn a_game_that_was_played_passes_and_a_changed_one_does_not() {
    let settings = small();
    let (game, task) = played(&settings, 11);
    let check = |game: &ScoredGame| ScoredGo::verify(&settings, &task, game);
    check(&game).unwrap();
    let back = ScoredGo::decode(&settings, &ScoredGo::encode(&game)).unwrap();
    assert_eq!(back, game);
    let refused = |change: fn(&mut ScoredGame)| {
        let mut changed = game.clone();
        change(&mut changed);
        check(&changed).unwrap_err()
    };
    assert!(refused(|game| game.head.komi += 1.0).contains("komi"));
    assert!(refused(|game| game.head.network = "other".into()).contains("played by"));
    assert!(refused(|game| game.head.result = "B+99".into()).contains("the result is"));
    assert!(refused(|game| game.head.moves[2] = game.head.moves[1].clone()).contains("move"));
    assert!(refused(|game| drop(game.head.moves.pop())).contains("not over"));
    assert!(refused(|game| game.policies[0][0].1 = 2.0).contains("sums to"));
    assert!(refused(|game| drop(game.policies.pop())).contains("not in order"));
    assert!(
        refused(|game| {
            game.head.turns.remove(0);
            game.policies.remove(0);
        })
        .contains("every move is recorded")
    );
}

#[test]
fn illegal_policies_are_refused() {
    let settings = small();
    let (mut game, task) = played(&settings, 12);
    // The second move may not be where the first stone stands.
    let first = game.head.moves[0].clone();
    let size = BoardSize::new(game.head.size).unwrap();
    let mv: go::Move = first.parse().unwrap();
    let Some(point) = mv.point() else {
        panic!("the first move is a play");
    };
    game.policies[1] = vec![(size.index(point) as u16, 1.0)];
    let error = ScoredGo::verify(&settings, &task, &game).unwrap_err();
    assert!(error.contains("which is illegal"), "{error}");
}

fn run(dir: &Path, beginning: &Beginning) -> Run<ScoredGo> {
    std::fs::write(dir.join("settings.toml"), SMALL).unwrap();
    Run::open(dir, beginning).unwrap()
}

#[test]
fn a_run_from_nothing_trains_gates_and_goes_on_from_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = run(folder.path(), &Beginning::default());
    let stop = AtomicBool::new(false);
    let mut trainings = 0;
    for _ in 0..12 {
        if let Event::Trained(line) = run.step(&stop, &|_| {}).unwrap() {
            trainings += 1;
            assert!(line.policy_loss.is_some_and(f64::is_finite));
            assert!(line.value_error.is_some_and(f64::is_finite));
        }
        if trainings == 2 {
            break;
        }
    }
    assert_eq!(trainings, 2);
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("Go with scores on 5x5, 4x4 from zero"));
    assert!(!page.contains("{{"), "a place is left open");
}
