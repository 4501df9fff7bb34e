//! Random networks of every kind of KataGo's blocks: the fast code agrees with the reference.

use net::{
    Backend, BoardSizes, Evaluator, Isa, Network, Plan, PlanOptions, Reference,
    bench::random_planes,
    katago::{KataNetwork, RandomKind},
};

/// Winograd in f32 over a few layers, beside logits of a few units.
const TOLERANCE: f64 = 2e-4;

/// Positions whose globals are numbers of either sign.
fn inputs(network: &Network, batch: usize, seed: u64) -> Vec<f32> {
    let shape = network.io_shape();
    let mut inputs = random_planes(batch * shape.input_len(), 0.3, seed);
    for row in inputs.chunks_exact_mut(shape.input_len()) {
        for (index, global) in row[shape.input.len()..].iter_mut().enumerate() {
            *global = *global * 0.7 - (index % 5) as f32 * 0.1;
        }
    }
    inputs
}

fn assert_agrees(network: &Network, evaluator: &dyn Evaluator, inputs: &[f32], about: &str) {
    let reference = Reference::new(network.clone()).unwrap();
    let shape = evaluator.shape();
    let batch = inputs.len() / shape.input_len();
    let mut rows = vec![0.0; batch * shape.output_len()];
    evaluator.evaluate(inputs, &mut rows).unwrap();
    // Again, with memory that is no longer fresh.
    evaluator.evaluate(inputs, &mut rows).unwrap();
    let rows = rows.chunks_exact(shape.output_len());
    for (position, row) in inputs.chunks_exact(shape.input_len()).zip(rows) {
        let expected = reference.evaluate_one(position);
        for (index, (found, expected)) in row.iter().zip(expected).enumerate() {
            let apart = (f64::from(*found) - expected).abs();
            assert!(
                apart <= TOLERANCE * expected.abs().max(1.0),
                "{about}: output {index} is {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn every_kind_agrees_on_every_instruction_set_and_batch() {
    for kind in RandomKind::ALL {
        let network = KataNetwork::random(kind, 3, 24, 7).network(7, 7);
        for isa in Isa::available() {
            for (batch, at_once) in [(1, 1), (3, 4), (5, 2)] {
                let options = PlanOptions {
                    isa,
                    positions_at_once: Some(at_once),
                    ..PlanOptions::default()
                };
                let plan = Plan::with_options(&network, options).unwrap();
                let about = format!("{kind:?} {isa:?} batch {batch} at once {at_once}");
                assert_agrees(&network, &plan, &inputs(&network, batch, 3), &about);
            }
        }
    }
}

#[test]
fn every_board_from_2x2_to_25x25_agrees() {
    for (index, size) in (2..=25).enumerate() {
        let kind = RandomKind::ALL[index % RandomKind::ALL.len()];
        let sizes = BoardSizes::new(
            KataNetwork::random(kind, 2, 16, size as u64).network(19, 19),
            Backend::Cpu,
        );
        for (height, width) in [(size, size), (size, 27 - size)] {
            let network = sizes.network().unwrap().at_size(height, width).unwrap();
            let evaluator = sizes.at(height, width).unwrap();
            let about = format!("{kind:?} {height}x{width}");
            assert_agrees(&network, &*evaluator, &inputs(&network, 1, 9), &about);
        }
    }
}

#[test]
fn all_eight_symmetries_of_a_position_agree() {
    const SIZE: usize = 9;
    let network = KataNetwork::random(RandomKind::Nested, 3, 16, 4).network(SIZE, SIZE);
    let evaluator = Backend::Cpu.open(&network).unwrap();
    let position = inputs(&network, 1, 5);
    for symmetry in 0..8 {
        let mut turned = position.clone();
        for plane in 0..network.input.planes {
            for cell in 0..SIZE * SIZE {
                let (mut row, mut column) = (cell / SIZE, cell % SIZE);
                if symmetry & 1 == 1 {
                    row = SIZE - 1 - row;
                }
                if symmetry & 2 == 2 {
                    column = SIZE - 1 - column;
                }
                if symmetry & 4 == 4 {
                    (row, column) = (column, row);
                }
                turned[plane * SIZE * SIZE + row * SIZE + column] =
                    position[plane * SIZE * SIZE + cell];
            }
        }
        assert_agrees(
            &network,
            &*evaluator,
            &turned,
            &format!("symmetry {symmetry}"),
        );
    }
}

#[test]
fn threads_that_share_an_evaluator_agree() {
    let network = KataNetwork::random(RandomKind::Transformer, 2, 16, 4).network(9, 9);
    let evaluator = Backend::Cpu.open(&network).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (network, evaluator) = (&network, &evaluator);
            scope.spawn(move || {
                let inputs = inputs(network, 1 + thread % 3, thread as u64);
                assert_agrees(network, &**evaluator, &inputs, "threads");
            });
        }
    });
}

#[test]
fn boards_of_one_network_share_weights_and_stay_right() {
    for kind in RandomKind::ALL {
        let sizes = BoardSizes::new(
            KataNetwork::random(kind, 2, 16, 11).network(19, 19),
            Backend::Cpu,
        );
        for size in [9, 13, 8, 5, 7, 14] {
            let network = sizes.network().unwrap().at_size(size, size).unwrap();
            let evaluator = sizes.at(size, size).unwrap();
            let about = format!("{kind:?} {size}x{size} after others");
            assert_agrees(&network, &*evaluator, &inputs(&network, 2, 2), &about);
        }
    }
}
