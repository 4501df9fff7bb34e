//! Why a worker cannot go on.

use std::{io, path::PathBuf};

use base::LockError;
use fleet::wire::KeyError;

/// Why a worker cannot go on, or must try again.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The spool's folder is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of the spool.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The worker's key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The server cannot be reached, or asks to come again later.
    #[error("{why}")]
    Later {
        why: String,
        /// Seconds to wait, if the server said so.
        seconds: Option<u64>,
    },
    /// The server refuses, and would refuse again.
    #[error("the server refuses: {0}")]
    Refused(String),
    /// The server cannot be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// The game's own code.
    #[error("{0}")]
    Game(String),
}

impl WorkError {
    pub(crate) fn later(why: impl Into<String>) -> WorkError {
        WorkError::Later {
            why: why.into(),
            seconds: None,
        }
    }
}
