//! Pooling: the largest of every 2x2 square, or mean and maximum of every plane.

use net::{
    Layer as Plain,
    training::{LANES, conv::Board},
};

use super::step::PlainOp;
use super::{Layer, Mode};
use crate::batch::{Batch, Shape, Workers};

/// The largest number of every 2x2 square; an odd last row or column is left out.
#[derive(Default)]
pub struct MaxPool {
    /// Where each output came from, within its sample.
    origin: Vec<u32>,
}

fn halved(input: Shape) -> (Board, Board, usize) {
    let Shape::Planes { board, channels } = input else {
        panic!("only planes can be pooled");
    };
    (
        board,
        Board::new(board.height / 2, board.width / 2),
        channels,
    )
}

impl Layer for MaxPool {
    fn output(&self, input: Shape) -> Shape {
        let (_, board, channels) = halved(input);
        Shape::Planes { board, channels }
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, _: &mut Workers) {
        let (from, to, _) = halved(input.shape);
        let stride = output.shape.stride();
        self.origin.clear();
        self.origin.resize(output.values.len(), 0);
        for index in 0..input.samples() {
            let source = input.sample(index);
            for at in 0..stride {
                let (block, point, lane) = (
                    at / LANES / to.points(),
                    at / LANES % to.points(),
                    at % LANES,
                );
                let (y, x) = (point / to.width * 2, point % to.width * 2);
                let candidates = [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)]
                    .map(|(y, x)| (block * from.points() + y * from.width + x) * LANES + lane);
                let mut best = candidates[0];
                for candidate in candidates {
                    if source[candidate] > source[best] {
                        best = candidate;
                    }
                }
                output.values[index * stride + at] = source[best];
                self.origin[index * stride + at] = best as u32;
            }
        }
    }

    fn backward(
        &mut self,
        _: &Batch,
        output: &Batch,
        gradient: &mut Batch,
        input_gradient: Option<&mut Batch>,
        _: &mut Workers,
    ) {
        let Some(wanted) = input_gradient else { return };
        wanted.values.fill(0.0);
        let stride = output.shape.stride();
        for index in 0..output.samples() {
            let target = wanted.sample_mut(index);
            for at in index * stride..(index + 1) * stride {
                target[self.origin[at] as usize] += gradient.values[at];
            }
        }
    }

    /// The plain data format has no such layer: networks with it stay in training.
    fn export(&self) -> Vec<Plain> {
        Vec::new()
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::MaxPool]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], shape: Shape) -> Vec<f64> {
        let (from, to, channels) = halved(shape);
        let planes = input.len() / from.points();
        assert_eq!(planes % channels, 0);
        (0..planes * to.points())
            .map(|index| {
                let (plane, point) = (index / to.points(), index % to.points());
                let (y, x) = (point / to.width * 2, point % to.width * 2);
                let at = |y: usize, x: usize| input[plane * from.points() + y * from.width + x];
                at(y, x)
                    .max(at(y, x + 1))
                    .max(at(y + 1, x))
                    .max(at(y + 1, x + 1))
            })
            .collect()
    }
}

/// The mean of every plane, then the maximum of every plane.
#[derive(Default)]
pub struct GlobalPool {
    /// Offset of each maximum within its sample.
    origin: Vec<u32>,
}

fn planes_of(input: Shape) -> (Board, usize) {
    let Shape::Planes { board, channels } = input else {
        panic!("only planes can be pooled");
    };
    (board, channels)
}

impl Layer for GlobalPool {
    fn output(&self, input: Shape) -> Shape {
        Shape::Row(2 * planes_of(input).1)
    }

    fn forward(&mut self, input: &Batch, output: &mut Batch, _: Mode, _: &mut Workers) {
        let (board, channels) = planes_of(input.shape);
        self.origin.clear();
        self.origin.resize(input.samples() * channels, 0);
        for index in 0..input.samples() {
            let source = input.sample(index);
            let target = output.sample_mut(index);
            for channel in 0..channels {
                let first = input.shape.offset(channel * board.points());
                let mut best = first;
                let mut sum = 0.0;
                for at in (first..).step_by(LANES).take(board.points()) {
                    sum += source[at];
                    if source[at] > source[best] {
                        best = at;
                    }
                }
                target[channel] = sum / board.points() as f32;
                target[channels + channel] = source[best];
                self.origin[index * channels + channel] = best as u32;
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
        let (board, channels) = planes_of(input.shape);
        wanted.values.fill(0.0);
        for index in 0..input.samples() {
            let source = gradient.sample(index);
            let target = wanted.sample_mut(index);
            for channel in 0..channels {
                let first = input.shape.offset(channel * board.points());
                let share = source[channel] / board.points() as f32;
                for at in (first..).step_by(LANES).take(board.points()) {
                    target[at] = share;
                }
                target[self.origin[index * channels + channel] as usize] +=
                    source[channels + channel];
            }
        }
    }

    fn export(&self) -> Vec<Plain> {
        vec![Plain::GlobalPool(net::Pooling::MeanMax)]
    }

    fn steps(&self) -> Vec<PlainOp> {
        vec![PlainOp::GlobalPool]
    }

    #[cfg(any(test, feature = "exact"))]
    fn exact(&self, input: &[f64], shape: Shape) -> Vec<f64> {
        let (board, channels) = planes_of(shape);
        input
            .chunks_exact(channels * board.points())
            .flat_map(|sample| {
                let planes = || sample.chunks_exact(board.points());
                let means = planes().map(|plane| plane.iter().sum::<f64>() / plane.len() as f64);
                let largest =
                    planes().map(|plane| plane.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                means.chain(largest).collect::<Vec<_>>()
            })
            .collect()
    }
}
