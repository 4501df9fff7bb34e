//! Burn's automatic differentiation and our layers say the same of every network: losses, gradients, training.

use std::path::Path;

use super::*;
use crate::go_task::{self, GoTask};
use crate::history::Part;
use crate::lock::LockedFolder;
use crate::mario_task::model::MarioDesign;
use crate::mario_task::{self, MarioTask};
use crate::model::Model;
use crate::optimiser::Rule;
use crate::safety_task::model::SafetyDesign;
use crate::safety_task::{self, SafetyTask};
use crate::trainer::{self, Outcome, Report, Task};

/// Largest difference of two losses, as a share of the loss.
const LOSS_TOLERANCE: f64 = 1e-5;
/// Largest difference of two gradients, as a share of the largest number of the tensor.
const GRADIENT_TOLERANCE: f32 = 2e-3;
/// Distance of two trained models, as a share of the way they went.
const WAY_TOLERANCE: f64 = 1e-3;
/// Largest difference of two running statistics, as a share of the largest number of the tensor.
const STATISTICS_TOLERANCE: f32 = 1e-3;
/// A gradient that ought to be zero is no larger than this.
const NOTHING: f32 = 1e-5;
/// Samples of a batch, and steps of a training.
const SAMPLES: usize = 8;
const STEPS: u64 = 4;
const RATE: f32 = 0.01;

/// A way to make the same training again and again, and how it moves.
struct Case {
    name: &'static str,
    make: Box<dyn Fn() -> Box<dyn Task>>,
    rule: Rule,
    clip: Option<f32>,
}

#[test]
fn go_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&[go()]);
}

#[test]
fn mario_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&mario());
}

#[test]
fn safety_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&safety());
}

fn agree_on_processor(cases: &[Case]) {
    for case in cases {
        agree("processor", case, Box::new(BurnEngine::on_processor()));
    }
}

/// The same on a graphics adapter. Who builds with the feature asks for one, so that none is a failure.
#[cfg(feature = "gpu")]
mod on_the_adapter {
    use super::*;

    #[test]
    fn go_agrees_in_losses_gradients_and_a_few_steps() {
        agree_there(&[go()]);
    }

    #[test]
    fn mario_agrees_in_losses_gradients_and_a_few_steps() {
        agree_there(&mario());
    }

    #[test]
    fn safety_agrees_in_losses_gradients_and_a_few_steps() {
        agree_there(&safety());
    }

    fn agree_there(cases: &[Case]) {
        let name = Device::Gpu.name().unwrap_or_else(|error| panic!("{error}"));
        for case in cases {
            agree(&name, case, Device::Gpu.engine().unwrap().unwrap());
        }
    }
}

fn go() -> Case {
    let games = go_task::tests::folder_of_games(9, 6);
    let make = move || Box::new(GoTask::new(go_settings(games.path())).unwrap()) as Box<dyn Task>;
    Case {
        name: "go",
        make: Box::new(make),
        rule: Rule::NESTEROV,
        clip: None,
    }
}

fn go_settings(games: &Path) -> go_task::GoSettings {
    go_task::tests::settings(9, 2, 8, games)
}

fn mario() -> [Case; 2] {
    let classical = Rule::Momentum {
        momentum: 0.9,
        nesterov: false,
    };
    [
        ("mario, original", MarioDesign::Original, classical),
        ("mario, ours", MarioDesign::Ours, Rule::NESTEROV),
    ]
    .map(|(name, design, rule)| {
        let examples = mario_task::tests::folder_of_examples(60);
        let make = move || {
            let settings = mario_task::tests::settings(design, examples.path());
            Box::new(MarioTask::new(settings).unwrap()) as Box<dyn Task>
        };
        Case {
            name,
            make: Box::new(make),
            rule,
            clip: Some(0.5),
        }
    })
}

fn safety() -> [Case; 3] {
    // With the usual epsilon, Adam would make whole steps of the rounding errors of gradients that are zero.
    let adam = Rule::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-3,
    };
    [
        ("safety, pooled", SafetyDesign::Pooled, 5),
        ("safety, dense", SafetyDesign::Dense, 13),
        ("safety, ours", SafetyDesign::Ours, 14),
    ]
    .map(|(name, design, planes)| {
        let folder = tempfile::tempdir().unwrap();
        let path = safety_task::tests::file(folder.path(), planes, 60);
        let make = move || {
            let _kept = &folder;
            let settings = safety_task::tests::settings(design, &path);
            Box::new(SafetyTask::new(settings).unwrap()) as Box<dyn Task>
        };
        Case {
            name,
            make: Box::new(make),
            rule: adam,
            clip: None,
        }
    })
}

fn values(model: &mut Model) -> Vec<f32> {
    let params = model.params_mut();
    params
        .into_iter()
        .flat_map(|param| param.values.clone())
        .collect()
}

fn distance(one: &[f32], other: &[f32]) -> f64 {
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
    there.model().move_to(engine, &mut their_optimiser);
    let (mut loss, mut gradient) = (0.0_f64, 0.0_f32);
    for step in 0..STEPS {
        let run = |task: &mut dyn Task| {
            task.load(Part::Train, step, SAMPLES).unwrap();
            let tallies = task.forward(Mode::Train { seed: 7 + step });
            task.model().check_engine().unwrap();
            task.backward();
            tallies[0].mean().unwrap()
        };
        let (mine, theirs) = (run(&mut *here), run(&mut *there));
        // Later steps start from weights that differ in their last digits.
        if step == 0 {
            loss = assert_same_loss(&name, mine, theirs);
            there.model().fetch_gradients().unwrap();
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
        task.load(Part::Train, STEPS, SAMPLES).unwrap();
        task.forward(Mode::Evaluate)[0].mean().unwrap()
    };
    let by_engine = judge(&mut *there);
    there.model().fetch(&mut their_optimiser).unwrap();
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

fn train(
    task: &mut GoTask,
    settings: &go_task::GoSettings,
    folder: &Path,
    on_engine: bool,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
) -> Outcome {
    let engine = || Box::new(BurnEngine::on_processor()) as Box<dyn Engine>;
    let folder = LockedFolder::take(folder).unwrap();
    let engine = on_engine.then(engine);
    trainer::train_in(task, &settings.training, &folder, engine, observe).unwrap()
}

#[test]
fn a_training_in_an_engine_is_resumed_averaged_and_written_as_any_other() {
    let games = go_task::tests::folder_of_games(9, 6);
    let settings = go_settings(games.path());
    let run = |folder: &Path, on_engine: bool, until: u64| {
        let mut task = GoTask::new(settings.clone()).unwrap();
        let mut observe = |report: &Report<'_>| report.step < until;
        let outcome = train(&mut task, &settings, folder, on_engine, &mut observe);
        (outcome, values(task.model()))
    };
    let [straight, parts, mixed, layers] = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let (whole, weights) = run(straight.path(), true, u64::MAX);

    run(parts.path(), true, 4);
    let (resumed, again) = run(parts.path(), true, u64::MAX);
    assert_eq!(resumed.resumed_at, 4);
    assert_eq!(resumed.history, whole.history);
    assert_eq!(again, weights);

    // A checkpoint does not say where it was made.
    run(mixed.path(), false, 4);
    let (_, half_and_half) = run(mixed.path(), true, u64::MAX);
    let (_, by_layers) = run(layers.path(), false, u64::MAX);
    let start = values(GoTask::new(settings.clone()).unwrap().model());
    for theirs in [&weights, &half_and_half] {
        let apart = distance(&by_layers, theirs) / distance(&by_layers, &start);
        assert!(apart <= WAY_TOLERANCE, "{apart}");
    }

    // What was written is what was trained, statistics included.
    let written = net::leela::LeelaNetwork::load(&whole.averaged.unwrap()).unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    task.start_from(&written).unwrap();
    let loaded = values(task.model());
    let length = distance(&weights, &vec![0.0; weights.len()]);
    assert!(distance(&loaded, &weights) <= 1e-5 * length);
}
