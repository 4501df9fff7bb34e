//! Many threads, many networks, changing batches, for as long as one likes: does memory stay flat, do results stay
//! right?

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bench::{random_planes, safety_network};
use crate::evaluator::Evaluator;
use crate::leela::{LeelaNetwork, LeelaShape, LeelaVersion};
use crate::network::Network;
use crate::plan::Plan;
use crate::reference::Reference;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct SoakOptions {
    /// How long.
    pub duration: Duration,
    /// Threads that evaluate.
    pub threads: usize,
    /// Seed of networks and positions.
    pub seed: u64,
}

/// How many evaluations a soak test compared, and the worst differences it met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoakReport {
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions compared with the reference.
    pub checked: u64,
    /// The largest difference of any output from the reference.
    pub largest_error: f64,
    /// Resident bytes once every thread had used every network, where the system tells.
    pub memory_after_warm_up: Option<u64>,
    /// Resident bytes at the end.
    pub memory_at_end: Option<u64>,
}

impl SoakReport {
    /// Bytes that memory has grown by.
    pub fn grown_bytes(&self) -> Option<u64> {
        Some(
            self.memory_at_end?
                .saturating_sub(self.memory_after_warm_up?),
        )
    }
}

const LARGEST_BATCH: usize = 16;
/// One call in so many is compared with the reference.
const CHECK_EVERY: u64 = 500;
/// The share of the run, and the most time, that counts as warming up.
const WARM_UP_SHARE: u32 = 5;
const LONGEST_WARM_UP: Duration = Duration::from_secs(60);
/// Boards of the networks that take turns.
const SIZES: [usize; 7] = [2, 5, 7, 9, 13, 19, 25];

/// The board and the planes of one group of the network that has two.
const GROUPED_SIZE: usize = 11;
const GROUP: usize = 32;

/// Runs for `options.duration`, calling `tick` from this thread every `pause`.
pub fn soak(options: SoakOptions, pause: Duration, tick: impl Fn(Duration)) -> SoakReport {
    let pairs: Vec<(Plan, Reference)> = networks(options.seed)
        .into_iter()
        .map(|network| {
            let plan = Plan::new(&network).expect("the networks of the soak are sound");
            (
                plan,
                Reference::new(network).expect("the networks of the soak are sound"),
            )
        })
        .collect();
    let stop = AtomicBool::new(false);
    let (evaluations, checked) = (AtomicU64::new(0), AtomicU64::new(0));
    let largest_error = Mutex::new(0.0f64);
    let mut memory_after_warm_up = None;
    let warm_up = (options.duration / WARM_UP_SHARE).min(LONGEST_WARM_UP);
    std::thread::scope(|scope| {
        for thread in 0..options.threads {
            let worker = Worker {
                pairs: &pairs,
                evaluations: &evaluations,
                checked: &checked,
                largest_error: &largest_error,
            };
            let (stop, seed) = (&stop, options.seed.wrapping_add(1 + thread as u64));
            scope.spawn(move || worker.work(seed, stop));
        }
        let start = Instant::now();
        while start.elapsed() < options.duration {
            std::thread::sleep(pause.min(options.duration - start.elapsed().min(options.duration)));
            if start.elapsed() >= warm_up && memory_after_warm_up.is_none() {
                memory_after_warm_up = resident_bytes();
            }
            tick(start.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
    });
    let memory_at_end = resident_bytes();
    let worker = Worker {
        pairs: &pairs,
        evaluations: &evaluations,
        checked: &checked,
        largest_error: &largest_error,
    };
    for index in 0..pairs.len() {
        worker.call(
            &mut Xoshiro256PlusPlus::seed_from_u64(options.seed),
            index,
            3,
            true,
        );
    }
    let largest_error = *largest_error.lock().expect("no worker panicked");
    SoakReport {
        evaluations: evaluations.into_inner(),
        checked: checked.into_inner(),
        largest_error,
        memory_after_warm_up,
        memory_at_end,
    }
}

/// Go networks of several boards, one of them in two groups, and a dense one.
fn networks(seed: u64) -> Vec<Network> {
    let mut networks: Vec<Network> = SIZES
        .iter()
        .map(|&size| {
            LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(size, 2, 24), seed)
                .to_network()
        })
        .collect();
    networks.push(two_groups(seed));
    networks.push(safety_network(seed));
    networks
}

/// A network whose tower falls into two halves that know nothing of each other, as a grafted one's does.
fn two_groups(seed: u64) -> Network {
    let shape = LeelaShape::stock(GROUPED_SIZE, 2, 2 * GROUP);
    let mut leela = LeelaNetwork::random(LeelaVersion::V1, shape, seed);
    for conv in leela.blocks.iter_mut().flatten() {
        let kernels = conv.weights.chunks_exact_mut(9).enumerate();
        for (pair, kernel) in kernels {
            let (output, input) = (pair / shape.filters, pair % shape.filters);
            if output / GROUP != input / GROUP {
                kernel.fill(0.0);
            }
        }
    }
    leela.to_network()
}

struct Worker<'a> {
    pairs: &'a [(Plan, Reference)],
    evaluations: &'a AtomicU64,
    checked: &'a AtomicU64,
    largest_error: &'a Mutex<f64>,
}

impl Worker<'_> {
    fn work(&self, seed: u64, stop: &AtomicBool) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut calls = 0u64;
        while !stop.load(Ordering::Relaxed) {
            let index = rng.random_range(0..self.pairs.len());
            let batch = rng.random_range(1..=LARGEST_BATCH);
            calls += 1;
            self.call(&mut rng, index, batch, calls.is_multiple_of(CHECK_EVERY));
        }
    }

    fn call(&self, rng: &mut Xoshiro256PlusPlus, index: usize, batch: usize, check: bool) {
        let (plan, reference) = &self.pairs[index];
        let shape = plan.shape();
        let planes = random_planes(batch * shape.input_len(), 0.15, rng.random());
        let mut rows = vec![0.0; batch * shape.output_len()];
        plan.evaluate(&planes, &mut rows)
            .expect("evaluation on the CPU does not fail");
        self.evaluations.fetch_add(batch as u64, Ordering::Relaxed);
        if !check {
            return;
        }
        let position = rng.random_range(0..batch);
        let expected =
            reference.evaluate_one(&planes[position * shape.input_len()..][..shape.input_len()]);
        let found = &rows[position * shape.output_len()..][..shape.output_len()];
        let errors = found
            .iter()
            .zip(&expected)
            .map(|(&found, expected)| (f64::from(found) - expected).abs());
        // NaN must not pass for small.
        let errors = errors.map(|error| if error.is_nan() { f64::INFINITY } else { error });
        let mut largest = self.largest_error.lock().expect("no worker panicked");
        *largest = errors.fold(*largest, f64::max);
        self.checked.fetch_add(1, Ordering::Relaxed);
    }
}

/// The second field of Linux's `statm`, in pages of 4 KiB.
fn resident_bytes() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Layer;

    #[test]
    fn the_grouped_network_has_two_groups_in_every_block() {
        let network = two_groups(1);
        for layer in &network.trunk[1..] {
            let Layer::Residual { body, .. } = layer else {
                panic!("a tower is made of residuals")
            };
            for layer in body {
                assert!(matches!(layer, Layer::Conv(conv) if conv.groups.len() == 2));
            }
        }
    }

    #[test]
    fn a_short_soak_stays_right() {
        let options = SoakOptions {
            duration: Duration::from_secs(2),
            threads: 3,
            seed: 5,
        };
        let report = soak(options, Duration::from_millis(100), |_| {});
        assert!(report.largest_error < 1e-4, "{report:?}");
        assert!(report.evaluations > 0 && report.checked >= 8, "{report:?}");
    }
}
