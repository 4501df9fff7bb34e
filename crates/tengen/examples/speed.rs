//! How many samples a second a training step takes on, for the three kinds of network, on random data.
//!
//! `cargo run --release -p tengen --example speed -- go 6 64 64 2 10`: kind (go, mario, dense, safety), blocks, filters, batch,
//! threads, steps; then `gpu` for the graphics card, in a build with that feature. Prints wall-clock speed and, on Linux,
//! speed by processor time, which other programs disturb less.

use std::time::Instant;

use learn::{
    Batch, Mode, Model, Shape,
    device::Device,
    loss::{Squash, cross_entropy, squared},
    optimiser::{Optimiser, Rule},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, otherwise: usize| {
        arguments
            .get(index)
            .and_then(|word| word.parse().ok())
            .unwrap_or(otherwise)
    };
    let kind = arguments.first().map_or("go", String::as_str);
    let (blocks, filters, batch) = (number(1, 6), number(2, 64), number(3, 64));
    let (threads, steps) = (number(4, 2), number(5, 10));
    let mut model = build(kind, blocks, filters, threads);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut input = Batch::zeros(model.input(), batch);
    for index in 0..batch {
        let plain: Vec<f32> = (0..input.shape.len())
            .map(|_| f32::from(u8::from(random.random_bool(0.3))))
            .collect();
        input.set_plain(index, &plain);
    }
    let mut optimiser = Optimiser::new(
        if ["dense", "safety"].contains(&kind) {
            Rule::ADAM
        } else {
            Rule::NESTEROV
        },
        1e-4,
        None,
    );
    if arguments.last().is_some_and(|word| word == "gpu") {
        match Device::Gpu.engine() {
            Ok(Some(engine)) => model.move_to(engine, &mut optimiser),
            Ok(None) => {}
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(2);
            }
        }
    }
    step(&mut model, &input, &mut optimiser);
    let (began, busy) = (Instant::now(), processor_seconds());
    for _ in 0..steps {
        step(&mut model, &input, &mut optimiser);
    }
    let samples = (steps * batch) as f64;
    print!(
        "{kind} {blocks}x{filters} batch {batch} threads {threads}: {:.1} samples/s",
        samples / began.elapsed().as_secs_f64()
    );
    match processor_seconds().zip(busy) {
        Some((now, before)) => println!(
            ", {:.1} samples per processor second",
            samples / (now - before)
        ),
        None => println!(),
    }
}

fn build(kind: &str, blocks: usize, filters: usize, threads: usize) -> Model {
    match kind {
        "dense" => safety_training::build(safety_training::SafetyShape::DENSE, 1, threads),
        "safety" => {
            let shape = safety_training::SafetyShape {
                planes: tsumego::TENGEN_PLANES.len(),
                blocks,
                filters,
                ..Default::default()
            };
            safety_training::build(shape, 1, threads)
        }
        "mario" => {
            let design = mario_training::MarioDesign::Original;
            mario_training::build(
                mario_training::MarioShape {
                    design,
                    blocks,
                    filters,
                },
                1,
                threads,
            )
        }
        _ => {
            let shape = go_training::GoShape {
                size: 19,
                blocks,
                filters,
            };
            go_training::build(shape, false, 1, threads)
        }
    }
}

fn step(model: &mut Model, input: &Batch, optimiser: &mut Optimiser) {
    model.forward(input, Mode::Train { seed: 1 });
    let samples = input.samples();
    let heads = model.heads();
    for head in 0..heads {
        let (output, gradient) = model.output_and_gradient(head);
        if output.shape.len() == 1 {
            squared(
                output,
                Squash::Tanh,
                &vec![1.0; samples],
                0.0,
                1.0,
                gradient,
            );
        } else {
            let mut target = Batch::zeros(Shape::Row(output.shape.len()), samples);
            let choices = output.shape.len();
            (0..samples).for_each(|index| target.sample_mut(index)[index % choices] = 1.0);
            cross_entropy(output, &target, 1.0, gradient);
        }
    }
    model.backward(input);
    model.step(optimiser, 1e-3);
}

/// Processor time of this process, all threads.
fn processor_seconds() -> Option<f64> {
    /// Clock ticks a second that Linux reports to programs.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}
