//! A player at work: limits, reuse, restrictions, interruption, records.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use go::{Color, Move, PointSet};
use go_player::{
    Decision, LoadedNetwork, Options, Player, Request, ResignPolicy, Restrictions, Rule, RuleKind,
    StopMode, clock::TimeControl,
};
use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};

fn player(options: Options) -> Player {
    let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(7, 1, 6), 5);
    let network = LoadedNetwork::from_leela(&random, Path::new("random")).unwrap();
    Player::new(network, options).unwrap()
}

fn options(visits: u64) -> Options {
    Options {
        visits: Some(visits),
        stop_mode: StopMode::Off,
        resign: ResignPolicy::Never,
        ..Options::default()
    }
}

fn generate(player: &mut Player, color: Color) -> std::sync::Arc<go_player::Thought> {
    player
        .generate(color, &Request::default(), &mut ())
        .unwrap()
}

fn only(color: Color, vertices: &str) -> Restrictions {
    let mut restrictions = Restrictions::default();
    restrictions
        .add(Rule {
            kind: RuleKind::Allow,
            color,
            points: vertices
                .split_whitespace()
                .map(|vertex| vertex.parse::<go::Point>().unwrap())
                .collect::<PointSet>(),
            pass: false,
            resign: false,
            last_move_number: 1000,
        })
        .unwrap();
    restrictions
}

#[test]
fn visit_limits_are_exact_and_count_what_is_reused() {
    for threads in [1, 3] {
        let mut player = player(Options {
            threads,
            ..options(60)
        });
        let first = generate(&mut player, Color::Black);
        assert_eq!((first.report.visits, first.report.visits_reused), (60, 0));
        let second = generate(&mut player, Color::White);
        assert_eq!(second.report.visits, 60);
        assert!(second.report.visits_reused > 0);
        assert_eq!(
            second.report.visits_reused + second.report.playouts,
            second.report.visits
        );
    }
}

#[test]
fn the_tree_is_found_again_after_an_undo() {
    let mut player = player(options(80));
    generate(&mut player, Color::Black);
    assert!(player.undo());
    let again = generate(&mut player, Color::Black);
    assert_eq!(again.report.visits_reused, 80);
    assert_eq!(again.report.playouts, 0);
}

#[test]
fn one_thread_and_a_seed_repeat_a_game() {
    let play = || {
        let mut player = player(Options {
            noise: true,
            random_moves: 10,
            seed: 42,
            ..options(30)
        });
        for turn in 0..10 {
            generate(&mut player, Color::BOTH[turn % 2]);
        }
        player.game().moves().collect::<Vec<_>>()
    };
    assert_eq!(play(), play());
}

#[test]
fn restrictions_hold_on_a_tree_that_was_grown_without_them() {
    let mut player = player(options(50));
    let (free, _) = player
        .analyze(&Restrictions::default(), &|| false, &mut ())
        .unwrap();
    assert!(free.moves.len() > 2);
    let request = Request {
        restrictions: only(Color::Black, "A1 B1"),
        ..Request::default()
    };
    let thought = player.generate(Color::Black, &request, &mut ()).unwrap();
    assert!(
        thought
            .snapshot
            .moves
            .iter()
            .all(|entry| { ["A1", "B1", "pass"].contains(&entry.mv.to_string().as_str()) })
    );
    let Decision::Move(mv) = thought.decision else {
        panic!("nobody resigns here");
    };
    assert!(["A1", "B1"].contains(&mv.to_string().as_str()), "{mv}");
}

#[test]
fn with_every_move_forbidden_it_passes() {
    let mut player = player(options(10));
    let request = Request {
        restrictions: only(Color::Black, ""),
        ..Request::default()
    };
    let thought = player.generate(Color::Black, &request, &mut ()).unwrap();
    assert_eq!(thought.decision, Decision::Move(Move::Pass));
}

#[test]
fn an_analysis_without_limits_ends_when_it_is_interrupted() {
    let mut player = player(Options {
        visits: None,
        ..options(1)
    });
    let asked = AtomicUsize::new(0);
    let interrupted = || asked.fetch_add(1, Ordering::Relaxed) > 3;
    let (snapshot, report) = player
        .analyze(&Restrictions::default(), &interrupted, &mut ())
        .unwrap();
    assert!(report.visits >= 1);
    assert!(!snapshot.moves.is_empty());
}

#[test]
fn only_saying_a_move_leaves_everything_as_it_was() {
    let mut player = player(options(20));
    player.set_time(TimeControl::Absolute { main: 1000 });
    let request = Request {
        only_say: true,
        ..Request::default()
    };
    let thought = player.generate(Color::White, &request, &mut ()).unwrap();
    assert!(matches!(thought.decision, Decision::Move(_)));
    assert_eq!(player.game().move_number(), 0);
    assert_eq!(player.game().to_move(), Color::Black);
    assert_eq!(player.clock(Color::White).remaining(), 1000);
    assert!(player.steps().is_empty());
}

#[test]
fn a_step_records_the_position_and_the_visits_before_the_move() {
    let mut player = player(options(41));
    player.play(Color::Black, "D4".parse().unwrap()).unwrap();
    let thought = generate(&mut player, Color::White);
    let [step] = player.steps() else {
        panic!("one move, one step");
    };
    assert_eq!(step.to_move, Color::White);
    assert!(step.planes.get(8, 3 * 7 + 3));
    let sum: f32 = step.probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-5);
    let best = &thought.snapshot.moves[0];
    let index = best
        .mv
        .point()
        .map_or(49, |point| thought.size.index(point));
    assert_eq!(
        step.probabilities[index],
        (f64::from(best.visits) / 40.0) as f32
    );
    assert_eq!(step.best_visits, best.visits);
}

#[test]
fn a_finished_game_is_answered_with_a_pass_and_cleanup_plays_on() {
    let mut player = player(options(30));
    player.play(Color::Black, "D4".parse().unwrap()).unwrap();
    player.play(Color::White, Move::Pass).unwrap();
    player.play(Color::Black, Move::Pass).unwrap();
    assert!(!player.ponders());
    let say = |cleanup| Request {
        only_say: true,
        cleanup,
        ..Request::default()
    };
    let over = player.generate(Color::White, &say(false), &mut ()).unwrap();
    assert_eq!(over.decision, Decision::Move(Move::Pass));
    let cleanup = player.generate(Color::White, &say(true), &mut ()).unwrap();
    assert_ne!(cleanup.decision, Decision::Move(Move::Pass));
}

#[test]
fn komi_and_resignations_survive_or_end_as_they_should() {
    let mut player = player(options(5));
    player.set_komi(go::Komi::new(0.5).unwrap());
    player.play(Color::Black, "D4".parse().unwrap()).unwrap();
    assert!(player.undo());
    assert_eq!(player.game().komi().points_for_white(), 0.5);
    player.resign(Color::White);
    assert!(!player.ponders());
    assert!(player.undo());
    assert_eq!(player.resigned(), None);
    player.start(player.game().size()).unwrap();
    assert_eq!(player.game().komi().points_for_white(), 0.5);
}

#[test]
fn time_is_taken_off_the_clock_and_ends_a_search() {
    let mut player = player(Options {
        visits: None,
        lag: 0,
        ..options(1)
    });
    // One move in two hundredths of a second.
    player.set_time(TimeControl::Canadian {
        main: 0,
        period: 2,
        stones: 1,
    });
    let thought = generate(&mut player, Color::Black);
    assert!(thought.report.visits >= 1);
    assert!(matches!(thought.decision, Decision::Move(_)));
}

#[test]
fn handicap_stones_beyond_the_lattice_are_searched_for() {
    let most = 7 * 7 / 2;
    let place = |seed| {
        let mut player = player(Options {
            seed,
            ..options(40)
        });
        let points = player.place_free_handicap(most).unwrap();
        assert_eq!(player.game().to_move(), Color::White);
        assert_eq!(
            player.tree_shape().nodes,
            0,
            "the game's own tree is left alone"
        );
        points
    };
    let points = place(1);
    assert_eq!(points.iter().copied().collect::<PointSet>().len(), most);
    assert_eq!(points, place(1), "with one thread, the seed decides");
    let searched = (2..8).any(|seed| place(seed) != points);
    assert!(searched, "and another seed sees the board another way");
}

#[test]
fn an_interrupted_search_makes_no_move() {
    let mut player = player(Options {
        visits: Some(1_000_000),
        ..Options::default()
    });
    let thought = player
        .generate_unless(Color::White, &Request::default(), &|| true, &mut ())
        .unwrap();
    assert!(thought.is_none());
    assert_eq!(player.game().move_number(), 0);
    assert_eq!(player.game().to_move(), Color::Black);
}
