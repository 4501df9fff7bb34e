//! TensorFlow's record files of `tf.train.Example`s: maps from names to lists of integers, as protocol buffers in the
//! framing of [`base::tfrecord`].

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use base::protobuf::{Fields, Message};
use base::tfrecord::{FrameError, Payloads, write_payload};
use thiserror::Error;

/// Named lists of integers.
pub type Example = BTreeMap<String, Vec<i64>>;

/// What is wrong with a record file.
#[derive(Debug, Error)]
pub enum RecordFileError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A payload that is no example of integer lists.
    #[error("record {record}: not an example of integer lists")]
    Payload {
        /// Counted from 1.
        record: usize,
    },
}

/// Appends one record.
pub fn write_record(out: &mut impl Write, example: &Example) -> io::Result<()> {
    write_payload(out, &encode(example))
}

/// Reads all records of a file; the first that is damaged ends it.
pub fn read_records(input: impl Read) -> Result<Vec<Example>, RecordFileError> {
    records(input).collect()
}

/// The records of a file, one after the other. After a record that is no example the next one
/// follows; after damage nothing does, since nobody knows where the next one starts.
pub fn records<R: Read>(input: R) -> Records<R> {
    Records(Payloads::new(input))
}

/// See [`records`].
pub struct Records<R>(Payloads<R>);

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Example, RecordFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let example = match self.0.next()? {
            Ok(payload) => decode(payload),
            Err(error) => return Some(Err(error.into())),
        };
        let record = self.0.record();
        Some(example.ok_or(RecordFileError::Payload { record }))
    }
}

/// Field numbers of `tf.train.Example` and the messages inside it.
mod field {
    /// `Example.features`, `Features.feature`, `Int64List.value`, and the key of a map's entry.
    pub(super) const FIRST: u64 = 1;
    /// The value of a map's entry.
    pub(super) const VALUE: u64 = 2;
    /// `Feature.int64_list`.
    pub(super) const INT64_LIST: u64 = 3;
}

fn encode(example: &Example) -> Vec<u8> {
    let mut features = Message::default();
    for (name, values) in example {
        let mut list = Message::default();
        list.numbers(field::FIRST, values.iter().map(|&value| value as u64));
        let mut feature = Message::default();
        feature.message(field::INT64_LIST, &list);
        let mut entry = Message::default();
        entry.text(field::FIRST, name);
        entry.message(field::VALUE, &feature);
        features.message(field::FIRST, &entry);
    }
    let mut example = Message::default();
    example.message(field::FIRST, &features);
    example.bytes().to_vec()
}

fn decode(payload: &[u8]) -> Option<Example> {
    let mut example = Example::new();
    let mut features = Fields::new(Fields::new(payload).only(field::FIRST)?);
    while !features.is_empty() {
        let mut entry = Fields::new(features.blob(field::FIRST)?);
        let name = entry.blob(field::FIRST)?;
        let feature = Fields::new(entry.blob(field::VALUE)?);
        let list = Fields::new(feature.only(field::INT64_LIST)?);
        let values = list.numbers(field::FIRST)?;
        let values = values.into_iter().map(|value| value as i64).collect();
        example.insert(String::from_utf8(name.to_vec()).ok()?, values);
    }
    Some(example)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
