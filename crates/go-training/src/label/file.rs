//! Labels on disk: an append-only file of games that survives a crash at any moment.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use base::{Log, LogError};
use thiserror::Error;

use super::{bytes::Damaged, record::LabelledGame};

/// Why labels cannot be read or written.
#[derive(Debug, Error)]
pub enum LabelError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A record has the right checksum but makes no sense.
    #[error("record {record} of {} cannot be used: {what}", file.display())]
    Record {
        file: PathBuf,
        /// Which one, from 1.
        record: usize,
        /// What is wrong with it.
        what: Damaged,
    },
    /// The teacher could not look at a position.
    #[error("the teacher failed: {0}")]
    Teacher(String),
    /// The settings cannot be meant.
    #[error("{0}")]
    Settings(String),
}

/// A file of labels that is added to.
pub struct LabelFile {
    log: Log,
    numbers: HashSet<u64>,
    labels: usize,
}

impl LabelFile {
    /// Opens or creates a file. A record that a crash left incomplete is cut off.
    pub fn open(path: &Path) -> Result<LabelFile, LabelError> {
        let mut numbers = HashSet::new();
        let mut labels = 0;
        let log = each_game(path, |game| {
            numbers.insert(game.number);
            labels += game.labels.len();
        })?;
        Ok(LabelFile {
            log,
            numbers,
            labels,
        })
    }

    /// Whether the file has the game of this number.
    pub fn contains(&self, number: u64) -> bool {
        self.numbers.contains(&number)
    }

    pub fn games(&self) -> usize {
        self.numbers.len()
    }

    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Adds a game; it is on disk when this returns. A game that is there already is not added again.
    pub fn append(&mut self, game: &LabelledGame) -> Result<(), LabelError> {
        if !self.numbers.insert(game.number) {
            return Ok(());
        }
        self.log.append(&game.to_bytes())?;
        self.labels += game.labels.len();
        Ok(())
    }
}

/// All games of a file.
pub fn read_labels(path: &Path) -> Result<Vec<LabelledGame>, LabelError> {
    if !path.is_file() {
        let what = format!("there is no file of labels at {}", path.display());
        return Err(LabelError::Settings(what));
    }
    let mut games = Vec::new();
    each_game(path, |game| games.push(game))?;
    Ok(games)
}

fn each_game(path: &Path, mut each: impl FnMut(LabelledGame)) -> Result<Log, LabelError> {
    let mut record = 0;
    let mut wrong = None;
    let log = Log::open(path, |bytes| {
        record += 1;
        match LabelledGame::from_bytes(bytes) {
            Ok(game) => each(game),
            Err(what) => wrong = wrong.take().or(Some((record, what))),
        }
    })?;
    match wrong {
        None => Ok(log),
        Some((record, what)) => Err(LabelError::Record {
            file: path.to_owned(),
            record,
            what,
        }),
    }
}
