//! Why something over the broker failed.

use std::{io, path::PathBuf};

use fleet::StoreError;
use thiserror::Error;

/// Why something over the broker failed.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// Nobody answers, or not in time.
    #[error(
        "the broker at {urls} does not answer: {why}; check the address, and that nats-server runs with JetStream"
    )]
    Unreachable {
        /// The addresses that were tried.
        urls: String,
        /// What the client said.
        why: String,
    },
    /// The broker answers, but not as wished.
    #[error("{what}: {why}")]
    Refused {
        /// What was tried.
        what: String,
        /// What the client said.
        why: String,
    },
    /// Another process has the role now.
    #[error("another {role} has taken over; this one stops and writes nothing more")]
    Lost {
        /// The role.
        role: String,
    },
    /// The history on the broker begins later than the folder ends.
    #[error(
        "{}: the broker's history begins with {what} {first}, and the folder has {have}; copy the folder of another ledger here first (tengen fleet backup)",
        dir.display()
    )]
    Gap {
        /// The folder.
        dir: PathBuf,
        /// Games or match games.
        what: &'static str,
        /// The first that the broker has.
        first: u64,
        /// How many the folder has.
        have: u64,
    },
    /// A file.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The run's own store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder is in use, or cannot be locked.
    #[error(transparent)]
    Lock(#[from] base::LockError),
    /// A log.
    #[error(transparent)]
    Log(#[from] base::LogError),
    /// The game's own code, or a key.
    #[error("{0}")]
    Other(String),
}

impl BrokerError {
    pub(crate) fn refused(what: impl Into<String>, why: impl ToString) -> BrokerError {
        BrokerError::Refused {
            what: what.into(),
            why: why.to_string(),
        }
    }
}

impl From<BrokerError> for StoreError {
    fn from(error: BrokerError) -> StoreError {
        match error {
            BrokerError::Store(error) => error,
            error => StoreError::Remote(error.to_string()),
        }
    }
}
