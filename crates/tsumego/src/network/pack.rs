//! Labelled positions as training records, and which of them are kept for testing.

use std::fmt;
use std::str::FromStr;

use go::{Point, PointSet};
use thiserror::Error;

use crate::network::features::{FeatureSet, Planes, features};
use crate::network::tfrecord::Example;
use crate::problem::LabelledPosition;
use crate::problem::Side;
use crate::problem::zone::wall_stones;
use base::mix;

/// How positions are divided between `main` and `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// All positions of a problem go the same way, so that the test asks about problems nobody
    /// has trained on.
    ByProblem,
    /// Each position by itself, as the original did: the test then knows the problems.
    ByPosition,
}

/// A split that is neither name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown split {0:?}: expected problem or position")]
pub struct UnknownSplit(String);

impl FromStr for Split {
    type Err = UnknownSplit;

    fn from_str(name: &str) -> Result<Split, UnknownSplit> {
        match name {
            "problem" => Ok(Split::ByProblem),
            "position" => Ok(Split::ByPosition),
            _ => Err(UnknownSplit(name.to_owned())),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Split::ByProblem => "problem",
            Split::ByPosition => "position",
        })
    }
}

impl Split {
    /// Whether a position is for testing. `share` of them are, the same ones for the same seed.
    pub fn is_test(self, position: &LabelledPosition, share: f64, seed: u64) -> bool {
        let start = mix(seed);
        let hash = match self {
            Split::ByProblem => position
                .source
                .bytes()
                .fold(start, |hash, byte| mix(hash ^ u64::from(byte))),
            Split::ByPosition => {
                let first = u64::from(position.first == Side::Defender);
                mix(start ^ position.problem.board().hash() ^ first)
            }
        };
        // The upper 53 bits make a fraction.
        ((hash >> 11) as f64) / ((1u64 << 53) as f64) < share
    }
}

/// A position as a training record with the original's field names.
///
/// `planes` (y, x, plane), `shape`, `target` (x, y pairs) and `label` are in every version. With 5
/// and 13 planes `label` is one-hot (unsafe, safe) and `size` is the number of moves; later it is 0
/// or 1. The versions that tell who starts add `first` (1 if the defender does) and `moves` (x, y
/// pairs of moves that win for the side that starts; may be empty). Ours adds `ownership`: for every
/// point 1 if it is certain to be the defender's in the end, 0 if the attacker's, 2 if neither is.
pub fn example(position: &LabelledPosition, set: FeatureSet) -> Example {
    let planes = features(&position.problem, position.first, set);
    let is_safe = i64::from(position.is_safe);
    let mut example = Example::from([
        ("shape".to_owned(), shape(&planes)),
        ("target".to_owned(), target(&planes)),
    ]);
    match set {
        FeatureSet::Original5 | FeatureSet::Original13 => {
            example.insert("label".to_owned(), vec![1 - is_safe, is_safe]);
            example.insert("size".to_owned(), vec![position.size as i64]);
        }
        FeatureSet::Original14 => {
            example.insert("label".to_owned(), vec![is_safe]);
        }
        FeatureSet::Original14First | FeatureSet::Tengen => {
            example.insert("label".to_owned(), vec![is_safe]);
            example.insert("size".to_owned(), vec![position.size as i64]);
            let defended = position.first == Side::Defender;
            example.insert("first".to_owned(), vec![i64::from(defended)]);
            example.insert("moves".to_owned(), moves(position));
        }
    }
    if set == FeatureSet::Tengen {
        example.insert("ownership".to_owned(), ownership(position));
    }
    example.insert("planes".to_owned(), planes.values);
    example
}

fn shape(planes: &Planes) -> Vec<i64> {
    let side = planes.side as i64;
    vec![side, side, planes.set.planes() as i64]
}

fn target(planes: &Planes) -> Vec<i64> {
    planes
        .target
        .iter()
        .flat_map(|&(x, y)| [x as i64, y as i64])
        .collect()
}

fn moves(position: &LabelledPosition) -> Vec<i64> {
    let top = position.problem.board().size().get() - 1;
    position
        .moves
        .iter()
        .flat_map(|point| [point.x() as i64, (top - point.y()) as i64])
        .collect()
}

/// Values of `ownership`.
pub const DEFENDER_OWNS: i64 = 1;
pub const ATTACKER_OWNS: i64 = 0;
/// Nobody's for certain.
pub const NOBODY_OWNS: i64 = 2;

/// Who owns what for certain, row by row from the top: the safe wall, whatever lives without
/// another move, and the target, whose fate the label tells.
fn ownership(position: &LabelledPosition) -> Vec<i64> {
    let problem = &position.problem;
    let board = problem.board();
    let mut owners = [PointSet::EMPTY; 2];
    for (side, value) in [
        (Side::Attacker, ATTACKER_OWNS),
        (Side::Defender, DEFENDER_OWNS),
    ] {
        let life = board.unconditional_life(problem.color(side));
        owners[value as usize] = life.stones | life.eyes;
    }
    let wall = wall_stones(board, problem.target(), problem.defender());
    owners[ATTACKER_OWNS as usize].extend(wall.iter());
    owners[usize::from(position.is_safe)].extend(problem.target_stones());
    let side = board.size().get();
    let rows = (0..side).rev();
    rows.flat_map(|y| (0..side).map(move |x| Point::new(x, y)))
        .map(|point| match owners.map(|owned| owned.contains(point)) {
            [_, true] => DEFENDER_OWNS,
            [true, false] => ATTACKER_OWNS,
            [false, false] => NOBODY_OWNS,
        })
        .collect()
}
