//! TensorFlow's record files, written and read by their format rules.
//!
//! A record is its length (u64, little-endian), a masked CRC-32C of those eight bytes, the payload,
//! and a masked CRC-32C of the payload. The payload is a `tf.train.Example`: a map from names to
//! lists of integers, as a protocol buffer.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use thiserror::Error;

/// Named lists of integers.
pub type Example = BTreeMap<String, Vec<i64>>;

/// What is wrong with a record file.
#[derive(Debug, Error)]
pub enum RecordFileError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A checksum does not match.
    #[error("record {record}: the checksum of its {part} is wrong; the file is damaged")]
    Checksum {
        /// Which record, from 1.
        record: usize,
        /// Which part.
        part: &'static str,
    },
    /// The file ends inside a record.
    #[error("record {record}: the file ends inside it")]
    Truncated {
        /// Which record, from 1.
        record: usize,
    },
    /// A payload that is no example of integer lists.
    #[error("record {record}: not an example of integer lists")]
    Payload {
        /// Which record, from 1.
        record: usize,
    },
}

/// Constant of the masking of checksums, from TensorFlow's `crc32c.h`.
const MASK_DELTA: u32 = 0xa282_ead8;

fn masked(bytes: &[u8]) -> [u8; 4] {
    let sum = crc32c::crc32c(bytes);
    sum.rotate_right(15).wrapping_add(MASK_DELTA).to_le_bytes()
}

/// Appends one record.
pub fn write_record(out: &mut impl Write, example: &Example) -> io::Result<()> {
    write_payload(out, &encode(example))
}

/// Appends one record with any payload.
pub fn write_payload(out: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    let length = (payload.len() as u64).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(&masked(&length))?;
    out.write_all(payload)?;
    out.write_all(&masked(payload))
}

/// Reads all records of a file; the first that is damaged ends it.
pub fn read_records(input: impl Read) -> Result<Vec<Example>, RecordFileError> {
    records(input).collect()
}

/// The records of a file, one after the other. After a record that is no example the next one
/// follows; after damage nothing does, since nobody knows where the next one starts.
pub fn records<R: Read>(input: R) -> Records<R> {
    Records {
        input,
        payload: Vec::new(),
        record: 0,
        has_ended: false,
    }
}

/// See [`records`].
pub struct Records<R> {
    input: R,
    payload: Vec<u8>,
    record: usize,
    has_ended: bool,
}

/// Bytes of a length, and of a checksum.
const LENGTH_BYTES: usize = 8;
const SUM_BYTES: usize = 4;

impl<R: Read> Records<R> {
    /// The next payload into `payload`; false at the end of the file.
    fn advance(&mut self) -> Result<bool, RecordFileError> {
        let record = self.record;
        let mut head = Vec::new();
        self.take(LENGTH_BYTES + SUM_BYTES, &mut head)?;
        if head.is_empty() {
            return Ok(false);
        }
        let truncated = || RecordFileError::Truncated { record };
        let wrong = |part| RecordFileError::Checksum { record, part };
        let (length, sum) = head
            .split_first_chunk::<LENGTH_BYTES>()
            .filter(|(_, sum)| sum.len() == SUM_BYTES)
            .ok_or_else(truncated)?;
        if sum != masked(length) {
            return Err(wrong("length"));
        }
        let size = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| truncated())?;
        let mut payload = std::mem::take(&mut self.payload);
        payload.clear();
        self.take(size.saturating_add(SUM_BYTES), &mut payload)?;
        if payload.len() != size + SUM_BYTES {
            return Err(truncated());
        }
        if payload[size..] != masked(&payload[..size]) {
            return Err(wrong("payload"));
        }
        payload.truncate(size);
        self.payload = payload;
        Ok(true)
    }

    /// Up to `count` bytes; fewer at the end of the file.
    fn take(&mut self, count: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        self.input.by_ref().take(count as u64).read_to_end(bytes)
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Example, RecordFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        self.record += 1;
        match self.advance() {
            Ok(true) => {
                let record = self.record;
                Some(decode(&self.payload).ok_or(RecordFileError::Payload { record }))
            }
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
}

/// Wire types and field numbers of `tf.train.Example`: every field used is number 1 or 3.
const LENGTH_DELIMITED: u8 = 2;
const FIRST_FIELD: u8 = 1 << 3 | LENGTH_DELIMITED;
const SECOND_FIELD: u8 = 2 << 3 | LENGTH_DELIMITED;
const INT64_LIST_FIELD: u8 = 3 << 3 | LENGTH_DELIMITED;
const FIRST_VARINT_FIELD: u8 = 1 << 3;

fn encode(example: &Example) -> Vec<u8> {
    let mut features = Vec::new();
    for (name, values) in example {
        let mut packed = Vec::with_capacity(values.len());
        for &value in values {
            put_varint(&mut packed, value as u64);
        }
        let list = field(FIRST_FIELD, &packed);
        let feature = field(INT64_LIST_FIELD, &list);
        let mut entry = field(FIRST_FIELD, name.as_bytes());
        entry.extend(field(SECOND_FIELD, &feature));
        features.extend(field(FIRST_FIELD, &entry));
    }
    field(FIRST_FIELD, &features)
}

fn field(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    put_varint(&mut bytes, content.len() as u64);
    bytes.extend_from_slice(content);
    bytes
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn decode(payload: &[u8]) -> Option<Example> {
    let mut example = Example::new();
    let features = single_field(payload, FIRST_FIELD)?;
    let mut rest = features;
    while !rest.is_empty() {
        let entry = take_field(&mut rest, FIRST_FIELD)?;
        let mut parts = entry;
        let name = take_field(&mut parts, FIRST_FIELD)?;
        let feature = take_field(&mut parts, SECOND_FIELD)?;
        let mut list = single_field(feature, INT64_LIST_FIELD)?;
        let mut values = Vec::new();
        while let Some((&tag, tail)) = list.split_first() {
            if tag == FIRST_VARINT_FIELD {
                list = tail;
                values.push(take_varint(&mut list)? as i64);
            } else {
                let mut packed = take_field(&mut list, FIRST_FIELD)?;
                while !packed.is_empty() {
                    values.push(take_varint(&mut packed)? as i64);
                }
            }
        }
        example.insert(String::from_utf8(name.to_vec()).ok()?, values);
    }
    Some(example)
}

fn single_field(mut bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let content = take_field(&mut bytes, tag)?;
    bytes.is_empty().then_some(content)
}

fn take_field<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&found, rest) = bytes.split_first()?;
    if found != tag {
        return None;
    }
    *bytes = rest;
    let length = usize::try_from(take_varint(bytes)?).ok()?;
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(content)
}

#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    // Planes are small numbers, most of them a byte each.
    if let Some((&byte, rest)) = bytes.split_first()
        && byte < 0x80
    {
        *bytes = rest;
        return Some(u64::from(byte));
    }
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
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

    #[test]
    fn an_example_is_laid_out_as_protocol_buffers_are() {
        let example = Example::from([("a".to_owned(), vec![1, 300])]);
        // Example { features { feature { key: "a" value { int64_list { value: [1, 300] } } } } }
        let expected = [
            0x0a, 14, 0x0a, 12, 0x0a, 1, b'a', 0x12, 7, 0x1a, 5, 0x0a, 3, 1, 0xac, 2,
        ];
        assert_eq!(encode(&example), expected);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(lists in proptest::collection::btree_map("[a-z]{1,8}", proptest::collection::vec(any::<i64>(), 0..20), 0..5)) {
            let mut file = Vec::new();
            write_record(&mut file, &lists).unwrap();
            write_record(&mut file, &lists).unwrap();
            let back = read_records(file.as_slice()).unwrap();
            prop_assert_eq!(back, vec![lists.clone(), lists]);
        }

        #[test]
        fn damage_is_noticed(at in 0usize..30, bit in 0u8..8) {
            let example = Example::from([("label".to_owned(), vec![1, 0]), ("size".to_owned(), vec![7])]);
            let mut file = Vec::new();
            write_record(&mut file, &example).unwrap();
            let at = at % file.len();
            file[at] ^= 1 << bit;
            prop_assert!(read_records(file.as_slice()).is_err());
        }
    }
}
