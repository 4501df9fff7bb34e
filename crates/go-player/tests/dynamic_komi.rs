//! Komi that follows the game, from the options to the tree, with networks that are formulas.

mod support;

use std::{path::Path, sync::Arc, sync::atomic::Ordering};

use go::{Color, Game, Komi, Move, Symmetry};
use go_player::{
    Assumptions, Decision, Guarded, Judge, LoadedNetwork, NetworkError, Observer, Options,
    OptionsError, Player, Position, Preparation, Request, ResignPolicy, Restrictions, Snapshot,
    StopMode, Thought,
    dynamic_komi::{KomiVerdict, Mode, Refusal, Settings, Trust, TurnKomi},
};
use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};
use search::Search;
use support::{
    Formula, flat, helped_only, monotone, network, network_for_black, trapping_network, turning,
};

const VISITS: u64 = 400;

fn options(settings: Settings) -> Options {
    Options {
        visits: Some(VISITS),
        stop_mode: StopMode::Off,
        resign: ResignPolicy::Never,
        komi: settings,
        ..Options::default()
    }
}

fn mode(mode: Mode) -> Settings {
    Settings::for_mode(Some(mode))
}

fn untested(settings: Settings) -> Settings {
    Settings {
        test_network: false,
        ..settings
    }
}

fn player(formula: Formula, settings: Settings) -> Player {
    Player::new(network(formula).0, options(settings)).unwrap()
}

/// White gives four stones, forty points by the formula.
fn handicap_game(formula: Formula, settings: Settings) -> Player {
    let mut player = player(formula, settings);
    player.place_fixed_handicap(4).unwrap();
    player
}

/// Writes down what is done about komi.
#[derive(Default)]
struct Notes(Vec<Preparation>);

impl Observer for Notes {
    fn prepared(&mut self, preparation: &Preparation) {
        self.0.push(preparation.clone());
    }
}

fn generate(player: &mut Player, color: Color) -> (Arc<Thought>, Vec<Preparation>) {
    let mut notes = Notes::default();
    let thought = player
        .generate(color, &Request::default(), &mut notes)
        .unwrap();
    (thought, notes.0)
}

fn white_winrate(snapshot: &Snapshot<Move>) -> f64 {
    1.0 - snapshot.value
}

#[test]
fn handicap_raises_komi_until_white_has_a_chance() {
    let mut player = handicap_game(monotone, mode(Mode::Handicap));
    let (thought, notes) = generate(&mut player, Color::White);
    let komi = player.net_komi();
    assert!(komi.black > 7.5 && komi.white > 7.5, "{komi:?}");
    let winrate = white_winrate(&thought.snapshot);
    assert!((0.04..=0.16).contains(&winrate), "{winrate} at {komi:?}");
    let [before, after] = notes.as_slice() else {
        panic!("prepared {} times", notes.len());
    };
    assert_eq!((before.komi, &before.adjusted), (TurnKomi::TRAINED, &None));
    let adjusted = after.adjusted.as_ref().unwrap();
    assert_eq!((adjusted.from, after.komi), (TurnKomi::TRAINED, komi));
    assert_eq!(adjusted.kept, [8, 8]);
    assert!(adjusted.batches <= 6, "{} batches", adjusted.batches);
    assert_eq!(thought.report.visits, VISITS, "limits stay exact");
    assert!(
        thought.report.playouts > VISITS,
        "what is thrown away counts"
    );
}

#[test]
fn in_range_nothing_is_collected_or_adjusted() {
    // Even game: White is far above the range of a handicap game, but at the target already.
    let mut player = player(monotone, mode(Mode::Handicap));
    let (_, notes) = generate(&mut player, Color::Black);
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].collected, &notes[0].adjusted), ([0, 0], &None));
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
}

#[test]
fn handicap_returns_to_the_target_when_the_game_turns() {
    let mut player = handicap_game(monotone, mode(Mode::Handicap));
    generate(&mut player, Color::White);
    assert_ne!(player.net_komi(), TurnKomi::TRAINED);
    let free: Vec<_> = player.game().legal_points(Color::White).collect();
    for point in free.into_iter().step_by(5).take(9) {
        player.play(Color::White, Move::Play(point)).unwrap();
    }
    generate(&mut player, Color::White);
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
}

#[test]
fn nonslack_moves_komi_against_a_leading_white() {
    let mut player = player(monotone, mode(Mode::NonSlack));
    for vertex in ["C3", "G7", "C7", "G3"] {
        player.play(Color::White, vertex.parse().unwrap()).unwrap();
    }
    let (thought, _) = generate(&mut player, Color::White);
    let komi = player.net_komi();
    assert!(komi.black < 7.5 && komi.white < 7.5, "{komi:?}");
    let winrate = white_winrate(&thought.snapshot);
    assert!((0.6..=0.95).contains(&winrate), "{winrate} at {komi:?}");
}

/// Writes down what a leader's second look finds.
#[derive(Default)]
struct Looks(Vec<Guarded>);

impl Observer for Looks {
    fn guarded(&mut self, guarded: &Guarded) {
        self.0.push(guarded.clone());
    }
}

/// A move of Black, four stones ahead, with a trap in the centre that only the true komi shows.
fn move_of_a_leader(settings: Settings) -> (Arc<Thought>, Vec<Guarded>) {
    let mut player = Player::new(trapping_network(), options(untested(settings))).unwrap();
    for vertex in ["C3", "G7", "C7", "G3"] {
        player.play(Color::Black, vertex.parse().unwrap()).unwrap();
    }
    let mut looks = Looks::default();
    let thought = player
        .generate(Color::Black, &Request::default(), &mut looks)
        .unwrap();
    (thought, looks.0)
}

#[test]
fn a_leader_does_not_play_what_loses_at_the_true_komi() {
    let center = Decision::Move("E5".parse().unwrap());
    let bold = Settings {
        guard: false,
        ..mode(Mode::NonSlack)
    };
    let (thought, looks) = move_of_a_leader(bold);
    assert_eq!((thought.decision, looks.len()), (center, 0));

    let (thought, looks) = move_of_a_leader(mode(Mode::NonSlack));
    let [look] = looks.as_slice() else {
        panic!("{looks:?}");
    };
    assert_eq!(look.komi, 7.5);
    let (mv, winrate) = look.choice.refused[0];
    assert_eq!(Decision::Move(mv), center, "the search likes it");
    assert!(winrate.unwrap() < look.choice.safest.1 - 0.1, "{look:?}");
    assert_ne!(thought.decision, center);
    assert_eq!(thought.decision, Decision::Move(look.choice.mv));
    assert_eq!(thought.report.visits, VISITS, "limits stay exact");
}

#[test]
fn only_a_leader_looks_again() {
    let mut player =
        Player::new(trapping_network(), options(untested(mode(Mode::NonSlack)))).unwrap();
    let mut looks = Looks::default();
    player
        .generate(Color::Black, &Request::default(), &mut looks)
        .unwrap();
    assert_eq!(looks.0, [], "an even game");
    let (_, looks) = move_of_a_leader(mode(Mode::Handicap));
    assert_eq!(looks, [], "another mode");
}

#[test]
fn a_network_that_is_deaf_to_komi_keeps_its_komi() {
    let mut player = handicap_game(flat, untested(mode(Mode::Handicap)));
    let (thought, notes) = generate(&mut player, Color::White);
    assert!(notes.iter().any(|note| note.adjusted.is_some()));
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
    assert_eq!(
        thought.report.visits,
        thought.report.playouts + 1,
        "the tree was kept"
    );
}

#[test]
fn a_curve_that_turns_round_never_makes_it_worse() {
    let mut player = handicap_game(turning, untested(mode(Mode::Handicap)));
    let (_, notes) = generate(&mut player, Color::White);
    assert!(notes.iter().any(|note| note.adjusted.is_some()));
    for turn in Color::BOTH {
        let komi = player.net_komi().on_turn(turn);
        assert!((7.5..=12.5).contains(&komi), "{komi} is past the best");
    }
}

#[test]
fn komi_survives_undo_and_passes_and_ends_with_the_game() {
    let mut player = handicap_game(monotone, mode(Mode::Handicap));
    generate(&mut player, Color::White);
    let komi = player.net_komi();
    assert!(player.undo());
    assert_eq!(player.net_komi(), komi);
    player.play(Color::White, Move::Pass).unwrap();
    let told = player.position().assumptions().net_komi;
    assert_eq!(told, komi, "a pass swaps nothing");
    player.play(Color::White, "A1".parse().unwrap()).unwrap();
    assert_eq!(player.position().assumptions().net_komi, komi);

    player.set_komi(Komi::new(0.5).unwrap());
    assert_eq!(player.net_komi(), komi, "the score's komi is another");

    player.start(player.game().size()).unwrap();
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
    player.place_fixed_handicap(4).unwrap();
    generate(&mut player, Color::White);
    assert_ne!(player.net_komi(), TurnKomi::TRAINED);
    let record = Game::new(player.game().size(), Komi::new(6.5).unwrap());
    player.set_game(record).unwrap();
    assert_eq!(
        player.net_komi(),
        TurnKomi::TRAINED,
        "not the record's komi"
    );
}

#[test]
fn the_target_is_the_first_komi_of_network_and_score() {
    for settings in [Settings::for_mode(None), mode(Mode::Handicap)] {
        let settings = Settings {
            target_komi: 0.0,
            ..settings
        };
        let player = player(monotone, settings);
        assert_eq!(player.net_komi(), TurnKomi::both(0.0));
        assert_eq!(player.game().komi().points_for_white(), 0.0);
    }
}

#[test]
fn handicap_stones_count_in_the_score_without_a_mode_only() {
    let plain = handicap_game(monotone, Settings::for_mode(None));
    let giving = handicap_game(monotone, mode(Mode::Handicap));
    assert_eq!(giving.black_lead() - plain.black_lead(), 4.0);
}

#[test]
fn a_colour_whose_winrates_are_of_no_use_is_not_collected() {
    let mut player = handicap_game(helped_only, mode(Mode::Handicap));
    assert_eq!(player.komi_settings().trust, Trust::NEGATIVE_ONLY);
    let (thought, _) = generate(&mut player, Color::White);
    let komi = player.net_komi();
    assert_eq!(komi.black, 7.5, "Black would pay and not be believed");
    assert!(komi.white > 7.5, "{komi:?}");
    assert_eq!(thought.report.visits, VISITS);
    // Black gains even more: the next adjustment rests on White's turns alone.
    for vertex in ["A1", "C1", "E1"] {
        player.play(Color::Black, vertex.parse().unwrap()).unwrap();
    }
    let (_, notes) = generate(&mut player, Color::White);
    let adjusted = notes.iter().filter_map(|note| note.adjusted.as_ref());
    let kept: Vec<[usize; 2]> = adjusted.map(|adjusted| adjusted.kept).collect();
    assert_eq!(kept, [[0, 8]]);
    assert!(player.net_komi().white > komi.white);
    assert_eq!(player.net_komi().black, 7.5);
}

#[test]
fn pondering_collects_and_the_next_search_starts_with_the_adjustment() {
    let mut player = handicap_game(monotone, mode(Mode::Handicap));
    let mut notes = Notes::default();
    player.ponder(&|| false, &mut notes).unwrap();
    assert_eq!(notes.0.len(), 1);
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
    let (_, notes) = generate(&mut player, Color::White);
    assert_eq!(notes.len(), 1, "no search was thrown away");
    assert!(notes[0].collected.iter().all(|&count| count > 0));
    assert!(notes[0].adjusted.is_some());
    assert_ne!(player.net_komi(), TurnKomi::TRAINED);
}

#[test]
fn an_analysis_adjusts_as_well() {
    let mut player = handicap_game(monotone, mode(Mode::Handicap));
    player
        .analyze(&Restrictions::default(), &|| false, &mut ())
        .unwrap();
    assert_ne!(player.net_komi(), TurnKomi::TRAINED);
}

#[test]
fn no_adjustments_are_made_when_none_are_allowed() {
    let settings = Settings {
        adjustments_per_search: 0,
        ..mode(Mode::Handicap)
    };
    let mut player = handicap_game(monotone, settings);
    let (_, notes) = generate(&mut player, Color::White);
    assert_eq!(notes.len(), 1);
    assert_eq!(player.net_komi(), TurnKomi::TRAINED);
}

#[test]
fn options_may_change_between_moves() {
    let mut player = handicap_game(monotone, Settings::for_mode(None));
    let (_, notes) = generate(&mut player, Color::White);
    assert!(
        notes.is_empty(),
        "without a mode nothing is said about komi"
    );
    assert!(player.undo());
    let handicap = player
        .options()
        .komi
        .clone()
        .with_mode(Some(Mode::Handicap));
    let with = |komi: Settings| options(komi);
    player.set_options(with(handicap.clone())).unwrap();
    generate(&mut player, Color::White);
    let raised = player.net_komi();
    assert_ne!(raised, TurnKomi::TRAINED);
    let more = Settings {
        positions: 50,
        ..handicap.clone()
    };
    player.set_options(with(more)).unwrap();
    assert_eq!(player.net_komi(), raised, "what was learnt stays");
    player.set_options(with(handicap.with_mode(None))).unwrap();
    assert_eq!(
        player.net_komi(),
        TurnKomi::TRAINED,
        "no mode, no other komi"
    );
}

#[test]
fn networks_that_cannot_do_it_are_refused_and_nothing_changes() {
    let refused = Player::new(network(flat).0, options(mode(Mode::Handicap)));
    let Err(NetworkError::Komi(Refusal::Unusable(scores))) = refused else {
        panic!("a network deaf to komi was taken");
    };
    assert_eq!(scores.verdict(), KomiVerdict::Unusable);
    let mut player = player(flat, Settings::for_mode(None));
    let result = player.set_options(options(mode(Mode::NonSlack)));
    assert!(matches!(
        result,
        Err(OptionsError::Komi(Refusal::Unusable(_)))
    ));
    assert_eq!(player.options().komi.mode, None);

    let for_black = network_for_black(monotone);
    let refused = Player::new(for_black, options(mode(Mode::Handicap)));
    assert!(matches!(
        refused,
        Err(NetworkError::Komi(Refusal::BlackView))
    ));
}

#[test]
fn a_network_is_tested_once_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        verdict_file: Some(folder.path().join("verdicts.txt")),
        ..mode(Mode::Handicap)
    };
    let evaluations = || {
        let (loaded, formula) = network(monotone);
        let player = Player::new(loaded, options(settings.clone())).unwrap();
        let assessment = player.assessment().unwrap();
        assert_eq!(assessment.scores.verdict(), KomiVerdict::Good);
        (assessment.remembered, formula.rows.load(Ordering::Relaxed))
    };
    let (remembered, rows) = evaluations();
    assert!(!remembered && rows > 1202, "{rows}");
    let (remembered, rows) = evaluations();
    assert!(remembered && rows < 10, "{rows}");
    let other = Player::new(network(helped_only).0, options(settings.clone())).unwrap();
    assert!(!other.assessment().unwrap().remembered, "another network");
    assert_eq!(other.komi_settings().trust, Trust::NEGATIVE_ONLY);
}

#[test]
fn the_test_gives_one_verdict_whoever_is_to_move() {
    for (formula, verdict) in [
        (monotone as Formula, KomiVerdict::Good),
        (flat, KomiVerdict::Unusable),
        (helped_only, KomiVerdict::NegativeOnly),
    ] {
        let mut player = player(formula, Settings::for_mode(None));
        for turn in Color::BOTH {
            player.set_to_move(turn);
            let test = player.test_komi(&[Symmetry::IDENTITY]);
            assert_eq!(test.verdict(), verdict, "{turn} to move");
        }
    }
}

fn random_network() -> LoadedNetwork {
    let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(7, 1, 6), 5);
    LoadedNetwork::from_leela(&random, Path::new("random")).unwrap()
}

/// The search that a player without dynamic komi has to make: written down with nothing of it.
struct PlainEngine {
    judge: Judge,
    search: Search<Position>,
    game: Game,
}

impl PlainEngine {
    fn generate(&mut self, visits: u64) -> Snapshot<Move> {
        let assumptions = Assumptions {
            net_komi: TurnKomi::TRAINED,
            trust: Trust::BOTH,
            compensation: self.game.komi().points_for_white() + self.game.handicap() as f32,
            always_considers_pass: false,
            ..Assumptions::default()
        };
        let root = Position::new(&self.game, assumptions);
        let settings = search::Settings {
            memory_bytes: 256 << 20,
            ..search::Settings::default()
        };
        let task = search::Task::visits(visits);
        self.search
            .run(&root, &self.judge, &settings, &task)
            .unwrap();
        self.search.snapshot()
    }
}

#[test]
fn without_a_mode_whole_searches_are_those_of_the_plain_engine() {
    let settings = Settings {
        // All of this means nothing without a mode.
        max_winrate: 0.5,
        min_winrate: 0.4,
        positions: 8,
        adjustments_per_search: 5,
        sure_backup: false,
        ..Settings::for_mode(None)
    };
    let plain_options = Options {
        seed: 11,
        ..options(settings)
    };
    let mut player = Player::new(random_network(), plain_options).unwrap();
    let mut plain = PlainEngine {
        judge: Judge::new(random_network().evaluator, 1 << 20).unwrap(),
        search: Search::new(11),
        game: Game::new(player.game().size(), Komi::default()),
    };
    for turn in 0..12 {
        let color = Color::BOTH[turn % 2];
        let (thought, _) = generate(&mut player, color);
        assert_eq!(thought.snapshot, plain.generate(VISITS), "move {turn}");
        let (_, mv) = player.game().last_move().unwrap();
        plain.game.play_as(color, mv).unwrap();
    }
}

#[test]
fn with_a_fixed_symmetry_nothing_is_left_to_chance() {
    let search = |symmetry, seed| {
        let settings = Settings {
            fixed_symmetry: symmetry,
            ..Settings::for_mode(None)
        };
        let options = Options {
            seed,
            ..options(settings)
        };
        let mut player = Player::new(random_network(), options).unwrap();
        generate(&mut player, Color::Black).0.snapshot.clone()
    };
    assert_eq!(search(Some(3), 1), search(Some(3), 2));
    assert_ne!(search(Some(3), 1), search(Some(4), 1));
    assert_ne!(search(None, 1), search(None, 2));
}
