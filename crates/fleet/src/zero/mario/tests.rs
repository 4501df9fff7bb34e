use std::sync::Mutex;

use mario::record::RecordEnd;

use super::*;
use crate::zero::{Folder, MatchLine};

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
