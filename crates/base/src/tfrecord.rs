//! TensorFlow's record framing, as TFRecord and event files use it.
//!
//! A record is its length (u64, little-endian), a masked CRC-32C of those eight bytes, the payload, and a masked
//! CRC-32C of the payload.

use std::io::{self, Read, Write};

use thiserror::Error;

/// What is wrong with a file of records.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A checksum does not match.
    #[error("record {record}: the checksum of its {part} is wrong; the file is damaged")]
    Checksum {
        /// Counted from 1.
        record: usize,
        /// `length` or `payload`.
        part: &'static str,
    },
    /// The file ends inside a record.
    #[error("record {record}: the file ends inside it")]
    Truncated {
        /// Counted from 1.
        record: usize,
    },
}

/// Added to a rotated checksum, from TensorFlow's description of the format.
const MASK_DELTA: u32 = 0xa282_ead8;

/// Bytes of a length, and of a checksum.
const LENGTH_BYTES: usize = 8;
const SUM_BYTES: usize = 4;

fn masked(bytes: &[u8]) -> [u8; SUM_BYTES] {
    let sum = crc32c::crc32c(bytes);
    sum.rotate_right(15).wrapping_add(MASK_DELTA).to_le_bytes()
}

/// Appends one record.
pub fn write_payload(out: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    let length = (payload.len() as u64).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(&masked(&length))?;
    out.write_all(payload)?;
    out.write_all(&masked(payload))
}

/// Reads payloads one after the other. After an error nothing follows, since where the next record starts is unknown.
pub struct Payloads<R> {
    input: R,
    payload: Vec<u8>,
    record: usize,
    has_ended: bool,
}

impl<R: Read> Payloads<R> {
    /// The records of a file.
    pub fn new(input: R) -> Self {
        Self {
            input,
            payload: Vec::new(),
            record: 0,
            has_ended: false,
        }
    }

    /// The number of the record read last, from 1.
    pub fn record(&self) -> usize {
        self.record
    }

    /// The next payload; `None` at the end of the file and after an error.
    #[expect(
        clippy::should_implement_trait,
        reason = "it lends, which an iterator cannot"
    )]
    pub fn next(&mut self) -> Option<Result<&[u8], FrameError>> {
        if self.has_ended {
            return None;
        }
        self.record += 1;
        match self.advance() {
            Ok(true) => Some(Ok(&self.payload)),
            Ok(false) => {
                self.has_ended = true;
                None
            }
            Err(error) => {
                self.has_ended = true;
                Some(Err(error))
            }
        }
    }

    /// The next payload into `payload`; false at the end of the file.
    fn advance(&mut self) -> Result<bool, FrameError> {
        let record = self.record;
        let mut head = Vec::new();
        take(&mut self.input, LENGTH_BYTES + SUM_BYTES, &mut head)?;
        if head.is_empty() {
            return Ok(false);
        }
        let truncated = || FrameError::Truncated { record };
        let wrong = |part| FrameError::Checksum { record, part };
        let (length, sum) = head
            .split_first_chunk::<LENGTH_BYTES>()
            .filter(|(_, sum)| sum.len() == SUM_BYTES)
            .ok_or_else(truncated)?;
        if sum != masked(length) {
            return Err(wrong("length"));
        }
        let size = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| truncated())?;
        self.payload.clear();
        take(
            &mut self.input,
            size.saturating_add(SUM_BYTES),
            &mut self.payload,
        )?;
        let (payload, sum) = self
            .payload
            .split_at_checked(size)
            .filter(|(_, sum)| sum.len() == SUM_BYTES)
            .ok_or_else(truncated)?;
        if sum != masked(payload) {
            return Err(wrong("payload"));
        }
        self.payload.truncate(size);
        Ok(true)
    }
}

/// Up to `count` bytes; fewer at the end of the file.
fn take(input: &mut impl Read, count: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
    input.take(count as u64).read_to_end(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // The check value of CRC-32C (RFC 3720 and the catalogue of parametrised CRCs).
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        // 32 bytes of zeros, RFC 3720 appendix B.4.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }

    fn payloads(file: &[u8]) -> Result<Vec<Vec<u8>>, FrameError> {
        let mut reader = Payloads::new(file);
        let mut all = Vec::new();
        while let Some(payload) = reader.next() {
            all.push(payload?.to_vec());
        }
        Ok(all)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(all in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..6)) {
            let mut file = Vec::new();
            for payload in &all {
                write_payload(&mut file, payload).unwrap();
            }
            prop_assert_eq!(payloads(&file).unwrap(), all);
        }

        #[test]
        fn damage_and_cuts_are_noticed(at in 0usize..26, bit in 0u8..8) {
            let mut file = Vec::new();
            write_payload(&mut file, b"ten bytes.").unwrap();
            prop_assert!(at == 0 || payloads(&file[..at]).is_err());
            file[at] ^= 1 << bit;
            prop_assert!(payloads(&file).is_err());
        }
    }
}
