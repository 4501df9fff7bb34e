//! The size-free network agrees with plain f64 arithmetic: outputs, gradients, and the file that plays.

use net::{
    Evaluator, Reference,
    training::{LANES, conv::Board},
};
use rand::RngExt;

use super::*;
use crate::layer::exact::convolve;
use crate::layer::norm::EPSILON;
use crate::optimiser::{Optimiser, Rule};

const SHAPE: SizeFreeShape = SizeFreeShape {
    planes: 3,
    globals: 2,
    blocks: 2,
    channels: 20,
};

/// Three boards of 5x5 and two of 3x3, of random numbers.
fn batch(seed: u64) -> SizeFreeBatch {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let groups = vec![
        Group {
            board: Board::new(5, 5),
            samples: 3,
        },
        Group {
            board: Board::new(3, 3),
            samples: 2,
        },
    ];
    let mut planes = Planes::default();
    planes.fit(SHAPE.planes, &groups);
    for (group, buffer) in groups.iter().zip(&mut planes.groups) {
        for sample in buffer.chunks_exact_mut(group.board.sample(SHAPE.planes)) {
            for point in sample.as_chunks_mut::<LANES>().0 {
                point[..SHAPE.planes].fill_with(|| random.random_range(-1.0..1.0));
            }
        }
    }
    let globals = (0..5 * SHAPE.globals)
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    SizeFreeBatch {
        groups,
        planes,
        globals,
    }
}

fn network() -> SizeFree {
    let mut network = SizeFree::new(SHAPE, 7, 2);
    // Nothing may be at a special value.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    for param in network.params_mut() {
        for value in &mut param.values {
            *value += random.random_range(-0.05..0.05);
        }
    }
    network
}

/// f64 planes of one sample, channel after channel.
type Sample = Vec<f64>;

fn plain(batch: &SizeFreeBatch) -> Vec<(Board, Sample)> {
    let mut samples = Vec::new();
    for (group, buffer) in batch.groups.iter().zip(&batch.planes.groups) {
        for sample in buffer.chunks_exact(group.board.sample(SHAPE.planes)) {
            let mut numbers = Vec::new();
            for channel in 0..SHAPE.planes {
                let points = sample.as_chunks::<LANES>().0;
                numbers.extend(points.iter().map(|point| f64::from(point[channel])));
            }
            samples.push((group.board, numbers));
        }
    }
    samples
}

fn exact_norm(norm: &Norm, samples: &[(Board, Sample)], channels: usize) -> Vec<(Board, Sample)> {
    let values = |channel: usize| {
        samples.iter().flat_map(move |(board, sample)| {
            sample[channel * board.points()..(channel + 1) * board.points()]
                .iter()
                .copied()
        })
    };
    let gamma = norm.gamma.as_ref().expect("a scaled norm");
    let mut out = samples.to_vec();
    for channel in 0..channels {
        let count = values(channel).count() as f64;
        let mean = values(channel).sum::<f64>() / count;
        let variance = values(channel)
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / count;
        let scale = f64::from(gamma.values[channel]) / (variance + EPSILON).sqrt();
        for (board, sample) in &mut out {
            for value in &mut sample[channel * board.points()..(channel + 1) * board.points()] {
                *value = ((*value - mean) * scale + f64::from(norm.beta.values[channel])).max(0.0);
            }
        }
    }
    out
}

fn exact_conv3(conv: &Conv3, samples: &[(Board, Sample)]) -> Vec<(Board, Sample)> {
    let [outputs, inputs, ..] = conv.weights.shape[..] else {
        unreachable!()
    };
    let convolved = |(board, x): &(Board, Sample)| {
        (
            *board,
            convolve(x, &conv.weights.values, *board, inputs, outputs),
        )
    };
    samples.iter().map(convolved).collect()
}

fn exact_conv1(conv: &Conv1, samples: &[(Board, Sample)]) -> Vec<(Board, Sample)> {
    let [outputs, inputs, ..] = conv.weights.shape[..] else {
        unreachable!()
    };
    let one = |(board, x): &(Board, Sample)| {
        let points = board.points();
        let value = |output: usize, point: usize| {
            let weights = &conv.weights.values[output * inputs..(output + 1) * inputs];
            let sum = weights
                .iter()
                .enumerate()
                .map(|(i, w)| f64::from(*w) * x[i * points + point]);
            sum.sum::<f64>() + f64::from(conv.bias.values[output])
        };
        (
            *board,
            (0..outputs * points)
                .map(|at| value(at / points, at % points))
                .collect(),
        )
    };
    samples.iter().map(one).collect()
}

fn exact_rows(rows: &Rows, input: &[f64]) -> Vec<f64> {
    let [_, inputs] = rows.weights.shape[..] else {
        unreachable!()
    };
    let weights = rows
        .weights
        .values
        .chunks_exact(inputs)
        .zip(&rows.bias.values);
    let sum = |weights: &[f32]| {
        weights
            .iter()
            .zip(input)
            .map(|(w, x)| f64::from(*w) * x)
            .sum::<f64>()
    };
    weights
        .map(|(weights, bias)| sum(weights) + f64::from(*bias))
        .collect()
}

fn exact_pool(board: Board, sample: &[f64], squared: bool) -> Vec<f64> {
    let points = board.points();
    let off = (points as f64).sqrt() - 14.0;
    let means: Vec<f64> = sample
        .chunks_exact(points)
        .map(|plane| plane.iter().sum::<f64>() / points as f64)
        .collect();
    let scaled = means.iter().map(|mean| mean * off * 0.1);
    let third: Vec<f64> = match squared {
        true => means
            .iter()
            .map(|mean| mean * (off * off * 0.01 - 0.1))
            .collect(),
        false => sample
            .chunks_exact(points)
            .map(|plane| plane.iter().copied().fold(f64::MIN, f64::max))
            .collect(),
    };
    means.iter().copied().chain(scaled).chain(third).collect()
}

fn add_to_planes(samples: &mut [(Board, Sample)], vectors: &[Vec<f64>]) {
    for ((board, sample), vector) in samples.iter_mut().zip(vectors) {
        for (plane, addend) in sample.chunks_exact_mut(board.points()).zip(vector) {
            plane.iter_mut().for_each(|value| *value += addend);
        }
    }
}

fn relu(samples: &mut [(Board, Sample)]) {
    samples
        .iter_mut()
        .flat_map(|(_, sample)| sample)
        .for_each(|value| *value = value.max(0.0));
}

/// Policy, value and ownership of each sample, in training mode.
fn exact(network: &SizeFree, batch: &SizeFreeBatch) -> Vec<[Vec<f64>; 3]> {
    let mut x = exact_conv3(&network.first, &plain(batch));
    let globals: Vec<Vec<f64>> = batch
        .globals
        .chunks_exact(SHAPE.globals)
        .map(|row| {
            exact_rows(
                &network.globals,
                &row.iter().copied().map(f64::from).collect::<Vec<_>>(),
            )
        })
        .collect();
    add_to_planes(&mut x, &globals);
    for block in &network.blocks {
        let mut middle = exact_conv3(&block.conv1, &exact_norm(&block.norm1, &x, SHAPE.channels));
        if let Some(pooled) = &block.pooled {
            let first: Vec<(Board, Sample)> = middle
                .iter()
                .map(|(board, sample)| {
                    (*board, sample[..pooled.channels * board.points()].to_vec())
                })
                .collect();
            let activated = exact_norm(&pooled.norm, &first, pooled.channels);
            let vectors: Vec<Vec<f64>> = activated
                .iter()
                .map(|(board, sample)| {
                    exact_rows(&pooled.dense, &exact_pool(*board, sample, false))
                })
                .collect();
            add_to_planes(&mut middle, &vectors);
        }
        let branch = exact_conv3(
            &block.conv2,
            &exact_norm(&block.norm2, &middle, SHAPE.channels),
        );
        for ((_, x), (_, branch)) in x.iter_mut().zip(branch) {
            x.iter_mut().zip(branch).for_each(|(x, more)| *x += more);
        }
    }
    let trunk = exact_norm(&network.last_norm, &x, SHAPE.channels);
    let policy = &network.policy;
    let mut pooled = exact_conv1(&policy.pooled, &trunk);
    relu(&mut pooled);
    let rows: Vec<Vec<f64>> = pooled
        .iter()
        .map(|(board, sample)| exact_pool(*board, sample, false))
        .collect();
    let mut local = exact_conv1(&policy.local, &trunk);
    add_to_planes(
        &mut local,
        &rows
            .iter()
            .map(|row| exact_rows(&policy.bias, row))
            .collect::<Vec<_>>(),
    );
    relu(&mut local);
    let logits = exact_conv1(&policy.last, &local);
    let mut value = exact_conv1(&network.value.conv, &trunk);
    relu(&mut value);
    let owners = exact_conv1(&network.value.ownership, &value);
    (0..trunk.len())
        .map(|index| {
            let mut moves = logits[index].1.clone();
            moves.extend(exact_rows(&policy.pass, &rows[index]));
            let (board, sample) = &value[index];
            let mut hidden = exact_rows(&network.value.hidden, &exact_pool(*board, sample, true));
            hidden.iter_mut().for_each(|value| *value = value.max(0.0));
            [
                moves,
                exact_rows(&network.value.out, &hidden),
                owners[index].1.clone(),
            ]
        })
        .collect()
}

/// The outputs sample by sample, as [`exact`] gives them.
fn by_sample(batch: &SizeFreeBatch, outputs: &SizeFreeOutputs) -> Vec<[Vec<f64>; 3]> {
    let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let mut value = outputs.value.chunks_exact(VALUES);
    let mut all = Vec::new();
    for (index, group) in batch.groups.iter().enumerate() {
        let points = group.board.points();
        let policy = outputs.policy[index].chunks_exact(points + 1);
        for (policy, owners) in policy.zip(outputs.ownership[index].chunks_exact(points)) {
            all.push([wide(policy), wide(value.next().unwrap()), wide(owners)]);
        }
    }
    all
}

fn assert_close(mine: &[[Vec<f64>; 3]], theirs: &[[Vec<f64>; 3]], tolerance: f64) {
    assert_eq!(mine.len(), theirs.len());
    for (sample, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
        for (head, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
            assert_eq!(mine.len(), theirs.len());
            for (index, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
                let error = (mine - theirs).abs();
                assert!(
                    error <= tolerance,
                    "sample {sample}, head {head} [{index}]: {mine} and {theirs}"
                );
            }
        }
    }
}

#[test]
fn outputs_and_every_gradient_agree_with_f64() {
    let (mut network, batch) = (network(), batch(3));
    let outputs = network.forward(&batch, Mode::Train { seed: 0 }).clone();
    assert_close(&by_sample(&batch, &outputs), &exact(&network, &batch), 2e-4);

    // The loss is a random sum of all outputs.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut gradient = outputs.clone();
    let all = gradient
        .policy
        .iter_mut()
        .chain(&mut gradient.ownership)
        .flatten()
        .chain(&mut gradient.value);
    all.for_each(|value| *value = random.random_range(-1.0..1.0));
    let weights = by_sample(&batch, &gradient);
    network.backward(&batch, &gradient);
    let gradients: Vec<(String, Vec<f32>)> = network
        .params_mut()
        .iter()
        .map(|param| (param.name.clone(), param.gradient.clone()))
        .collect();
    let loss = |network: &SizeFree| -> f64 {
        let outputs = exact(network, &batch);
        let products = outputs
            .iter()
            .flatten()
            .flatten()
            .zip(weights.iter().flatten().flatten());
        products.map(|(output, weight)| output * weight).sum()
    };
    const STEP: f32 = 1e-4;
    for (tensor, (name, gradient)) in gradients.iter().enumerate() {
        let largest = gradient
            .iter()
            .fold(1e-3_f32, |most, value| most.max(value.abs()));
        for _ in 0..6 {
            let index = random.random_range(0..gradient.len());
            let before = network.params_mut()[tensor].values[index];
            let mut at = |value: f32| {
                network.params_mut()[tensor].values[index] = value;
                (f64::from(value), loss(&network))
            };
            let ((high, above), (low, below)) = (at(before + STEP), at(before - STEP));
            at(before);
            let slope = (above - below) / (high - low);
            let error = (f64::from(gradient[index]) - slope).abs();
            assert!(
                error <= 4e-3 * f64::from(largest),
                "{name} [{index}]: {} instead of {slope}, largest {largest}",
                gradient[index]
            );
        }
    }
}

#[test]
fn the_file_says_what_the_network_says_on_every_size() {
    let (mut network, batch) = (network(), batch(3));
    for seed in 0..20 {
        network.forward(&self::batch(seed), Mode::Train { seed });
    }
    let outputs = network.forward(&batch, Mode::Evaluate).clone();
    let mine = by_sample(&batch, &outputs);
    let plain_network = network.export(9);
    let globals = batch.globals.chunks_exact(SHAPE.globals);
    for (((board, planes), globals), mine) in plain(&batch).into_iter().zip(globals).zip(mine) {
        let at_size = plain_network.at_size(board.height, board.width).unwrap();
        let mut row: Vec<f32> = planes.iter().map(|value| *value as f32).collect();
        row.extend(globals);
        let reference = Reference::new(at_size).unwrap();
        let shape = reference.shape().clone();
        let mut said = vec![0.0; shape.output_len()];
        reference.evaluate(&row, &mut said).unwrap();
        let part = |name: &str| &said[shape.output(name).unwrap()];
        let near = |mine: f64, theirs: f32| {
            assert!(
                (mine - f64::from(theirs)).abs() < 1e-3,
                "{mine} and {theirs}"
            )
        };
        mine[0]
            .iter()
            .zip(part(POLICY))
            .for_each(|(mine, said)| near(*mine, *said));
        near(1.0 / (1.0 + (-mine[1][0]).exp()), part(VALUE)[0]);
        near(mine[1][1], part(LEAD)[0]);
        near((1.0 + mine[1][2].exp()).ln(), part(SPREAD)[0]);
        mine[2]
            .iter()
            .zip(part(OWNERSHIP))
            .for_each(|(mine, said)| near(mine.tanh(), *said));
    }
}

#[test]
fn training_goes_on_from_a_network_for_playing() {
    let mut trained = network();
    for seed in 0..20 {
        trained.forward(&batch(seed), Mode::Train { seed });
    }
    let plain = trained.export(9);
    let mut again = SizeFree::new(SHAPE, 99, 2);
    again.start_from(&plain, (0..20).map(batch)).unwrap();
    let said = trained.forward(&batch(3), Mode::Evaluate).clone();
    let said_again = again.forward(&batch(3), Mode::Evaluate).clone();
    let (said, said_again) = (
        by_sample(&batch(3), &said),
        by_sample(&batch(3), &said_again),
    );
    assert_close(&said_again, &said, 1e-3);
    // In training the batch's own statistics take the place of the measured ones: on the batch that was measured
    // alone they are the same.
    let mut one_batch = SizeFree::new(SHAPE, 99, 2);
    one_batch
        .start_from(&plain, std::iter::once(batch(3)))
        .unwrap();
    let learning = one_batch
        .forward(&batch(3), Mode::Train { seed: 1 })
        .clone();
    assert_close(&by_sample(&batch(3), &learning), &said, 2e-3);
}

#[test]
fn a_network_of_another_design_is_refused() {
    let mut wider = SizeFree::new(
        SizeFreeShape {
            channels: 24,
            ..SHAPE
        },
        1,
        1,
    );
    let refused = wider.start_from(&network().export(9), std::iter::empty());
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("2 blocks of 24 channels")
    );
}

#[test]
fn adam_learns_a_batch_of_mixed_sizes() {
    let (mut network, batch) = (network(), batch(3));
    let mut optimiser = Optimiser::new(Rule::ADAM, 1e-4, Some(5.0));
    let mut losses = Vec::new();
    for seed in 0..60 {
        let outputs = network.forward(&batch, Mode::Train { seed }).clone();
        let targets: Vec<f32> = (0..outputs.value.len())
            .map(|index| if index % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let mut gradient = outputs.clone();
        gradient
            .policy
            .iter_mut()
            .chain(&mut gradient.ownership)
            .flatten()
            .for_each(|value| *value = 0.0);
        let mut loss = 0.0;
        for ((slope, value), target) in gradient.value.iter_mut().zip(&outputs.value).zip(&targets)
        {
            loss += (value - target).powi(2);
            *slope = 2.0 * (value - target);
        }
        losses.push(loss);
        network.backward(&batch, &gradient);
        optimiser.step(&mut network.params_mut(), 5e-3);
    }
    assert!(
        losses[59] < 0.1 * losses[0],
        "{} to {}",
        losses[0],
        losses[59]
    );
}
