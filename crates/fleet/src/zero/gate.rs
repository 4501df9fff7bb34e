//! The match that decides whether a new network takes over: many games at once in one process.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use go::Color;
use go_player::{
    Judge, NotForGo,
    selfplay::{SelfPlay, play_between},
};
use net::{evaluator::Evaluator, gather::Gather};
use serde::{Deserialize, Serialize};

use crate::{
    Log, LogError, Score, Sprt, Verdict,
    worker::{game_seed, rows_wanted},
};

/// Memory for the evaluations of each network.
const CACHE_BYTES: usize = 32 << 20;

/// A finished game of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct GateGame {
    candidate: String,
    number: u32,
    candidate_won: Option<bool>,
}

/// The matches of a run, in a log.
pub struct Gate {
    log: Log,
    games: Vec<GateGame>,
}

impl Gate {
    /// Opens the log of a run.
    pub fn open(path: &Path) -> Result<Gate, LogError> {
        let mut games = Vec::new();
        let log = Log::open(path, |record| {
            games.extend(serde_json::from_slice::<GateGame>(record))
        })?;
        Ok(Gate { log, games })
    }

    /// The score of a candidate so far.
    pub fn score(&self, candidate: &str) -> Score {
        let count = |won| {
            let games = self.games.iter().filter(|game| game.candidate == candidate);
            games.filter(|game| game.candidate_won == Some(won)).count() as u32
        };
        Score::new(count(true), count(false))
    }

    /// Plays the games of a match that are missing, until it is decided or `stop` is set. `heard`
    /// is told the score after each game.
    #[expect(
        clippy::too_many_arguments,
        reason = "a match is two players, rules and bookkeeping"
    )]
    pub fn play(
        &mut self,
        name: &str,
        candidate: Arc<dyn Evaluator>,
        best: Arc<dyn Evaluator>,
        play: &SelfPlay,
        sprt: &Sprt,
        at_once: usize,
        seed: u64,
        stop: &AtomicBool,
        heard: impl Fn(Score) + Sync,
    ) -> Result<Verdict, GateError> {
        let gathers = [candidate, best]
            .map(|evaluator| Arc::new(Gather::new(evaluator, rows_wanted(at_once).div_ceil(2))));
        let judges = [
            Judge::new(gathers[0].clone(), CACHE_BYTES)?,
            Judge::new(gathers[1].clone(), CACHE_BYTES)?,
        ];
        let played = self
            .games
            .iter()
            .filter(|game| game.candidate == name)
            .map(|game| game.number + 1);
        let next = AtomicU32::new(played.max().unwrap_or(0));
        let decided = AtomicBool::new(sprt.verdict(self.score(name)) != Verdict::Open);
        let table = Mutex::new(self);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..at_once.max(1) {
                scope.spawn(|| {
                    while !decided.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let candidate_is_black = number.is_multiple_of(2);
                        let (black, white) = if candidate_is_black { (0, 1) } else { (1, 0) };
                        let seed = game_seed(seed, u64::from(number));
                        // A game asks the two networks in turn, and must be waited for by one only.
                        let seat = |color| match color {
                            Color::Black => gathers[black].join(),
                            Color::White => gathers[white].join(),
                        };
                        let pair = [&judges[black], &judges[white]];
                        let Some(finished) = play_between(pair, play, seed, &decided, seat) else {
                            return;
                        };
                        let candidate_color = if candidate_is_black {
                            Color::Black
                        } else {
                            Color::White
                        };
                        let game = GateGame {
                            candidate: name.to_owned(),
                            number,
                            candidate_won: finished.winner.map(|winner| winner == candidate_color),
                        };
                        let mut gate = lock(&table);
                        if let Err(error) = gate.append(game) {
                            lock(&failure).get_or_insert(error);
                            decided.store(true, Ordering::Relaxed);
                            return;
                        }
                        let score = gate.score(name);
                        heard(score);
                        if sprt.verdict(score) != Verdict::Open {
                            decided.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        if let Some(error) = failure
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            return Err(error.into());
        }
        let gate = table
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(sprt.verdict(gate.score(name)))
    }

    fn append(&mut self, game: GateGame) -> Result<(), LogError> {
        self.log
            .append(&serde_json::to_vec(&game).unwrap_or_default())?;
        self.games.push(game);
        Ok(())
    }
}

/// Why a match could not be played.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A network that is not for Go.
    #[error(transparent)]
    NotForGo(#[from] NotForGo),
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
