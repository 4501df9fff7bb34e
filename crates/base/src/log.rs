//! An append-only file of records that survives a crash at any moment.
//!
//! Each record is its length, a checksum and its bytes. Appending returns when the record is on
//! disk. A crash can only leave the last record incomplete; opening the log cuts that one off.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Length and checksum, both little-endian.
const HEADER: usize = 8;
/// A longer record is taken as damage.
const LONGEST: usize = 1 << 30;

/// Why a log cannot be used.
#[derive(Debug, Error)]
pub enum LogError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A record in the middle is not what was written.
    #[error(
        "{} is damaged at byte {offset}: a record there does not match its checksum; restore the file from a copy, or cut it off at that byte to lose only what follows",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        /// Where the damaged record starts.
        offset: u64,
    },
}

/// An open log.
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens or creates a log and hands every record in it to `each`, oldest first.
    pub fn open(path: &Path, mut each: impl FnMut(&[u8])) -> Result<Log, LogError> {
        let io = |source| LogError::Io {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(io)?;
        let whole = file.metadata().map_err(io)?.len();
        let mut reader = BufReader::new(&file);
        let mut offset = 0;
        loop {
            match read_record(&mut reader, whole - offset).map_err(io)? {
                Found::Record(record) => {
                    each(&record);
                    offset += (HEADER + record.len()) as u64;
                }
                Found::End => break,
                Found::Torn => {
                    file.set_len(offset).map_err(io)?;
                    file.sync_all().map_err(io)?;
                    break;
                }
                Found::Wrong => {
                    return Err(LogError::Damaged {
                        path: path.to_owned(),
                        offset,
                    });
                }
            }
        }
        Ok(Log {
            path: path.to_owned(),
            file,
        })
    }

    /// Adds a record; it is on disk when this returns.
    pub fn append(&mut self, record: &[u8]) -> Result<(), LogError> {
        let mut framed = Vec::with_capacity(HEADER + record.len());
        framed.extend((record.len() as u32).to_le_bytes());
        framed.extend(crc32c::crc32c(record).to_le_bytes());
        framed.extend(record);
        let start = self.file.seek(SeekFrom::End(0));
        let written = start
            .and_then(|_| self.file.write_all(&framed))
            .and_then(|()| self.file.sync_data());
        written.map_err(|source| LogError::Io {
            path: self.path.clone(),
            source,
        })
    }
}

enum Found {
    Record(Vec<u8>),
    End,
    /// The file ends inside the record.
    Torn,
    /// The record is whole and wrong, and another follows.
    Wrong,
}

fn read_record(reader: &mut impl Read, left: u64) -> io::Result<Found> {
    if left == 0 {
        return Ok(Found::End);
    }
    if left < HEADER as u64 {
        return Ok(Found::Torn);
    }
    let (mut length, mut checksum) = ([0; 4], [0; 4]);
    reader.read_exact(&mut length)?;
    reader.read_exact(&mut checksum)?;
    let length = u32::from_le_bytes(length) as usize;
    let rest = left - HEADER as u64;
    if length as u64 > rest {
        return Ok(Found::Torn);
    }
    if length > LONGEST {
        return Ok(Found::Wrong);
    }
    let mut record = vec![0; length];
    reader.read_exact(&mut record)?;
    if crc32c::crc32c(&record) == u32::from_le_bytes(checksum) {
        return Ok(Found::Record(record));
    }
    // The last record can have its length on disk but not all of its bytes.
    Ok(if length as u64 == rest {
        Found::Torn
    } else {
        Found::Wrong
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn records(path: &Path) -> Result<Vec<Vec<u8>>, LogError> {
        let mut records = Vec::new();
        Log::open(path, |record| records.push(record.to_vec())).map(|_| records)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_cut_at_any_byte_loses_only_the_record_it_hits(
            written in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let mut log = Log::open(&path, |_| {}).unwrap();
            let mut ends = vec![0];
            for record in &written {
                log.append(record).unwrap();
                ends.push(path.metadata().unwrap().len());
            }
            let cut = cut.index(*ends.last().unwrap() as usize + 1) as u64;
            OpenOptions::new().write(true).open(&path).unwrap().set_len(cut).unwrap();
            let whole = ends.iter().filter(|&&end| end <= cut).count() - 1;
            prop_assert_eq!(records(&path).unwrap(), &written[..whole]);
            // What follows is appended behind the whole records.
            Log::open(&path, |_| {}).unwrap().append(b"next").unwrap();
            prop_assert_eq!(records(&path).unwrap().pop().unwrap(), b"next".to_vec());
        }
    }

    #[test]
    fn damage_in_the_middle_is_named_not_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path, |_| {}).unwrap();
        for record in [b"first".as_slice(), b"second", b"third"] {
            log.append(record).unwrap();
        }
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[HEADER + 5 + HEADER] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = records(&path).unwrap_err().to_string();
        assert!(error.contains("damaged at byte 13"), "{error}");
    }
}
