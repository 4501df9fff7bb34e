//! KataGo's networks in a player: on every board, and equal to KataGo's own numbers.

use std::path::{Path, PathBuf};

use go::{BoardSize, Color, Game, Komi, Symmetry};
use go_player::{
    Assumptions, Decision, LoadedNetwork, NetworkView, Opinion, Options, Player, Position, Request,
    Restrictions, StopMode, dynamic_komi,
};
use net::katago::{KataNetwork, RandomKind};
use serde_json::Value;

fn random(kind: RandomKind) -> LoadedNetwork {
    let kata = KataNetwork::random(kind, 1, 8, 5);
    LoadedNetwork::from_katago(&kata, Path::new("random")).unwrap()
}

#[test]
fn every_kind_of_network_plays_on_boards_of_any_size_by_any_rules() {
    for (kind, side, rules) in [
        (RandomKind::Plain, 2, "tromp-taylor"),
        (RandomKind::Nested, 7, "japanese"),
        (RandomKind::Transformer, 5, "aga"),
        (RandomKind::Human, 6, "chinese"),
        (RandomKind::FourPolicies, 9, "stone-scoring"),
    ] {
        let options = Options {
            visits: Some(6),
            stop_mode: StopMode::Off,
            ..Options::default()
        };
        let size = BoardSize::new(side).unwrap();
        let mut player = Player::new(random(kind), options).unwrap();
        player.start(size).unwrap();
        let mut game = Game::new(size, Komi::new(6.5).unwrap());
        game.set_rules(rules.parse().unwrap());
        player.set_game(game).unwrap();
        for color in [Color::Black, Color::White, Color::Black] {
            let thought = player
                .generate(color, &Request::default(), &mut ())
                .unwrap();
            assert!(thought.report.visits > 0);
            if thought.decision == Decision::Resign {
                break;
            }
        }
        let opinion = player.opinion(None).unwrap();
        assert_eq!(opinion.policy.len(), size.area() + 1);
        assert!((opinion.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert_eq!(opinion.ownership.unwrap().len(), size.area());
        assert!(opinion.score.unwrap().lead.is_finite());
        let settled = player.settle();
        let owned = settled.count.territory.iter().chain(&settled.count.living);
        assert!(owned.map(go::PointSet::len).sum::<usize>() <= size.area());
    }
}

#[test]
fn a_mode_of_dynamic_komi_leaves_the_real_komi() {
    let said_with = |mode| {
        let options = Options {
            komi: dynamic_komi::Settings::for_mode(mode),
            visits: Some(8),
            stop_mode: StopMode::Off,
            ..Options::default()
        };
        let mut player = Player::new(random(RandomKind::Plain), options).unwrap();
        let mut game = Game::new(BoardSize::NINE, Komi::new(0.5).unwrap());
        let stones: Vec<go::Point> = go::fixed_handicap(BoardSize::NINE, 4).unwrap();
        game.place_handicap(&stones).unwrap();
        player.set_game(game).unwrap();
        assert_eq!(player.komi_settings().mode, None);
        let thought = player
            .generate(Color::White, &Request::default(), &mut ())
            .unwrap();
        let moves = thought.snapshot.moves.iter();
        let visits: Vec<_> = moves.map(|mv| (mv.mv, mv.visits)).collect();
        (visits, player.black_lead())
    };
    let usual = said_with(None);
    assert_eq!(said_with(Some(dynamic_komi::Mode::Handicap)), usual);
    assert_eq!(said_with(Some(dynamic_komi::Mode::NonSlack)), usual);
}

#[test]
fn an_analysis_does_not_see_how_the_position_came_about_and_play_does() {
    let searched = |moves: [&str; 4], edit: fn(&mut Options)| {
        let mut options = Options {
            visits: Some(20),
            stop_mode: StopMode::Off,
            ..Options::default()
        };
        edit(&mut options);
        let mut player = Player::new(random(RandomKind::Plain), options).unwrap();
        let mut game = Game::new(BoardSize::NINE, Komi::new(6.5).unwrap());
        for mv in moves {
            game.play(mv.parse().unwrap()).unwrap();
        }
        player.set_game(game).unwrap();
        let (found, _) = player
            .analyze(&Restrictions::default(), &|| false, &mut ())
            .unwrap();
        let analysed = found.evaluation;
        player.clear_cache();
        let thought = player.generate(Color::Black, &Request::default(), &mut ());
        [analysed, thought.unwrap().snapshot.evaluation]
    };
    let one = ["C3", "G7", "E5", "F4"];
    let other = ["E5", "F4", "C3", "G7"];
    let usual = |_: &mut Options| {};
    let [analysed, played] = searched(one, usual);
    let [analysed_too, played_too] = searched(other, usual);
    assert_eq!(analysed, analysed_too);
    assert_ne!(played, played_too);
    let showing = |options: &mut Options| options.analysis_shows_history = true;
    assert_ne!(searched(one, showing)[0], searched(other, showing)[0]);
}

/// The position nine-35-white of the recorded ones, and the records of a file.
fn recorded(file: &str) -> Option<Value> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = std::env::var_os("TENGEN_DATA").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join("katago").join(file)).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn position(record: &Value) -> Position {
    let size = BoardSize::new(record["size"].as_u64().unwrap() as usize).unwrap();
    let mut game = Game::new(
        size,
        Komi::new(record["komi"].as_f64().unwrap() as f32).unwrap(),
    );
    game.set_rules(record["rules"].as_str().unwrap().parse().unwrap());
    for pair in record["moves"].as_array().unwrap() {
        game.play(pair[1].as_str().unwrap().parse().unwrap())
            .unwrap();
    }
    let view = NetworkView {
        root_optimism: 0.0,
        ..NetworkView::default()
    };
    Position::new(
        &game,
        Assumptions {
            view,
            ..Assumptions::default()
        },
    )
}

/// White's win probability and lead, and the policy of a move.
fn said(opinion: &Opinion, to_move: Color) -> [f64; 2] {
    let score = opinion.score.unwrap();
    let (win, lead) = (f64::from(opinion.winrate), f64::from(score.lead));
    match to_move {
        Color::White => [win, lead],
        Color::Black => [1.0 - win, -lead],
    }
}

#[test]
fn real_networks_say_what_katago_says_on_small_boards_in_every_symmetry() {
    let folder = std::env::var_os("TENGEN_KATAGO_NETS").map(PathBuf::from);
    let (Some(folder), Some(positions)) = (folder, recorded("positions.json")) else {
        println!("skipped: no data (TENGEN_KATAGO_NETS names the folder of networks)");
        return;
    };
    let networks = [
        (
            "g170e-b15c192-s1672170752-d466197061.bin.gz",
            "outputs-g170e-b15c192.json",
        ),
        ("b10c384h6nbttflrs.bin.gz", "outputs-b10c384h6.json"),
    ];
    for (file, outputs) in networks {
        let network = LoadedNetwork::load(&folder.join(file)).unwrap();
        let outputs = recorded(outputs).unwrap();
        for name in ["nine-20-black", "superko-5"] {
            let of = |records: &Value| {
                let found = records
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|record| record["name"] == name);
                found.unwrap().clone()
            };
            let position = position(&of(&positions));
            let judge = network.for_size(position.size()).unwrap().judge(0);
            let printed = &of(&outputs)["printed"];
            let opinion = judge.opinion(&position, Symmetry::IDENTITY).unwrap();
            let [win, lead] = said(&opinion, position.to_move());
            assert!(
                (win - printed["whiteWin"].as_f64().unwrap()).abs() < 2e-4,
                "{file} {name}: {win}"
            );
            assert!(
                (lead - printed["whiteLead"].as_f64().unwrap()).abs() < 5e-3,
                "{file} {name}: {lead}"
            );
            let top = &of(&outputs)["topPolicy"][0];
            let best = top[0].as_str().unwrap().parse().unwrap();
            let policy = opinion.policy[position.size().index(best)];
            assert!(
                (f64::from(policy) - top[1].as_f64().unwrap()).abs() < 2e-4,
                "{file} {name}"
            );
        }
    }
    check_symmetries(&folder, &positions);
}

fn check_symmetries(folder: &Path, positions: &Value) {
    let recorded = recorded("symmetries.json").unwrap();
    let name = &recorded["position"];
    let found = positions
        .as_array()
        .unwrap()
        .iter()
        .find(|record| record["name"] == *name);
    let position = position(found.unwrap());
    let network =
        LoadedNetwork::load(&folder.join("g170e-b15c192-s1672170752-d466197061.bin.gz")).unwrap();
    let judge = network.for_size(position.size()).unwrap().judge(0);
    for entry in recorded["nets"]["g170e-b15c192"].as_array().unwrap() {
        let number = entry["symmetry"].as_u64().unwrap() as usize;
        let opinion = judge
            .opinion(&position, Symmetry::new(number).unwrap())
            .unwrap();
        let logits: Vec<f64> = entry["policyLogits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|logit| logit.as_f64().unwrap())
            .collect();
        // The recorded logits are in the board's own orientation, from the top; compare shares of two legal moves.
        let size = position.size();
        let mut moves: Vec<(f64, f32)> = size
            .points()
            .map(|point| {
                let cell = (size.get() - 1 - point.y()) * size.get() + point.x();
                (logits[cell], opinion.policy[size.index(point)])
            })
            .filter(|(_, chance)| *chance > 0.0)
            .collect();
        moves.sort_by(|a, b| b.0.total_cmp(&a.0));
        for pair in moves[..8].windows(2) {
            let expected = pair[0].0 - pair[1].0;
            let got = f64::from(pair[0].1.ln() - pair[1].1.ln());
            assert!(
                (expected - got).abs() < 2e-3,
                "symmetry {number}: {got}, not {expected}"
            );
        }
    }
}
