//! Networks of every family on a graphics processor, against the reference. Mesa's llvmpipe, which the processor
//! emulates, is enough to run these; without any adapter they say so and pass.
#![cfg(feature = "gpu")]

use net::{
    Activation, Backend, BoardSizes, Conv, Dense, Evaluator, GpuOptions, GpuPrecision, Group, Head,
    Layer, Network, OpenError, Output, Perspective, PlaneShape, Pooling, Reading, Reference, Scale,
    bench::random_planes,
    gpu::{Gpu, GpuError, adapters},
    katago::{KataNetwork, RandomKind},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What f32 may cost, as a share of an output larger than one.
const TOLERANCE_F32: f64 = 1e-3;
/// What f16 storage may cost a probability.
const TOLERANCE_F16: f64 = 1e-2;

/// The first adapter, emulated or not.
fn adapter() -> Option<usize> {
    let found = adapters();
    match found.first() {
        Some(adapter) => println!("on {adapter}"),
        None => println!("skipped: there is no Vulkan, Metal or Direct3D adapter here"),
    }
    found.first().map(|adapter| adapter.index)
}

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

/// The largest error, as a share of the output where that is larger than one.
fn largest_error(network: &Network, evaluator: &dyn Evaluator, inputs: &[f32]) -> f64 {
    let reference = Reference::new(network.clone()).unwrap();
    let shape = evaluator.shape();
    let batch = inputs.len() / shape.input_len();
    let mut rows = vec![f32::NAN; batch * shape.output_len()];
    // Twice, so that what the first batch leaves in memory is seen to do no harm.
    evaluator.evaluate(inputs, &mut rows).unwrap();
    rows.fill(f32::NAN);
    evaluator.evaluate(inputs, &mut rows).unwrap();
    let rows = rows.chunks_exact(shape.output_len());
    let mut largest: f64 = 0.0;
    for (position, row) in inputs.chunks_exact(shape.input_len()).zip(rows) {
        for (found, expected) in row.iter().zip(reference.evaluate_one(position)) {
            assert!(found.is_finite());
            let apart = (f64::from(*found) - expected).abs();
            largest = largest.max(apart / expected.abs().max(1.0));
        }
    }
    largest
}

fn assert_agrees(network: &Network, evaluator: &dyn Evaluator, batch: usize, about: &str) {
    let error = largest_error(network, evaluator, &inputs(network, batch, 3));
    println!("{about}: {error:.1e}");
    assert!(error <= TOLERANCE_F32, "{about}: {error:e}");
}

fn leela(size: usize, blocks: usize, filters: usize) -> Network {
    let shape = LeelaShape::stock(size, blocks, filters);
    LeelaNetwork::random(LeelaVersion::V1, shape, size as u64).to_network()
}

#[test]
fn every_family_agrees_with_the_reference() {
    let Some(adapter) = adapter() else { return };
    for kind in RandomKind::ALL {
        let network = KataNetwork::random(kind, 3, 24, 7).network(7, 7);
        let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F32).unwrap();
        assert!(!gpu.is_f16());
        assert_agrees(&network, &gpu, 3, &format!("{kind:?}"));
    }
    for (size, blocks, filters) in [(19, 1, 16), (9, 3, 48), (2, 1, 8)] {
        let network = leela(size, blocks, filters);
        let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F32).unwrap();
        assert_agrees(&network, &gpu, 2, &format!("Leela Zero {size}x{size}"));
    }
}

#[test]
fn batches_larger_than_one_slot_agree() {
    let Some(adapter) = adapter() else { return };
    let network = leela(5, 1, 8);
    let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F32).unwrap();
    let slot = gpu.preferred_batch();
    for batch in [1, slot - 1, slot, slot + 1, 2 * slot + 3] {
        assert_agrees(&network, &gpu, batch, &format!("batch {batch}"));
    }
}

#[test]
fn board_sizes_share_a_network_and_agree() {
    let Some(adapter) = adapter() else { return };
    let backend = Backend::Gpu(GpuOptions {
        adapter: Some(adapter),
        precision: GpuPrecision::F32,
    });
    for (index, kind) in RandomKind::ALL.into_iter().enumerate() {
        let network = KataNetwork::random(kind, 2, 16, 11).network(19, 19);
        let sizes = BoardSizes::new(network, backend);
        for (height, width) in [(9, 9), (2, 3), (13 - index, 5 + index)] {
            let network = sizes.network().unwrap().at_size(height, width).unwrap();
            let evaluator = sizes.at(height, width).unwrap();
            let about = format!("{kind:?} {height}x{width}");
            assert_agrees(&network, &*evaluator, 1, &about);
        }
    }
}

#[test]
fn fifty_random_networks_agree_with_the_reference() {
    let Some(adapter) = adapter() else { return };
    let has_f16 = adapters()[adapter].has_f16;
    let (mut largest, mut largest_f16): (f64, f64) = (0.0, 0.0);
    for seed in 0..50 {
        let mut builder = Builder {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            board: PlaneShape {
                planes: 1 + seed as usize % 7,
                height: 2 + seed as usize % 9,
                width: 2 + (seed as usize * 5) % 11,
            },
        };
        let network = builder.network();
        let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F32).unwrap();
        let batch = 1 + seed as usize % 3;
        let error = largest_error(&network, &gpu, &inputs(&network, batch, seed));
        assert!(error <= TOLERANCE_F32, "seed {seed}: {error:e}");
        largest = largest.max(error);
        if has_f16 {
            let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F16).unwrap();
            let error = largest_error(&network, &gpu, &inputs(&network, batch, seed));
            assert!(error <= TOLERANCE_F16, "seed {seed} in f16: {error:e}");
            largest_f16 = largest_f16.max(error);
        }
    }
    println!("largest error of 50 networks: {largest:.1e}, in f16 {largest_f16:.1e}");
}

#[test]
fn f16_keeps_probabilities_within_a_hundredth() {
    let Some(adapter) = adapter() else { return };
    if !adapters()[adapter].has_f16 {
        println!("skipped: the adapter does not compute in f16");
        return;
    }
    let mut networks = vec![leela(9, 3, 48), leela(13, 2, 24)];
    networks.extend(RandomKind::ALL.map(|kind| KataNetwork::random(kind, 2, 16, 5).network(7, 7)));
    for network in networks {
        let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F16).unwrap();
        assert!(gpu.is_f16());
        let inputs = inputs(&network, 2, 9);
        let error = largest_error(&network, &gpu, &inputs);
        println!("f16: {error:.1e}");
        assert!(error <= TOLERANCE_F16, "{error:e}");
        assert!(error > 1e-6, "nothing was rounded: {error:e}");
    }
}

#[test]
fn threads_share_the_slots() {
    let Some(adapter) = adapter() else { return };
    let network = KataNetwork::random(RandomKind::Transformer, 2, 16, 4).network(5, 5);
    let gpu = Gpu::new(&network, Some(adapter), GpuPrecision::F32).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..5 {
            let (network, gpu) = (&network, &gpu);
            scope.spawn(move || {
                let inputs = inputs(network, 1 + thread % 3, thread as u64);
                let error = largest_error(network, gpu, &inputs);
                assert!(error <= TOLERANCE_F32, "thread {thread}: {error:e}");
            });
        }
    });
}

#[test]
fn an_adapter_that_is_not_there_is_named() {
    let network = leela(5, 1, 8);
    let count = adapters().len();
    let asked = Gpu::new(&network, Some(count + 3), GpuPrecision::F32);
    let index = count + 3;
    let expected = GpuError::NoSuch { index, count };
    assert_eq!(asked.err(), Some(OpenError::Gpu(expected)));
}

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
        match self.rng.random_range(0..5) {
            0 => Activation::Identity,
            1 => Activation::Relu,
            2 => Activation::LeakyRelu(0.1),
            3 => Activation::Mish,
            _ => Activation::Silu,
        }
    }

    /// One group, or two of half the planes each.
    fn conv(&mut self, inputs: usize, outputs: usize) -> Conv {
        let kernel = [1, 3, 5][self.rng.random_range(0..3)];
        let groups = if inputs > 1 && outputs > 1 && self.rng.random() {
            let first = Group {
                inputs: inputs / 2,
                outputs: outputs / 2,
            };
            let second = Group {
                inputs: inputs - inputs / 2,
                outputs: outputs - outputs / 2,
            };
            vec![first, second]
        } else {
            vec![Group { inputs, outputs }]
        };
        let pairs: usize = groups
            .iter()
            .map(|group| group.inputs * group.outputs)
            .sum();
        let taps = kernel * kernel;
        Conv {
            kernel,
            groups,
            weights: self.numbers(pairs * taps, inputs * taps).into(),
            bias: self.numbers(outputs, 4),
            activation: self.activation(),
        }
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> Layer {
        Layer::Dense(Dense {
            inputs,
            outputs,
            weights: self.numbers(inputs * outputs, inputs).into(),
            bias: self.numbers(outputs, 4),
            activation: self.activation(),
        })
    }

    fn block(&mut self, planes: usize) -> Layer {
        let hidden = self.rng.random_range(1..40);
        let first = Layer::Conv(self.conv(planes, hidden));
        let scale = Layer::Scale(Scale {
            scale: self.numbers(hidden, 3).into(),
            bias: self.numbers(hidden, 3).into(),
            activation: self.activation(),
        });
        let last = Layer::Conv(Conv {
            activation: Activation::Identity,
            ..self.conv(hidden, planes)
        });
        Layer::Residual {
            body: vec![first, scale, last],
            activation: self.activation(),
        }
    }

    fn network(&mut self) -> Network {
        let mut planes = self.board.planes;
        let mut trunk = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            if self.rng.random() {
                trunk.push(self.block(planes));
            } else {
                let outputs = self.rng.random_range(1..70);
                trunk.push(Layer::Conv(self.conv(planes, outputs)));
                planes = outputs;
            }
        }
        let poolings = [
            Pooling::MeanMax,
            Pooling::MeanScaledMax,
            Pooling::MeanScaledSquared,
        ];
        let pooling = poolings[self.rng.random_range(0..3)];
        let (pooled, area) = (planes * pooling.numbers_per_plane(), self.board.area());
        let value = vec![Layer::GlobalPool(pooling), self.dense(pooled, 3)];
        let policy = vec![self.dense(planes * area, area)];
        let head = |name: &str, layers, len, reading| Head {
            layers,
            outputs: vec![Output {
                name: name.into(),
                len,
                reading,
            }],
        };
        Network {
            input: self.board,
            globals: 0,
            trunk,
            heads: vec![
                head("value", value, 3, Reading::Tanh),
                head("policy", policy, area, Reading::Softmax),
            ],
            perspective: Perspective::SideToMove,
        }
    }
}
