//! Why a run cannot go on.

use std::{io, path::PathBuf};

use go_player::{NetworkError, NotForGo};
use learn::trainer::TrainError;
use mario_player::lineup::LineupError;
use net::file::LoadError;
use thiserror::Error;

use base::{LockError, LogError};

/// Why a run cannot go on.
#[derive(Debug, Error)]
pub enum ZeroError {
    /// A first network is given to a run that has one.
    #[error(
        "{}: the run has begun, and goes on with its own networks; leave --from out, or choose another folder",
        dir.display()
    )]
    Begun {
        /// The run's folder.
        dir: PathBuf,
    },
    /// A network that cannot be trained further.
    #[error(
        "{}: only networks with Leela Zero's heads and a value for the side to move (version 1) can be trained further",
        path.display()
    )]
    NotTrainable {
        /// The network file.
        path: PathBuf,
    },
    /// The folder is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file of the folder.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the folder does not say what it should.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A setting that cannot be meant.
    #[error("{}: {source}", path.display())]
    Setting {
        /// The settings file.
        path: PathBuf,
        /// Which, and what would do.
        source: BadSetting,
    },
    /// A log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A network that is not for Go.
    #[error(transparent)]
    NotForGo(#[from] NotForGo),
    /// A network that does not load.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A network that is not for Dr. Mario.
    #[error(transparent)]
    Lineup(#[from] LineupError),
    /// A network file that does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A training.
    #[error(transparent)]
    Train(#[from] TrainError),
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
    /// Checks a number of things.
    pub(super) fn count(name: &'static str, value: u64) -> Check {
        (name, value.to_string(), value > 0, "at least 1")
    }

    /// Checks a share of which nothing would be left out of the run.
    pub(super) fn share(name: &'static str, value: f64) -> Check {
        let good = value > 0.0 && value <= 1.0;
        (name, value.to_string(), good, "above 0 and at most 1")
    }

    /// Checks a learning rate.
    pub(super) fn rate(name: &'static str, value: f32) -> Check {
        (name, value.to_string(), value > 0.0, "above 0")
    }

    /// The first of the checks that fails.
    pub(super) fn first(checks: impl IntoIterator<Item = Check>) -> Result<(), BadSetting> {
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
