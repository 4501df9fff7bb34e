//! A labelled position, packed: about 700 bytes on 9x9, 2 kB on 19x19.

use go::{BoardSize, Game, Symmetry};
use go_player::{Assumptions, Position, SCORE_UNIT, TengenFeatures};
use learn::size_free::{Group, Planes};
use net::training::{LANES, conv::Board};

use crate::label::Label;

/// Bits of a cell: one for each plane.
type Cell = u16;
const _: () = assert!(TengenFeatures::PLANES == Cell::BITS as usize);

/// What the student sees, and what the teacher says.
#[derive(Clone, Debug)]
pub struct Sample {
    pub(super) size: BoardSize,
    /// The planes of each point, row by row from the bottom.
    cells: Box<[Cell]>,
    pub(super) globals: [f32; TengenFeatures::GLOBALS],
    /// The moves with their chances; passing comes after the last point.
    policy: Box<[(u16, f32)]>,
    /// The entropy of the policy: the least that its cross entropy can be.
    pub(super) entropy: f64,
    pub(crate) winrate: f32,
    /// Lead of the stones alone, in the network's units.
    pub(crate) lead: f32,
    /// Spread of the score in the same units; unknown where the score is that of a game that ended.
    pub(super) spread: Option<f32>,
    ownership: Box<[f32]>,
}

/// What is to be learned of a position, for the side to move.
pub(crate) struct Truth<'a> {
    /// The chance of each point, row by row from the bottom, and last of passing.
    pub policy: &'a [f32],
    pub winrate: f32,
    /// Points ahead, komi included.
    pub lead: f32,
    /// Standard deviation of the score, if somebody knows it.
    pub spread: Option<f32>,
    /// Who will own each point, from -1 (the opponent) to 1.
    pub ownership: Box<[f32]>,
}

impl Sample {
    /// The sample of a label; the game stands at it.
    pub(super) fn new(game: &Game, label: &Label) -> Sample {
        let truth = Truth {
            policy: &label.policy,
            winrate: label.winrate,
            lead: label.lead,
            spread: Some(label.spread),
            ownership: label.ownership.clone(),
        };
        Sample::of(game, truth)
    }

    /// The sample of a position with what is true of it.
    pub(crate) fn of(game: &Game, label: Truth<'_>) -> Sample {
        let size = game.size();
        let features = TengenFeatures::new(&Position::new(game, Assumptions::default()));
        let mut cells = vec![0; size.area()];
        for (plane, points) in features.planes.iter().enumerate() {
            for point in points.iter() {
                cells[size.index(point)] |= 1 << plane;
            }
        }
        let chances = label.policy.iter().enumerate();
        let policy: Box<[(u16, f32)]> = chances
            .filter(|&(_, &chance)| chance > 0.0)
            .map(|(index, &chance)| (index as u16, chance))
            .collect();
        let entropy = policy
            .iter()
            .map(|&(_, chance)| -f64::from(chance) * f64::from(chance).ln())
            .sum();
        Sample {
            size,
            cells: cells.into(),
            globals: features.globals,
            policy,
            entropy,
            winrate: label.winrate,
            lead: (label.lead - features.self_komi) / SCORE_UNIT,
            spread: label.spread.map(|spread| spread / SCORE_UNIT),
            ownership: label.ownership,
        }
    }

    /// Writes the planes as sample `index` of a group, turned by a symmetry.
    pub(super) fn write_planes(
        &self,
        symmetry: Symmetry,
        index: usize,
        group: usize,
        planes: &mut Planes,
    ) {
        let area = self.size.area();
        let block = area * LANES;
        let length = block * TengenFeatures::PLANES.div_ceil(LANES);
        let sample = &mut planes.groups[group][index * length..(index + 1) * length];
        for (cell, &bits) in self.cells.iter().enumerate() {
            let to = symmetry.index(self.size, cell);
            for (number, block) in sample.chunks_exact_mut(block).enumerate() {
                let lanes = &mut block[to * LANES..(to + 1) * LANES];
                for (lane, value) in lanes.iter_mut().enumerate() {
                    *value = f32::from(bits >> (number * LANES + lane) & 1);
                }
            }
        }
    }

    /// The chance of every point and of passing, turned by a symmetry.
    pub(crate) fn write_policy(&self, symmetry: Symmetry, row: &mut Vec<f32>) {
        let area = self.size.area();
        row.clear();
        row.resize(area + 1, 0.0);
        for &(index, chance) in &self.policy {
            let index = usize::from(index);
            let to = if index == area {
                area
            } else {
                symmetry.index(self.size, index)
            };
            row[to] = chance;
        }
    }

    /// Who owns every point, turned by a symmetry.
    pub(crate) fn write_ownership(&self, symmetry: Symmetry, row: &mut Vec<f32>) {
        row.clear();
        row.resize(self.ownership.len(), 0.0);
        for (cell, &owner) in self.ownership.iter().enumerate() {
            row[symmetry.index(self.size, cell)] = owner;
        }
    }

    /// The board as the network's layers know it.
    pub(super) fn board(&self) -> Board {
        Board::new(self.size.get(), self.size.get())
    }
}

/// The groups of samples that are sorted by size.
pub(super) fn groups(samples: &[&Sample]) -> Vec<Group> {
    let same = samples.chunk_by(|a, b| a.size == b.size);
    same.map(|samples| Group {
        board: samples[0].board(),
        samples: samples.len(),
    })
    .collect()
}
