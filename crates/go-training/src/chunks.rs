//! Leela Zero training chunks, streamed: files in random order, a share of their positions, shuffled in a bounded buffer.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use go::BoardSize;
use go_player::record::{ChunkRecord, read_chunk};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::example::{GoExample, Policy};
use base::mix;
use learn::{DataError, LoadReport, Shuffle};

/// Lines of a record in the text form.
const V1_LINES: usize = 19;
/// The binary form starts with its version, a 1 in four bytes.
const V2_MARK: [u8; 4] = [1, 0, 0, 0];
/// Files tried in a row without finding a position before giving up.
const PATIENCE: usize = 1000;

/// The files under the given paths that look like chunks (`*.gz`, or named outright), in a fixed order.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut inside: Vec<PathBuf> = fs::read_dir(path)
                .and_then(|entries| {
                    entries
                        .map(|entry| Ok(entry?.path()))
                        .collect::<io::Result<_>>()
                })
                .map_err(|error| DataError::File {
                    path: path.clone(),
                    error,
                })?;
            inside.retain(|entry| {
                entry.is_file() && entry.extension().is_some_and(|extension| extension == "gz")
            });
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        let place = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(", ");
        let hint = ": give chunk files or folders of them (*.gz)".to_owned();
        return Err(DataError::Nothing {
            what: "training chunks",
            place,
            hint,
        });
    }
    Ok(files)
}

/// Files to learn from, and a share kept out for tests. Which ones follows from their names alone, so that none changes
/// sides when others are added; at least one is on each side where there are two.
pub fn split(mut files: Vec<PathBuf>, test_share: f64) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if test_share <= 0.0 || files.len() < 2 {
        return (files, Vec::new());
    }
    files.sort_by_cached_key(|file| (hash_of_name(file), file.clone()));
    let limit = (test_share.min(1.0) * u64::MAX as f64) as u64;
    let kept_out = files.partition_point(|file| hash_of_name(file) < limit);
    let train = files.split_off(kept_out.clamp(1, files.len() - 1));
    (train, files)
}

fn hash_of_name(file: &Path) -> u64 {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.iter()
        .fold(0, |hash, &byte| mix(hash ^ u64::from(byte)))
}

/// Every good record of a chunk file; bad ones are counted.
pub fn read_file(
    path: &Path,
    size: BoardSize,
    report: &mut LoadReport,
) -> Result<Vec<ChunkRecord>, DataError> {
    let failed = |error| DataError::File {
        path: path.to_owned(),
        error,
    };
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed)?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        if MultiGzDecoder::new(&bytes[..])
            .read_to_end(&mut plain)
            .is_err()
        {
            // What came before the damage is still good.
            report.skip("a damaged gzip file", &path.display().to_string());
        }
        bytes = plain;
    }
    let mut records = Vec::new();
    let mut take = |piece: &[u8], number: usize| match read_chunk(piece, size) {
        Ok(found) => records.extend(found),
        Err(error) => {
            let name = format!("{}, record {}", path.display(), number + 1);
            report.skip(
                &format!("a bad record ({})", without_line(&error.to_string())),
                &name,
            );
        }
    };
    if bytes.starts_with(&V2_MARK) {
        let length = 4 + 4 * (size.area() + 1) + (16 * size.area()).div_ceil(8) + 2;
        bytes
            .chunks(length)
            .enumerate()
            .for_each(|(number, piece)| take(piece, number));
    } else {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        for (number, lines) in lines.chunks(V1_LINES).enumerate() {
            take(&lines.concat(), number);
        }
    }
    report.positions += records.len() as u64;
    report.games += 1;
    Ok(records)
}

/// Error messages count lines within the record; as a reason they should all look the same.
fn without_line(message: &str) -> String {
    message
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '#' } else { letter })
        .collect()
}

/// An endless stream of positions.
pub struct ChunkStream {
    files: Vec<PathBuf>,
    order: Shuffle,
    size: BoardSize,
    /// Chance of a position to be used.
    share: f64,
    capacity: usize,
    buffer: Vec<ChunkRecord>,
    /// Whether the buffer held a whole round when it was last filled.
    fits: bool,
    random: Xoshiro256PlusPlus,
    pub(crate) files_read: u64,
    /// What was read and what was left out.
    pub report: LoadReport,
}

impl ChunkStream {
    /// A stream over `files`; `share` of the positions are used, `capacity` of them are shuffled at a time.
    pub fn new(
        files: Vec<PathBuf>,
        size: BoardSize,
        share: f64,
        capacity: usize,
        seed: u64,
    ) -> Self {
        Self {
            order: Shuffle::new(files.len().max(1) as u64, seed),
            files,
            size,
            share,
            capacity: capacity.max(1),
            buffer: Vec::new(),
            fits: false,
            random: Xoshiro256PlusPlus::seed_from_u64(mix(seed)),
            files_read: 0,
            report: LoadReport::default(),
        }
    }

    /// The number of files.
    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    /// Goes on after that many files; with the next round if there are no longer as many of them as there were.
    pub fn seek(&mut self, files_read: u64, of: Option<u64>) {
        let round = self.files.len() as u64;
        self.files_read = match of {
            Some(of) if of != round => files_read.next_multiple_of(round),
            _ => files_read,
        };
        self.random = Xoshiro256PlusPlus::seed_from_u64(mix(self.files_read ^ 0x5eed));
        self.buffer.clear();
    }

    /// The next position: a random one of the buffer, which is filled up again when half of it is used. A collection
    /// that fits in whole is used up before the next round, so that every position comes once a round.
    pub fn next_example(&mut self) -> Result<GoExample, DataError> {
        let low = if self.fits { 0 } else { self.capacity / 2 };
        if self.buffer.len() <= low {
            self.fill()?;
        }
        let chosen = self.random.random_range(0..self.buffer.len());
        Ok(example(self.buffer.swap_remove(chosen)))
    }

    fn fill(&mut self) -> Result<(), DataError> {
        let round = self.files.len() as u64;
        let fresh = self.buffer.is_empty() && self.files_read.is_multiple_of(round);
        let mut fruitless = 0;
        while self.buffer.len() < self.capacity {
            let before = self.buffer.len();
            self.read_one()?;
            fruitless = if self.buffer.len() == before {
                fruitless + 1
            } else {
                0
            };
            if !self.buffer.is_empty() && self.files_read.is_multiple_of(round) {
                self.fits = fresh;
                return Ok(());
            }
            if fruitless >= PATIENCE.max(2 * self.files.len()) {
                let place = format!("{} files", self.files.len());
                let hint = match self.report.skipped.iter().next() {
                    Some((why, (count, name))) => {
                        format!(" ({count} left out: {why}, the first is {name})")
                    }
                    None => String::new(),
                };
                return Err(DataError::Nothing {
                    what: "training positions",
                    place,
                    hint,
                });
            }
        }
        self.fits = false;
        Ok(())
    }

    fn read_one(&mut self) -> Result<(), DataError> {
        let file = &self.files[self.order.at(self.files_read) as usize];
        self.files_read += 1;
        let records = read_file(file, self.size, &mut self.report)?;
        let (share, random) = (self.share, &mut self.random);
        self.buffer
            .extend(records.into_iter().filter(|_| random.random_bool(share)));
        Ok(())
    }
}

/// A chunk's record as an example.
pub fn example(record: ChunkRecord) -> GoExample {
    GoExample {
        planes: record.planes,
        to_move: record.to_move,
        policy: Policy::Chances(record.probabilities),
        outcome: if record.won { 1.0 } else { -1.0 },
        owners: None,
    }
}
