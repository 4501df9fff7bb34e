//! Playouts a second of the tree alone, and with evaluators of known cost.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use search::{
    Evaluate, EvaluateError, Evaluation, Game, Search, SearchRng, Settings, Side, Task, Turn,
};

const PLAYOUTS: u64 = 4000;

/// As wide as Dr. Mario: forty placements, nothing else.
const WIDTH: u16 = 40;

/// An endless game that costs nothing to play.
#[derive(Clone, Default)]
struct Endless {
    plies: u32,
    hash: u64,
}

impl Game for Endless {
    type Move = u16;
    type Outlook = ();

    fn turn(&self) -> Turn {
        match self.plies % 2 {
            0 => Turn::Player(Side::First),
            _ => Turn::Player(Side::Second),
        }
    }

    fn moves(&self, moves: &mut Vec<u16>) {
        moves.extend(0..WIDTH);
    }

    fn play(&mut self, mv: u16) {
        self.plies += 1;
        self.hash = (self.hash ^ u64::from(mv)).wrapping_mul(0x2545_F491_4F6C_DD1D);
        self.hash ^= self.hash >> 29;
    }

    fn path_from(&self, earlier: &Self) -> Option<Vec<u16>> {
        (self.hash == earlier.hash && self.plies == earlier.plies).then(Vec::new)
    }
}

/// What an evaluation costs.
#[derive(Clone, Copy)]
enum Cost {
    /// Nothing: what is measured is the tree.
    Nothing,
    /// A core for so long: a small network.
    Core(Duration),
    /// So long, but no core, as on another device: what is measured is
    /// whether evaluations overlap, however busy the machine is.
    Wait(Duration),
}

/// Values and priors come from a hash.
struct Costing(Cost);

impl Evaluate<Endless> for Costing {
    fn evaluate(
        &self,
        leaves: &[Endless],
        _rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        let start = Instant::now();
        for leaf in leaves {
            let unit =
                |salt: u64| ((leaf.hash ^ salt).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 40) as f32;
            evaluations.push(Evaluation {
                value: Some(f64::from(unit(0xABCD)) / f64::from(1 << 24)),
                priors: (0..WIDTH).map(|mv| (mv, unit(u64::from(mv)))).collect(),
                outlook: (),
            });
        }
        let leaves = leaves.len() as u32;
        match self.0 {
            Cost::Nothing => {}
            Cost::Wait(each) => std::thread::sleep(each * leaves),
            Cost::Core(each) => {
                while start.elapsed() < each * leaves {
                    std::hint::spin_loop();
                }
            }
        }
        Ok(())
    }
}

fn playouts(criterion: &mut Criterion) {
    for (name, cost, playouts) in [
        ("no cost", Cost::Nothing, PLAYOUTS),
        (
            "20 us of a core",
            Cost::Core(Duration::from_micros(20)),
            PLAYOUTS,
        ),
        (
            "1 ms elsewhere",
            Cost::Wait(Duration::from_millis(1)),
            PLAYOUTS / 40,
        ),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(playouts));
        group.sample_size(10);
        group.warm_up_time(Duration::from_secs(1));
        group.measurement_time(Duration::from_secs(3));
        for (threads, batch) in [(1, 1), (2, 1), (1, 8), (2, 8)] {
            let settings = Settings {
                threads,
                batch,
                ..Settings::default()
            };
            let evaluator = Costing(cost);
            let label = format!("{threads} threads, batches of {batch}");
            group.bench_function(label, |bencher| {
                bencher.iter(|| {
                    let search = Search::new(1);
                    let task = Task::playouts(playouts);
                    black_box(
                        search
                            .run(&Endless::default(), &evaluator, &settings, &task)
                            .unwrap(),
                    )
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, playouts);
criterion_main!(benches);
