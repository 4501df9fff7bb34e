//! Finished games of an evaluation in a file, so that a long one can be interrupted.
//!
//! The first line says who played by which rules, each further one is a game, all in JSON. A line is on disk before its
//! game counts. Killed at any moment, the file has at most its last line cut, and opening it removes that.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use mario::Rules;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::evaluate::GameResult;

/// Why results cannot be kept.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A line is not a game.
    #[error("{}: line {line}: {source}", path.display())]
    Line {
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        source: serde_json::Error,
    },
    /// The file belongs to another evaluation.
    #[error("{} holds games of {found}; use another file, or that player and those rules", path.display())]
    Other {
        path: PathBuf,
        /// Who played, by which rules.
        found: String,
    },
}

/// The first line.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    player: String,
    most_pills: Option<u32>,
    stall_after: Option<u32>,
}

/// Any further line.
#[derive(Serialize, Deserialize)]
struct Line {
    level: u8,
    game: u64,
    #[serde(flatten)]
    result: GameResult,
}

/// Games by level and number.
#[derive(Debug)]
pub struct Results {
    file: Option<(PathBuf, File)>,
    games: BTreeMap<(u8, u64), GameResult>,
}

impl Results {
    /// Results that are forgotten with the program.
    pub fn in_memory() -> Self {
        Self {
            file: None,
            games: BTreeMap::new(),
        }
    }

    /// Opens a file of results, or begins one.
    pub fn open(path: &Path, player: &str, rules: Rules) -> Result<Self, ResultsError> {
        let io = |source| ResultsError::Io {
            path: path.to_owned(),
            source,
        };
        let header = Header {
            player: player.to_owned(),
            most_pills: rules.most_pills,
            stall_after: rules.stall_after,
        };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(io)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut games = BTreeMap::new();
        for (index, line) in text[..whole].lines().enumerate() {
            let wrong = |source| ResultsError::Line {
                path: path.to_owned(),
                line: index + 1,
                source,
            };
            if index > 0 {
                let Line {
                    level,
                    game,
                    result,
                } = serde_json::from_str(line).map_err(wrong)?;
                games.insert((level, game), result);
            } else if serde_json::from_str::<Header>(line).map_err(wrong)? != header {
                return Err(ResultsError::Other {
                    path: path.to_owned(),
                    found: line.to_owned(),
                });
            }
        }
        file.set_len(whole as u64).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut results = Self {
            file: Some((path.to_owned(), file)),
            games,
        };
        if whole == 0 {
            results.write(&header)?;
        }
        Ok(results)
    }

    /// A game, if it was played.
    pub fn get(&self, level: u8, number: u64) -> Option<&GameResult> {
        self.games.get(&(level, number))
    }

    /// Adds a game; it is on disk when this returns.
    pub fn add(&mut self, level: u8, number: u64, result: GameResult) -> Result<(), ResultsError> {
        self.games.insert((level, number), result.clone());
        self.write(&Line {
            level,
            game: number,
            result,
        })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), ResultsError> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let text = serde_json::to_string(line).map_err(io::Error::from);
        text.and_then(|text| file.write_all((text + "\n").as_bytes()))
            .and_then(|()| file.sync_data())
            .map_err(|source| ResultsError::Io {
                path: path.clone(),
                source,
            })
    }
}
