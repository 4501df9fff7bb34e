//! A match's folder: which match it is, and every finished game, on disk before it counts.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use base::{LockedFolder, write_whole};

use super::{ContestError, Entry, identity::Identity};

/// One line of JSON for each finished game.
const LOG: &str = "match.jsonl";
/// What the match is about.
const IDENTITY: &str = "match.json";

/// The log of a match, open for the next game.
pub(super) struct MatchLog {
    path: PathBuf,
    file: File,
    /// Nobody else plays here.
    _lock: LockedFolder,
}

impl MatchLog {
    /// Opens the match in `dir`, or begins one; with it come the games that are finished.
    pub(super) fn open(
        dir: &Path,
        identity: &Identity,
    ) -> Result<(MatchLog, Vec<Entry>), ContestError> {
        let lock = LockedFolder::take(dir)?;
        let path = dir.join(LOG);
        let entries = read(&path)?;
        check(dir, identity, entries.is_empty())?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(failure(&path))?;
        let log = MatchLog {
            path,
            file,
            _lock: lock,
        };
        Ok((log, entries))
    }

    /// Adds a finished game.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), ContestError> {
        let line = serde_json::to_vec(entry).map_err(io::Error::from);
        line.and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        })
        .map_err(failure(&self.path))
    }
}

/// The games of the log. A last line that a crash cut off is removed.
fn read(path: &Path) -> Result<Vec<Entry>, ContestError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(failure(path))?,
    };
    let mut entries = Vec::new();
    let mut start = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let end = start + line.len();
        match finished_game(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if end == bytes.len() => cut_off(path, start).map_err(failure(path))?,
            Err(reason) => {
                return Err(ContestError::DamagedLog {
                    path: path.to_owned(),
                    line: index + 1,
                    reason,
                });
            }
        }
        start = end;
    }
    Ok(entries)
}

/// The game of a line. Without its end the line is unfinished, even where it could be read.
fn finished_game(line: &[u8]) -> Result<Entry, String> {
    let line = line.strip_suffix(b"\n").ok_or("the line has no end")?;
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// Removes everything from the byte `start` on.
fn cut_off(path: &Path, start: usize) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(start as u64)?;
    file.sync_all()
}

/// Refuses games of another match. A folder without any, or of a version that did not write down
/// which match it is, becomes this match's.
fn check(dir: &Path, identity: &Identity, is_new: bool) -> Result<(), ContestError> {
    let path = dir.join(IDENTITY);
    if !is_new && path.exists() {
        let bytes = fs::read(&path).map_err(failure(&path))?;
        let found: Identity =
            serde_json::from_slice(&bytes).map_err(|error| ContestError::DamagedIdentity {
                path,
                reason: error.to_string(),
            })?;
        return match found.difference(identity) {
            Some(difference) => Err(ContestError::OtherMatch {
                dir: dir.to_owned(),
                difference,
            }),
            None => Ok(()),
        };
    }
    let text = serde_json::to_vec_pretty(identity).map_err(io::Error::from);
    text.and_then(|text| write_whole(&path, &text))
        .map_err(failure(&path))
}

fn failure(path: &Path) -> impl Fn(io::Error) -> ContestError {
    |source| ContestError::Log {
        path: path.to_owned(),
        source,
    }
}
