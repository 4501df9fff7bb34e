//! Labelled positions from TFRecord files, as `tengen tsumego pack` and the original pipeline write them.
//!
//! Each record has `planes` (flat, row by row from the top, plane fastest), `shape` (rows, columns, planes), `target`
//! (x and y of every stone of the target) and `label` (0 or 1, or one-hot with safe last); it may have `moves` (x and y of
//! winning moves) and `ownership` (a number for each point of the board). A million of them must fit into memory, so
//! planes that are 0 or 1 are kept as bits.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use base::tfrecord::FrameError;
use flate2::bufread::MultiGzDecoder;
use tsumego::tfrecord::{Example, RecordFileError, records};
use tsumego::{
    ATTACKER_OWNS, Cell, DEFENDER_OWNS, FeatureSet, LARGEST_COUNT, ZONE_PLANE, middle,
    place_in_window,
};

use learn::{DataError, LoadReport};

/// A point of the board as x and y from the top left.
pub type Place = (u8, u8);

/// A position whose target is known to be safe or not.
#[derive(Clone, Debug, PartialEq)]
pub struct SafetyExample {
    /// Which planes.
    pub set: FeatureSet,
    /// Rows and columns of the planes, a ring around the board included.
    side: usize,
    /// For each cell, the planes that are 1 there.
    bits: Box<[u64]>,
    /// For each cell, the values of the planes that count.
    counts: Box<[i8]>,
    /// The stones of the target.
    pub target: Vec<Place>,
    /// Whether it is safe.
    pub is_safe: bool,
    /// Winning moves of the side that starts; empty if unknown or none.
    pub moves: Vec<Place>,
    /// Points that are certain to be the target's side's (true) or the other's in the end.
    pub owned: Vec<(Place, bool)>,
}

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads every good record of a file, gzip or not; bad ones are counted.
pub fn read_file(path: &Path, report: &mut LoadReport) -> Result<Vec<SafetyExample>, DataError> {
    let failed = |error| DataError::File {
        path: path.to_owned(),
        error,
    };
    let mut examples = Vec::new();
    for (index, record) in records(open(path).map_err(failed)?).enumerate() {
        let name = format!("{}, record {}", path.display(), index + 1);
        match record {
            Ok(record) => match SafetyExample::from_record(&record) {
                Ok(example) => examples.push(example),
                Err(why) => report.skip(why, &name),
            },
            Err(RecordFileError::Frame(FrameError::Io(error)))
                if error.kind() != io::ErrorKind::UnexpectedEof =>
            {
                return Err(failed(error));
            }
            Err(RecordFileError::Payload { .. }) => {
                report.skip("not a tf.train.Example of whole numbers", &name);
            }
            Err(_) => report.skip("a damaged frame: the rest of the file is left out", &name),
        }
    }
    report.positions += examples.len() as u64;
    Ok(examples)
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::new(File::open(path)?);
    Ok(if file.fill_buf()?.starts_with(&GZIP) {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// The planes of a set that count something.
pub fn count_planes(set: FeatureSet) -> Vec<usize> {
    (0..set.planes())
        .filter(|&plane| set.is_count(plane))
        .collect()
}

impl SafetyExample {
    fn from_record(record: &Example) -> Result<Self, &'static str> {
        let list = |name: &str| record.get(name).map_or(&[][..], Vec::as_slice);
        let &[height, width, planes] = list("shape") else {
            return Err("no shape of three numbers");
        };
        let set = usize::try_from(planes)
            .ok()
            .and_then(FeatureSet::with_planes)
            .ok_or("a number of planes that is none of the sets")?;
        let side = usize::try_from(width)
            .ok()
            .filter(|side| height == width && (1..=255).contains(side))
            .ok_or("a shape that makes no sense")?;
        let board = side
            .checked_sub(2 * set.ring())
            .filter(|&board| board > 0)
            .ok_or("a shape that makes no sense")?;
        let places = |name: &str| -> Option<Vec<Place>> {
            let place = |pair: &[i64]| {
                let inside = pair.iter().all(|&at| (0..board as i64).contains(&at));
                inside.then_some((pair[0] as u8, pair[1] as u8))
            };
            list(name).chunks_exact(2).map(place).collect()
        };
        let target = places("target").ok_or("a target outside the board")?;
        if target.is_empty() {
            return Err("no target");
        }
        let is_safe = match list("label") {
            [0] | [1, 0] => false,
            [1] | [0, 1] => true,
            _ => return Err("no label"),
        };
        let (bits, counts) = pack_planes(list("planes"), side, set)?;
        let points = (0..board).flat_map(|y| (0..board).map(move |x| (x as u8, y as u8)));
        let owned = points
            .zip(list("ownership"))
            .filter_map(|(point, &owner)| match owner {
                DEFENDER_OWNS => Some((point, true)),
                ATTACKER_OWNS => Some((point, false)),
                _ => None,
            })
            .collect();
        Ok(SafetyExample {
            set,
            side,
            bits,
            counts,
            target,
            is_safe,
            moves: places("moves").unwrap_or_default(),
            owned,
        })
    }

    /// What a window is centred on: with our planes the middle of the fight, else the stone of the target
    /// that `pick` picks.
    pub fn centre(&self, window: usize, pick: usize) -> Cell {
        let cell = |&(x, y): &Place| (usize::from(x), usize::from(y));
        if self.set != FeatureSet::Tengen {
            return cell(&self.target[pick % self.target.len()]);
        }
        let zone = (0..self.bits.len()).filter(|&at| self.bits[at] >> ZONE_PLANE & 1 == 1);
        let target: Vec<Cell> = self.target.iter().map(cell).collect();
        middle(
            zone.map(|at| (at % self.side, at / self.side)),
            &target,
            window,
        )
    }

    /// Fills `row` with what a window shows, plane by plane as networks take it.
    pub fn show(&self, centre: Cell, window: usize, symmetry: usize, row: &mut [f32]) {
        let points = window * window;
        let ring = self.set.ring();
        let counting = count_planes(self.set);
        let centre = (centre.0 + ring, centre.1 + ring);
        row.fill(0.0);
        for (at, &bits) in self.bits.iter().enumerate() {
            let cell = (at % self.side, at / self.side);
            let Some(place) = place_in_window(cell, centre, window, symmetry) else {
                continue;
            };
            let mut left = bits;
            while left != 0 {
                row[left.trailing_zeros() as usize * points + place] = 1.0;
                left &= left - 1;
            }
            let counts = self.counts[at * counting.len()..].iter();
            for (&plane, &count) in counting.iter().zip(counts) {
                row[plane * points + place] = f32::from(count) / LARGEST_COUNT as f32;
            }
        }
    }
}

type Packed = (Box<[u64]>, Box<[i8]>);

fn pack_planes(values: &[i64], side: usize, set: FeatureSet) -> Result<Packed, &'static str> {
    let planes = set.planes();
    if values.len() != side * side * planes {
        return Err("the number of planes does not match the shape");
    }
    let mut counts = Vec::new();
    let mut bits = Vec::with_capacity(side * side);
    for cell in values.chunks_exact(planes) {
        let mut ones = 0;
        for (plane, &value) in cell.iter().enumerate() {
            if set.is_count(plane) {
                counts.push(value.clamp(-LARGEST_COUNT, LARGEST_COUNT) as i8);
            } else if value == 1 {
                ones |= 1 << plane;
            } else if value != 0 {
                return Err("a plane that is neither 0 nor 1");
            }
        }
        bits.push(ones);
    }
    Ok((bits.into(), counts.into()))
}
