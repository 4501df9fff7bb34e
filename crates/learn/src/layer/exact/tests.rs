//! Every layer's output and gradients agree with plain f64 arithmetic.

use net::training::conv::Board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::batch::{Batch, Shape, Workers};
use crate::layer::conv::Conv;
use crate::layer::dense::{Dense, DenseBlock, DenseStart};
use crate::layer::dropout::Dropout;
use crate::layer::flatten::Flatten;
use crate::layer::norm::NormStyle;
use crate::layer::pixel::Pixel;
use crate::layer::pool::{GlobalPool, MaxPool};
use crate::layer::tower::{Tower, TowerShape};
use crate::layer::{Layer, Mode};

/// Largest difference allowed between a gradient and the finite difference, relative to the largest of its tensor.
const TOLERANCE: f64 = 2e-3;
/// Half the step of a finite difference: small, so that no rectifier switches on the way.
const STEP: f32 = 1e-6;
/// Coordinates tried in each tensor.
const PROBES: usize = 24;

/// Checks a layer's output, input gradient and parameter gradients with `Σ r·output` as the loss, on one and two threads.
fn check(name: &str, layer: &mut dyn Layer, shape: Shape, samples: usize) {
    for threads in [1, 2] {
        let mut workers = Workers::new(threads);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut number = || random.random_range(-1.0_f32..1.0);
        let mut input = Batch::zeros(shape, samples);
        for index in 0..samples {
            let plain: Vec<f32> = (0..shape.len()).map(|_| number()).collect();
            input.set_plain(index, &plain);
        }
        let mode = Mode::Train { seed: 3 };
        let output_shape = layer.output(shape);
        let mut output = Batch::zeros(output_shape, samples);
        layer.forward(&input, &mut output, mode, &mut workers);
        let plain_input = |input: &Batch| -> Vec<f64> {
            (0..samples)
                .flat_map(|index| input.plain(index))
                .map(f64::from)
                .collect()
        };
        let exact = layer.exact(&plain_input(&input), shape);
        let got: Vec<f64> = plain_input_of(&output, samples);
        compare(name, "output", &got, &exact, 1e-4);

        let mut gradient = Batch::zeros(output_shape, samples);
        let mut weights = Vec::new();
        for index in 0..samples {
            let plain: Vec<f32> = (0..output_shape.len()).map(|_| number()).collect();
            gradient.set_plain(index, &plain);
            weights.extend(plain.into_iter().map(f64::from));
        }
        let mut input_gradient = Batch::zeros(shape, samples);
        layer
            .params_mut()
            .into_iter()
            .for_each(|param| param.clear());
        layer.backward(
            &input,
            &output,
            &mut gradient,
            Some(&mut input_gradient),
            &mut workers,
        );
        let loss = |layer: &dyn Layer, input: &[f64]| -> f64 {
            layer
                .exact(input, shape)
                .iter()
                .zip(&weights)
                .map(|(value, weight)| value * weight)
                .sum()
        };

        let mut probed = Vec::new();
        let base = plain_input(&input);
        for _ in 0..PROBES {
            let index = random.random_range(0..base.len());
            let mut moved = base.clone();
            moved[index] += f64::from(STEP);
            let above = loss(layer, &moved);
            moved[index] -= 2.0 * f64::from(STEP);
            let below = loss(layer, &moved);
            let sample = input_gradient.sample(index / shape.len());
            let got = f64::from(sample[shape.offset(index % shape.len())]);
            probed.push((got, (above - below) / (2.0 * f64::from(STEP))));
        }
        compare_pairs(name, "input gradient", &probed);

        for tensor in 0..layer.params_mut().len() {
            let length = layer.params_mut()[tensor].values.len();
            let mut probed = Vec::new();
            for _ in 0..PROBES.min(2 * length) {
                let index = random.random_range(0..length);
                let start = layer.params_mut()[tensor].values[index];
                let got = f64::from(layer.params_mut()[tensor].gradient[index]);
                let (high, low) = (start + STEP, start - STEP);
                layer.params_mut()[tensor].values[index] = high;
                let above = loss(layer, &base);
                layer.params_mut()[tensor].values[index] = low;
                let below = loss(layer, &base);
                layer.params_mut()[tensor].values[index] = start;
                probed.push((got, (above - below) / (f64::from(high) - f64::from(low))));
            }
            let what = layer.params_mut()[tensor].name.clone();
            compare_pairs(name, &what, &probed);
        }
    }
}

fn plain_input_of(batch: &Batch, samples: usize) -> Vec<f64> {
    (0..samples)
        .flat_map(|index| batch.plain(index))
        .map(f64::from)
        .collect()
}

fn compare(name: &str, what: &str, got: &[f64], exact: &[f64], tolerance: f64) {
    assert_eq!(got.len(), exact.len());
    let scale = exact
        .iter()
        .fold(1e-2_f64, |largest, value| largest.max(value.abs()));
    for (index, (got, exact)) in got.iter().zip(exact).enumerate() {
        assert!(
            (got - exact).abs() <= tolerance * scale,
            "{name}, {what} [{index}]: {got} instead of {exact}, scale {scale}"
        );
    }
}

fn compare_pairs(name: &str, what: &str, pairs: &[(f64, f64)]) {
    let (got, exact): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    compare(name, what, &got, &exact, TOLERANCE);
}

const LEELA: NormStyle = NormStyle {
    biased: false,
    scaled: false,
    decays: false,
    keep: 0.9,
};

const SCALED: NormStyle = NormStyle {
    biased: true,
    scaled: true,
    decays: true,
    keep: 0.9,
};

fn tower(
    board: Board,
    inputs: usize,
    filters: usize,
    blocks: usize,
    slope: f32,
    norm: NormStyle,
) -> Tower {
    let shape = TowerShape {
        board,
        inputs,
        filters,
        blocks,
        slope,
        norm,
    };
    let mut tower = Tower::new(shape, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    // Away from the symmetric start, so that no gradient is zero by accident.
    for (index, param) in tower.params_mut().into_iter().enumerate() {
        if param.shape.len() == 1 {
            for (at, value) in param.values.iter_mut().enumerate() {
                *value += 0.3 * ((index * 7 + at) as f32).sin();
            }
        }
    }
    tower
}

fn planes(board: Board, channels: usize) -> Shape {
    Shape::Planes { board, channels }
}

#[test]
fn tower_gradients_equal_finite_differences() {
    let square = Board::new(9, 9);
    check(
        "leaky tower",
        &mut tower(square, 3, 6, 2, 0.1, SCALED),
        planes(square, 3),
        3,
    );
    let tall = Board::new(8, 16);
    check(
        "single conv",
        &mut tower(tall, 5, 9, 0, 0.0, LEELA),
        planes(tall, 5),
        2,
    );
    let board = Board::new(5, 7);
    check(
        "relu tower",
        &mut tower(board, 2, 8, 1, 0.0, LEELA),
        planes(board, 2),
        5,
    );
}

#[test]
fn other_layers_gradients_equal_finite_differences() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let board = Board::new(6, 5);
    let start = DenseStart {
        deviation: 0.3,
        bias: 0.1,
    };
    check(
        "pixel",
        &mut Pixel::new("p", board, [11, 2], 0.0, LEELA, &mut random),
        planes(board, 11),
        3,
    );
    check(
        "wide pixel",
        &mut Pixel::new("p", board, [4, 12], 0.1, SCALED, &mut random),
        planes(board, 4),
        3,
    );
    check(
        "linear pixel",
        &mut Pixel::linear("p", board, [9, 3], start, &mut random),
        planes(board, 9),
        3,
    );
    check(
        "conv",
        &mut Conv::new("c", board, [3, 10], 0.0, start, &mut random),
        planes(board, 3),
        3,
    );
    check(
        "dense",
        &mut Dense::new("d", [13, 21], 0.0, start, &mut random),
        Shape::Row(13),
        5,
    );
    check(
        "linear",
        &mut Dense::new("d", [8, 3], 1.0, start, &mut random),
        Shape::Row(8),
        4,
    );
    check(
        "block",
        &mut DenseBlock::new("b", 12, 0.0, start, &mut random),
        Shape::Row(12),
        6,
    );
    check("flatten", &mut Flatten, planes(board, 9), 2);
    check("max pool", &mut MaxPool::default(), planes(board, 9), 2);
    check(
        "global pool",
        &mut GlobalPool::default(),
        planes(board, 9),
        2,
    );
    check("dropout", &mut Dropout::new(0.5), Shape::Row(40), 2);
}
