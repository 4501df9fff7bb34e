use std::{
    path::Path,
    sync::{Mutex, atomic::AtomicBool},
};

use base::nth_seed;
use fleet::{Beginning, Event, Games, Run};
use mario::RecordEnd;

use super::*;

fn settings() -> ZeroSettings {
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
fn games(settings: &ZeroSettings, wanted: u64) -> Vec<MarioGame> {
    let player = DrMario::player(settings, PlayerFor::SelfPlay, None).unwrap();
    let games = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let play = |number| {
        let task = SelfPlayTask {
            number,
            round: 0,
            network: "",
            seed: nth_seed(settings.seed, number),
        };
        DrMario::play(settings, &player, &task, &stop)
    };
    let keep = |_, game| games.lock().unwrap().push(game);
    fleet::play_games(5, Some(5 + wanted), 2, &stop, play, keep).unwrap();
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
    let all = game.examples().unwrap().len();
    assert_eq!(all, game.record.moves.len());
    game.record.moves[1].weights.clear();
    game.record.moves[4].weights.clear();
    assert_eq!(game.examples().unwrap().len(), all - 2);
}

/// The chances learned from round 0 must tell placements apart, which its mean utilities hardly do.
#[test]
fn the_temperature_sharpens_what_round_zero_teaches() {
    let entropy = |temperature| {
        let mut settings = settings();
        settings.round0.temperature = temperature;
        let game = games(&settings, 1).remove(0);
        let example = &game.examples().unwrap()[0];
        let chances = example.moves.values().filter(|&&chance| chance > 0.0);
        -chances.map(|chance| chance * chance.ln()).sum::<f64>()
    };
    let (flat, sharp) = (entropy(0.0), entropy(0.1));
    assert!(sharp < flat - 0.2, "{sharp} against {flat}");
}

#[test]
fn a_record_that_cannot_be_played_again_is_counted_and_named() {
    let mut game = games(&settings(), 1).remove(0);
    // A second pill where the first one lies.
    let first = game.record.moves[0].clone();
    game.record.moves.insert(1, first);
    let mut all = Games::<DrMario>::new(100);
    assert!(game.examples().is_err());
    all.add(game);
    assert_eq!((all.count, all.unreadable.count), (0, 1));
    assert!(
        all.unreadable.first.starts_with("game 5: "),
        "{}",
        all.unreadable.first
    );
}

#[test]
fn the_page_shows_rounds_and_games() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = small_run(folder.path(), 4, 2);
    for _ in 0..3 {
        run.step(&AtomicBool::new(false), &|_| {}).unwrap();
    }
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(!page.contains("{{"), "a place is left open");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(page.contains("Dr. Mario, levels 0 to 0"));
    assert!(page.contains("\"boards\":[\"") && page.contains("Games of self-play won"));
    assert!(page.contains("<h2>Ratings</h2>"));
}

/// A run so small that a round takes a moment, with these numbers of games.
fn small_run(dir: &Path, first_games: u64, games: u64) -> Run<DrMario> {
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
        threads = 1
        [rating]
        deals = 2
        anchors = ['random', 'one-ply']"
    );
    std::fs::write(dir.join("settings.toml"), settings).unwrap();
    Run::open(dir, &Beginning::default()).unwrap()
}

#[test]
fn a_changed_number_of_games_counts_from_the_present_round() {
    let folder = tempfile::tempdir().unwrap();
    let step = |run: &mut Run<DrMario>| run.step(&AtomicBool::new(false), &|_| {}).unwrap();
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
    assert!(matches!(step(&mut run), Event::Rated(..)));
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
