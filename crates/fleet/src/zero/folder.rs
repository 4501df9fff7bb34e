//! The folder of a run: what is written whole, and where.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base::write_whole;
use serde::de::DeserializeOwned;

use crate::zero::{BadSetting, State, ZeroError};

/// Files of a run.
const SETTINGS: &str = "settings.toml";
const STATE: &str = "state.json";
const REPORT: &str = "report.html";
const NETWORKS: &str = "networks";

/// A network that was just made: its name, and each of its files by how the file's name ends.
pub struct NewNetwork {
    /// What it is called from now on.
    pub name: String,
    /// Endings and contents.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// A network that somebody brings to begin a run with.
pub(super) struct FirstNetwork {
    /// The file it comes from.
    pub file: String,
    /// The network.
    pub network: NewNetwork,
}

/// A run's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// Opens or makes the folder.
    pub fn open(dir: &Path) -> Result<Folder, ZeroError> {
        let path = dir.join(NETWORKS);
        fs::create_dir_all(&path).map_err(|source| ZeroError::File { path, source })?;
        Ok(Folder {
            dir: dir.to_owned(),
        })
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A file of a network.
    pub fn network(&self, name: &str, ending: &str) -> PathBuf {
        self.dir.join(NETWORKS).join(format!("{name}.{ending}"))
    }

    /// Writes the files of a network and answers its name.
    pub fn keep(&self, network: &NewNetwork) -> Result<String, ZeroError> {
        for (ending, bytes) in &network.files {
            let path = self.network(&network.name, ending);
            write_whole(&path, bytes).map_err(|source| ZeroError::File { path, source })?;
        }
        Ok(network.name.clone())
    }

    /// The settings; a new run begins with the template, adjusted.
    pub fn settings<S: DeserializeOwned>(
        &self,
        template: &str,
        adjust: impl FnOnce(&str) -> String,
        check: impl FnOnce(&S) -> Result<(), BadSetting>,
    ) -> Result<S, ZeroError> {
        let path = self.path(SETTINGS);
        if !path.exists() {
            self.write(SETTINGS, adjust(template).as_bytes())?;
        }
        let text = fs::read_to_string(&path).map_err(|source| ZeroError::File {
            path: path.clone(),
            source,
        })?;
        let settings = toml::from_str(&text).map_err(|error| ZeroError::Content {
            path: path.clone(),
            message: error.to_string(),
        })?;
        check(&settings).map_err(|source| ZeroError::Setting { path, source })?;
        Ok(settings)
    }

    /// A complaint about the settings.
    pub fn wrong_settings(&self, message: String) -> ZeroError {
        ZeroError::Content {
            path: self.path(SETTINGS),
            message,
        }
    }

    /// The state, if the run has begun.
    pub fn state(&self) -> Result<Option<State>, ZeroError> {
        let path = self.path(STATE);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(|source| ZeroError::File {
            path: path.clone(),
            source,
        })?;
        let state = serde_json::from_slice(&bytes).map_err(|error| ZeroError::Content {
            path,
            message: error.to_string(),
        })?;
        Ok(Some(state))
    }

    /// Writes the state.
    pub fn save(&self, state: &State) -> Result<(), ZeroError> {
        // A struct of strings and finite numbers always has a JSON form.
        self.write(STATE, &serde_json::to_vec_pretty(state).unwrap_or_default())
    }

    /// Writes the report.
    pub fn write_report(&self, page: &str) -> Result<(), ZeroError> {
        self.write(REPORT, page.as_bytes())
    }

    /// The folder of a training.
    pub fn training(&self, round: u64) -> PathBuf {
        self.dir.join(format!("training-{round:04}"))
    }

    /// Once the state tells of a training, its network is kept and its folder has served its purpose.
    /// A crash between the two leaves the folder of the last one behind.
    pub fn remove_finished_training(&self, rounds: u64) -> Result<(), ZeroError> {
        let path = self.training(rounds);
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(ZeroError::File { path, source })
            }
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ZeroError> {
        let path = self.path(name);
        write_whole(&path, bytes).map_err(|source| ZeroError::File { path, source })
    }
}
