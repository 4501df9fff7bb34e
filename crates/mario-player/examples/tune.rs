//! Finds the heuristic's weights by the cross-entropy method, from a fixed seed.
//!
//! Games are dealt from training seeds (bit 1 set); `tengen mario eval` deals from the others.
//!
//! `cargo run --release -p mario-player --example tune -- GENERATIONS CANDIDATES GAMES PLIES LEVELS [START.json]`
//!
//! The weights compiled in come from two runs: `40 96 64 1 10,15,18,20` without a start, and then
//! nine generations of `12 40 160 1 20,20,20,19` from its result, with `layers_over_high_viruses`
//! (a count added in between) starting at -10.

use mario::{Ending, Game, Rules};
use mario_player::{FEATURES, Weights, scored, scored_with_next};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

/// Share of candidates that shape the next generation.
const ELITE: usize = 8;

/// Pills after which a game is cut.
const MOST_PILLS: u32 = 400;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments[index].parse::<usize>().expect("a number");
    let (generations, candidates, games, plies) = (number(0), number(1), number(2), number(3));
    let levels: Vec<u8> = arguments[4]
        .split(',')
        .map(|level| level.parse().expect("a level"))
        .collect();
    let mut mean = arguments.get(5).map_or(Weights(first_guess()), |path| {
        Weights::from_json(&std::fs::read_to_string(path).expect("readable")).expect("weights")
    });
    let spread = if arguments.len() > 5 { 0.35 } else { 1.0 };
    let mut deviation = mean.0.map(|weight| spread * weight.abs().max(4.0));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for generation in 0..generations {
        let drawn: Vec<Weights> = (0..candidates)
            .map(|index| {
                let mut weights = mean.clone();
                if index > 0 {
                    for (weight, deviation) in weights.0.iter_mut().zip(deviation) {
                        *weight += deviation * normal(&mut rng);
                    }
                }
                weights
            })
            .collect();
        let deals: Vec<(u16, u8)> = (0..games)
            .map(|game| {
                (
                    rng.random_range(0..16_384u16) << 2 | 2,
                    levels[game % levels.len()],
                )
            })
            .collect();
        let mut ranked: Vec<(f64, u32, &Weights)> = drawn
            .par_iter()
            .map(|weights| {
                let (reward, wins) = deals
                    .iter()
                    .map(|&(seed, level)| play(weights, seed, level, plies))
                    .fold((0.0, 0), |sum, one| {
                        (sum.0 + one.0, sum.1 + u32::from(one.1))
                    });
                (reward / deals.len() as f64, wins, weights)
            })
            .collect();
        let of_mean = (ranked[0].0, ranked[0].1);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let elite = &ranked[..(candidates / ELITE).max(2)];
        // The floor keeps the search from closing in on an early winner's luck.
        for (index, deviation) in deviation.iter_mut().enumerate() {
            let values: Vec<f32> = elite.iter().map(|one| one.2.0[index]).collect();
            let centre = values.iter().sum::<f32>() / values.len() as f32;
            let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f32>();
            mean.0[index] = 0.3 * mean.0[index] + 0.7 * centre;
            let spread = (variance / values.len() as f32).sqrt();
            *deviation = 0.4 * *deviation + 0.6 * spread + 0.02;
        }
        eprintln!(
            "generation {generation}: best {:.4} ({} wins of {games}), mean's {:.4} ({} wins), elite's last {:.4}",
            ranked[0].0,
            ranked[0].1,
            of_mean.0,
            of_mean.1,
            elite[elite.len() - 1].0
        );
        println!("{mean}");
    }
}

/// The spec's own untuned weights, and nothing for the other counts.
fn first_guess() -> [f32; FEATURES] {
    let mut weights = [0.0; FEATURES];
    for (name, weight) in [
        ("viruses", -100.0),
        ("halves", -4.0),
        ("vertical_same", 3.0),
        ("vertical_other", -3.0),
        ("throat_8", -1.0),
        ("throat_10", -8.0),
        ("throat_12", -20.0),
        ("throat_14", -40.0),
        ("layers_over_viruses", -5.0),
        ("buried_viruses", -5.0),
    ] {
        let index = mario_player::FEATURE_NAMES
            .iter()
            .position(|&other| other == name);
        weights[index.expect("known")] = weight;
    }
    weights
}

/// A reward that tells near misses apart, and whether the game was won.
fn play(weights: &Weights, seed: u16, level: u8, plies: usize) -> (f64, bool) {
    let rules = Rules {
        most_pills: Some(MOST_PILLS),
        ..Rules::default()
    };
    let mut game = Game::console(seed, level, rules);
    while game.ending().is_none() {
        let scores = if plies == 1 {
            scored(game.board(), game.pill(), weights)
        } else {
            scored_with_next(game.board(), game.pill(), game.next_pill(), weights)
        };
        let best = scores
            .into_iter()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("a placement");
        game.play_reachable(best.0);
    }
    let won = game.ending() == Some(Ending::Cleared);
    let cleared = f64::from(game.viruses_cleared()) / f64::from(game.viruses_at_start());
    let speed = 1.0 - f64::from(game.placed()) / f64::from(MOST_PILLS);
    (
        if won {
            1.0 + 0.2 * speed
        } else {
            cleared * cleared * 0.7
        },
        won,
    )
}

fn normal(rng: &mut Xoshiro256PlusPlus) -> f32 {
    let (u, v): (f32, f32) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f32::consts::TAU * v).cos()
}
