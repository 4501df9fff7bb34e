use std::{fs, path::Path};

use go::{BoardSize, Symmetry};
use go_player::{Assumptions, Encoder, LoadedNetwork, Position, TengenEncoder, TengenFeatures};
use learn::{
    AverageSettings, Mode, Part,
    size_free::{Planes, SizeFree, SizeFreeShape},
    trainer::{self, Task, train},
};
use net::{Backend, training::LANES};

use super::{
    StudentData, StudentSettings, StudentShape, StudentTask, examine,
    sample::{Sample, groups},
    samples::{each_position, is_kept_out},
};
use crate::label::{LabelFile, tests::random_game};

fn labels(folder: &Path, sides: &[usize], games: u64) -> std::path::PathBuf {
    let path = folder.join("labels.log");
    let mut file = LabelFile::open(&path).unwrap();
    for number in 0..games {
        let side = sides[number as usize % sides.len()];
        file.append(&random_game(side, number)).unwrap();
    }
    path
}

fn settings(labels: std::path::PathBuf) -> StudentSettings {
    let mut settings = StudentSettings {
        network: StudentShape {
            blocks: 2,
            channels: 16,
        },
        data: StudentData {
            labels: vec![labels],
            shares: Vec::new(),
        },
        ..StudentSettings::default()
    };
    settings.training.steps = 12;
    settings.training.batch = 8;
    settings.training.threads = 1;
    settings.training.test_every = 5;
    settings.training.test_samples = 24;
    settings.training.schedule.warm_up = 3;
    settings.training.average = AverageSettings {
        refresh: 3,
        ..settings.training.average
    };
    settings
}

/// A tiny network laid out for a board, as the encoder wants it.
fn encoder(side: usize) -> TengenEncoder {
    let shape = SizeFreeShape {
        planes: TengenFeatures::PLANES,
        globals: TengenFeatures::GLOBALS,
        blocks: 1,
        channels: 8,
    };
    let network = SizeFree::new(shape, 1, 1).export(side);
    let evaluator = Backend::Cpu.open(&network).unwrap();
    TengenEncoder::new(evaluator.shape()).unwrap()
}

#[test]
fn a_sample_shows_what_the_encoder_shows_on_every_board_in_every_orientation() {
    for side in 2..=25 {
        let encoder = encoder(side);
        let game = random_game(side, 100 + side as u64);
        let area = side * side;
        each_position(&game, |position, label| {
            let sample = Sample::new(position, label);
            let shown = Position::new(position, Assumptions::default());
            let mut planes = Planes::default();
            planes.fit(TengenFeatures::PLANES, &groups(&[&sample]));
            let mut row = vec![0.0; TengenFeatures::PLANES * area + TengenFeatures::GLOBALS];
            for symmetry in Symmetry::ALL {
                sample.write_planes(symmetry, 0, 0, &mut planes);
                encoder.write(&shown, symmetry.inverse(), &mut row);
                for plane in 0..TengenFeatures::PLANES {
                    for cell in 0..area {
                        let block = plane / LANES * area * LANES;
                        let mine = planes.groups[0][block + cell * LANES + plane % LANES];
                        assert_eq!(mine, row[plane * area + cell], "{side} {plane} {cell}");
                    }
                }
                assert_eq!(sample.globals[..], row[TengenFeatures::PLANES * area..]);
                let mut policy = Vec::new();
                sample.write_policy(symmetry, &mut policy);
                assert_eq!(policy[area], label.policy[area]);
                let turned = (0..area).all(|cell| {
                    policy[symmetry.index(position.size(), cell)] == label.policy[cell]
                });
                assert!(turned);
            }
        });
    }
}

#[test]
fn positions_of_one_record_are_kept_out_together() {
    let first = crate::label::FIRST_NUMBER;
    let mut kept = 0;
    for game in 0..4000 {
        let parts: Vec<bool> = (0..3)
            .map(|at| is_kept_out(first + 3 * game + at))
            .collect();
        assert!(parts.iter().all(|&part| part == parts[0]));
        kept += usize::from(parts[0]);
    }
    assert!((50..500).contains(&kept), "{kept} of 4000");
}

#[test]
fn a_training_that_was_stopped_ends_like_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(labels(folder.path(), &[5, 7, 9], 40));
    let run = |name: &str, until: u64| {
        let mut task = StudentTask::new(settings.clone()).unwrap();
        let at = folder.path().join(name);
        let mut observe = |report: &trainer::Report<'_>| report.step < until;
        let mut training = settings.training.clone();
        training.report_every = 1;
        train(&mut task, &training, &at, &mut observe).unwrap()
    };
    let straight = run("straight", u64::MAX);
    assert!(!run("parts", 7).is_finished);
    let parts = run("parts", u64::MAX);
    assert_eq!(parts.resumed_at, 7);
    assert_eq!(parts.history.to_csv(), straight.history.to_csv());
    let bytes = |path: std::path::PathBuf| fs::read(path).unwrap();
    assert_eq!(bytes(parts.network), bytes(straight.network));
    assert_eq!(
        bytes(parts.averaged.unwrap()),
        bytes(straight.averaged.unwrap())
    );
}

#[test]
fn a_student_learns_the_labels_it_sees_and_its_file_is_examined_on_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let few = folder.path().join("few");
    fs::create_dir(&few).unwrap();
    let mut settings = settings(labels(&few, &[5], 3));
    settings.training.steps = 150;
    settings.training.test_every = 150;
    let mut task = StudentTask::new(settings.clone()).unwrap();
    let loss = |task: &mut StudentTask| {
        task.load(Part::Train, 0, 64).unwrap();
        task.forward(Mode::Train { seed: 1 })[0].mean().unwrap()
    };
    let before = loss(&mut task);
    let outcome = train(
        &mut task,
        &settings.training,
        &folder.path().join("run"),
        &mut |_| true,
    )
    .unwrap();
    // What remains is mostly the entropy of the random policies.
    let after = loss(&mut task);
    assert!(after < 0.85 * before, "{before} to {after}");

    let network = LoadedNetwork::load(&outcome.averaged.unwrap()).unwrap();
    let many = labels(folder.path(), &[5, 6], 60);
    let exam = examine(&network, &[many], 20, 1).unwrap();
    for (side, mark) in &exam {
        assert!(BoardSize::new(*side).is_some());
        assert!((1.0..=20.0).contains(&mark.top_1.count));
        assert!(mark.divergence.mean().unwrap() > 0.0);
        assert!(mark.lead.mean().unwrap().is_finite());
    }
    assert!(!exam.is_empty());
}

#[test]
fn training_further_begins_where_the_network_stood() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(labels(folder.path(), &[5, 7], 30));
    let mut first = StudentTask::new(settings.clone()).unwrap();
    let at = folder.path().join("first");
    train(&mut first, &settings.training, &at, &mut |_| true).unwrap();
    let written = first.network();
    let mut other = settings;
    other.training.seed += 1;
    let mut second = StudentTask::new(other).unwrap();
    assert_ne!(second.network(), written);
    second.start_from(&written).unwrap();
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    second
        .network()
        .for_each_number_mut(&mut |number| mine.push(*number));
    written
        .clone()
        .for_each_number_mut(&mut |number| theirs.push(*number));
    assert_eq!(mine.len(), theirs.len());
    for (mine, theirs) in mine.iter().zip(&theirs) {
        assert!(
            (mine - theirs).abs() < 1e-4 * (1.0 + theirs.abs()),
            "{mine} and {theirs}"
        );
    }
}
