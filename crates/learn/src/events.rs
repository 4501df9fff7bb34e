//! TensorBoard's event files.
//!
//! A file is a row of records as [`base::tfrecord`] writes them. Each is a protocol buffer `Event`; of that format
//! only the few fields are written that scalars need.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use base::protobuf::Message;
use base::tfrecord::write_payload;

/// An open event file.
pub struct EventFile {
    file: File,
    path: PathBuf,
}

impl EventFile {
    /// Starts a file in `folder`; what earlier files say about steps from `step` on is void.
    pub fn create(folder: &Path, step: u64) -> io::Result<Self> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let name = format!(
            "events.out.tfevents.{:010}.tengen.{}.{:09}",
            now.as_secs(),
            std::process::id(),
            now.subsec_nanos()
        );
        let path = folder.join(name);
        let file = File::options().create_new(true).append(true).open(&path)?;
        let mut events = Self { file, path };
        let mut version = event(0);
        version.text(field::FILE_VERSION, "brain.Event:2");
        events.append(&version)?;
        let mut log = Message::default();
        log.number(1, SESSION_START);
        let mut start = event(step);
        start.message(field::SESSION_LOG, &log);
        events.append(&start)?;
        Ok(events)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one step's numbers, as one record.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Message::default();
        for &(name, value) in values {
            let mut scalar = Message::default();
            scalar.text(1, name);
            scalar.float(2, value as f32);
            summary.message(1, &scalar);
        }
        let mut event = event(step);
        event.message(field::SUMMARY, &summary);
        self.append(&event)
    }

    fn append(&mut self, message: &Message) -> io::Result<()> {
        // In one piece, so that a reader beside us never sees half a record.
        let mut record = Vec::new();
        write_payload(&mut record, message.bytes())?;
        self.file.write_all(&record)
    }
}

/// Field numbers of `Event`.
mod field {
    pub const WALL_TIME: u64 = 1;
    pub const STEP: u64 = 2;
    pub const FILE_VERSION: u64 = 3;
    pub const SUMMARY: u64 = 5;
    pub const SESSION_LOG: u64 = 7;
}

/// `SessionLog.status`: readers drop orphaned steps of a crashed run.
const SESSION_START: u64 = 1;

/// An event at this moment.
fn event(step: u64) -> Message {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut event = Message::default();
    event.double(field::WALL_TIME, now.as_secs_f64());
    event.number(field::STEP, step);
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crc32c::crc32c;

    /// Added to a rotated checksum, from the TFRecord format.
    const MASK: u32 = 0xa282_ead8;

    /// Splits a protocol buffer into (field, wire type, payload); an independent reading of the format.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    return value;
                }
            }
            unreachable!()
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let payload = match key & 7 {
                0 => varint(&mut bytes).to_le_bytes().to_vec(),
                kind => {
                    let length = match kind {
                        1 => 8,
                        5 => 4,
                        2 => varint(&mut bytes) as usize,
                        other => panic!("wire type {other}"),
                    };
                    let (payload, rest) = bytes.split_at(length);
                    bytes = rest;
                    payload.to_vec()
                }
            };
            found.push((key >> 3, key & 7, payload));
        }
        found
    }

    #[test]
    fn scalars_are_read_back_by_the_published_format() {
        let folder = tempfile::tempdir().unwrap();
        let mut events = EventFile::create(folder.path(), 7).unwrap();
        events
            .scalars(300, &[("loss", 2.5), ("accuracy", 0.25)])
            .unwrap();
        let path = events.path().to_owned();
        let bytes = std::fs::read(path).unwrap();
        let mut rest = &bytes[..];
        let mut records = Vec::new();
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let unmask = |stored: &[u8]| {
                u32::from_le_bytes(stored.try_into().unwrap())
                    .wrapping_sub(MASK)
                    .rotate_left(15)
            };
            assert_eq!(unmask(&rest[8..12]), crc32c(&rest[..8]));
            assert_eq!(
                unmask(&rest[12 + length..16 + length]),
                crc32c(&rest[12..12 + length])
            );
            records.push(rest[12..12 + length].to_vec());
            rest = &rest[16 + length..];
        }
        assert_eq!(records.len(), 3);
        let version = fields(&records[0]);
        assert!(version.contains(&(3, 2, b"brain.Event:2".to_vec())));
        let scalars = fields(&records[2]);
        assert!(scalars.contains(&(2, 0, 300_u64.to_le_bytes().to_vec())));
        let summary = &scalars.iter().find(|field| field.0 == 5).unwrap().2;
        let values: Vec<_> = fields(summary)
            .into_iter()
            .map(|field| fields(&field.2))
            .collect();
        assert_eq!(values[0][0].2, b"loss");
        assert_eq!(values[0][1], (2, 5, 2.5_f32.to_le_bytes().to_vec()));
        assert_eq!(values[1][0].2, b"accuracy");
    }
}
