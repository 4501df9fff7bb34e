//! How fast a 3x3 convolution trains, on every instruction set of this processor in turn:
//! `cargo run --release -p net --example training -- FILTERS SIZE SAMPLES [SECONDS]`.

use std::time::Instant;

use net::{
    Isa,
    training::{
        conv::{self, Board, ConvWeights, Scratch, Source, Sums},
        gradient::{self, OutputGradient, Sink},
    },
};

struct Side {
    isa: Isa,
    weights: ConvWeights,
    best: [f64; 4],
}

fn main() {
    let arguments: Vec<f64> = std::env::args()
        .skip(1)
        .map(|word| {
            word.parse()
                .expect("numbers: FILTERS SIZE SAMPLES [SECONDS]")
        })
        .collect();
    let [filters, size, samples] = [0, 1, 2].map(|index| arguments[index] as usize);
    let seconds = arguments.get(3).copied().unwrap_or(3.0);
    let board = Board::new(size, size);
    let length = samples * board.sample(filters);
    let x: Vec<f32> = (0..length).map(|at| (at % 7) as f32 - 3.0).collect();
    let plain: Vec<f32> = (0..filters * filters * 9)
        .map(|at| (at % 5) as f32 - 2.0)
        .collect();
    let mut z = vec![0.0; length];
    let mut dx = vec![0.0; length];
    let mut scratch = Scratch::default();
    let mut sides: Vec<Side> = Isa::available()
        .into_iter()
        .map(|isa| Side {
            isa,
            weights: ConvWeights::new(board, filters, filters).on(isa),
            best: [f64::INFINITY; 4],
        })
        .collect();
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        for side in &mut sides {
            let weights = &mut side.weights;
            let mut gradient = vec![0.0; weights.gradient_length()];
            let mut sums = Sums::new(filters);
            let mut dw = vec![0.0; plain.len()];
            let times = [
                time(|| weights.set(&plain)),
                time(|| {
                    let source = Source::Plain(&x);
                    conv::forward(board, weights, source, &mut z, &mut sums, &mut scratch);
                }),
                time(|| {
                    gradient::backward(
                        board,
                        weights,
                        OutputGradient::Plain(&z),
                        Source::Plain(&x),
                        Sink::Plain(&mut dx),
                        &mut gradient,
                        &mut scratch,
                    );
                }),
                time(|| weights.add_gradient(&[gradient.clone()], 0..filters, &mut dw)),
            ];
            for (best, time) in side.best.iter_mut().zip(times) {
                *best = best.min(time);
            }
        }
    }
    // Two operations for each of nine taps, filters and cells.
    let direct = 2.0 * 9.0 * (filters * filters * board.points() * samples) as f64;
    for Side { isa, best, .. } in &sides {
        let total: f64 = best.iter().sum();
        println!(
            "{isa:<9} weights {:.2} ms, forward {:.2} ms ({:.0} GFLOP/s direct), backward {:.2} ms ({:.0}), reduction {:.2} ms: {:.1} samples/s",
            best[0] * 1e3,
            best[1] * 1e3,
            direct / best[1] / 1e9,
            best[2] * 1e3,
            2.0 * direct / best[2] / 1e9,
            best[3] * 1e3,
            samples as f64 / total,
        );
    }
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
