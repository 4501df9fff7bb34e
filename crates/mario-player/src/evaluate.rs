//! How good a player is: many games a level, with intervals.

use std::time::{Duration, Instant};

use mario::{Ending, Game, Rules};
use rayon::prelude::*;
use serde::Serialize;

use crate::player::{Player, View};

/// Standard deviations of a normal distribution that 95 % lie within, on both sides.
const Z_95: f64 = 1.959_964;

/// Multiples of four: the seeds evaluation deals from. Weights are tuned on the other even ones.
const EVALUATION_SEEDS: u64 = 16_383;

/// The seed of evaluation game `number`, counted from `first`; all differ for 16383 games.
pub fn evaluation_seed(first: u64, number: u64) -> u16 {
    // Any multiplier without a common factor visits every seed once.
    const STRIDE: u64 = 10_007;
    let index = (first.wrapping_add(number) % EVALUATION_SEEDS) * STRIDE % EVALUATION_SEEDS;
    ((index + 1) << 2) as u16
}

/// A value and the interval it lies in with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value found.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// A share with Wilson's interval.
    pub fn share(successes: u64, trials: u64) -> Self {
        if trials == 0 {
            return Self {
                value: 0.0,
                low: 0.0,
                high: 1.0,
            };
        }
        let (n, share) = (trials as f64, successes as f64 / trials as f64);
        let z2 = Z_95 * Z_95;
        let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let spread =
            Z_95 / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
        Self {
            value: share,
            low: (centre - spread).max(0.0),
            high: (centre + spread).min(1.0),
        }
    }

    /// A mean with the normal interval; a single value has itself as interval.
    pub fn mean(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - value).powi(2)).sum();
        let error = if n > 1.0 {
            Z_95 * (squares / (n - 1.0) / n).sqrt()
        } else {
            0.0
        };
        Some(Self {
            value,
            low: value - error,
            high: value + error,
        })
    }
}

/// One game of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameResult {
    /// The seed it was dealt from.
    pub seed: u16,
    /// `cleared`, `topped_out`, `stalled` or `out_of_pills`.
    pub ending: &'static str,
    /// Pills placed.
    pub pills: u32,
    /// Viruses at the start.
    pub viruses: u32,
    /// Viruses left at the end.
    pub viruses_left: u32,
    /// Halves left at the end.
    pub halves_left: u32,
    /// Seconds the player thought.
    pub seconds: f64,
}

/// All games of a level.
#[derive(Clone, Debug, Serialize)]
pub struct LevelResult {
    /// The level.
    pub level: u8,
    /// Games played.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Share of games won.
    pub win_rate: Estimate,
    /// Viruses left at the end, over all games.
    pub viruses_left: Option<Estimate>,
    /// Pills for each virus, over the games won.
    pub pills_per_virus: Option<Estimate>,
    /// Pills placed for each second of thinking.
    pub pills_per_second: f64,
    /// Every game.
    pub results: Vec<GameResult>,
}

/// The name of an ending in results.
pub fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Cleared => "cleared",
        Ending::ToppedOut => "topped_out",
        Ending::Stalled => "stalled",
        Ending::OutOfPills => "out_of_pills",
    }
}

/// Plays `games` console deals of a level, as many at once as there are threads; `progress` is
/// told of each finished game.
pub fn evaluate_level(
    new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync),
    level: u8,
    games: u64,
    first_game: u64,
    rules: Rules,
    progress: &(dyn Fn(&GameResult) + Sync),
) -> LevelResult {
    let results: Vec<GameResult> = (0..games)
        .into_par_iter()
        .map(|number| {
            let seed = evaluation_seed(first_game, number);
            let result = play_game(&mut *new_player(u64::from(seed)), seed, level, rules);
            progress(&result);
            result
        })
        .collect();
    let wins: Vec<&GameResult> = results
        .iter()
        .filter(|game| game.ending == "cleared")
        .collect();
    let pills_per_virus: Vec<f64> = wins
        .iter()
        .map(|game| f64::from(game.pills) / f64::from(game.viruses.max(1)))
        .collect();
    let left: Vec<f64> = results
        .iter()
        .map(|game| f64::from(game.viruses_left))
        .collect();
    let pills: f64 = results.iter().map(|game| f64::from(game.pills)).sum();
    let seconds: f64 = results.iter().map(|game| game.seconds).sum();
    LevelResult {
        level,
        games,
        wins: wins.len() as u64,
        win_rate: Estimate::share(wins.len() as u64, games),
        viruses_left: Estimate::mean(&left),
        pills_per_virus: Estimate::mean(&pills_per_virus),
        pills_per_second: if seconds > 0.0 { pills / seconds } else { 0.0 },
        results,
    }
}

/// One game; a player without an answer while placements remain gives the game up.
pub fn play_game(player: &mut dyn Player, seed: u16, level: u8, rules: Rules) -> GameResult {
    let mut game = Game::console(seed, level, rules);
    let mut thought = Duration::ZERO;
    player.new_game();
    while game.ending().is_none() {
        let start = Instant::now();
        let decision = player.decide(&View::of(&game));
        thought += start.elapsed();
        match decision {
            Some(decision) if game.play(decision.placement).is_ok() => {}
            _ => break,
        }
    }
    let occupied = game.board().occupied().count_ones();
    let viruses_left = game.board().viruses_left();
    GameResult {
        seed,
        ending: game.ending().map_or("gave_up", ending_name),
        pills: game.placed(),
        viruses: game.viruses_at_start(),
        viruses_left,
        halves_left: occupied - viruses_left,
        seconds: thought.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heuristic::{Heuristic, Weights};

    /// Wilson's interval for 8 of 10, worked by hand in the usual textbooks: 0.490 to 0.943.
    #[test]
    fn wilson_intervals_match_the_textbook() {
        let estimate = Estimate::share(8, 10);
        assert!((estimate.low - 0.490).abs() < 1e-3 && (estimate.high - 0.943).abs() < 1e-3);
        let all = Estimate::share(60, 60);
        assert!(all.high == 1.0 && (all.low - 0.9398).abs() < 1e-3);
    }

    #[test]
    fn evaluation_never_deals_a_training_seed_nor_one_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..EVALUATION_SEEDS {
            let seed = evaluation_seed(5, number);
            assert!(seed.is_multiple_of(4) && seed >= 4);
            assert!(seen.insert(seed));
        }
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync) =
            &|_| Box::new(Heuristic::one_ply(Weights::default()));
        let rules = Rules {
            most_pills: Some(60),
            ..Rules::default()
        };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let level =
                pool.install(|| evaluate_level(new_player, 3, 4, 0, rules, &|_: &GameResult| {}));
            level.results.into_iter().map(|game| GameResult {
                seconds: 0.0,
                ..game
            })
        };
        assert!(run(1).eq(run(3)));
    }
}
