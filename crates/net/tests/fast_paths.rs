//! Every fast path against the reference, over random networks.

use std::sync::Mutex;

use net::{
    Activation, Conv, Dense, Evaluator, Group, Head, Isa, Layer, Network, Output, Perspective,
    Plan, PlanOptions, PlaneShape, Reading, Reference,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What f32 and Winograd may cost, as a share of the largest number of the row (or of 1).
const TOLERANCE: f64 = 1e-4;

/// The largest error any case has had so far, to be printed.
static LARGEST: Mutex<f64> = Mutex::new(0.0);

struct Builder {
    rng: Xoshiro256PlusPlus,
    board: PlaneShape,
}

impl Builder {
    fn numbers(&mut self, count: usize, inputs: usize) -> Vec<f32> {
        let size = (3.0 / inputs as f32).sqrt();
        (0..count)
            .map(|_| self.rng.random_range(-size..size))
            .collect()
    }

    fn activation(&mut self) -> Activation {
        match self.rng.random_range(0..3) {
            0 => Activation::Identity,
            1 => Activation::Relu,
            _ => Activation::LeakyRelu(0.1),
        }
    }

    /// Cuts both numbers of planes into the same number of groups.
    fn groups(&mut self, inputs: usize, outputs: usize) -> Vec<Group> {
        let first = Group {
            inputs: self.rng.random_range(1..=inputs),
            outputs: self.rng.random_range(1..=outputs),
        };
        let rest = Group {
            inputs: inputs - first.inputs,
            outputs: outputs - first.outputs,
        };
        if rest.inputs == 0 || rest.outputs == 0 || self.rng.random() {
            return vec![Group { inputs, outputs }];
        }
        vec![first, rest]
    }

    fn conv(&mut self, kernel: usize, inputs: usize, outputs: usize) -> Conv {
        let groups = self.groups(inputs, outputs);
        let taps = kernel * kernel;
        let count = groups
            .iter()
            .map(|group| group.inputs * group.outputs * taps)
            .sum();
        let weights = self.numbers(count, inputs * taps);
        Conv {
            kernel,
            groups,
            weights: weights.into(),
            bias: self.numbers(outputs, 4),
            activation: self.activation(),
        }
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Dense {
        let weights = self.numbers(inputs * outputs, inputs);
        Dense {
            inputs,
            outputs,
            weights: weights.into(),
            bias: self.numbers(outputs, 4),
            activation: self.activation(),
        }
    }

    fn conv_residual(&mut self, planes: usize) -> Layer {
        let hidden = self.rng.random_range(1..40);
        let kernel = |rng: &mut Xoshiro256PlusPlus| if rng.random_bool(0.8) { 3 } else { 1 };
        let mut body = Vec::new();
        let mut arriving = planes;
        if self.rng.random_bool(0.8) {
            let kernel = kernel(&mut self.rng);
            body.push(Layer::Conv(self.conv(kernel, planes, hidden)));
            arriving = hidden;
        }
        let kernel = kernel(&mut self.rng);
        let last = Conv {
            activation: Activation::Identity,
            ..self.conv(kernel, arriving, planes)
        };
        body.push(Layer::Conv(last));
        Layer::Residual {
            body,
            activation: self.activation(),
        }
    }

    /// A residual that changes only the first `busy` planes, as the rest of a grafted network's blocks do.
    fn idle_residual(&mut self, planes: usize, busy: usize) -> Layer {
        let groups: Vec<Group> = [busy, planes - busy]
            .into_iter()
            .filter(|&planes| planes > 0)
            .map(|planes| Group {
                inputs: planes,
                outputs: planes,
            })
            .collect();
        let count = groups.iter().map(|group| group.inputs * group.outputs * 9);
        let count = count.sum();
        let mut conv = |activation| Conv {
            kernel: 3,
            groups: groups.clone(),
            weights: self.numbers(count, planes * 9).into(),
            bias: self.numbers(planes, 4),
            activation,
        };
        let (first, mut second) = (conv(Activation::Relu), conv(Activation::Identity));
        second.weights[busy * busy * 9..].fill(0.0);
        second.bias[busy..].fill(0.0);
        Layer::Residual {
            body: vec![Layer::Conv(first), Layer::Conv(second)],
            activation: self.activation(),
        }
    }

    fn dense_residual(&mut self, len: usize) -> Layer {
        let hidden = self.rng.random_range(1..40);
        let last = Dense {
            activation: Activation::Identity,
            ..self.dense(hidden, len)
        };
        let body = vec![Layer::Dense(self.dense(len, hidden)), Layer::Dense(last)];
        Layer::Residual {
            body,
            activation: self.activation(),
        }
    }

    fn head(&mut self, index: usize, planes: usize) -> Head {
        let mut layers = Vec::new();
        let mut arriving = planes * self.board.area();
        match self.rng.random_range(0..4) {
            0 => {}
            1 => {
                layers.push(Layer::GlobalPool(net::Pooling::MeanMax));
                arriving = 2 * planes;
            }
            2 => {
                layers.push(self.conv_residual(planes));
            }
            _ => {
                let few = self.rng.random_range(1..5);
                layers.push(Layer::Conv(self.conv(1, planes, few)));
                arriving = few * self.board.area();
            }
        }
        let len = self.rng.random_range(2..50);
        layers.push(Layer::Dense(self.dense(arriving, len)));
        if self.rng.random() {
            layers.push(self.dense_residual(len));
        }
        let readings = [
            Reading::Raw,
            Reading::Softmax,
            Reading::NormalizedSigmoid,
            Reading::Sigmoid,
            Reading::Tanh,
            Reading::Winrate,
            Reading::Softplus,
        ];
        let mut output = |part: usize, len: usize| {
            let reading = readings[self.rng.random_range(0..readings.len())];
            Output {
                name: format!("{index}.{part}"),
                len,
                reading,
            }
        };
        Head {
            layers,
            outputs: vec![output(0, 1), output(1, len - 1)],
        }
    }

    fn network(&mut self) -> Network {
        let mut trunk = Vec::new();
        let mut planes = self.board.planes;
        for _ in 0..self.rng.random_range(0..4) {
            if self.rng.random() {
                trunk.push(self.conv_residual(planes));
            } else {
                let outputs = self.rng.random_range(1..70);
                trunk.push(Layer::Conv(self.conv(3, planes, outputs)));
                planes = outputs;
            }
        }
        let heads = (0..self.rng.random_range(1..3))
            .map(|index| self.head(index, planes))
            .collect();
        Network {
            input: self.board,
            globals: 0,
            trunk,
            heads,
            perspective: Perspective::SideToMove,
        }
    }

    fn planes(&mut self, batch: usize) -> Vec<f32> {
        let density = self.rng.random_range(0.05..1.0);
        let mut number = || {
            if self.rng.random_bool(density) {
                self.rng.random_range(-1.0..1.0)
            } else {
                0.0
            }
        };
        (0..batch * self.board.len()).map(|_| number()).collect()
    }
}

/// The largest error as a share of the largest number, over all positions and paths.
fn largest_error(network: &Network, planes: &[f32], options: PlanOptions) -> f64 {
    let reference = Reference::new(network.clone()).unwrap();
    let plan = Plan::with_options(network, options).unwrap();
    let shape = plan.shape();
    let batch = planes.len() / shape.input_len();
    let mut rows = vec![f32::NAN; batch * shape.output_len()];
    // Twice, so that what the first run leaves in its workspace is seen to do no harm.
    plan.evaluate(planes, &mut rows).unwrap();
    rows.fill(f32::NAN);
    plan.evaluate(planes, &mut rows).unwrap();
    let mut largest: f64 = 0.0;
    for (position, row) in planes
        .chunks(shape.input_len())
        .zip(rows.chunks(shape.output_len()))
    {
        let expected = reference.evaluate_one(position);
        let scale = expected
            .iter()
            .fold(1.0, |scale: f64, number| scale.max(number.abs()));
        for (&found, &expected) in row.iter().zip(&expected) {
            assert!(found.is_finite());
            largest = largest.max((f64::from(found) - expected).abs() / scale);
        }
    }
    largest
}

fn check(
    seed: u64,
    height: usize,
    width: usize,
    batch: usize,
    at_once: usize,
) -> Result<(), TestCaseError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let board = PlaneShape {
        planes: rng.random_range(1..25),
        height,
        width,
    };
    let mut builder = Builder { rng, board };
    let network = builder.network();
    let planes = builder.planes(batch);
    for isa in Isa::available() {
        let error = largest_error(
            &network,
            &planes,
            PlanOptions {
                isa,
                positions_at_once: Some(at_once),
                ..PlanOptions::default()
            },
        );
        prop_assert!(error < TOLERANCE, "{isa:?}: error {error:e}");
        let mut largest = LARGEST.lock().unwrap();
        if error > *largest {
            *largest = error;
            println!(
                "largest error so far: {error:.2e} ({isa:?}, {height}x{width}, batch {batch})"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_network_on_any_board_agrees_with_the_reference(
        seed: u64,
        height in 2usize..=25,
        width in 2usize..=25,
        batch in 1usize..6,
        at_once in 1usize..5,
    ) {
        check(seed, height, width, batch, at_once)?;
    }
}

#[test]
fn every_square_board_agrees_with_the_reference() {
    for size in 2..=25 {
        check(size as u64, size, size, 2, 2).unwrap();
    }
    check(1, 16, 8, 3, 2).unwrap();
}

#[test]
fn planes_that_pass_a_block_unchanged_agree_with_the_reference() {
    for seed in 0..60 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let board = PlaneShape {
            planes: 3,
            height: rng.random_range(2..12),
            width: rng.random_range(2..12),
        };
        let mut builder = Builder { rng, board };
        let planes = builder.rng.random_range(17..90);
        let mut first = builder.conv(3, board.planes, planes);
        // After anything but a rectifier a plane may be negative, and the next one changes it.
        if seed % 3 > 0 {
            first.activation = Activation::Relu;
        }
        let mut trunk = vec![Layer::Conv(first)];
        for _ in 0..builder.rng.random_range(1..5) {
            let busy = builder.rng.random_range(0..=planes);
            trunk.push(builder.idle_residual(planes, busy));
        }
        let network = Network {
            input: board,
            globals: 0,
            trunk,
            heads: vec![builder.head(0, planes)],
            perspective: Perspective::SideToMove,
        };
        let inputs = builder.planes(3);
        for isa in Isa::available() {
            let options = PlanOptions {
                isa,
                positions_at_once: Some(2),
                ..PlanOptions::default()
            };
            let error = largest_error(&network, &inputs, options);
            assert!(error < TOLERANCE, "seed {seed}, {isa:?}: error {error:e}");
        }
    }
}

#[test]
fn a_block_is_paid_for_by_the_planes_that_it_changes() {
    let board = PlaneShape {
        planes: 2,
        height: 9,
        width: 9,
    };
    let mut builder = Builder {
        rng: Xoshiro256PlusPlus::seed_from_u64(3),
        board,
    };
    let first = Conv::new(3, 2, 64, Activation::Relu);
    let head = Head {
        layers: vec![Layer::GlobalPool(net::Pooling::MeanMax)],
        outputs: vec![Output {
            name: "planes".into(),
            len: 128,
            reading: Reading::Raw,
        }],
    };
    let mut flops = |busy| {
        let network = Network {
            input: board,
            globals: 0,
            trunk: vec![Layer::Conv(first.clone()), builder.idle_residual(64, busy)],
            heads: vec![head.clone()],
            perspective: Perspective::SideToMove,
        };
        Plan::new(&network).unwrap().convolution_flops().0
    };
    let per_pair = 2.0 * 9.0 * 81.0;
    assert_eq!(flops(64), per_pair * (2 * 64 + 2 * 64 * 64) as f64);
    assert_eq!(flops(32), per_pair * (2 * 64 + 2 * 32 * 32) as f64);
    assert_eq!(flops(0), per_pair * (2 * 64) as f64);
}

#[test]
fn a_dense_network_agrees_with_the_reference_at_every_density() {
    let board = PlaneShape {
        planes: 13,
        height: 11,
        width: 11,
    };
    let mut builder = Builder {
        rng: Xoshiro256PlusPlus::seed_from_u64(5),
        board,
    };
    let first = Dense {
        activation: Activation::Relu,
        ..builder.dense(board.len(), 256)
    };
    let body = vec![
        Layer::Dense(Dense {
            activation: Activation::Relu,
            ..builder.dense(256, 256)
        }),
        Layer::Dense(Dense {
            activation: Activation::Identity,
            ..builder.dense(256, 256)
        }),
    ];
    let last = Dense {
        activation: Activation::Identity,
        ..builder.dense(256, 1)
    };
    let network = Network {
        input: board,
        globals: 0,
        trunk: vec![
            Layer::Dense(first),
            Layer::Residual {
                body,
                activation: Activation::Relu,
            },
        ],
        heads: vec![Head {
            layers: vec![Layer::Dense(last)],
            outputs: vec![Output {
                name: "safe".into(),
                len: 1,
                reading: Reading::Sigmoid,
            }],
        }],
        perspective: Perspective::SideToMove,
    };
    for batch in [1, 2, 7, 100] {
        let planes = builder.planes(batch);
        for isa in Isa::available() {
            let error = largest_error(
                &network,
                &planes,
                PlanOptions {
                    isa,
                    ..PlanOptions::default()
                },
            );
            assert!(error < 1e-5, "batch {batch}, {isa:?}: error {error:e}");
        }
    }
}
