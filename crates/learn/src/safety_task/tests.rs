//! The safety training: records in, three designs, networks out.

use super::*;
use crate::events::checksum;
use crate::trainer;

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn field(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend(bytes);
}

/// A framed `tf.train.Example` of whole-number lists, written by the published format.
fn record(features: &[(&str, Vec<i64>)]) -> Vec<u8> {
    let mut map = Vec::new();
    for (name, numbers) in features {
        let mut packed = Vec::new();
        numbers
            .iter()
            .for_each(|&number| varint(&mut packed, number as u64));
        let (mut list, mut feature, mut entry) = (Vec::new(), Vec::new(), Vec::new());
        field(&mut list, 1, &packed);
        field(&mut feature, 3, &list);
        field(&mut entry, 1, name.as_bytes());
        field(&mut entry, 2, &feature);
        field(&mut map, 1, &entry);
    }
    let mut example = Vec::new();
    field(&mut example, 1, &map);
    let masked = |bytes: &[u8]| {
        checksum(bytes)
            .rotate_right(15)
            .wrapping_add(0xa282_ead8)
            .to_le_bytes()
    };
    let length = (example.len() as u64).to_le_bytes();
    let mut framed = length.to_vec();
    framed.extend(masked(&length));
    framed.extend(&example);
    framed.extend(masked(&example));
    framed
}

/// Positions of a 7x7 board with a ring: safe when the target has two stones.
fn file(folder: &Path, planes: usize, count: u64) -> PathBuf {
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

fn settings(design: SafetyDesign, path: &Path) -> SafetySettings {
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
        if design != SafetyDesign::Pooled {
            the_network_answers_as_the_model(&mut task, &outcome.network);
        }
    }
}

/// The last network written without averaging has the model's own weights and statistics.
fn the_network_answers_as_the_model(task: &mut SafetyTask, file: &Path) {
    use net::evaluator::Evaluator;
    let folder = file.parent().unwrap();
    let file = task.write_network(folder, "again").unwrap();
    task.load(Part::Test, 0, 2).unwrap();
    task.forward(Mode::Evaluate);
    let plan = net::plan::Plan::new(&net::file::load(&file).unwrap()).unwrap();
    let shape = plan.shape().clone();
    let planes: Vec<f32> = (0..2).flat_map(|index| task.input.plain(index)).collect();
    let mut rows = vec![0.0; 2 * shape.output_len()];
    plan.evaluate(&planes, &mut rows);
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
    for symmetry in 0..8 {
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
    let examples = records::read_file(&path, &mut report).unwrap();
    assert!(examples.len() >= 14, "{}", examples.len());
    assert_eq!(report.skipped_games(), 3, "{report:?}");
    let error = SafetyTask::new(settings(SafetyDesign::Dense, &folder.path().join("none")))
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("cannot read"), "{error}");
}
