//! How fast an evaluator is, measured the way a search uses it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::backend::OpenError;
use crate::evaluator::{EvaluateError, Evaluator};
use crate::kernels::Isa;
use crate::kernels::tiling::Tiling;
use crate::network::{Activation, Dense, Head, Layer, Network, Output, Reading};
use crate::plan::{Plan, PlanOptions};
use crate::shape::{Perspective, PlaneShape};

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct BenchOptions {
    /// Threads that each evaluate their own batches.
    pub threads: usize,
    /// Positions of a call.
    pub batch: usize,
    /// How long to measure.
    pub duration: Duration,
    /// The share of input numbers that are not zero.
    pub density: f64,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self {
            threads: 1,
            batch: 4,
            duration: Duration::from_secs(3),
            density: 0.15,
        }
    }
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchResult {
    /// Positions evaluated by all threads together.
    pub evaluations: u64,
    /// From the common start to the end of the last call.
    pub seconds: f64,
    /// Time the threads really ran, added up, where the system tells: on a busy machine the steadier measure.
    pub cpu_seconds: Option<f64>,
}

impl BenchResult {
    /// Positions a second.
    pub fn per_second(&self) -> f64 {
        self.evaluations as f64 / self.seconds
    }

    /// Positions per second of one undisturbed core.
    pub fn per_cpu_second(&self) -> Option<f64> {
        Some(self.evaluations as f64 / self.cpu_seconds?)
    }
}

/// Sparse random planes of zeros and ones, the same for the same seed.
pub fn random_planes(len: usize, density: f64, seed: u64) -> Vec<f32> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..len)
        .map(|_| f32::from(u8::from(rng.random_bool(density))))
        .collect()
}

/// Calls `evaluator` from several threads for a while.
pub fn measure(
    evaluator: &dyn Evaluator,
    options: BenchOptions,
) -> Result<BenchResult, EvaluateError> {
    let shape = evaluator.shape();
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(options.threads + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.threads)
            .map(|thread| {
                let (stop, ready) = (&stop, &ready);
                scope.spawn(move || {
                    let planes = random_planes(
                        options.batch * shape.input_len(),
                        options.density,
                        thread as u64,
                    );
                    let mut outputs = vec![0.0; options.batch * shape.output_len()];
                    // Once before the clock starts: page faults and the pool's memory are not what is measured.
                    let warm = evaluator.evaluate(&planes, &mut outputs);
                    ready.wait();
                    warm?;
                    let cpu_start = thread_cpu_seconds();
                    let mut calls = 0;
                    while !stop.load(Ordering::Relaxed) {
                        evaluator.evaluate(&planes, &mut outputs)?;
                        calls += 1;
                    }
                    let cpu = thread_cpu_seconds()
                        .zip(cpu_start)
                        .map(|(end, start)| end - start);
                    Ok((calls * options.batch as u64, Instant::now(), cpu))
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        std::thread::sleep(options.duration);
        stop.store(true, Ordering::Relaxed);
        let (mut evaluations, mut end, mut cpu_seconds) = (0, start, Some(0.0));
        for worker in workers {
            let (count, at, cpu) = worker.join().expect("an evaluator does not panic")?;
            evaluations += count;
            end = end.max(at);
            cpu_seconds = cpu_seconds.zip(cpu).map(|(sum, cpu): (f64, f64)| sum + cpu);
        }
        Ok(BenchResult {
            evaluations,
            seconds: (end - start).as_secs_f64(),
            cpu_seconds,
        })
    })
}

/// What [`alternate`] has measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Calls of each of the two.
    pub calls: usize,
    /// The median time of a call of the first and of the second.
    pub seconds: [f64; 2],
}

impl Comparison {
    /// How many times as long the first takes.
    pub fn ratio(&self) -> f64 {
        self.seconds[0] / self.seconds[1]
    }
}

/// Calls two evaluators in turn from one thread for a while: whatever slows the processor down meets both.
pub fn alternate(
    evaluators: [&dyn Evaluator; 2],
    options: BenchOptions,
) -> Result<Comparison, EvaluateError> {
    let mut sides = evaluators.map(|evaluator| {
        let shape = evaluator.shape();
        let planes = random_planes(options.batch * shape.input_len(), options.density, 0);
        (planes, vec![0.0; options.batch * shape.output_len()])
    });
    let mut times = [Vec::new(), Vec::new()];
    let start = Instant::now();
    while start.elapsed() < options.duration || times[1].is_empty() {
        for ((evaluator, (planes, outputs)), times) in
            evaluators.into_iter().zip(&mut sides).zip(&mut times)
        {
            // Once for the caches, which the other has filled.
            evaluator.evaluate(planes, outputs)?;
            let start = Instant::now();
            evaluator.evaluate(planes, outputs)?;
            times.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(Comparison {
        calls: times[1].len(),
        seconds: times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        }),
    })
}

const PLANS_DO_NOT_FAIL: &str = "a plan for the processor evaluates whatever has the right length";

/// Calls a network on every instruction set of this processor in turn, from one thread. Returns positions a second by
/// the fastest call of each, from the slowest set to the fastest.
pub fn instructions(
    network: &Network,
    options: BenchOptions,
) -> Result<Vec<(Isa, f64)>, OpenError> {
    let plans = Isa::available()
        .into_iter()
        .map(|isa| {
            let options = PlanOptions {
                isa,
                ..PlanOptions::default()
            };
            Plan::with_options(network, options)
        })
        .collect::<Result<Vec<Plan>, OpenError>>()?;
    let shape = plans[0].shape();
    let inputs = random_planes(options.batch * shape.input_len(), options.density, 0);
    let mut outputs = vec![0.0; options.batch * shape.output_len()];
    let mut fastest = vec![f64::INFINITY; plans.len()];
    let start = Instant::now();
    while start.elapsed() < options.duration || fastest[0].is_infinite() {
        for (plan, fastest) in plans.iter().zip(&mut fastest) {
            // Once for the caches, which another one has filled.
            let mut evaluate = || {
                plan.evaluate(&inputs, &mut outputs)
                    .expect(PLANS_DO_NOT_FAIL)
            };
            evaluate();
            let start = Instant::now();
            evaluate();
            *fastest = fastest.min(start.elapsed().as_secs_f64());
        }
    }
    let sets = plans.iter().map(Plan::isa).zip(fastest);
    Ok(sets
        .map(|(isa, seconds)| (isa, options.batch as f64 / seconds))
        .collect())
}

/// How long the calling thread has been running on a processor; Linux keeps the count in nanoseconds.
fn thread_cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Floating-point operations of the 3x3 convolutions for one position: done directly, and by the fast backend.
pub fn convolution_flops(network: &Network) -> (f64, f64) {
    let board = network.input;
    let Some(tiling) = Tiling::new(board.height, board.width) else {
        return (0.0, 0.0);
    };
    let mut pairs = 0;
    network.for_each_layer(&mut |_, layer| {
        if let Layer::Conv(conv) = layer
            && conv.kernel == 3
        {
            let groups = conv.groups.iter();
            pairs += groups
                .map(|group| group.inputs * group.outputs)
                .sum::<usize>();
        }
    });
    let flops = 2.0 * pairs as f64;
    let direct = flops * (9 * board.area()) as f64;
    (direct, flops * tiling.multiplications() as f64)
}

/// A random dense network of the size that judges the safety of groups: 13 planes of 11x11, 256 units, one residual
/// block, one chance.
pub fn safety_network(seed: u64) -> Network {
    const WIDTH: usize = 256;
    let input = PlaneShape {
        planes: 13,
        height: 11,
        width: 11,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut dense = |inputs: usize, outputs: usize, activation: Activation| {
        let mut layer = Dense::new(inputs, outputs, activation);
        let size = (3.0 / inputs as f32).sqrt();
        layer
            .weights
            .iter_mut()
            .for_each(|weight| *weight = rng.random_range(-size..size));
        Layer::Dense(layer)
    };
    let first = dense(input.len(), WIDTH, Activation::Relu);
    let body = vec![
        dense(WIDTH, WIDTH, Activation::Relu),
        dense(WIDTH, WIDTH, Activation::Identity),
    ];
    let last = dense(WIDTH, 1, Activation::Identity);
    Network {
        input,
        globals: 0,
        trunk: vec![
            first,
            Layer::Residual {
                body,
                activation: Activation::Relu,
            },
        ],
        heads: vec![Head {
            layers: vec![last],
            outputs: vec![Output {
                name: "safe".into(),
                len: 1,
                reading: Reading::Sigmoid,
            }],
        }],
        perspective: Perspective::SideToMove,
    }
}
