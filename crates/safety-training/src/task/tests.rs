//! The safety training: records in, three designs, networks out.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tsumego::tfrecord::{Example, write_record};
use tsumego::{
    FeatureSet, LabelledPosition, Limits, Reach, Recipe, SafetyNet, Side, expand_tree, features,
    generate, grow_tree,
};

use super::*;
use learn::trainer;

#[cfg(feature = "burn")]
mod burn;

fn record(lists: &[(&str, Vec<i64>)]) -> Vec<u8> {
    let lists = lists
        .iter()
        .map(|(name, numbers)| ((*name).to_owned(), numbers.clone()));
    let mut bytes = Vec::new();
    write_record(&mut bytes, &Example::from_iter(lists)).unwrap();
    bytes
}

/// Positions of a 7x7 board with a ring: safe when the target has two stones.
pub(crate) fn file(folder: &Path, planes: usize, count: u64) -> PathBuf {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let side: usize = if planes == 14 { 7 } else { 9 };
    let ring = side - 7;
    let mut bytes = Vec::new();
    for _ in 0..count {
        let safe = random.random_bool(0.5);
        let (x, y) = (
            random.random_range(0..6_usize),
            random.random_range(0..7_usize),
        );
        let stones: Vec<(usize, usize)> = if safe {
            vec![(x, y), (x + 1, y)]
        } else {
            vec![(x, y)]
        };
        let mut values = vec![0; side * side * planes];
        for row in 0..side {
            for column in 0..side {
                values[(row * side + column) * planes + planes - 1] =
                    i64::from(random.random_bool(0.3));
            }
        }
        for &(x, y) in &stones {
            values[((y + ring / 2) * side + x + ring / 2) * planes + 3] = 1;
        }
        let target = stones
            .iter()
            .flat_map(|&(x, y)| [x as i64, y as i64])
            .collect();
        let side = side as i64;
        bytes.extend(record(&[
            ("planes", values),
            ("shape", vec![side, side, planes as i64]),
            ("target", target),
            (
                "label",
                if planes == 13 {
                    vec![i64::from(!safe), i64::from(safe)]
                } else {
                    vec![i64::from(safe)]
                },
            ),
            ("moves", vec![x as i64 + 1, y as i64]),
        ]));
    }
    let path = folder.join(format!("{planes}.tfrecords"));
    fs::write(&path, bytes).unwrap();
    path
}

pub(crate) fn settings(design: SafetyDesign, path: &Path) -> SafetySettings {
    let mut settings = match design {
        SafetyDesign::Ours => SafetySettings {
            network: SafetyShape {
                window: 9,
                blocks: 1,
                filters: 8,
                ..SafetyShape::default()
            },
            ..SafetySettings::default()
        },
        original => SafetySettings::original(original),
    };
    settings.data = SafetyData {
        train: vec![path.to_owned()],
        test: vec![path.to_owned()],
    };
    settings.training.threads = 1;
    settings.training.batch = 32;
    settings.training.steps = 60;
    settings.training.report_every = 10;
    settings.training.test_every = 30;
    settings.training.test_samples = 64;
    settings.training.schedule = Schedule {
        rate: 3e-3,
        warm_up: 0,
        then: Decay::Constant,
    };
    settings
}

#[test]
fn all_three_designs_learn_a_simple_rule_and_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for (design, planes) in [
        (SafetyDesign::Pooled, 5),
        (SafetyDesign::Dense, 13),
        (SafetyDesign::Ours, 14),
    ] {
        let path = file(folder.path(), planes, 400);
        let settings = settings(design, &path);
        let mut task = SafetyTask::new(settings.clone()).unwrap();
        assert_eq!(task.positions(), (400, 400));
        let out = tempfile::tempdir().unwrap();
        let outcome =
            trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
        let accuracy = outcome
            .history
            .curve("accuracy", Part::Test)
            .last()
            .unwrap()
            .1;
        assert!(accuracy > 0.8, "{design:?}: {accuracy}");
        assert!(outcome.network.exists());
        assert!(
            outcome.averaged.as_ref().is_some_and(|file| file.exists()),
            "{design:?}"
        );
        if design != SafetyDesign::Pooled {
            the_network_answers_as_the_model(&mut task, &outcome.network);
        }
    }
}

/// The last network written without averaging has the model's own weights and statistics.
fn the_network_answers_as_the_model(task: &mut SafetyTask, file: &Path) {
    use net::Evaluator;
    let folder = file.parent().unwrap();
    let file = task.write_network(folder, "again").unwrap();
    task.load(Part::Test, 0, 2).unwrap();
    task.forward(Mode::Evaluate);
    let plan = net::Backend::Cpu.open(&net::load(&file).unwrap()).unwrap();
    let shape = plan.shape().clone();
    let planes: Vec<f32> = (0..2).flat_map(|index| task.input.plain(index)).collect();
    let mut rows = vec![0.0; 2 * shape.output_len()];
    plan.evaluate(&planes, &mut rows).unwrap();
    for (index, row) in rows.chunks_exact(shape.output_len()).enumerate() {
        let logits = task.model.output(SAFE_HEAD).sample(index);
        for (chance, logit) in row[shape.output(model::SAFE).unwrap()].iter().zip(logits) {
            assert!((chance - 1.0 / (1.0 + (-logit).exp())).abs() < 1e-4);
        }
    }
}

#[test]
fn symmetries_turn_planes_targets_and_moves_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 14, 30);
    let mut task = SafetyTask::new(settings(SafetyDesign::Ours, &path)).unwrap();
    task.load(Part::Train, 0, 8).unwrap();
    let points = 81;
    for symmetry in 0..SYMMETRIES {
        for at in 0..8 {
            task.write(Part::Train, at, at, symmetry, at);
            let planes = task.input.plain(at);
            let target: Vec<usize> = (0..points)
                .filter(|&cell| planes[3 * points + cell] == 1.0)
                .collect();
            let labelled: Vec<usize> = (0..points)
                .filter(|&cell| !task.safe.sample(at)[cell].is_nan())
                .collect();
            assert_eq!(target, labelled);
            // The best move of the test data is the point right of the target's first stone, a stone of it or beside it.
            let best: Vec<usize> = (0..points)
                .filter(|&cell| task.moves.sample(at)[cell] > 0.0)
                .collect();
            let beside = |cell: usize| {
                target.iter().any(|&stone| {
                    let distance = (stone / 9).abs_diff(cell / 9) + (stone % 9).abs_diff(cell % 9);
                    distance <= 1
                })
            };
            assert!(
                best.iter().all(|&cell| beside(cell)),
                "{symmetry}: {target:?} {best:?}"
            );
        }
    }
}

#[test]
fn damaged_and_foreign_records_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 13, 10);
    let mut bytes = fs::read(&path).unwrap();
    let good = bytes.len();
    bytes.extend(record(&[("shape", vec![3, 3, 13])]));
    bytes.extend(record(&[
        ("planes", vec![1; 117]),
        ("shape", vec![3, 3, 13]),
        ("target", vec![9, 9]),
        ("label", vec![1]),
    ]));
    bytes.extend(&bytes.clone()[..good / 2 + 3]);
    fs::write(&path, bytes).unwrap();
    let mut report = LoadReport::default();
    let examples = example::read_file(&path, &mut report).unwrap();
    assert!(examples.len() >= 14, "{}", examples.len());
    assert_eq!(report.skipped_games(), 3, "{report:?}");
    let error = SafetyTask::new(settings(SafetyDesign::Dense, &folder.path().join("none")))
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("cannot read"), "{error}");
}

/// A few generated problems and the positions around them.
fn positions() -> Vec<LabelledPosition> {
    let recipe = Recipe {
        smallest: 4,
        largest: 7,
        most_nodes: 2_000,
        ..Recipe::default()
    };
    let reach = Reach {
        most: 25,
        ..Reach::default()
    };
    let problems = (0..).filter_map(|number| generate(&recipe, number));
    problems
        .take(12)
        .flat_map(|found| {
            let name = found.number.to_string();
            let tree = grow_tree(&found.problem, &name, &reach, &Limits::default());
            expand_tree(&tree, &Side::BOTH).unwrap()
        })
        .collect()
}

fn packed(positions: &[LabelledPosition], set: FeatureSet, path: &Path) {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    for position in positions {
        write_record(&mut packer, &tsumego::example(position, set)).unwrap();
    }
    packer.flush().unwrap();
    fs::write(path, packer.finish().unwrap()).unwrap();
}

#[test]
fn generated_problems_become_a_network_that_the_player_loads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.tfrecords.gz");
    let positions = positions();
    assert!(positions.iter().any(|position| !position.moves.is_empty()));
    for (design, set) in [
        (SafetyDesign::Pooled, FeatureSet::Original5),
        (SafetyDesign::Dense, FeatureSet::Original13),
        (SafetyDesign::Ours, FeatureSet::Tengen),
    ] {
        packed(&positions, set, &path);
        let mut settings = settings(design, &path);
        settings.training.steps = 20;
        let mut task = SafetyTask::new(settings.clone()).unwrap();
        assert_eq!(task.positions().0, positions.len(), "{:?}", task.report());
        let out = tempfile::tempdir().unwrap();
        trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
        let Some(network) = task.network() else {
            continue;
        };
        let net = SafetyNet::new(&network, None).unwrap();
        the_player_sees_what_was_trained_on(&mut task, &net, &positions);
    }
}

/// Planes and answers of the player are those of the training.
fn the_player_sees_what_was_trained_on(
    task: &mut SafetyTask,
    net: &SafetyNet,
    positions: &[LabelledPosition],
) {
    const CHECKED: usize = 16;
    let window = task.settings.network.window;
    task.load(Part::Test, 0, CHECKED).unwrap();
    for (at, position) in positions.iter().enumerate().take(CHECKED) {
        let planes = features(&position.problem, position.first, net.feature_set());
        for symmetry in 0..SYMMETRIES {
            task.write(Part::Test, at, 0, symmetry, at);
            let seen = planes.window(planes.centre(window), window, symmetry);
            assert_eq!(task.input.plain(at), seen, "{symmetry}");
        }
        // The player looks from the stone that is marked, the training from any.
        if net.feature_set() == FeatureSet::Tengen {
            task.write(Part::Test, at, 0, 0, at);
        } else {
            let top = position.problem.board().size().get() - 1;
            let stone = position.problem.target()[0];
            let stone = (stone.x() as u8, (top - stone.y()) as u8);
            let pick = task.test[at].target.iter().position(|&s| s == stone);
            task.write(Part::Test, at, pick.unwrap(), 0, at);
        }
    }
    task.forward(Mode::Evaluate);
    for (at, position) in positions.iter().enumerate().take(CHECKED) {
        let logits = task.model.output(SAFE_HEAD).sample(at);
        let chance = |logit: f32| 1.0 / (1.0 + (-logit).exp());
        let expected = match task.settings.network.design {
            SafetyDesign::Ours => {
                let truth = task.safe.sample(at);
                let stones: Vec<usize> = (0..window * window)
                    .filter(|&cell| !truth[cell].is_nan())
                    .collect();
                let sum: f32 = stones.iter().map(|&cell| chance(logits[cell])).sum();
                sum / stones.len() as f32
            }
            _ => chance(logits[0]),
        };
        let said = net.chance_of_life(&position.problem, position.first, false);
        assert!((said - expected).abs() < 1e-4, "{said} {expected}");
    }
}
