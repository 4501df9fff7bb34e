use std::{path::Path, sync::Mutex};

use mario::record::RecordEnd;

use super::*;
use crate::zero::{Event, Folder, MarioRun, MatchLine};

fn settings() -> MarioSettings {
    toml::from_str(
        "levels = [0, 1]
        [round0]
        player = 'round0'
        explore = false
        playouts = 30
        games = 3",
    )
    .unwrap()
}

/// Games of round 0, played into memory.
fn games(settings: &MarioSettings, wanted: usize) -> Vec<MarioGame> {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let state = State::default();
    let table = Table {
        folder: &folder,
        settings,
        state: &state,
    };
    let enough = AtomicBool::new(false);
    let games = Mutex::new(Vec::new());
    let done = |game| {
        let mut games = games.lock().unwrap();
        games.push(game);
        enough.store(games.len() >= wanted, Ordering::Relaxed);
    };
    DrMario::play(&table, 5, &enough, &done).unwrap();
    let mut games = games.into_inner().unwrap();
    games.sort_by_key(|game| game.head.number);
    games
}

#[test]
fn a_game_comes_back_from_its_bytes() {
    for game in games(&settings(), 2) {
        assert_eq!(MarioGame::from_bytes(&game.to_bytes()).unwrap(), game);
        assert!(game.head.number >= 5 && game.head.level <= 1);
        assert_ne!(game.record.end, RecordEnd::Timeout);
        assert_eq!(game.record.moves.len() as u32, game.head.result.pills);
        assert!(
            !game.head.result.seed.is_multiple_of(4),
            "an evaluation's deal"
        );
        let last = *game.record.boards().unwrap().last().unwrap();
        assert_eq!(last.viruses_left(), game.head.result.viruses_left);
    }
    assert!(MarioGame::from_bytes(b"{}\nend\n").is_err());
}

#[test]
fn only_moves_with_weights_are_learned() {
    let mut game = games(&settings(), 1).remove(0);
    let all = game.examples().len();
    assert_eq!(all, game.record.moves.len());
    game.record.moves[1].weights.clear();
    game.record.moves[4].weights.clear();
    assert_eq!(game.examples().len(), all - 2);
}

/// The chances learned from round 0 must tell placements apart, which its mean utilities hardly do.
#[test]
fn the_temperature_sharpens_what_round_zero_teaches() {
    let entropy = |temperature| {
        let mut settings = settings();
        settings.round0.temperature = temperature;
        let game = games(&settings, 1).remove(0);
        let example = &game.examples()[0];
        let chances = example.moves.values().filter(|&&chance| chance > 0.0);
        -chances.map(|chance| chance * chance.ln()).sum::<f64>()
    };
    let (flat, sharp) = (entropy(0.0), entropy(0.1));
    assert!(sharp < flat - 0.2, "{sharp} against {flat}");
}

#[test]
fn the_page_shows_rounds_and_games() {
    let settings = settings();
    let mut all = Games::new(100);
    for mut game in games(&settings, 3) {
        game.head.network = "</script>".into();
        game.head.round = game.head.number % 2;
        all.add(game);
    }
    let state = State {
        rounds: 1,
        matches: vec![MatchLine {
            round: 1,
            network: "0123456789abcdef".into(),
            score: Score::new(0, 0),
            promoted: true,
            elo: 0.0,
            games: 3,
            at_seconds: 5.0,
        }],
        ..State::default()
    };
    let page = DrMario::report(&settings, &state, &all);
    assert!(!page.contains("{{"), "a place is left open");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(page.contains("Dr. Mario, levels 0 to 1"));
    assert!(page.contains("\"boards\":[\"") && page.contains("Games of self-play won"));
}

/// A run so small that a round takes a moment, with these numbers of games.
fn small_run(dir: &Path, first_games: u64, games: u64) -> MarioRun {
    let settings = format!(
        "levels = [0, 0]
        blocks = 1
        filters = 8
        [round0]
        player = 'round0'
        playouts = 20
        games = {first_games}
        passes = 1.0
        [selfplay]
        at_once = 2
        games = {games}
        simulations = 4
        quick_simulations = 2
        considered = 2
        [training]
        window = 400
        passes = 1.0
        batch = 16
        threads = 1"
    );
    std::fs::write(dir.join("settings.toml"), settings).unwrap();
    MarioRun::open(dir, str::to_owned).unwrap()
}

#[test]
fn a_changed_number_of_games_counts_from_the_present_round() {
    let folder = tempfile::tempdir().unwrap();
    let step = |run: &mut MarioRun| run.step(&AtomicBool::new(false), &|_| {}).unwrap();
    let mut run = small_run(folder.path(), 2, 2);
    assert_eq!(step(&mut run), Event::Played);
    let begun = run.games();
    drop(run);

    // More games are played of a round that has too few now.
    let mut run = small_run(folder.path(), begun + 2, 2);
    assert_eq!(step(&mut run), Event::Played);
    assert!(run.games() >= begun + 2);
    assert!(matches!(step(&mut run), Event::Trained(_)));
    assert!(matches!(step(&mut run), Event::Decided(_)));
    let first_round = run.games();
    drop(run);

    // The past round was long enough for the settings of its time.
    let mut run = small_run(folder.path(), 1000, 2);
    assert_eq!(step(&mut run), Event::Played);
    let both = run.games();
    assert!(
        (first_round + 2..first_round + 100).contains(&both),
        "{both}"
    );
    drop(run);

    // Nor does a past round's surplus count for the present one.
    let mut run = small_run(folder.path(), 1, both - first_round + 1);
    assert_eq!(step(&mut run), Event::Played);
    assert!(run.games() > both);
    assert!(matches!(step(&mut run), Event::Trained(_)));
}

#[test]
fn a_round_without_games_has_no_new_positions() {
    let mut all = Games::<DrMario>::new(100);
    for game in games(&settings(), 2) {
        all.add(game);
    }
    let first = all.of_round(0);
    assert_eq!(first.games, all.count);
    assert_eq!(first.positions as u64, all.positions);
    let second = all.of_round(1);
    assert_eq!((second.games, second.positions), (0, 0));
}
