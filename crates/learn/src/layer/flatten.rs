//! From blocked planes to a row in plain order, as fully connected layers read it.

use net::network::Layer as Plain;

use super::{Layer, Mode};
use crate::batch::{Batch, Shape, Workers};

/// The layer; it does nothing when playing, where planes are in plain order already.
pub struct Flatten;

impl Layer for Flatten {
    fn output(&self, input: Shape) -> Shape {
        Shape::Row(input.len())
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, _: &mut Workers) {
        for index in 0..input.samples() {
            let source = input.sample(index);
            for (number, target) in output.sample_mut(index)[..input.shape.len()]
                .iter_mut()
                .enumerate()
            {
                *target = source[input.shape.offset(number)];
            }
        }
    }

    fn backward(
        &mut self,
        input: &Batch,
        _: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        _: &mut Workers,
    ) {
        let Some(wanted) = input_gradient else { return };
        for index in 0..input.samples() {
            let source = gradient.sample(index);
            let target = wanted.sample_mut(index);
            for number in 0..input.shape.len() {
                target[input.shape.offset(number)] = source[number];
            }
        }
    }

    fn export(&self) -> Vec<Plain> {
        Vec::new()
    }

    #[cfg(test)]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        input.to_vec()
    }
}
