//! What every training has in common, as it stands in the file saved beside the weights.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::device::Device;
use crate::optimiser::{Decay, Rule, Schedule};
use base::write_whole;

/// How to train, whatever the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainSettings {
    pub steps: u64,
    /// Samples a step.
    pub batch: usize,
    /// What to train on.
    pub device: Device,
    /// Threads; runs are reproducible for a given number.
    pub threads: usize,
    /// Seeds everything that is random.
    pub seed: u64,
    /// Weight decay: this times the weight is added to its gradient (or taken off it, with Adam).
    pub decay: f32,
    /// Largest length of the gradient; 0 for no limit.
    pub clip: f32,
    /// Steps between two lines of progress.
    pub report_every: u64,
    /// Steps between two tests.
    pub test_every: u64,
    pub test_samples: usize,
    /// Seconds between two checkpoints.
    pub checkpoint_seconds: u64,
    /// How gradients move weights.
    pub optimiser: Rule,
    /// Learning rate over time.
    pub schedule: Schedule,
    /// Weight averaging.
    pub average: AverageSettings,
}

/// Stochastic weight averaging.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AverageSettings {
    /// Share of the training after which averaging starts; 1 turns it off.
    pub from: f64,
    /// Steps between two moments.
    pub every: u64,
    /// Moments kept; older ones fade.
    pub most: u32,
    /// Batches from which the averaged network's statistics are taken.
    pub refresh: u64,
    /// Whether tests are of the averaged network, which is then written after each of them.
    pub tested: bool,
}

impl Default for AverageSettings {
    /// Leela Zero's sixteen moments, over the last quarter.
    fn default() -> Self {
        Self {
            from: 0.75,
            every: 250,
            most: 16,
            refresh: 50,
            tested: false,
        }
    }
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            steps: 20_000,
            batch: 128,
            device: Device::Cpu,
            threads: 2,
            seed: 1,
            decay: 1e-4,
            clip: 0.0,
            report_every: 50,
            test_every: 1000,
            test_samples: 4096,
            checkpoint_seconds: 120,
            optimiser: Rule::NESTEROV,
            schedule: Schedule {
                rate: 0.05,
                warm_up: 500,
                then: Decay::Cosine { last: 0.01 },
            },
            average: AverageSettings::default(),
        }
    }
}

/// Why settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read or written.
    #[error("cannot read or write {}: {error}", path.display())]
    File {
        path: PathBuf,
        #[source]
        error: std::io::Error,
    },
    /// The file does not say what is expected.
    #[error("{}: {message}", path.display())]
    Content {
        path: PathBuf,
        /// What and where.
        message: String,
    },
    /// A value makes no sense.
    #[error("{name} is {value}: it must be {expected}")]
    Value {
        name: &'static str,
        /// What it is.
        value: String,
        /// What would do.
        expected: &'static str,
    },
}

impl TrainSettings {
    /// Refuses values that cannot train.
    pub fn check(&self) -> Result<(), SettingsError> {
        let positive: [(&'static str, u64); 5] = [
            ("steps", self.steps),
            ("batch", self.batch as u64),
            ("threads", self.threads as u64),
            ("report_every", self.report_every),
            ("test_every", self.test_every),
        ];
        for (name, value) in positive {
            if value == 0 {
                return Err(SettingsError::Value {
                    name,
                    value: value.to_string(),
                    expected: "at least 1",
                });
            }
        }
        let rate = self.schedule.rate;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(SettingsError::Value {
                name: "schedule.rate",
                value: rate.to_string(),
                expected: "a positive number",
            });
        }
        Ok(())
    }
}

/// Reads settings from a TOML file.
pub fn read_settings<S: DeserializeOwned>(path: &Path) -> Result<S, SettingsError> {
    let text = fs::read_to_string(path).map_err(|error| SettingsError::File {
        path: path.to_owned(),
        error,
    })?;
    toml::from_str(&text).map_err(|error| SettingsError::Content {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

/// Writes settings as a TOML file.
pub fn write_settings<S: Serialize>(path: &Path, settings: &S) -> Result<(), SettingsError> {
    let text = toml::to_string(settings).map_err(|error| SettingsError::Content {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    write_whole(path, text.as_bytes()).map_err(|error| SettingsError::File {
        path: path.to_owned(),
        error,
    })
}
