//! Leela Zero's networks: 18 planes in, a policy and one value out.

use std::ops::Range;

use go::{BoardSize, Color, Symmetry};
use net::{
    IoShape, Perspective,
    leela::{POLICY, VALUE},
};

use super::{Encoder, NotForGo, Opinion};
use crate::{
    planes::{self, BitPlanes, INPUT_PLANES, Orientation},
    position::Position,
};

/// The encoder of Leela Zero's networks and of our own, which are built alike.
pub struct LeelaEncoder {
    size: BoardSize,
    policy: Range<usize>,
    value: usize,
    values_for_black: bool,
    orientations: [Orientation; Symmetry::COUNT],
}

impl LeelaEncoder {
    /// The encoder for a network of this shape.
    pub fn new(shape: &IoShape) -> Result<LeelaEncoder, NotForGo> {
        let input = shape.input;
        if input.planes != INPUT_PLANES || input.height != input.width {
            return Err(NotForGo(format!(
                "it reads {} planes of {}x{}, not {INPUT_PLANES} square planes",
                input.planes, input.width, input.height
            )));
        }
        let size = BoardSize::new(input.width)
            .ok_or_else(|| NotForGo(format!("no board is {} points wide", input.width)))?;
        let policy = shape
            .output(POLICY)
            .filter(|range| range.len() == size.area() + 1)
            .ok_or_else(|| NotForGo("it has no policy for every point and passing".into()))?;
        let value = shape
            .output(VALUE)
            .filter(|range| range.len() == 1)
            .ok_or_else(|| NotForGo("it has no value".into()))?
            .start;
        Ok(LeelaEncoder {
            size,
            policy,
            value,
            values_for_black: shape.perspective == Perspective::FirstPlayer,
            orientations: Orientation::all(size),
        })
    }

    /// Writes an input row from packed planes; `turn_planes` are the values of the two constant planes.
    pub fn write_planes(
        &self,
        planes: &BitPlanes,
        symmetry: Symmetry,
        turn_planes: [f32; 2],
        row: &mut [f32],
    ) {
        planes.write_input(&self.orientations[symmetry.number()], turn_planes, row);
    }

    /// Whether the network's value is for Black whoever is to move, as in Leela Zero's version 2.
    pub fn values_for_black(&self) -> bool {
        self.values_for_black
    }

    /// The winrate of the side to move in an output row.
    pub fn winrate(&self, row: &[f32], to_move: Color) -> f32 {
        let value = row[self.value];
        if self.values_for_black && to_move == Color::White {
            1.0 - value
        } else {
            value
        }
    }
}

impl Encoder for LeelaEncoder {
    fn family(&self) -> String {
        format!("Leela Zero version {}", self.version())
    }

    fn version(&self) -> u32 {
        if self.values_for_black { 2 } else { 1 }
    }

    fn size(&self) -> BoardSize {
        self.size
    }

    fn key(&self, position: &Position) -> u128 {
        position.stones_key(position.assumptions().net_komi.key(position.to_move()))
    }

    fn write(&self, position: &Position, symmetry: Symmetry, row: &mut [f32]) {
        let to_move = position.to_move();
        planes::write_input(
            &self.orientations[symmetry.number()],
            to_move,
            position.history(),
            position.assumptions().net_komi.planes(to_move),
            row,
        );
    }

    fn read(&self, position: &Position, symmetry: Symmetry, row: &[f32]) -> Opinion {
        let orientation = &self.orientations[symmetry.number()];
        Opinion {
            policy: orientation.restore_policy(&row[self.policy.clone()]),
            winrate: self.winrate(row, position.to_move()),
            no_result: 0.0,
            score: None,
            ownership: None,
        }
    }

    fn as_leela(&self) -> Option<&LeelaEncoder> {
        Some(self)
    }
}
