//! Where a run keeps what must not be lost, behind an interface that a folder, a message broker or a server can stand
//! behind.

use std::{io, path::PathBuf};

use base::LogError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{NewNetwork, State, Winner};

/// The networks, games, match results and state of one run.
///
/// Every method that keeps something returns when it cannot be lost any more. All may be called from many threads.
/// A store is used by one loop at a time; workers only need `network` and `append_game` or `fill_slot`.
pub trait Store: Send + Sync {
    /// Keeps a network under its name, which is a hash of its content. Keeping it again changes nothing.
    fn put_network(&self, network: &NewNetwork) -> Result<(), StoreError>;

    /// A local file of a network; a remote store fetches it first. Nothing if the network has no such file.
    fn network(&self, name: &str, extension: &str) -> Result<Option<PathBuf>, StoreError>;

    /// Appends a self-play game. The same game again, by the hash of its bytes, is not appended.
    fn append_game(&self, record: &[u8]) -> Result<Appended, StoreError>;

    /// Appends a self-play game that a worker elsewhere played, so that it can be taken back.
    fn append_game_by(&self, record: &[u8], worker: &str) -> Result<Appended, StoreError>;

    /// From now on the games of a worker do not count: neither its self-play nor its slots, which are open again.
    fn revoke(&self, worker: &str) -> Result<(), StoreError>;

    /// Hands every self-play game to `each`, oldest first.
    fn games(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError>;

    /// Keeps the result of a slot of a match. The first result of a slot stays.
    fn fill_slot(&self, game: &MatchGame) -> Result<Appended, StoreError>;

    /// All results of matches, in the order they came in.
    fn match_games(&self) -> Result<Vec<MatchGame>, StoreError>;

    /// Match results that cannot be read.
    fn unreadable_match_games(&self) -> Unreadable;

    /// The state, if the run has begun.
    fn state(&self) -> Result<Option<State>, StoreError>;

    /// Keeps the state. Its best network must be the one that [`Self::compare_and_set_best`] set last.
    fn save_state(&self, state: &State) -> Result<(), StoreError>;

    /// Makes `new` the best network if `expected` still is; says whether it did. A repeated call that finds `new` there
    /// already succeeds.
    fn compare_and_set_best(&self, expected: &str, new: &str) -> Result<bool, StoreError>;

    /// A folder on this machine for the files of a training under way.
    fn training_dir(&self, round: u64) -> PathBuf;

    /// Removes what a finished training left in its folder.
    fn remove_training(&self, round: u64) -> Result<(), StoreError>;

    /// A small file that moves with the run, such as the accounts of its workers; nothing if it was never kept.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps such a file, whole.
    fn put_note(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Keeps a game apart that does not count until somebody has looked at it.
    fn set_apart(&self, envelope: &[u8]) -> Result<(), StoreError>;

    /// Publishes the report page.
    fn write_report(&self, page: &str) -> Result<(), StoreError>;

    /// Publishes where the run stands, as JSON. A store that nobody looks into need not.
    fn write_status(&self, _json: &str) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    New,
    /// It was there already.
    Duplicate,
}

/// The result of one slot of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchGame {
    /// The first player: a network's name or an anchor's.
    #[serde(rename = "candidate")]
    pub first: String,
    /// The second player. The first runs did not write it: then it was the best network of that time.
    #[serde(rename = "opponent", default, skip_serializing_if = "String::is_empty")]
    pub second: String,
    /// The slot, from 0.
    #[serde(rename = "number")]
    pub slot: u32,
    /// Whether the first player won; absent in a tie.
    #[serde(rename = "candidate_won")]
    pub first_won: Option<bool>,
    /// The worker that played it; empty if it was played where the run is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub worker: String,
}

impl MatchGame {
    /// The result of a slot.
    pub fn new(first: &str, second: &str, slot: u32, winner: Winner) -> MatchGame {
        MatchGame {
            first: first.to_owned(),
            second: second.to_owned(),
            slot,
            first_won: winner.first_won(),
            worker: String::new(),
        }
    }
}

/// Records that were kept but cannot be read: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    pub count: u64,
    /// Which the first is, and what is wrong with it.
    pub first: String,
}

impl Unreadable {
    /// Counts a record and names the first one.
    pub fn add(&mut self, which: &str, why: &str) {
        if self.count == 0 {
            self.first = format!("{which}: {why}");
        }
        self.count += 1;
    }

    /// A sentence about the records of `what`; nothing if all could be read.
    pub fn sentence(&self, what: &str) -> Option<String> {
        let records = match self.count {
            0 => return None,
            1 => "1 record".to_owned(),
            count => format!("{count} records"),
        };
        Some(format!(
            "left out {records} of {what} that cannot be read; the first is {}",
            self.first
        ))
    }
}

/// Why a store failed.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A file does not say what it should.
    #[error("{}: {message}", path.display())]
    Content { path: PathBuf, message: String },
    /// A log of records.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The best network is another one than expected: another loop uses the store.
    #[error(
        "the best network of this run was changed by another process; end one of the two, then start again"
    )]
    Conflict,
    /// A store behind a network.
    #[error("{0}")]
    Remote(String),
}
