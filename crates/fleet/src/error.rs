//! Why a run cannot go on.

use std::{io, path::PathBuf};

use base::LockError;
use thiserror::Error;

use crate::StoreError;

/// Why a game's own code failed; its text is shown to the user.
pub type GameError = Box<dyn std::error::Error + Send + Sync>;

/// Why a run cannot go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// A first network is given to a run that has one.
    #[error(
        "{}: the run has begun, and goes on with its own networks; leave --from out, or choose another folder",
        dir.display()
    )]
    Begun { dir: PathBuf },
    /// The folder is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The settings file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The settings file does not say what it should.
    #[error("{}: {message}", path.display())]
    Content { path: PathBuf, message: String },
    /// A setting that cannot be meant, in a file.
    #[error("{}: {source}", path.display())]
    Setting {
        path: PathBuf,
        /// Which, and what would do.
        source: BadSetting,
    },
    /// A setting that cannot be meant, in the options of a new run.
    #[error(transparent)]
    NewSetting(BadSetting),
    /// The settings of the run are not those asked for.
    #[error(
        "the run in {} has {name} = {found}; leave {name} = {asked} out, or choose another folder",
        dir.display()
    )]
    OtherSetting {
        dir: PathBuf,
        name: String,
        /// What the run has.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// What keeps the run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A network that the state names is not there.
    #[error(
        "the network {name} is not in the run's store; restore networks/{name}.{extension} from a copy"
    )]
    NoNetwork {
        name: String,
        /// The extension of its file.
        extension: &'static str,
    },
    /// The game itself.
    #[error("{0}")]
    Game(GameError),
}

/// A setting that cannot be meant.
#[derive(Debug, PartialEq, Error)]
#[error("{name} is {value}: it must be {expected}")]
pub struct BadSetting {
    name: &'static str,
    value: String,
    expected: &'static str,
}

/// A check of a setting: name, value, whether it is good, what would be.
type Check = (&'static str, String, bool, &'static str);

impl BadSetting {
    /// Checks a number of things: at least 1.
    pub fn count(name: &'static str, value: u64) -> Check {
        (name, value.to_string(), value > 0, "at least 1")
    }

    /// Checks a share that must not be 0.
    pub fn share(name: &'static str, value: f64) -> Check {
        let good = value > 0.0 && value <= 1.0;
        (name, value.to_string(), good, "above 0 and at most 1")
    }

    /// Checks a learning rate.
    pub fn rate(name: &'static str, value: f32) -> Check {
        (name, value.to_string(), value > 0.0, "above 0")
    }

    /// The first of the checks that fails.
    pub fn first(checks: impl IntoIterator<Item = Check>) -> Result<(), BadSetting> {
        let bad = checks.into_iter().find(|(_, _, good, _)| !good);
        bad.map_or(Ok(()), |(name, value, _, expected)| {
            Err(BadSetting {
                name,
                value,
                expected,
            })
        })
    }
}
