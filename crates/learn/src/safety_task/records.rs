//! Labelled positions from TFRecord files of `tf.train.Example`, as the original pipeline writes them.
//!
//! Each record has `planes` (flat, row by row from the top, plane fastest), `shape` (rows, columns, planes), `target`
//! (x and y of every stone of the target) and `label` (0 or 1, or one-hot with safe last); it may have `moves` (x and y of
//! the best moves) and `ownership` (per point of the planes, 1 for the target's side, 0 for the other, −1 for unknown).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::events::checksum;
use crate::go_task::games::LoadReport;
use crate::trainer::DataError;

/// A point as x and y from the top left of the planes.
pub type Place = (u8, u8);

/// A position whose target is known to be safe or not.
#[derive(Clone, Debug, PartialEq)]
pub struct SafetyExample {
    /// Rows of the planes.
    pub height: usize,
    /// Columns of the planes.
    pub width: usize,
    /// Planes.
    pub planes: usize,
    /// What is not zero: index of `[y][x][plane]`, and value.
    pub values: Vec<(u32, i8)>,
    /// The stones of the target.
    pub target: Vec<Place>,
    /// Whether it is safe.
    pub is_safe: bool,
    /// The best moves; empty if unknown or none.
    pub moves: Vec<Place>,
    /// Who owns each point in the end, if known.
    pub ownership: Option<Vec<i8>>,
}

/// Plane counts whose files have a ring of one point around the board, which `target` and `moves` do not count.
const RINGED: [usize; 2] = [5, 13];
/// From the TFRecord format.
const MASK: u32 = 0xa282_ead8;
/// Bytes of a length and its checksum.
const HEAD: usize = 12;
/// Bytes of a checksum.
const TAIL: usize = 4;

/// Reads every good record of a file; bad ones are counted.
pub fn read_file(path: &Path, report: &mut LoadReport) -> Result<Vec<SafetyExample>, DataError> {
    let bytes = fs::read(path).map_err(|error| DataError::File {
        path: path.to_owned(),
        error,
    })?;
    let mut examples = Vec::new();
    let mut rest = &bytes[..];
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let name = format!("{}, record {number}", path.display());
        let Some(record) = next_record(&mut rest) else {
            report.skip("a damaged frame: the rest of the file is left out", &name);
            break;
        };
        match read_example(record) {
            Ok(example) => examples.push(example),
            Err(why) => report.skip(why, &name),
        }
    }
    report.positions += examples.len() as u64;
    Ok(examples)
}

fn next_record<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let sound = |bytes: &[u8], stored: &[u8]| {
        let stored = stored.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        stored == Some(checksum(bytes).rotate_right(15).wrapping_add(MASK))
    };
    let head = rest.get(..HEAD)?;
    if !sound(&head[..8], &head[8..]) {
        return None;
    }
    let length = usize::try_from(u64::from_le_bytes(*head.first_chunk()?)).ok()?;
    let end = HEAD.checked_add(length)?.checked_add(TAIL)?;
    let record = rest.get(HEAD..end - TAIL)?;
    if !sound(record, rest.get(end - TAIL..end)?) {
        return None;
    }
    *rest = &rest[end..];
    Some(record)
}

fn read_example(record: &[u8]) -> Result<SafetyExample, &'static str> {
    let features = read_features(record).ok_or("not a tf.train.Example of whole numbers")?;
    let list = |name: &str| features.get(name).map(Vec::as_slice);
    let &[height, width, planes] = list("shape").unwrap_or_default() else {
        return Err("no shape of three numbers");
    };
    let size = |value: i64| {
        usize::try_from(value)
            .ok()
            .filter(|size| (1..=255).contains(size))
    };
    let (Some(height), Some(width), Some(planes)) = (size(height), size(width), size(planes))
    else {
        return Err("a shape that makes no sense");
    };
    let values = list("planes").unwrap_or_default();
    if values.len() != height * width * planes {
        return Err("as many planes as the shape says are not there");
    }
    let ring = i64::from(RINGED.contains(&planes));
    let places = |name: &str| -> Option<Vec<Place>> {
        let place = |pair: &[i64]| {
            let (x, y) = (pair[0] + ring, pair[1] + ring);
            let inside = (0..width as i64).contains(&x) && (0..height as i64).contains(&y);
            inside.then_some((x as u8, y as u8))
        };
        list(name)
            .unwrap_or_default()
            .chunks_exact(2)
            .map(place)
            .collect()
    };
    let target = places("target").ok_or("a target outside the board")?;
    if target.is_empty() {
        return Err("no target");
    }
    let is_safe = match list("label") {
        Some([0]) | Some([1, 0]) => false,
        Some([1]) | Some([0, 1]) => true,
        _ => return Err("no label"),
    };
    let ownership = match list("ownership") {
        Some(points) if points.len() == height * width => {
            Some(points.iter().map(|&value| value.signum() as i8).collect())
        }
        _ => None,
    };
    let sparse = values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0)
        .map(|(index, &value)| {
            (
                index as u32,
                value.clamp(i64::from(i8::MIN), i64::from(i8::MAX)) as i8,
            )
        })
        .collect();
    Ok(SafetyExample {
        height,
        width,
        planes,
        values: sparse,
        target,
        is_safe,
        moves: places("moves").unwrap_or_default(),
        ownership,
    })
}

/// The whole-number features of a `tf.train.Example`, by name.
fn read_features(record: &[u8]) -> Option<BTreeMap<String, Vec<i64>>> {
    let mut found = BTreeMap::new();
    for (field, features) in fields(record)? {
        if field != 1 {
            continue;
        }
        for (field, entry) in fields(features.bytes()?)? {
            if field != 1 {
                continue;
            }
            let entry = fields(entry.bytes()?)?;
            let part = |number: u64| {
                entry
                    .iter()
                    .find(|(field, _)| *field == number)
                    .and_then(|(_, value)| value.bytes())
            };
            let name = String::from_utf8(part(1)?.to_vec()).ok()?;
            let Some(feature) = part(2) else { continue };
            if let Some((_, list)) = fields(feature)?
                .into_iter()
                .find(|(field, _)| *field == INT64_LIST)
            {
                found.insert(name, read_numbers(list.bytes()?)?);
            }
        }
    }
    Some(found)
}

/// Field of `Feature` with whole numbers.
const INT64_LIST: u64 = 3;

/// The numbers of an `Int64List`, packed or not.
fn read_numbers(list: &[u8]) -> Option<Vec<i64>> {
    let mut numbers = Vec::new();
    for (_, value) in fields(list)? {
        match value {
            Wire::Number(number) => numbers.push(number as i64),
            Wire::Bytes(mut packed) => {
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)? as i64);
                }
            }
        }
    }
    Some(numbers)
}

/// A value of a protocol buffer.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Wire::Bytes(bytes) => Some(bytes),
            Wire::Number(_) => None,
        }
    }
}

fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let length = match key & 7 {
            0 => {
                found.push((key >> 3, Wire::Number(varint(&mut bytes)?)));
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let payload = bytes.get(..length)?;
        bytes = &bytes[length..];
        found.push((key >> 3, Wire::Bytes(payload)));
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
