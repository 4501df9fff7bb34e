//! Dropout: some numbers are left out in training, the rest scaled up so that the sum stays.

use net::Layer as Plain;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::step::PlainOp;
use super::{Layer, Mode};
use crate::batch::{Batch, Shape, Workers};

/// Leaves out a share of the numbers in training, and nothing in evaluation.
pub struct Dropout {
    share: f64,
    factors: Vec<f32>,
}

impl Dropout {
    /// Leaves out `share` of the numbers.
    pub fn new(share: f64) -> Self {
        Self {
            share,
            factors: Vec::new(),
        }
    }
}

/// What `numbers` numbers of a batch, padding included, are multiplied by in training.
pub(crate) fn factors(share: f64, seed: u64, numbers: usize) -> Vec<f32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let kept = (1.0 / (1.0 - share)) as f32;
    let mut factor = || if random.random_bool(share) { 0.0 } else { kept };
    (0..numbers).map(|_| factor()).collect()
}

impl Layer for Dropout {
    fn output(&self, input: Shape) -> Shape {
        input
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, mode: Mode, _: &mut Workers) {
        self.factors = match mode {
            Mode::Evaluate => vec![1.0; input.values.len()],
            Mode::Train { seed } => factors(self.share, seed, input.values.len()),
        };
        for ((target, value), factor) in output
            .values
            .iter_mut()
            .zip(&input.values)
            .zip(&self.factors)
        {
            *target = value * factor;
        }
    }

    fn backward(
        &mut self,
        _: &Batch,
        _: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        _: &mut Workers,
    ) {
        let Some(wanted) = input_gradient else { return };
        for ((target, value), factor) in wanted
            .values
            .iter_mut()
            .zip(&gradient.values)
            .zip(&self.factors)
        {
            *target = value * factor;
        }
    }

    fn export(&self) -> Vec<Plain> {
        Vec::new()
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::Dropout(self.share)]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], shape: Shape) -> Vec<f64> {
        let (length, stride) = (shape.len(), shape.stride());
        input
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let at = index / length * stride + shape.offset(index % length);
                value * f64::from(self.factors[at])
            })
            .collect()
    }
}
