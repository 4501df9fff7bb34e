//! A match: many games between two programs, several at once, colours alternating, each opening
//! played from both sides. Every finished game is appended to a log and synced, so a match that
//! was interrupted goes on where it stopped.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use go::{Color, Move};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Score, Sprt, Verdict,
    program::{Program, ProgramError},
    referee::{Ending, Played, RefereeError, Rules, referee},
};

/// A program that dies is started again this often before the match is given up.
const RESTARTS: usize = 3;

/// What a match is about.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Command line of the first program; the score is its score.
    pub first: String,
    /// Command line of the second program.
    pub second: String,
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
    /// Where finished games are logged; without it nothing is kept.
    pub log: Option<PathBuf>,
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
    /// How it ended.
    pub ending: Ending,
    /// The moves as GTP writes them, Black first (White first with handicap stones).
    pub moves: Vec<String>,
}

/// Why a match stopped before its end.
#[derive(Debug, Error)]
pub enum ContestError {
    /// A game could not be played.
    #[error("game {number}: {source}")]
    Game {
        /// The game's number.
        number: usize,
        /// What happened.
        source: RefereeError,
    },
    /// The log cannot be read or written.
    #[error("the match log {}: {source}", path.display())]
    Log {
        /// The log's path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The log holds something that is no finished game.
    #[error("line {line} of the match log {} is no finished game: {reason}; move the file away to start anew", path.display())]
    DamagedLog {
        /// The log's path.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Contest {
    /// Plays the games that are not in the log yet, until the test is decided, all are played or
    /// `stop` is set. `report` hears of each game as it ends, with the game itself and the score so far.
    pub fn run(
        &self,
        stop: &AtomicBool,
        report: impl Fn(&Entry, Option<&Played>, Score) + Sync,
    ) -> Result<Score, ContestError> {
        let finished = self.read_log()?;
        let table = Mutex::new(Table {
            finished: BTreeMap::new(),
            log: self.open_log()?,
        });
        for entry in finished {
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
        match failure
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            Some(error) => Err(error),
            None => Ok(lock(&table).score()),
        }
    }

    /// What the test says of `score`; open without a test.
    pub fn verdict(&self, score: Score) -> Verdict {
        self.sprt.map_or(Verdict::Open, |sprt| sprt.verdict(score))
    }

    fn work(
        &self,
        next: &AtomicUsize,
        table: &Mutex<Table>,
        stop: &AtomicBool,
        report: &(impl Fn(&Entry, Option<&Played>, Score) + Sync),
    ) -> Result<(), ContestError> {
        let mut seats: Option<Seats> = None;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let decided = self.verdict(lock(table).score()) != Verdict::Open;
            if number >= self.games || decided || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if lock(table).finished.contains_key(&number) {
                continue;
            }
            let played = self
                .play(number, &mut seats)
                .map_err(|source| ContestError::Game { number, source })?;
            let entry = Entry::new(number, &self.rules, &played);
            let mut table = lock(table);
            table
                .append(&entry)
                .map_err(|source| self.log_error(source))?;
            report(&entry, Some(&played), table.score());
        }
    }

    /// Plays one game, starting programs that are not running.
    fn play(&self, number: usize, seats: &mut Option<Seats>) -> Result<Played, RefereeError> {
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
                Ok(played) if played.ending == Ending::Time => return Ok(played),
                Ok(played) => {
                    *seats = Some(playing);
                    return Ok(played);
                }
                Err(RefereeError::Program(
                    ProgramError::Stopped { .. } | ProgramError::Silent { .. },
                )) if tries < RESTARTS => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn read_log(&self) -> Result<Vec<Entry>, ContestError> {
        let Some(path) = self.log.as_deref().filter(|path| path.exists()) else {
            return Ok(Vec::new());
        };
        let file = File::open(path).map_err(|source| self.log_error(source))?;
        let mut lines = Vec::new();
        for line in BufReader::new(file).split(b'\n') {
            lines.push(line.map_err(|source| self.log_error(source))?);
        }
        let count = lines.len();
        let mut entries = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            match serde_json::from_slice(line) {
                Ok(entry) => entries.push(entry),
                // The last line may have been cut off by a crash in the middle of writing it.
                Err(_) if index + 1 == count => {
                    cut_off(path, line.len()).map_err(|source| self.log_error(source))?
                }
                Err(error) => {
                    return Err(ContestError::DamagedLog {
                        path: path.to_owned(),
                        line: index + 1,
                        reason: error.to_string(),
                    });
                }
            }
        }
        Ok(entries)
    }

    fn open_log(&self) -> Result<Option<File>, ContestError> {
        let Some(path) = &self.log else {
            return Ok(None);
        };
        let open = OpenOptions::new().append(true).create(true).open(path);
        open.map(Some).map_err(|source| self.log_error(source))
    }

    fn log_error(&self, source: std::io::Error) -> ContestError {
        ContestError::Log {
            path: self.log.clone().unwrap_or_default(),
            source,
        }
    }
}

/// Removes an unfinished last line.
fn cut_off(path: &Path, length: usize) -> std::io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let whole = file.metadata()?.len();
    file.set_len(whole - length as u64)?;
    file.sync_all()
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
            first: start(&contest.first)?,
            second: start(&contest.second)?,
            scorer: contest.scorer.as_deref().map(start).transpose()?,
        })
    }
}

/// All finished games, in memory and on disk.
struct Table {
    finished: BTreeMap<usize, Entry>,
    log: Option<File>,
}

impl Table {
    fn append(&mut self, entry: &Entry) -> std::io::Result<()> {
        if let Some(log) = &mut self.log {
            let mut line = serde_json::to_vec(entry)?;
            line.push(b'\n');
            log.write_all(&line)?;
            log.sync_data()?;
        }
        self.finished.insert(entry.number, entry.clone());
        Ok(())
    }

    fn score(&self) -> Score {
        let count = |won| {
            self.finished
                .values()
                .filter(|entry| entry.first_won == Some(won))
                .count() as u32
        };
        Score::new(count(true), count(false))
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

#[cfg(test)]
mod tests {
    use super::*;
    use go::{BoardSize, Komi};

    /// A GTP program that always passes, or resigns, or plays nonsense.
    fn answering(genmove: &str) -> String {
        format!(
            r#"sh -c 'while read word rest; do case $word in quit) exit;; genmove) echo "= {genmove}";; *) echo "=";; esac; echo; done'"#
        )
    }

    fn contest(first: &str, second: &str) -> Contest {
        Contest {
            first: answering(first),
            second: answering(second),
            scorer: None,
            rules: Rules {
                size: BoardSize::NINE,
                komi: Komi::SEVEN_AND_A_HALF,
                handicap: 0,
                max_moves: 200,
            },
            games: 6,
            jobs: 2,
            patience: Duration::from_secs(60),
            sprt: None,
            openings: Vec::new(),
            log: None,
        }
    }

    fn play(contest: &Contest) -> (Score, Vec<Entry>) {
        let entries = Mutex::new(Vec::new());
        let score = contest.run(&AtomicBool::new(false), |entry, _, _| {
            lock(&entries).push(entry.clone())
        });
        (score.unwrap(), entries.into_inner().unwrap())
    }

    #[test]
    fn resigning_program_loses_with_both_colours() {
        let (score, entries) = play(&contest("pass", "resign"));
        assert_eq!(score, Score::new(6, 0));
        assert_eq!(
            entries.iter().filter(|entry| entry.first_is_black).count(),
            3
        );
        assert!(
            entries
                .iter()
                .all(|entry| entry.ending == Ending::Resignation)
        );
    }

    #[test]
    fn two_passes_are_scored_on_the_board() {
        // An empty board with komi is White's.
        let (score, entries) = play(&contest("pass", "pass"));
        assert_eq!(score, Score::new(3, 3));
        assert!(
            entries
                .iter()
                .all(|entry| entry.result == "W+7.5" && entry.moves == ["pass", "pass"])
        );
    }

    #[test]
    fn illegal_answers_lose_the_game() {
        let (score, entries) = play(&contest("pass", "K5"));
        assert_eq!(score, Score::new(6, 0));
        assert!(
            entries
                .iter()
                .all(|entry| entry.ending == Ending::Illegal("K5".into()))
        );
    }

    #[test]
    fn a_program_that_hangs_loses_on_time() {
        let mut hangs = contest("pass", "pass");
        // It waits for a line that never comes.
        hangs.second = hangs.second.replace(r#"echo "= pass""#, "read never");
        hangs.games = 2;
        // Time enough for every other answer, on a busy machine too.
        hangs.patience = Duration::from_secs(3);
        let (score, entries) = play(&hangs);
        assert_eq!(score, Score::new(2, 0));
        assert!(entries.iter().all(|entry| entry.ending == Ending::Time));
        let mut results: Vec<&str> = entries.iter().map(|entry| &entry.result[..]).collect();
        results.sort_unstable();
        assert_eq!(results, ["B+Time", "W+Time"]);
    }

    #[test]
    fn each_opening_is_played_from_both_sides() {
        let openings = vec![
            vec!["E5".parse().unwrap()],
            vec!["C3".parse().unwrap(), "G7".parse().unwrap()],
        ];
        let (_, mut entries) = play(&Contest {
            openings,
            ..contest("pass", "pass")
        });
        entries.sort_by_key(|entry| entry.number);
        assert_eq!(entries[0].moves[0], "E5");
        assert_eq!(entries[1].moves[0], "E5");
        assert_eq!(entries[2].moves[..2], ["C3", "G7"]);
        assert_ne!(entries[2].first_is_black, entries[3].first_is_black);
    }

    #[test]
    fn an_interrupted_match_goes_on_from_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("match.jsonl");
        let half = Contest {
            games: 3,
            log: Some(log.clone()),
            ..contest("pass", "resign")
        };
        assert_eq!(play(&half).0, Score::new(3, 0));
        // A crash in the middle of a line.
        OpenOptions::new()
            .append(true)
            .open(&log)
            .unwrap()
            .write_all(b"{\"number\":3,\"fir")
            .unwrap();
        // The second program would now win, but games 0 to 2 are already in the log.
        let rest = Contest {
            games: 6,
            log: Some(log.clone()),
            ..contest("resign", "pass")
        };
        assert_eq!(play(&rest).0, Score::new(3, 3));
        assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 6);
    }

    #[test]
    fn damage_inside_the_log_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("match.jsonl");
        std::fs::write(&log, "nonsense\n{}\n").unwrap();
        let broken = Contest {
            log: Some(log),
            ..contest("pass", "pass")
        };
        let error = broken
            .run(&AtomicBool::new(false), |_, _, _| {})
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 1 of the match log"), "{error}");
    }

    #[test]
    fn a_decided_test_ends_the_match() {
        let sprt = Sprt {
            min_games: 0,
            ..Sprt::default()
        };
        let long = Contest {
            games: 400,
            sprt: Some(sprt),
            ..contest("pass", "resign")
        };
        let (score, _) = play(&long);
        assert!(score.games() < 60, "{score}");
        assert_eq!(long.verdict(score), Verdict::Pass);
    }
}
