//! Self-play files: the same bytes from any number of threads and after any interruption.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mario::{Example, Game, Rules, StallCounts};
use mario_player::{
    Budget, Decision, EvaluateError, Heuristic, HeuristicTree, Player, RoundZero, TreeSettings,
    View, Weights, read_records,
};
use mario_training::{PillSource, SelfPlaySettings, self_play};

fn settings() -> SelfPlaySettings {
    SelfPlaySettings {
        player: "heuristic".to_owned(),
        lowest_level: 0,
        highest_level: 4,
        levels: Vec::new(),
        pills: PillSource::Console,
        explore: true,
        seed: 7,
    }
}

fn new_player(_seed: u64) -> Box<dyn Player> {
    Box::new(Heuristic::one_ply(Weights::default()))
}

fn run(path: &Path, games: u64, threads: usize) -> u64 {
    let stop = AtomicBool::new(false);
    self_play(
        path,
        games,
        threads,
        &settings(),
        &new_player,
        &stop,
        |_| {},
    )
    .unwrap()
    .resumed
}

#[test]
fn threads_and_interruptions_do_not_change_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.txt");
    run(&whole, 6, 1);
    let bytes = std::fs::read(&whole).unwrap();
    let threaded = folder.path().join("threaded.txt");
    run(&threaded, 6, 3);
    assert_eq!(std::fs::read(&threaded).unwrap(), bytes);
    // A process killed at any byte leaves a prefix; going on from it gives the same file.
    let cut = folder.path().join("cut.txt");
    run(&cut, 1, 1);
    for length in [
        0,
        1,
        127,
        129,
        bytes.len() / 3,
        bytes.len() / 2,
        bytes.len() - 2,
        bytes.len(),
    ] {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let whole_games = bytes[..length]
            .split(|&b| b == b'\n')
            .filter(|line| matches!(*line, b"end" | b"stall"));
        let ended = bytes[..length].ends_with(b"end") || bytes[..length].ends_with(b"stall");
        assert_eq!(
            run(&cut, 6, 2),
            whole_games.count() as u64 - u64::from(ended)
        );
        assert_eq!(std::fs::read(&cut).unwrap(), bytes, "cut at {length}");
    }
}

#[test]
fn a_file_is_not_continued_with_other_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.txt");
    run(&path, 1, 1);
    let other = SelfPlaySettings {
        seed: 8,
        ..settings()
    };
    let stop = AtomicBool::new(false);
    let error = self_play(&path, 2, 1, &other, &new_player, &stop, |_| {}).unwrap_err();
    assert!(error.to_string().contains("other settings"), "{error}");
}

#[test]
fn records_replay_and_become_examples() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.txt");
    run(&path, 4, 2);
    let records: Vec<_> = read_records(&path)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(records.len(), 4);
    for record in &records {
        let examples = Example::of_record(record, StallCounts::AsLost).unwrap();
        assert_eq!(examples.len(), record.moves.len());
        for example in examples {
            assert!((example.moves.values().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

/// One virus, one red pair above it: a red-red pill on top wins at once.
fn one_move_win() -> View {
    let text = "d".repeat(104) + "edddddddedddddddadddddddd"[..24].trim();
    let board = text.parse().unwrap();
    let pills = mario::PillList::new(&["qu".parse().unwrap(), "rw".parse().unwrap()]).unwrap();
    View::of(&Game::new(board, pills, Rules::default()))
}

#[test]
fn every_player_finds_a_win_in_one() {
    let view = one_move_win();
    let weights = Weights::default;
    let tree = TreeSettings::default();
    let players: Vec<Box<dyn Player>> = vec![
        Box::new(Heuristic::one_ply(weights())),
        Box::new(Heuristic::two_plies(weights())),
        Box::new(HeuristicTree::new(
            weights(),
            tree,
            Budget::Playouts(200),
            1,
        )),
        Box::new(RoundZero::new(Budget::Playouts(3000), 1)),
    ];
    for mut player in players {
        let decision = player.decide(&view).unwrap().unwrap();
        let mut board = view.board;
        board.play(view.pill, decision.placement);
        assert_eq!(board.viruses_left(), 0, "{}", decision.placement);
    }
}

/// Plays on until its device fails.
struct Failing {
    plays: Heuristic,
    decisions_left: u32,
}

impl Player for Failing {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        if self.decisions_left == 0 {
            return Err(EvaluateError::new("the card was taken out"));
        }
        self.decisions_left -= 1;
        self.plays.decide(view)
    }
}

#[test]
fn a_network_that_fails_ends_self_play_with_its_error_and_keeps_whole_games() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    // The third game's player fails.
    let made = AtomicU32::new(0);
    let failing = |_: u64| -> Box<dyn Player> {
        let number = made.fetch_add(1, Ordering::Relaxed);
        Box::new(Failing {
            plays: Heuristic::one_ply(Weights::default()),
            decisions_left: if number == 2 { 3 } else { u32::MAX },
        })
    };
    let stop = AtomicBool::new(false);
    let ended = self_play(&path, 6, 1, &settings(), &failing, &stop, |_| {});
    assert_eq!(ended.unwrap_err().to_string(), "the card was taken out");
    assert_eq!(read_records(&path).unwrap().count(), 2);
    // With a player that works the same file goes on to the same bytes as without the failure.
    assert_eq!(run(&path, 6, 2), 2);
    let whole = folder.path().join("whole");
    run(&whole, 6, 1);
    assert_eq!(
        std::fs::read(&path).unwrap(),
        std::fs::read(&whole).unwrap()
    );
}

#[test]
fn searching_players_repeat_themselves_under_a_seed() {
    let game = Game::console(0x8988, 5, Rules::default());
    let view = View::of(&game);
    let budget = Budget::Playouts(300);
    let tree = || HeuristicTree::new(Weights::default(), TreeSettings::default(), budget, 3);
    assert_eq!(tree().decide(&view).unwrap(), tree().decide(&view).unwrap());
    let zero = || RoundZero::new(budget, 3);
    assert_eq!(zero().decide(&view).unwrap(), zero().decide(&view).unwrap());
}
