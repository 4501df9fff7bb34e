//! Networks made of a formula: what they think of komi is known exactly.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use go_player::LoadedNetwork;
use net::{
    Evaluator, IoShape, OutputShape, Perspective, PlaneShape,
    leela::{POLICY, VALUE},
};

const HISTORY: usize = 8;
const TURN_PLANE: usize = 2 * HISTORY;
const TRAINED_KOMI: f32 = 7.5;
/// Points that a stone more is worth.
pub const POINTS_PER_STONE: f32 = 10.0;

/// The winrate of the side to move, from its lead in points and the komi it pays.
pub type Formula = fn(f32, f32) -> f32;

/// As a network should be: the winrate falls with komi, whoever is to move.
pub fn monotone(lead: f32, paid: f32) -> f32 {
    1.0 / (1.0 + ((paid - lead) / 8.0).exp())
}

/// Deaf to komi.
pub fn flat(lead: f32, _paid: f32) -> f32 {
    monotone(lead, 0.0)
}

/// Falls with komi up to 12 points either way, and turns round there.
pub fn turning(lead: f32, paid: f32) -> f32 {
    let paid = if paid.abs() > 12.0 {
        24.0 * paid.signum() - paid
    } else {
        paid
    };
    monotone(lead, paid.clamp(-12.0, 12.0))
}

/// Sensible where komi helps the side to move, and without an idea where it pays much.
pub fn helped_only(lead: f32, paid: f32) -> f32 {
    if paid > TRAINED_KOMI {
        0.5
    } else {
        monotone(lead, paid)
    }
}

pub struct FormulaNetwork {
    formula: Formula,
    has_trap: bool,
    shape: IoShape,
    pub rows: AtomicUsize,
}

impl Evaluator for FormulaNetwork {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        1
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) -> Result<(), net::EvaluateError> {
        let (input, output) = (self.shape.input_len(), self.shape.output_len());
        for (row, answer) in planes.chunks(input).zip(outputs.chunks_mut(output)) {
            self.rows.fetch_add(1, Ordering::Relaxed);
            self.answer(row, answer);
        }
        Ok(())
    }
}

impl FormulaNetwork {
    fn answer(&self, row: &[f32], answer: &mut [f32]) {
        let area = self.shape.input.area();
        let plane = |index: usize| &row[index * area..(index + 1) * area];
        let stones = |index: usize| plane(index).iter().sum::<f32>();
        let lead = POINTS_PER_STONE * (stones(0) - stones(HISTORY));
        let paid = (plane(TURN_PLANE)[0] - 0.5) * 2.0 * TRAINED_KOMI;
        // Some moves are liked better than others, so that a search goes deep as well as wide.
        for (cell, policy) in answer[..=area].iter_mut().enumerate() {
            *policy = 1.0 / (1.0 + (cell * 7 % (area + 1)) as f32);
        }
        let mut lead = lead;
        if self.has_trap {
            let center = area / 2;
            answer[center] = 1.0;
            let (own, their) = (plane(0)[center], plane(HISTORY)[center]);
            lead += own * trap(paid) - their * trap(-paid);
        }
        answer[area + 1] = (self.formula)(lead, paid);
    }
}

/// What a stone in the centre is worth to its owner: much when it pays a high komi, and at an
/// ordinary one it costs most of a lead.
fn trap(paid: f32) -> f32 {
    if paid > 12.0 { 5.0 } else { -25.0 }
}

/// A network for a board of 9x9.
pub fn network(formula: Formula) -> (LoadedNetwork, Arc<FormulaNetwork>) {
    made(formula, false, Perspective::SideToMove)
}

/// A monotone network that likes the centre, where a trap is.
pub fn trapping_network() -> LoadedNetwork {
    made(monotone, true, Perspective::SideToMove).0
}

/// A network whose value is for Black, whoever is to move.
pub fn network_for_black(formula: Formula) -> LoadedNetwork {
    made(formula, false, Perspective::FirstPlayer).0
}

fn made(
    formula: Formula,
    has_trap: bool,
    perspective: Perspective,
) -> (LoadedNetwork, Arc<FormulaNetwork>) {
    let (side, area) = (9, 81);
    let output = |name: &str, range| OutputShape {
        name: name.to_owned(),
        range,
    };
    let evaluator = Arc::new(FormulaNetwork {
        formula,
        has_trap,
        shape: IoShape {
            input: PlaneShape {
                planes: TURN_PLANE + 2,
                height: side,
                width: side,
            },
            globals: 0,
            outputs: vec![
                output(POLICY, 0..area + 1),
                output(VALUE, area + 1..area + 2),
            ],
            perspective,
        },
        rows: AtomicUsize::new(0),
    });
    let loaded = LoadedNetwork::from_evaluator(evaluator.clone(), Path::new("formula")).unwrap();
    (loaded, evaluator)
}
