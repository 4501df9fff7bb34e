//! Everything a training run needs to go on: written whole, read back checked.
//!
//! A file is a line of magic, a length and a JSON header, then all tensors as little-endian floats, then a CRC-32 of
//! everything before it. What is random in a step is a function of the seed and the step's number, so the header's step
//! count is also the state of the random numbers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::average::Average;
use crate::history::History;
use crate::loss::Tally;
use crate::optimiser::{Optimiser, Rule};
use crate::trainable::Trainable;
use base::write_whole;

const MAGIC: &[u8; 16] = b"tengen training\n";
const LENGTH_BYTES: usize = 8;
const CHECK_BYTES: usize = 4;

/// Why a checkpoint cannot be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("cannot read or write {}: {error}", path.display())]
    File {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// The file is not whole or not ours.
    #[error("{} is damaged ({what}): delete it to start again, or restore a copy", path.display())]
    Damaged { path: PathBuf, what: String },
    /// The file belongs to another training.
    #[error("{} holds another training ({what}): train in another folder, or with the settings saved beside it", path.display())]
    OtherModel {
        path: PathBuf,
        /// The first difference.
        what: String,
    },
}

/// What stands before the numbers: enough to refuse a checkpoint of another network by name.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    step: u64,
    optimiser_steps: u64,
    /// The position of the data source, in a text that only the source reads.
    position: serde_json::Value,
    averaged: u32,
    history: History,
    /// Absent from the first checkpoints.
    #[serde(default)]
    tallies: Vec<Tally>,
    params: Vec<(String, Vec<usize>)>,
    statistics: Vec<usize>,
    memory: Vec<usize>,
    average: Vec<usize>,
}

/// What a checkpoint says besides tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub step: u64,
    /// The position of the data source.
    pub position: serde_json::Value,
    /// What was measured.
    pub history: History,
    /// What was measured since the last line of the history.
    pub tallies: Vec<Tally>,
}

/// Writes a checkpoint.
pub fn save(
    path: &Path,
    progress: &Progress,
    model: &mut dyn Trainable,
    optimiser: &Optimiser,
    average: &Average,
) -> Result<(), CheckpointError> {
    let lengths = |tensors: &[Vec<f32>]| tensors.iter().map(Vec::len).collect();
    let header = Header {
        step: progress.step,
        optimiser_steps: optimiser.steps,
        position: progress.position.clone(),
        averaged: average.count,
        history: progress.history.clone(),
        tallies: progress.tallies.clone(),
        params: model
            .params_mut()
            .iter()
            .map(|param| (param.name.clone(), param.shape.clone()))
            .collect(),
        statistics: model
            .statistics_mut()
            .iter()
            .map(|tensor| tensor.len())
            .collect(),
        memory: lengths(&optimiser.memory),
        average: lengths(&average.values),
    };
    let header = serde_json::to_vec(&header).expect("a header of plain data");
    let mut bytes = MAGIC.to_vec();
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header);
    let mut write =
        |tensor: &[f32]| bytes.extend(tensor.iter().flat_map(|value| value.to_le_bytes()));
    model
        .params_mut()
        .iter()
        .for_each(|param| write(&param.values));
    model
        .statistics_mut()
        .iter()
        .for_each(|tensor| write(tensor));
    optimiser.memory.iter().for_each(|tensor| write(tensor));
    average.values.iter().for_each(|tensor| write(tensor));
    let check = crc32(&bytes);
    bytes.extend(check.to_le_bytes());
    write_whole(path, &bytes).map_err(|error| CheckpointError::File {
        path: path.to_owned(),
        error,
    })
}

/// Reads a checkpoint into a model, optimiser and average of the same kind; nothing when there is no file.
pub fn load(
    path: &Path,
    model: &mut dyn Trainable,
    optimiser: &mut Optimiser,
    average: &mut Average,
) -> Result<Option<Progress>, CheckpointError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(CheckpointError::File {
                path: path.to_owned(),
                error,
            });
        }
    };
    let damaged = |what: &str| CheckpointError::Damaged {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    let other = |what: String| CheckpointError::OtherModel {
        path: path.to_owned(),
        what,
    };
    let body = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| damaged("no such file type"))?;
    let (kept, check) = bytes
        .split_last_chunk::<CHECK_BYTES>()
        .ok_or_else(|| damaged("too short"))?;
    if crc32(kept) != u32::from_le_bytes(*check) {
        return Err(damaged("checksum"));
    }
    let (length, rest) = body
        .split_first_chunk::<LENGTH_BYTES>()
        .ok_or_else(|| damaged("too short"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let header = rest.get(..length).ok_or_else(|| damaged("header"))?;
    let header: Header =
        serde_json::from_slice(header).map_err(|error| damaged(&error.to_string()))?;

    let params: Vec<(String, Vec<usize>)> = model
        .params_mut()
        .iter()
        .map(|param| (param.name.clone(), param.shape.clone()))
        .collect();
    if params.len() != header.params.len() {
        return Err(other(format!(
            "{} tensors instead of {}",
            header.params.len(),
            params.len()
        )));
    }
    for (mine, theirs) in params.iter().zip(&header.params) {
        if mine != theirs {
            return Err(other(format!(
                "{} {:?} instead of {} {:?}",
                theirs.0, theirs.1, mine.0, mine.1
            )));
        }
    }
    let statistics: Vec<usize> = model
        .statistics_mut()
        .iter()
        .map(|tensor| tensor.len())
        .collect();
    if statistics != header.statistics {
        return Err(other("running statistics".to_owned()));
    }
    if !header.memory.is_empty() && header.memory != optimiser.lengths(&model.params_mut()) {
        return Err(other("the memory of another optimiser".to_owned()));
    }

    let mut numbers = rest[length..rest.len() - CHECK_BYTES]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes));
    let expected: usize = params
        .iter()
        .map(|(_, shape)| shape.iter().product::<usize>())
        .sum::<usize>()
        + [&header.statistics, &header.memory, &header.average]
            .iter()
            .flat_map(|lengths| lengths.iter())
            .sum::<usize>();
    if numbers.len() != expected {
        return Err(damaged("tensors"));
    }
    let mut fill = |tensor: &mut [f32]| {
        tensor
            .iter_mut()
            .zip(&mut numbers)
            .for_each(|(value, read)| *value = read)
    };
    model
        .params_mut()
        .iter_mut()
        .for_each(|param| fill(&mut param.values));
    model
        .statistics_mut()
        .iter_mut()
        .for_each(|tensor| fill(tensor));
    let mut tensors = |lengths: &[usize]| -> Vec<Vec<f32>> {
        lengths
            .iter()
            .map(|&length| {
                let mut tensor = vec![0.0; length];
                fill(&mut tensor);
                tensor
            })
            .collect()
    };
    optimiser.memory = tensors(&header.memory);
    average.values = tensors(&header.average);
    optimiser.steps = header.optimiser_steps;
    average.count = header.averaged;
    Ok(Some(Progress {
        step: header.step,
        position: header.position,
        history: header.history,
        tallies: header.tallies,
    }))
}

/// Reads the weights and statistics of a checkpoint into a model of the same kind, and nothing else of it.
pub fn load_weights(
    path: &Path,
    model: &mut dyn Trainable,
    rule: Rule,
) -> Result<(), CheckpointError> {
    let mut optimiser = Optimiser::new(rule, 0.0, None);
    match load(path, model, &mut optimiser, &mut Average::default())? {
        Some(_) => Ok(()),
        None => Err(CheckpointError::File {
            path: path.to_owned(),
            error: io::ErrorKind::NotFound.into(),
        }),
    }
}

/// The checksum of gzip, from the library that is there for gzip.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
