//! A match: many games between two programs, several at once, colours alternating, each opening
//! played from both sides. Every finished game is appended to a log and synced, so a match that
//! was interrupted resumes where it stopped.

mod identity;
mod match_log;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use base::LockError;
use go::{Color, Game, Move};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use fleet::{MatchScore, MatchVerdict, Sprt};

use crate::{
    program::{Program, ProgramError},
    referee::{Ending, Played, RefereeError, Rules, referee, start_position},
};
use identity::Identity;
use match_log::MatchLog;

/// A program that dies is started again this often before the match is given up.
const RESTARTS: usize = 3;

/// What a match is about.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The first program; the score is its score.
    pub first: Contestant,
    /// The second program.
    pub second: Contestant,
    /// Command line of the program that scores finished games, if any.
    pub scorer: Option<String>,
    /// The rules of every game.
    pub rules: Rules,
    /// Most games to play.
    pub games: usize,
    /// Games at once.
    pub jobs: usize,
    /// How long a program may think about one move before it loses on time.
    pub patience: Duration,
    /// Stop when this is decided.
    pub sprt: Option<Sprt>,
    /// Move sequences to start from, used in turn, each twice with colours changed; may be empty.
    pub openings: Vec<Vec<Move>>,
    /// The match's own folder, where finished games are logged; without it nothing is kept.
    pub dir: Option<PathBuf>,
}

/// Who plays in a match.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// What it is called, in full: a match goes on only between players of the same names.
    pub name: String,
    /// Its command line.
    pub command: String,
}

/// What a match came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The score of the first program.
    pub score: MatchScore,
    /// Whether all games are played or the test is decided; otherwise the match was stopped.
    pub is_finished: bool,
}

/// One finished game of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The game's number, from 0.
    pub number: usize,
    /// Whether the first program had Black.
    pub first_is_black: bool,
    /// Whether the first program won; absent in a tie.
    pub first_won: Option<bool>,
    /// The result as SGF writes it.
    pub result: String,
    pub ending: Ending,
    /// The moves as GTP writes them, Black first (White first with handicap stones).
    pub moves: Vec<String>,
}

/// Why a match stopped before its end.
#[derive(Debug, Error)]
pub enum ContestError {
    /// A game could not be played.
    #[error("game {number}: {source}")]
    Game { number: usize, source: RefereeError },
    /// The folder is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The folder has games of another match.
    #[error("the match in {} {difference}; choose another folder", dir.display())]
    OtherMatch {
        dir: PathBuf,
        /// What differs, in words that follow "the match".
        difference: String,
    },
    /// It cannot be told which match the folder is of.
    #[error("{} does not say which match this is: {reason}; choose another folder", path.display())]
    DamagedIdentity { path: PathBuf, reason: String },
    /// A file of the match cannot be read or written.
    #[error("the match file {}: {source}", path.display())]
    Log {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The log holds something that is no finished game.
    #[error("line {line} of the match log {} is no finished game: {reason}; move the file away to start anew", path.display())]
    DamagedLog {
        /// The log's path.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        reason: String,
    },
}

impl Contest {
    /// Plays the games that are not in the log yet, until the test is decided, all are played or
    /// `stop` is set. `report` is called with each game as it ends and the score so far.
    pub fn run(
        &self,
        stop: &AtomicBool,
        report: impl Fn(&Entry, Option<&Played>, MatchScore) + Sync,
    ) -> Result<Outcome, ContestError> {
        let (log, mut entries) = match &self.dir {
            Some(dir) => {
                let (log, entries) = MatchLog::open(dir, &Identity::of(self))?;
                (Some(log), entries)
            }
            None => (None, Vec::new()),
        };
        // A longer match may have been played here before.
        entries.retain(|entry| entry.number < self.games);
        let table = Mutex::new(Standings {
            finished: BTreeMap::new(),
            log,
        });
        for entry in entries {
            let mut table = lock(&table);
            table.finished.insert(entry.number, entry.clone());
            report(&entry, None, table.score());
        }
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    if let Err(error) = self.work(&next, &table, stop, &report) {
                        lock(&failure).get_or_insert(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                });
            }
        });
        if let Some(error) = lock(&failure).take() {
            return Err(error);
        }
        let table = lock(&table);
        let score = table.score();
        Ok(Outcome {
            score,
            is_finished: table.finished.len() >= self.games
                || self.verdict(score) != MatchVerdict::Open,
        })
    }

    /// What the test says of `score`; open without a test.
    pub fn verdict(&self, score: MatchScore) -> MatchVerdict {
        self.sprt
            .map_or(MatchVerdict::Open, |sprt| sprt.verdict(score))
    }

    fn work(
        &self,
        next: &AtomicUsize,
        table: &Mutex<Standings>,
        stop: &AtomicBool,
        report: &(impl Fn(&Entry, Option<&Played>, MatchScore) + Sync),
    ) -> Result<(), ContestError> {
        let mut seats: Option<Seats> = None;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let decided = self.verdict(lock(table).score()) != MatchVerdict::Open;
            if number >= self.games || decided || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if lock(table).finished.contains_key(&number) {
                continue;
            }
            let played = self
                .play(number, &mut seats, stop)
                .map_err(|source| ContestError::Game { number, source })?;
            let Some(played) = played else {
                return Ok(());
            };
            let entry = Entry::new(number, &self.rules, &played);
            let mut table = lock(table);
            table.append(&entry)?;
            report(&entry, Some(&played), table.score());
        }
    }

    /// Plays one game, starting programs that are not running. Nothing when a program ends after `stop` was set.
    fn play(
        &self,
        number: usize,
        seats: &mut Option<Seats>,
        stop: &AtomicBool,
    ) -> Result<Option<Played>, RefereeError> {
        let opening = match self.openings.len() {
            0 => &[][..],
            count => &self.openings[number / 2 % count],
        };
        let mut tries = 0;
        loop {
            let mut playing = match seats.take() {
                Some(seats) => seats,
                None => Seats::start(self)?,
            };
            let (black, white) = if first_is_black(number, &self.rules) {
                (&mut playing.first, &mut playing.second)
            } else {
                (&mut playing.second, &mut playing.first)
            };
            match referee(black, white, &self.rules, opening, playing.scorer.as_mut()) {
                // A program that was ended for its silence must be started again.
                Ok(played) if played.ending == Ending::Time => return Ok(Some(played)),
                Ok(played) => {
                    *seats = Some(playing);
                    return Ok(Some(played));
                }
                Err(RefereeError::Program(
                    ProgramError::Stopped { .. } | ProgramError::Silent { .. },
                )) if stop.load(Ordering::Relaxed) => return Ok(None),
                Err(RefereeError::Program(
                    ProgramError::Stopped { .. } | ProgramError::Silent { .. },
                )) if tries < RESTARTS => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The programs of one job.
struct Seats {
    first: Program,
    second: Program,
    scorer: Option<Program>,
}

impl Seats {
    fn start(contest: &Contest) -> Result<Seats, ProgramError> {
        let start = |command: &str| {
            Program::start(command).map(|program| program.with_patience(contest.patience))
        };
        Ok(Seats {
            first: start(&contest.first.command)?,
            second: start(&contest.second.command)?,
            scorer: contest.scorer.as_deref().map(start).transpose()?,
        })
    }
}

/// All finished games, in memory and on disk.
struct Standings {
    finished: BTreeMap<usize, Entry>,
    log: Option<MatchLog>,
}

impl Standings {
    fn append(&mut self, entry: &Entry) -> Result<(), ContestError> {
        if let Some(log) = &mut self.log {
            log.append(entry)?;
        }
        self.finished.insert(entry.number, entry.clone());
        Ok(())
    }

    fn score(&self) -> MatchScore {
        let count = |won| {
            self.finished
                .values()
                .filter(|entry| entry.first_won == Some(won))
                .count() as u32
        };
        MatchScore::new(count(true), count(false))
    }
}

impl Entry {
    fn new(number: usize, rules: &Rules, played: &Played) -> Entry {
        let first_is_black = first_is_black(number, rules);
        let first = if first_is_black {
            Color::Black
        } else {
            Color::White
        };
        Entry {
            number,
            first_is_black,
            first_won: played.winner.map(|winner| winner == first),
            result: played.result.clone(),
            ending: played.ending.clone(),
            moves: played.game.moves().map(|(_, mv)| mv.to_string()).collect(),
        }
    }

    /// The game, played again from its moves; nothing if these rules do not allow them.
    pub fn replay(&self, rules: &Rules) -> Option<Game> {
        let mut game = start_position(rules).ok()?;
        for mv in &self.moves {
            game.play(mv.parse().ok()?).ok()?;
        }
        Some(game)
    }
}

/// Colours alternate; in a handicap match the first program always gives the stones.
fn first_is_black(number: usize, rules: &Rules) -> bool {
    rules.handicap == 0 && number.is_multiple_of(2)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
