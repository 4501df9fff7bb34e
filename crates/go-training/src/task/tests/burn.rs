//! Burn agrees with our layers about Go, and can train it.

use std::sync::atomic::AtomicBool;

use base::LockedFolder;
use learn::device::agreement::{Case, WAY_TOLERANCE, agree_on_processor, distance, values};
use learn::device::{BurnEngine, Engine};
use learn::optimiser::Rule;
use learn::trainer::Outcome;

use super::*;

#[test]
fn go_agrees_in_losses_gradients_and_a_few_steps() {
    agree_on_processor(&[go()]);
    #[cfg(feature = "gpu")]
    learn::device::agreement::agree_on_adapter(&[go()]);
}

fn go() -> Case {
    let games = folder_of_games(9, 6);
    let make = move || Box::new(GoTask::new(go_settings(games.path())).unwrap()) as Box<dyn Task>;
    Case {
        name: "go",
        make: Box::new(make),
        rule: Rule::NESTEROV,
        clip: None,
    }
}

fn go_settings(games: &Path) -> GoSettings {
    settings(9, 2, 8, games)
}

fn train(
    task: &mut GoTask,
    settings: &GoSettings,
    folder: &Path,
    on_engine: bool,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
) -> Outcome {
    let engine = || Box::new(BurnEngine::on_processor()) as Box<dyn Engine>;
    let folder = LockedFolder::take(folder).unwrap();
    let engine = on_engine.then(engine);
    trainer::train_in(
        task,
        &settings.training,
        &folder,
        engine,
        &AtomicBool::new(false),
        observe,
    )
    .unwrap()
}

#[test]
fn a_training_in_an_engine_is_resumed_averaged_and_written_as_any_other() {
    let games = folder_of_games(9, 6);
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
    let written = LeelaNetwork::load(&whole.averaged.unwrap()).unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    task.start_from(&written).unwrap();
    let loaded = values(task.model());
    let length = distance(&weights, &vec![0.0; weights.len()]);
    assert!(distance(&loaded, &weights) <= 1e-5 * length);
}
