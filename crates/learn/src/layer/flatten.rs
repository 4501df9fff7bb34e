//! From blocked planes to a row in plain order, as fully connected layers read it.

use net::{Layer as Plain, training::LANES};

use super::step::PlainOp;
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
            let target = output.sample_mut(index);
            match input.shape {
                Shape::Row(length) => target[..length].copy_from_slice(&source[..length]),
                Shape::Planes { board, channels } => {
                    let planes = target.chunks_exact_mut(board.points()).take(channels);
                    for (channel, plane) in planes.enumerate() {
                        let first = input.shape.offset(channel * board.points());
                        for (target, value) in
                            plane.iter_mut().zip(source[first..].iter().step_by(LANES))
                        {
                            *target = *value;
                        }
                    }
                }
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
            match input.shape {
                Shape::Row(length) => target[..length].copy_from_slice(&source[..length]),
                Shape::Planes { board, channels } => {
                    let planes = source.chunks_exact(board.points()).take(channels);
                    for (channel, plane) in planes.enumerate() {
                        let first = input.shape.offset(channel * board.points());
                        for (target, value) in target[first..].iter_mut().step_by(LANES).zip(plane)
                        {
                            *target = *value;
                        }
                    }
                }
            }
        }
    }

    fn export(&self) -> Vec<Plain> {
        Vec::new()
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::Flatten]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], _: Shape) -> Vec<f64> {
        input.to_vec()
    }
}
