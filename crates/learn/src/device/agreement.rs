//! A check for tests: burn's automatic differentiation and our layers agree on a network's losses, gradients and training.

use super::*;
use crate::history::Part;
use crate::optimiser::Rule;
use crate::trainable::Trainable;
use crate::trainer::Task;

/// Largest difference of two losses, as a share of the loss.
const LOSS_TOLERANCE: f64 = 1e-5;
/// Largest difference of two gradients, as a share of the largest number of the tensor.
const GRADIENT_TOLERANCE: f32 = 2e-3;
/// Distance of two trained models, as a share of the way they went.
pub const WAY_TOLERANCE: f64 = 1e-3;
/// Largest difference of two running statistics, as a share of the largest number of the tensor.
const STATISTICS_TOLERANCE: f32 = 1e-3;
/// A gradient that ought to be zero is no larger than this.
const NOTHING: f32 = 1e-5;
/// Samples of a batch, and steps of a training.
const SAMPLES: usize = 8;
const STEPS: u64 = 4;
const RATE: f32 = 0.01;

/// A way to make the same training again and again, and how it moves.
pub struct Case {
    /// The name in messages.
    pub name: &'static str,
    /// Makes the training; two calls make the same one.
    pub make: Box<dyn Fn() -> Box<dyn Task>>,
    /// How gradients move weights.
    pub rule: Rule,
    /// Largest length of the gradient.
    pub clip: Option<f32>,
}

/// Trains every case with our layers and with burn on the processor.
///
/// # Panics
/// If the two differ.
pub fn agree_on_processor(cases: &[Case]) {
    for case in cases {
        agree("processor", case, Box::new(BurnEngine::on_processor()));
    }
}

/// The same on a graphics adapter. Who builds with the feature asks for one, so that none is a failure.
///
/// # Panics
/// If the two differ, or there is no adapter.
#[cfg(feature = "gpu")]
pub fn agree_on_adapter(cases: &[Case]) {
    let name = Device::Gpu.name().unwrap_or_else(|error| panic!("{error}"));
    for case in cases {
        let engine = Device::Gpu
            .engine()
            .unwrap_or_else(|error| panic!("{error}"));
        agree(&name, case, engine.unwrap_or_else(|| panic!("no engine")));
    }
}

/// All weights of a model, one after the other.
pub fn values(model: &mut dyn Trainable) -> Vec<f32> {
    let params = model.params_mut();
    params
        .into_iter()
        .flat_map(|param| param.values.clone())
        .collect()
}

/// The Euclidean distance of two lists of weights.
pub fn distance(one: &[f32], other: &[f32]) -> f64 {
    let squares = one.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

/// The largest difference of two tensors, as a share of the largest number of the first.
fn assert_near(what: &str, mine: &[f32], theirs: &[f32], tolerance: f32) -> f32 {
    assert_eq!(mine.len(), theirs.len(), "{what}");
    let largest = mine
        .iter()
        .fold(NOTHING, |most, value| most.max(value.abs()));
    let mut worst = 0.0_f32;
    for (index, (mine, theirs)) in mine.iter().zip(theirs).enumerate() {
        let error = (mine - theirs).abs();
        assert!(
            error <= tolerance * largest + NOTHING,
            "{what} [{index}]: {mine} here, {theirs} by burn"
        );
        // A tensor that ought to be zero has no share worth telling.
        if largest > NOTHING {
            worst = worst.max(error / largest);
        }
    }
    worst
}

fn assert_same_loss(what: &str, mine: f64, theirs: f64) -> f64 {
    let share = (mine - theirs).abs() / mine.abs();
    assert!(share <= LOSS_TOLERANCE, "{what}: {mine} {theirs}");
    share
}

/// Trains twice, with our layers and with an engine; prints the largest differences, as shares.
fn agree(place: &str, case: &Case, engine: Box<dyn Engine>) {
    let name = format!("{} on {place}", case.name);
    let (mut here, mut there) = ((case.make)(), (case.make)());
    let optimiser = Optimiser::new(case.rule, 1e-3, case.clip);
    let (mut my_optimiser, mut their_optimiser) = (optimiser.clone(), optimiser);
    let start = values(here.model());
    assert_eq!(start, values(there.model()));
    there
        .model()
        .move_to(engine, &mut their_optimiser)
        .expect("a model has a plan");
    let (mut loss, mut gradient) = (0.0_f64, 0.0_f32);
    for step in 0..STEPS {
        let run = |task: &mut dyn Task| {
            task.load(Part::Train, step, SAMPLES).expect("a step");
            let tallies = task.forward(Mode::Train { seed: 7 + step });
            task.model().check_engine().expect("a step");
            task.backward();
            tallies[0].mean().expect("a step")
        };
        let (mine, theirs) = (run(&mut *here), run(&mut *there));
        // Later steps start from weights that differ in their last digits.
        if step == 0 {
            loss = assert_same_loss(&name, mine, theirs);
            there.model().fetch_gradients().expect("a step");
            let params = here.model().params_mut();
            for (mine, theirs) in params.iter().zip(there.model().params_mut()) {
                let what = format!("{name}: gradient of {}", mine.name);
                let share =
                    assert_near(&what, &mine.gradient, &theirs.gradient, GRADIENT_TOLERANCE);
                gradient = gradient.max(share);
            }
        }
        here.model().step(&mut my_optimiser, RATE);
        there.model().step(&mut their_optimiser, RATE);
    }

    // The same judgement in the engine as here, with the engine's numbers.
    let judge = |task: &mut dyn Task| {
        task.load(Part::Train, STEPS, SAMPLES).expect("a step");
        task.forward(Mode::Evaluate)[0].mean().expect("a step")
    };
    let by_engine = judge(&mut *there);
    there.model().fetch(&mut their_optimiser).expect("a step");
    there.model().leave_engine();
    let by_layers = judge(&mut *there);
    loss = loss.max(assert_same_loss(&name, by_layers, by_engine));

    let (mine, theirs) = (values(here.model()), values(there.model()));
    let way = distance(&mine, &start);
    let apart = distance(&mine, &theirs);
    assert!(
        way > 0.0 && apart <= WAY_TOLERANCE * way,
        "{name}: {apart} of {way}"
    );
    assert_eq!(my_optimiser.steps, their_optimiser.steps);
    let mut statistic = 0.0_f32;
    let statistics = here.model().statistics_mut();
    for (mine, theirs) in statistics.iter().zip(there.model().statistics_mut()) {
        let what = format!("{name}: statistics");
        statistic = statistic.max(assert_near(&what, mine, theirs, STATISTICS_TOLERANCE));
    }
    println!(
        "{name}: losses within {loss:.0e}, gradients {gradient:.0e}, weights {:.0e} of their way, statistics {statistic:.0e}",
        apart / way
    );
}
