//! One Go position to learn from.

use go::{BoardSize, Color, Symmetry};
use go_player::dynamic_komi::TurnKomi;
use go_player::planes::{BitPlanes, INPUT_PLANES, Orientation};

use super::owners::Owners;
use learn::Batch;

/// What should be played.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// One move: the index of a point, or the number of points for a pass.
    Move(u16),
    /// A chance for every point and for the pass.
    Chances(Vec<f32>),
}

/// A position with its truth.
#[derive(Clone, Debug, PartialEq)]
pub struct GoExample {
    /// The stones of the last positions.
    pub planes: BitPlanes,
    /// Whose turn it is.
    pub to_move: Color,
    /// What should be played.
    pub policy: Policy,
    /// 1 if the side to move won, −1 if it lost, not a number if nobody knows.
    pub outcome: f32,
    /// Who has the points when the game is over, if somebody knows.
    pub owners: Option<Owners>,
}

/// Writes examples into batches under any symmetry.
pub struct Writer {
    size: BoardSize,
    orientations: [Orientation; Symmetry::COUNT],
    row: Vec<f32>,
}

impl Writer {
    /// A writer for boards of one size.
    pub fn new(size: BoardSize) -> Self {
        Self {
            size,
            orientations: Orientation::all(size),
            row: vec![0.0; INPUT_PLANES * size.area()],
        }
    }

    /// Fills sample `index` of the input, the policy target and the value target.
    pub fn write(
        &mut self,
        example: &GoExample,
        symmetry: Symmetry,
        index: usize,
        input: &mut Batch,
        policy: &mut Batch,
        outcome: &mut [f32],
    ) {
        let turn = TurnKomi::TRAINED.planes(example.to_move);
        let orientation = &self.orientations[symmetry.number()];
        example.planes.write_input(orientation, turn, &mut self.row);
        input.set_plain(index, &self.row);
        let target = policy.sample_mut(index);
        target.fill(0.0);
        let area = self.size.area();
        let place = |cell: usize| {
            if cell == area {
                area
            } else {
                self.turned(symmetry, cell)
            }
        };
        match &example.policy {
            Policy::Move(cell) => target[place(usize::from(*cell))] = 1.0,
            Policy::Chances(chances) => {
                for (cell, &chance) in chances.iter().enumerate() {
                    target[place(cell)] = chance;
                }
            }
        }
        outcome[index] = example.outcome;
    }

    /// Fills a row with 1 for points of the side to move, 0 for its opponent's and no number for the others.
    pub fn write_owners(&self, example: &GoExample, symmetry: Symmetry, row: &mut [f32]) {
        row.fill(f32::NAN);
        let Some(owners) = &example.owners else {
            return;
        };
        for (color, target) in [(example.to_move, 1.0), (example.to_move.opponent(), 0.0)] {
            for point in owners.points(color).iter() {
                row[self.turned(symmetry, self.size.index(point))] = target;
            }
        }
    }

    /// Where a point lies in a position written under a symmetry.
    fn turned(&self, symmetry: Symmetry, cell: usize) -> usize {
        symmetry.inverse().index(self.size, cell)
    }
}
