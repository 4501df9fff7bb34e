//! The match that decides whether a new network takes over: many games at once, every result in a log.

use std::{
    path::Path,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use serde::{Deserialize, Serialize};

use base::{Log, LogError};

use crate::{Score, Sprt, Verdict};

/// A finished game of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct GateGame {
    candidate: String,
    number: u32,
    candidate_won: Option<bool>,
}

/// Who won a game of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// The new network.
    Candidate,
    /// The network that plays so far.
    Best,
    /// Nobody.
    Nobody,
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
            let games = self.of(candidate);
            games.filter(|game| game.candidate_won == Some(won)).count() as u32
        };
        Score::new(count(true), count(false))
    }

    /// Plays the games of a match that are missing, `at_once` at a time, until it is decided or `stop` is set.
    /// `play` plays the game of a number, or answers nothing when its flag is set before the end; `heard` is told the
    /// score after each game.
    pub fn play(
        &mut self,
        candidate: &str,
        sprt: &Sprt,
        at_once: usize,
        stop: &AtomicBool,
        play: impl Fn(u32, &AtomicBool) -> Option<Winner> + Sync,
        heard: impl Fn(Score) + Sync,
    ) -> Result<Verdict, LogError> {
        let played = self.of(candidate).map(|game| game.number + 1);
        let next = AtomicU32::new(played.max().unwrap_or(0));
        let decided = AtomicBool::new(self.verdict(candidate, sprt) != Verdict::Open);
        let table = Mutex::new(self);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..at_once.max(1) {
                scope.spawn(|| {
                    while !decided.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(winner) = play(number, &decided) else {
                            return;
                        };
                        let game = GateGame {
                            candidate: candidate.to_owned(),
                            number,
                            candidate_won: match winner {
                                Winner::Candidate => Some(true),
                                Winner::Best => Some(false),
                                Winner::Nobody => None,
                            },
                        };
                        let mut gate = lock(&table);
                        if let Err(error) = gate.append(game) {
                            lock(&failure).get_or_insert(error);
                            decided.store(true, Ordering::Relaxed);
                            return;
                        }
                        heard(gate.score(candidate));
                        if gate.verdict(candidate, sprt) != Verdict::Open {
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
            return Err(error);
        }
        let gate = table
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(gate.verdict(candidate, sprt))
    }

    /// Whether the match is decided. Games that nobody won must not make it endless: they count for its length.
    fn verdict(&self, candidate: &str, sprt: &Sprt) -> Verdict {
        let score = self.score(candidate);
        let verdict = sprt.verdict(score);
        let Some(limits) = &sprt.limits else {
            return verdict;
        };
        if verdict != Verdict::Open || (self.of(candidate).count() as u32) < limits.max_games {
            return verdict;
        }
        if score.games() > limits.min_games && score.winrate() >= limits.full_length_winrate {
            Verdict::Pass
        } else {
            Verdict::Fail
        }
    }

    fn of(&self, candidate: &str) -> impl Iterator<Item = &GateGame> {
        self.games
            .iter()
            .filter(move |game| game.candidate == candidate)
    }

    fn append(&mut self, game: GateGame) -> Result<(), LogError> {
        self.log
            .append(&serde_json::to_vec(&game).unwrap_or_default())?;
        self.games.push(game);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn gate() -> (tempfile::TempDir, Gate) {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::open(&folder.path().join("matches.log")).unwrap();
        (folder, gate)
    }

    #[test]
    fn a_match_nobody_wins_comes_to_an_end() {
        let (_folder, mut gate) = gate();
        let sprt = Sprt {
            limits: Some(Limits {
                max_games: 20,
                ..Limits::default()
            }),
            ..Sprt::default()
        };
        let stop = AtomicBool::new(false);
        let nobody = |_: u32, _: &AtomicBool| Some(Winner::Nobody);
        let verdict = gate.play("a", &sprt, 3, &stop, nobody, |_| {}).unwrap();
        assert_eq!(verdict, Verdict::Fail);
        assert!((20..23).contains(&gate.games.len()));
    }

    #[test]
    fn a_match_goes_on_with_the_next_game_after_a_stop() {
        let (folder, mut gate) = gate();
        let sprt = Sprt {
            limits: Some(Limits {
                min_games: 10,
                max_games: 40,
                ..Limits::default()
            }),
            ..Sprt::default()
        };
        let (stop, numbers) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let win = |number: u32, _: &AtomicBool| {
            numbers.lock().unwrap().push(number);
            stop.store(number == 4, Ordering::Relaxed);
            Some(Winner::Candidate)
        };
        assert_eq!(
            gate.play("a", &sprt, 1, &stop, win, |_| {}).unwrap(),
            Verdict::Open
        );
        let mut again = Gate::open(&folder.path().join("matches.log")).unwrap();
        assert_eq!(again.score("a"), Score::new(5, 0));
        stop.store(false, Ordering::Relaxed);
        let verdict = again.play("a", &sprt, 1, &stop, win, |_| {}).unwrap();
        assert_eq!(verdict, Verdict::Pass);
        let numbers = numbers.into_inner().unwrap();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
    }
}
