//! What a task says about its data: why it cannot be trained on, and what was left out of it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why data cannot be trained on.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// There is nothing to train on.
    #[error("no {what} in {place}{hint}")]
    Nothing {
        /// What was looked for.
        what: &'static str,
        place: String,
        /// What was found instead, and what to do.
        hint: String,
    },
}

/// What was found and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Games kept.
    pub games: usize,
    /// Positions kept.
    pub positions: u64,
    /// Why games were left out: how many, and the first of them.
    pub skipped: BTreeMap<String, (usize, String)>,
}

impl LoadReport {
    /// Games left out.
    pub fn skipped_games(&self) -> usize {
        self.skipped.values().map(|(count, _)| count).sum()
    }

    /// Counts something left out, and keeps the name of the first.
    pub fn skip(&mut self, why: &str, name: &str) {
        let entry = self
            .skipped
            .entry(why.to_owned())
            .or_insert_with(|| (0, name.to_owned()));
        entry.0 += 1;
    }

    /// The error for files in which nothing is left to learn from: says why the first of it was left out, or
    /// `otherwise` if nothing was.
    pub fn nothing<P: AsRef<Path>>(
        &self,
        what: &'static str,
        files: &[P],
        otherwise: &str,
    ) -> DataError {
        let names: Vec<String> = files
            .iter()
            .map(|file| file.as_ref().display().to_string())
            .collect();
        let hint = match self.skipped.iter().next() {
            Some((why, (count, name))) => {
                format!(" ({count} left out: {why}, the first is {name})")
            }
            None => otherwise.to_owned(),
        };
        DataError::Nothing {
            what,
            place: names.join(", "),
            hint,
        }
    }
}
