//! A network made by a rule, whose outputs were computed by Leela Zero 0.17 and by an independent
//! program in double precision: from moves to planes to winrate and policy.

use std::path::Path;

use go::{BoardSize, Game, Komi, Symmetry};
use go_player::{
    Assumptions, Judge, LoadedNetwork, Opinion, Position,
    dynamic_komi::{Trust, TurnKomi},
};
use net::{
    leela::{LeelaNetwork, LeelaShape},
    sha256_of_bytes,
};

const SHA256: [(u8, &str); 2] = [
    (
        1,
        "f244e897a978517147363cb3e956040aa06369281a8ee690548ebf1e79cea528",
    ),
    (
        2,
        "972c8c50755c515371a5b12ff01f186844bf8d5e7f6274dadc44c97d06b49e4b",
    ),
];

/// Row r, element k: u = (7919 k + 104729 r) mod 2003; weights, biases and means, and variances
/// are three plain functions of u, printed with four decimals.
fn golden_text(version: u8) -> String {
    let mut text = format!("{version}\n");
    for (index, row) in LeelaShape::stock(19, 1, 4).rows().iter().enumerate() {
        let number = |k: usize| {
            let u = (7919 * k + 104_729 * (index + 1)) % 2003;
            if row.what.ends_with("variance") {
                0.5 + u as f64 / 2003.0
            } else if row.what.ends_with("weights") {
                (u as f64 - 1001.0) / 5000.0
            } else {
                (u as f64 - 1001.0) / 10_000.0
            }
        };
        let numbers: Vec<String> = (0..row.len).map(|k| format!("{:.4}", number(k))).collect();
        text.push_str(&numbers.join(" "));
        text.push('\n');
    }
    text
}

fn judge(version: u8) -> Judge {
    let text = golden_text(version);
    let leela = LeelaNetwork::parse(Path::new("golden"), text.as_bytes()).unwrap();
    let network = LoadedNetwork::from_leela(&leela, Path::new("golden")).unwrap();
    Judge::new(network.evaluator, 1 << 20).unwrap()
}

fn position(moves: &str) -> Position {
    let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
    for word in moves.split_whitespace() {
        game.play(word.parse().unwrap()).unwrap();
    }
    Position::new(
        &game,
        Assumptions {
            net_komi: TurnKomi::TRAINED,
            trust: Trust::BOTH,
            compensation: 7.5,
            always_considers_pass: false,
            ..Assumptions::default()
        },
    )
}

fn assert_near(found: f32, expected: f64, what: &str) {
    let difference = (f64::from(found) - expected).abs();
    // The table has six decimals.
    assert!(
        difference <= 0.6e-6,
        "{what}: {found} instead of {expected}"
    );
}

fn top(opinion: &Opinion) -> Vec<(String, f32)> {
    let size = BoardSize::NINETEEN;
    let mut points: Vec<_> = size
        .points()
        .map(|point| (point.to_string(), opinion.policy[size.index(point)]))
        .collect();
    points.sort_by(|a, b| b.1.total_cmp(&a.1));
    points.truncate(3);
    points
}

#[test]
fn the_recipe_gives_the_known_files() {
    for (version, sha256) in SHA256 {
        assert_eq!(sha256_of_bytes(golden_text(version).as_bytes()), sha256);
    }
}

#[test]
fn winrates_and_priors_agree_with_leela_zero_to_six_decimals() {
    let table = [
        (
            "",
            0.259196,
            0.259196,
            0.002658,
            ["E18 .003336", "G19 .003326", "A16 .003319"],
        ),
        (
            "Q16 D4",
            0.265810,
            0.265810,
            0.002730,
            ["G19 .003377", "E18 .003367", "J19 .003328"],
        ),
        (
            "Q16 D4 C16",
            0.287107,
            0.712893,
            0.002705,
            ["G19 .003299", "E18 .003286", "J19 .003245"],
        ),
    ];
    let (first, second) = (judge(1), judge(2));
    for (moves, winrate_v1, winrate_v2, pass, priors) in table {
        let position = position(moves);
        let opinion = first.opinion(&position, Symmetry::IDENTITY).unwrap();
        assert_near(opinion.winrate, winrate_v1, moves);
        assert_near(opinion.policy[361], pass, moves);
        for ((point, chance), expected) in top(&opinion).into_iter().zip(priors) {
            let (expected_point, expected_chance) = expected.split_once(' ').unwrap();
            assert_eq!(point, expected_point);
            assert_near(chance, expected_chance.parse().unwrap(), &point);
        }
        let opinion = second.opinion(&position, Symmetry::IDENTITY).unwrap();
        assert_near(opinion.winrate, winrate_v2, moves);
    }
}

#[test]
fn every_symmetry_and_their_mean_agree_with_leela_zero() {
    let expected = [
        0.287107, 0.300499, 0.292141, 0.262278, 0.294374, 0.291450, 0.302462, 0.262466,
    ];
    let position = position("Q16 D4 C16");
    let (first, second) = (judge(1), judge(2));
    for (symmetry, winrate) in Symmetry::ALL.into_iter().zip(expected) {
        assert_near(
            first.opinion(&position, symmetry).unwrap().winrate,
            winrate,
            "symmetry",
        );
    }
    assert_near(
        first.mean_opinion(&position).unwrap().winrate,
        0.286597,
        "mean",
    );
    assert_near(
        second.mean_opinion(&position).unwrap().winrate,
        0.713403,
        "mean",
    );
}
