//! KataGo's networks: 22 planes and 19 globals in, policy, value, score and ownership out.
//!
//! | file | noun |
//! | --- | --- |
//! | `features` | what the network is shown of a position |
//! | `profile` | whom a human-imitation network is to imitate |
//! | `outputs` | from raw numbers to an [`Opinion`] |

mod features;
mod outputs;
mod profile;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};

use go::{BoardSize, LadderMarks, Point, Symmetry};
use net::{Cache, IoShape};

use super::{Encoder, NotForGo, Opinion};
use crate::{
    planes::Orientation,
    position::{PastBoard, Position},
};

use features::Features;
use outputs::OutputRanges;

pub(super) use features::{Shown, self_komi};
pub(super) use outputs::policy as legal_policy;

pub use outputs::KataScales;
pub use profile::HumanProfile;

/// Planes of an input row.
pub const PLANES: usize = 22;
/// Globals of an input row, after the planes.
pub const GLOBALS: usize = 19;

/// Bytes of ladder readings that are kept: enough for twenty thousand boards.
pub(super) const LADDER_BYTES: usize = 8 << 20;

/// What is said about a KataGo network beside its layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KataTraits {
    /// The version in the file's header, from 8 on.
    pub version: u32,
    /// How raw score outputs become points.
    pub scales: KataScales,
    /// Whether areas are always computed as if suicide were legal.
    pub area_under_suicide: bool,
    /// Whether the row ends with the metadata of a human-imitation network.
    pub has_metadata: bool,
}

/// The encoder of KataGo's networks for one board size.
pub struct KataEncoder {
    size: BoardSize,
    traits: KataTraits,
    outputs: OutputRanges,
    orientations: [Orientation; Symmetry::COUNT],
    /// Ladders of boards seen before: those one and two moves back are read once, when they were leaves themselves.
    ladders: Cache<u64, LadderMarks>,
}

impl KataEncoder {
    /// The encoder for a network of this shape.
    pub fn new(shape: &IoShape, traits: KataTraits) -> Result<KataEncoder, NotForGo> {
        let input = shape.input;
        let metadata = if traits.has_metadata { profile::LEN } else { 0 };
        let expected = PLANES * input.area() + GLOBALS + metadata;
        if input.planes != PLANES || shape.input_len() != expected {
            return Err(NotForGo(format!(
                "it reads {} planes and {} more numbers, not {PLANES} and {}",
                input.planes,
                shape.input_len() - input.len(),
                GLOBALS + metadata
            )));
        }
        let size = BoardSize::new(input.width)
            .filter(|_| input.width == input.height)
            .ok_or_else(|| NotForGo(format!("no board is {}x{}", input.width, input.height)))?;
        Ok(KataEncoder {
            size,
            traits,
            outputs: OutputRanges::new(shape, size)?,
            orientations: Orientation::all(size),
            ladders: Cache::new(LADDER_BYTES),
        })
    }

    /// The ladders of a board, read once.
    fn ladders(&self, board: &PastBoard) -> LadderMarks {
        let key = board_key(board);
        self.ladders.get(key).unwrap_or_else(|| {
            let marks = board.board(self.size).ladder_marks();
            self.ladders.insert(key, marks, 0);
            marks
        })
    }

    fn suicide_in_areas(&self, position: &Position) -> bool {
        position.rules().suicide || self.traits.area_under_suicide
    }

    fn optimism(&self, position: &Position) -> f32 {
        let view = &position.assumptions().view;
        match (self.traits.has_metadata, position.is_root()) {
            // A human-imitation network has no optimists.
            (true, _) => 0.0,
            (false, true) => view.root_optimism,
            (false, false) => view.optimism,
        }
    }
}

/// The place of a point in KataGo's order: row by row from the top.
fn cell(size: BoardSize, point: Point) -> usize {
    (size.get() - 1 - point.y()) * size.get() + point.x()
}

pub(super) fn board_key(board: &PastBoard) -> u64 {
    let ko = board.ko.map_or(0, |point| point.grid_index() as u64 + 1);
    // An odd constant keeps boards that differ in their ko apart.
    board.hash.rotate_left(7) ^ ko.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Encoder for KataEncoder {
    fn family(&self) -> String {
        format!("KataGo version {}", self.traits.version)
    }

    fn version(&self) -> u32 {
        self.traits.version
    }

    fn imitates_people(&self) -> bool {
        self.traits.has_metadata
    }

    fn size(&self) -> BoardSize {
        self.size
    }

    fn key(&self, position: &Position) -> u128 {
        let shown = Shown::new(position, self.suicide_in_areas(position));
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self.size, position.to_move()).hash(&mut hasher);
            let view = &position.assumptions().view;
            (self.optimism(position).to_bits(), view.profile.key()).hash(&mut hasher);
            view.passing_hacks.hash(&mut hasher);
            for board in shown.boards(position) {
                board_key(board).hash(&mut hasher);
            }
            shown.hash_rest(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    fn write(&self, position: &Position, symmetry: Symmetry, row: &mut [f32]) {
        let features = Features::new(position, self.suicide_in_areas(position), |board| {
            self.ladders(board)
        });
        let (size, area) = (self.size, self.size.area());
        let orientation = &self.orientations[symmetry.number()];
        row.fill(0.0);
        for (plane, points) in row.chunks_exact_mut(area).zip(&features.planes) {
            for point in points.iter() {
                plane[orientation.cell(cell(size, point))] = 1.0;
            }
        }
        let rest = &mut row[PLANES * area..];
        rest[..GLOBALS].copy_from_slice(&features.globals);
        if self.traits.has_metadata {
            let profile = &position.assumptions().view.profile;
            profile.write(area, &mut rest[GLOBALS..]);
        }
    }

    fn read(&self, position: &Position, symmetry: Symmetry, row: &[f32]) -> Opinion {
        let orientation = &self.orientations[symmetry.number()];
        let place = |point: Point| orientation.cell(cell(self.size, point));
        let optimism = self.optimism(position);
        outputs::opinion(&self.outputs, &self.traits, position, optimism, place, row)
    }
}
