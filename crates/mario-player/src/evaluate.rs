//! How good a player is: many games a level, with intervals.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mario::{Ending, Game, Rules};
use search::EvaluateError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::Clock;
use crate::player::{Player, View};
use crate::results::{Results, ResultsError};

/// Standard deviations of a normal distribution that 95 % lie within, on both sides.
const Z_95: f64 = 1.959_964;

/// Multiples of four: the seeds evaluation deals from. Weights are tuned on the other even ones.
const EVALUATION_SEEDS: u64 = 16_383;

/// The seed of evaluation game `number`; all differ for 16383 games.
pub fn evaluation_seed(number: u64) -> u16 {
    // Any multiplier without a common factor visits every seed once.
    const STRIDE: u64 = 10_007;
    let index = (number % EVALUATION_SEEDS) * STRIDE % EVALUATION_SEEDS;
    ((index + 1) << 2) as u16
}

/// A value and the interval it lies in with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value found.
    pub value: f64,
    pub low: f64,
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

/// How a game of an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Won.
    Cleared,
    /// The throat was blocked.
    ToppedOut,
    /// Too many pills in a row cleared nothing.
    Stalled,
    /// Cut at the limit of pills.
    OutOfPills,
    /// The player had no answer while placements remained.
    GaveUp,
}

impl From<Option<Ending>> for Finish {
    fn from(ending: Option<Ending>) -> Self {
        match ending {
            Some(Ending::Cleared) => Finish::Cleared,
            Some(Ending::ToppedOut) => Finish::ToppedOut,
            Some(Ending::Stalled) => Finish::Stalled,
            Some(Ending::OutOfPills) => Finish::OutOfPills,
            None => Finish::GaveUp,
        }
    }
}

/// One game of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameResult {
    /// The seed it was dealt from.
    pub seed: u16,
    pub ending: Finish,
    /// Pills placed.
    pub pills: u32,
    /// Viruses at the start.
    pub viruses: u32,
    /// Viruses left at the end.
    pub viruses_left: u32,
    /// Halves left at the end.
    pub halves_left: u32,
    /// Seconds of processor time the player thought.
    pub seconds: f64,
}

impl GameResult {
    /// What a finished game came to.
    pub fn of(game: &Game, seed: u16, seconds: f64) -> Self {
        let viruses_left = game.board().viruses_left();
        Self {
            seed,
            ending: game.ending().into(),
            pills: game.placed(),
            viruses: game.viruses_at_start(),
            viruses_left,
            halves_left: game.board().occupied().count_ones() - viruses_left,
            seconds,
        }
    }

    /// Orders results of the same deal, better ones first: viruses left, pills, halves left.
    pub fn rank(&self) -> (u32, u32, u32) {
        (self.viruses_left, self.pills, self.halves_left)
    }
}

/// All games of a level.
#[derive(Clone, Debug, Serialize)]
pub struct LevelResult {
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
    /// Pills placed for each second of processor time.
    pub pills_per_second: f64,
    /// Every game.
    pub results: Vec<GameResult>,
}

/// Which games an evaluation plays.
#[derive(Clone, Debug)]
pub struct Series {
    pub levels: Vec<u8>,
    /// Games at each.
    pub games: u64,
    /// Number of the first game.
    pub first_game: u64,
    /// When games end early.
    pub rules: Rules,
    /// Games at once.
    pub threads: usize,
}

/// Why an evaluation ends before its last game.
#[derive(Debug, Error)]
pub enum EvaluationError {
    /// The file of results.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The player: its network could not be evaluated.
    #[error(transparent)]
    Player(#[from] EvaluateError),
}

/// Plays console deals at each level. Games found in `results` are not played again and new ones are added to it; the
/// first game of every level comes before the second of any, so that a part says something of all levels. When `stop`
/// is set, unfinished games are dropped and levels have fewer games than asked for. `on_game` is called with each game.
pub fn evaluate(
    series: &Series,
    new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync),
    results: &mut Results,
    stop: &AtomicBool,
    on_game: &(dyn Fn(&GameResult) + Sync),
) -> Result<Vec<LevelResult>, EvaluationError> {
    let numbers = series.first_game..series.first_game.saturating_add(series.games);
    let mut due = Vec::new();
    for number in numbers.clone() {
        for &level in &series.levels {
            match results.get(level, number) {
                Some(game) => on_game(game),
                None => due.push((level, number)),
            }
        }
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let table = Mutex::new((&mut *results, None));
    let lock = || table.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let Some(&(level, number)) = due.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let seed = evaluation_seed(number);
            let mut player = new_player(u64::from(seed));
            let played = play_game(&mut *player, seed, level, series.rules, stop);
            let mut table = lock();
            let kept = match &played {
                Ok(None) => return,
                Ok(Some(game)) => table.0.add(level, number, game.clone()).map_err(Into::into),
                Err(error) => Err(EvaluationError::Player(error.clone())),
            };
            if let (Ok(Some(game)), Ok(())) = (&played, &kept) {
                on_game(game);
            }
            if let Err(error) = kept {
                table.1.get_or_insert(error);
                failed.store(true, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..series.threads.max(1) {
            scope.spawn(work);
        }
    });
    let (_, failure) = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failure {
        return Err(error);
    }
    let level_games = |&level: &u8| {
        let games = numbers
            .clone()
            .filter_map(|number| results.get(level, number).cloned());
        LevelResult::new(level, games.collect())
    };
    Ok(series.levels.iter().map(level_games).collect())
}

impl LevelResult {
    /// The summary of a level's games.
    pub fn new(level: u8, results: Vec<GameResult>) -> Self {
        let won = || results.iter().filter(|game| game.ending == Finish::Cleared);
        let pills_per_virus: Vec<f64> = won()
            .map(|game| f64::from(game.pills) / f64::from(game.viruses.max(1)))
            .collect();
        let left: Vec<f64> = results
            .iter()
            .map(|game| f64::from(game.viruses_left))
            .collect();
        let pills: f64 = results.iter().map(|game| f64::from(game.pills)).sum();
        let seconds: f64 = results.iter().map(|game| game.seconds).sum();
        let (games, wins) = (results.len() as u64, won().count() as u64);
        Self {
            level,
            games,
            wins,
            win_rate: Estimate::share(wins, games),
            viruses_left: Estimate::mean(&left),
            pills_per_virus: Estimate::mean(&pills_per_virus),
            pills_per_second: if seconds > 0.0 { pills / seconds } else { 0.0 },
            results,
        }
    }
}

/// Plays one game; nothing when `stop` is set before it ends. A player without an answer while placements remain gives up.
pub fn play_game(
    player: &mut dyn Player,
    seed: u16,
    level: u8,
    rules: Rules,
    stop: &AtomicBool,
) -> Result<Option<GameResult>, EvaluateError> {
    let mut game = Game::console(seed, level, rules);
    let mut thought = Duration::ZERO;
    player.new_game();
    while game.ending().is_none() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let stopwatch = Clock::Processor.start();
        let decision = player.decide(&View::of(&game));
        thought += stopwatch.elapsed();
        match decision? {
            Some(decision) if game.play(decision.placement).is_ok() => {}
            _ => break,
        }
    }
    Ok(Some(GameResult::of(&game, seed, thought.as_secs_f64())))
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
            let seed = evaluation_seed(number);
            assert!(seed.is_multiple_of(4) && seed >= 4);
            assert!(seen.insert(seed));
        }
    }

    fn play(threads: usize, games: u64, results: &mut Results) -> Vec<LevelResult> {
        let new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync) =
            &|_| Box::new(Heuristic::one_ply(Weights::default()));
        let series = Series {
            levels: vec![1, 3],
            games,
            first_game: 2,
            rules: Rules {
                most_pills: Some(60),
                ..Rules::default()
            },
            threads,
        };
        let stop = AtomicBool::new(false);
        let mut levels = evaluate(&series, new_player, results, &stop, &|_| {}).unwrap();
        for game in levels.iter_mut().flat_map(|level| &mut level.results) {
            game.seconds = 0.0;
        }
        levels
    }

    fn games(levels: &[LevelResult]) -> Vec<&[GameResult]> {
        levels.iter().map(|level| &level.results[..]).collect()
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let one = play(1, 4, &mut Results::in_memory());
        let three = play(3, 4, &mut Results::in_memory());
        assert_eq!(games(&one), games(&three));
        assert_eq!(one[1].games, 4);
    }

    /// A file cut anywhere keeps its whole lines, and the rest is played again.
    #[test]
    fn an_evaluation_goes_on_where_its_file_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let open = || Results::open(&path, "one-ply", Rules::default()).unwrap();
        let whole = play(2, 3, &mut open());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 7);
        for cut in [0, 5, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert_eq!(
                games(&play(2, 3, &mut open())),
                games(&whole),
                "cut at {cut}"
            );
        }
        let other = Results::open(&path, "heuristic", Rules::default());
        assert!(other.unwrap_err().to_string().contains("one-ply"));
    }
}
