//! The Go training as a whole: data in, gradients, files out.

use std::io::Write as _;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use go::{BoardSize, Color, Game, Komi, Move};
use go_player::planes::BitPlanes;
use go_player::record::ChunkRecord;
use net::{Backend, Evaluator};
use rand::RngExt;

use super::*;
use crate::example;
use learn::trainer::{self, Report};

#[cfg(feature = "burn")]
mod burn;
mod value;

/// A random but legal game as SGF.
fn random_sgf(size: usize, moves: usize, seed: u64, winner: &str) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let size = BoardSize::new(size).unwrap();
    let mut game = Game::new(size, Komi::default());
    for _ in 0..moves {
        let legal: Vec<_> = game.legal_points(game.to_move()).collect();
        if legal.is_empty() {
            break;
        }
        game.play(Move::Play(legal[random.random_range(0..legal.len())]))
            .unwrap();
    }
    let mut tree = go::sgf::Tree::from_game(&game);
    let root = tree.root();
    tree.set_text(root, "RE", winner);
    tree.to_string()
}

pub(crate) fn settings(size: usize, blocks: usize, filters: usize, folder: &Path) -> GoSettings {
    let mut settings = GoSettings {
        network: GoShape {
            size,
            blocks,
            filters,
        },
        ..GoSettings::default()
    };
    settings.data.games = vec![folder.to_owned()];
    settings.data.test_share = 0.2;
    settings.training.threads = 1;
    settings.training.batch = 8;
    settings.training.steps = 12;
    settings.training.report_every = 4;
    settings.training.test_every = 6;
    settings.training.test_samples = 16;
    settings.training.average.every = 2;
    settings.training.average.refresh = 2;
    settings
}

pub(crate) fn folder_of_games(size: usize, games: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..games {
        let winner = if number % 2 == 0 { "B+R" } else { "W+3.5" };
        let text = random_sgf(size, 40, number, winner);
        std::fs::write(folder.path().join(format!("{number}.sgf")), text).unwrap();
    }
    folder
}

#[test]
fn gradient_of_the_whole_loss_equals_finite_differences() {
    const OWNER_WEIGHT: f32 = 0.7;
    let folder = folder_of_games(9, 6);
    let mut settings = settings(9, 1, 6, folder.path());
    settings.owner_weight = OWNER_WEIGHT;
    let mut task = GoTask::new(settings).unwrap();
    task.load(Part::Train, 0, 5).unwrap();
    // Random games are not counted: points of the one, of the other, and of nobody.
    for sample in 0..5 {
        for (cell, target) in task.owners.sample_mut(sample)[..81].iter_mut().enumerate() {
            *target = [0.0, 1.0, f32::NAN][(sample + cell) % 3];
        }
    }
    task.forward(Mode::Train { seed: 1 });
    task.backward();
    let input: Vec<f64> = (0..5)
        .flat_map(|index| task.input.plain(index))
        .map(f64::from)
        .collect();
    let loss = |task: &GoTask| -> f64 {
        let logits = task.model.exact(&input, POLICY_HEAD);
        let values = task.model.exact(&input, VALUE_HEAD);
        let owners = task.model.exact(&input, OWNER_HEAD);
        (0..5)
            .map(|index| {
                let row = &logits[index * 82..(index + 1) * 82];
                let total: f64 = row.iter().map(|z| z.exp()).sum();
                let target = &task.policy.sample(index)[..82];
                let entropy: f64 = row
                    .iter()
                    .zip(target)
                    .map(|(z, &t)| -f64::from(t) * (z - total.ln()))
                    .sum();
                let known: Vec<f64> = owners[index * 81..(index + 1) * 81]
                    .iter()
                    .zip(task.owners.sample(index))
                    .filter(|(_, target)| !target.is_nan())
                    .map(|(z, &target)| (1.0 + z.exp()).ln() - z * f64::from(target))
                    .collect();
                let owner = known.iter().sum::<f64>() / known.len() as f64;
                entropy
                    + (values[index].tanh() - f64::from(task.outcome[index])).powi(2)
                    + f64::from(OWNER_WEIGHT) * owner
            })
            .sum::<f64>()
            / 5.0
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    const STEP: f32 = 1e-6;
    for tensor in 0..task.model.params_mut().len() {
        let gradient = task.model.params_mut()[tensor].gradient.clone();
        let scale = gradient
            .iter()
            .fold(1e-3_f32, |largest, value| largest.max(value.abs()));
        for _ in 0..3 {
            let index = random.random_range(0..gradient.len());
            let start = task.model.params_mut()[tensor].values[index];
            let (high, low) = (start + STEP, start - STEP);
            task.model.params_mut()[tensor].values[index] = high;
            let above = loss(&task);
            task.model.params_mut()[tensor].values[index] = low;
            let below = loss(&task);
            task.model.params_mut()[tensor].values[index] = start;
            let exact = (above - below) / (f64::from(high) - f64::from(low));
            let name = &task.model.params_mut()[tensor].name;
            let error = (f64::from(gradient[index]) - exact).abs();
            assert!(
                error <= 1e-3 * f64::from(scale),
                "{name} [{index}]: {} instead of {exact}",
                gradient[index]
            );
        }
    }
}

/// Trains a little, so that statistics and weights are no longer those of the start.
fn trained(size: usize, folder: &Path, out: &Path) -> (GoTask, PathBuf) {
    let settings = settings(size, 1, 8, folder);
    let mut task = GoTask::new(settings.clone()).unwrap();
    let outcome = trainer::train(&mut task, &settings.training, out, &mut |_| true).unwrap();
    (task, outcome.averaged.unwrap())
}

#[test]
fn the_written_network_answers_as_the_training_model_does() {
    let folder = folder_of_games(19, 8);
    let out = tempfile::tempdir().unwrap();
    let (mut task, file) = trained(19, folder.path(), out.path());
    task.load(Part::Test, 0, 4).unwrap();
    task.forward(Mode::Evaluate);
    let network = LeelaNetwork::load(&file).unwrap();
    let plan = Backend::Cpu.open(&network.to_network()).unwrap();
    let shape = plan.shape().clone();
    let planes: Vec<f32> = (0..4).flat_map(|index| task.input.plain(index)).collect();
    let mut outputs = vec![0.0; 4 * shape.output_len()];
    plan.evaluate(&planes, &mut outputs).unwrap();
    for (index, row) in outputs.chunks_exact(shape.output_len()).enumerate() {
        let logits = &task.model.output(POLICY_HEAD).sample(index)[..362];
        let total: f64 = logits.iter().map(|&z| f64::from(z).exp()).sum();
        for (z, played) in logits
            .iter()
            .zip(&row[shape.output(net::leela::POLICY).unwrap()])
        {
            let expected = f64::from(*z).exp() / total;
            assert!(
                (expected - f64::from(*played)).abs() < 1e-5,
                "{expected} {played}"
            );
        }
        let value = task.model.output(VALUE_HEAD).sample(index)[0];
        let winrate = row[shape.output(net::leela::VALUE).unwrap().start];
        assert!(((1.0 + value.tanh()) / 2.0 - winrate).abs() < 1e-5);
    }
}

#[test]
fn leelaz_loads_the_written_network_and_sees_the_same_value() {
    let program = ["/usr/games/leelaz", "leelaz"].into_iter().find(|program| {
        Command::new(program)
            .arg("--help")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok()
    });
    let Some(program) = program else {
        println!("skipped: leelaz is not installed");
        return;
    };
    let folder = folder_of_games(19, 8);
    let out = tempfile::tempdir().unwrap();
    let (mut task, file) = trained(19, folder.path(), out.path());
    let mut leelaz = Command::new(program)
        .args(["-g", "--cpu-only", "--noponder", "-t", "1", "-w"])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    leelaz
        .stdin
        .take()
        .unwrap()
        .write_all(b"heatmap 0\nquit\n")
        .unwrap();
    let said = String::from_utf8(leelaz.wait_with_output().unwrap().stderr).unwrap();
    let winrate: f64 = said
        .lines()
        .find_map(|line| line.strip_prefix("winrate: "))
        .unwrap_or_else(|| panic!("no winrate in {said}"))
        .trim()
        .parse()
        .unwrap();
    let size = BoardSize::NINETEEN;
    let empty = GoExample {
        planes: BitPlanes::of(
            size,
            Color::Black,
            Game::new(size, Komi::default()).history(),
        ),
        to_move: Color::Black,
        policy: example::Policy::Move(0),
        outcome: 0.0,
        owners: None,
    };
    task.load(Part::Test, 0, 1).unwrap();
    task.writer.write(
        &empty,
        Symmetry::IDENTITY,
        0,
        &mut task.input,
        &mut task.policy,
        &mut task.outcome,
    );
    task.forward(Mode::Evaluate);
    let value = f64::from(task.model.output(VALUE_HEAD).sample(0)[0]);
    assert!(
        ((1.0 + value.tanh()) / 2.0 - winrate).abs() < 2e-5,
        "{winrate} {value}"
    );
}

fn weights(task: &mut GoTask) -> Vec<Vec<f32>> {
    task.model
        .params_mut()
        .iter()
        .map(|param| param.values.clone())
        .collect()
}

#[test]
fn a_run_stopped_and_resumed_ends_exactly_where_one_run_does() {
    let folder = folder_of_games(9, 8);
    let settings = settings(9, 1, 8, folder.path());
    let whole = tempfile::tempdir().unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    let straight =
        trainer::train(&mut task, &settings.training, whole.path(), &mut |_| true).unwrap();
    let expected = weights(&mut task);

    let parts = tempfile::tempdir().unwrap();
    let mut first = GoTask::new(settings.clone()).unwrap();
    let mut stop_at_four = |report: &Report<'_>| report.step < 4;
    trainer::train(
        &mut first,
        &settings.training,
        parts.path(),
        &mut stop_at_four,
    )
    .unwrap();
    let mut second = GoTask::new(settings.clone()).unwrap();
    let resumed =
        trainer::train(&mut second, &settings.training, parts.path(), &mut |_| true).unwrap();
    assert_eq!(resumed.resumed_at, 4);
    assert_eq!(resumed.history, straight.history);
    assert_eq!(weights(&mut second), expected);
    let files = |folder: &Path| std::fs::read(folder.join("network-averaged.txt.gz")).unwrap();
    assert_eq!(files(parts.path()), files(whole.path()));
}

#[test]
fn a_run_given_more_steps_averages_the_last_of_them_alone() {
    let folder = folder_of_games(9, 8);
    let short = settings(9, 1, 8, folder.path());
    let mut long = short.clone();
    long.training.steps = 3 * short.training.steps;
    let mut without = short.clone();
    without.training.average.from = 1.0;
    let averaged = |first: &GoSettings| {
        let out = tempfile::tempdir().unwrap();
        for settings in [first, &long] {
            let mut task = GoTask::new(settings.clone()).unwrap();
            trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
        }
        std::fs::read(out.path().join("network-averaged.txt.gz")).unwrap()
    };
    assert_eq!(averaged(&short), averaged(&without));
}

#[test]
fn chunks_stay_on_their_side_when_others_are_added() {
    let names = |count: usize| -> Vec<_> {
        (0..count)
            .map(|n| Path::new("games").join(format!("{n:06}.txt.gz")))
            .collect()
    };
    for (share, count) in [(0.03, 100), (0.03, 2), (0.5, 7)] {
        let (train, test) = chunks::split(names(count), share);
        assert_eq!(train.len() + test.len(), count);
        assert!(!train.is_empty() && !test.is_empty());
        let (_, later) = chunks::split(names(3 * count), share);
        assert!(train.iter().all(|file| !later.contains(file)));
    }
    let (_, test) = chunks::split(names(2000), 0.1);
    assert!((150..250).contains(&test.len()), "{}", test.len());
    assert_eq!(chunks::split(names(1), 0.5).1.len(), 0);
    assert_eq!(chunks::split(names(9), 0.0).1.len(), 0);
}

#[test]
fn a_damaged_checkpoint_is_refused_with_its_name() {
    let folder = folder_of_games(9, 5);
    let settings = settings(9, 0, 4, folder.path());
    let out = tempfile::tempdir().unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
    let path = out.path().join(trainer::name::CHECKPOINT);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error =
        trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap_err();
    assert!(
        error.to_string().contains("checkpoint.bin is damaged"),
        "{error}"
    );
}

#[test]
fn training_learns_what_its_games_have_in_common() {
    // Every game fills the board row by row: the next move is never in doubt.
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("(;GM[1]FF[4]SZ[5]RE[B+R]");
    for index in 0..20 {
        let color = if index % 2 == 0 { "B" } else { "W" };
        let point = |value: usize| char::from(b'a' + value as u8);
        text.push_str(&format!(
            ";{color}[{}{}]",
            point(index % 5),
            point(index / 5)
        ));
    }
    text.push(')');
    std::fs::write(folder.path().join("rows.sgf"), text).unwrap();
    let mut settings = settings(5, 1, 8, folder.path());
    settings.data.test_share = 0.0;
    settings.training.steps = 150;
    settings.training.batch = 32;
    settings.training.schedule.warm_up = 10;
    let out = tempfile::tempdir().unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    let outcome = trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
    let curve = outcome.history.curve("loss", Part::Train);
    let (first, last) = (curve.first().unwrap().1, curve.last().unwrap().1);
    // Uniform play would cost ln 26 = 3.26; opening moves stay a guess among symmetric points.
    assert!(first > 2.0 && last < 0.8, "{first} {last}");
}

#[test]
fn archives_are_read_and_bad_games_named_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let games = [
        ("good.sgf", random_sgf(9, 30, 1, "B+R")),
        ("again.sgf", random_sgf(9, 30, 1, "B+R")),
        ("other.sgf", random_sgf(9, 30, 2, "?")),
        ("short.sgf", random_sgf(9, 3, 3, "B+R")),
        ("large.sgf", random_sgf(13, 30, 4, "B+R")),
        ("broken.sgf", "(;GM[1]SZ[9];B[aa".to_owned()),
        ("notes.txt", "nothing to see".to_owned()),
    ];
    for (name, text) in &games {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_cksum();
        archive
            .append_data(&mut header, name, text.as_bytes())
            .unwrap();
    }
    let path = folder.path().join("games.tar.gz");
    std::fs::write(&path, archive.into_inner().unwrap().finish().unwrap()).unwrap();
    let (games, report) = Games::read(&[path], BoardSize::NINE).unwrap();
    assert_eq!((report.games, report.positions), (2, 60));
    assert_eq!(games.positions(), 60);
    assert_eq!(report.skipped_games(), 4);
    let (count, first) = &report.skipped["the same game again"];
    assert!(*count == 1 && first.ends_with("again.sgf"), "{report:?}");
    // A game without a result teaches moves, but no value.
    assert!(games.example(30).outcome.is_nan() != games.example(0).outcome.is_nan());
}

#[test]
fn examples_of_a_game_show_the_position_before_each_move() {
    let folder = folder_of_games(9, 1);
    let (games, _) = Games::read(&[folder.path().to_owned()], BoardSize::NINE).unwrap();
    let text = std::fs::read(folder.path().join("0.sgf")).unwrap();
    let tree = &go::sgf::read(&text).unwrap().games[0];
    let line = tree.main_line();
    for ply in [0, 1, 5, 17, 39] {
        // Node `ply` is the position after `ply` moves; the next node has the move.
        let game = tree.game_at(line[ply]).unwrap();
        let example = games.example(ply as u64);
        assert_eq!(example.to_move, game.to_move());
        assert_eq!(
            example.planes,
            BitPlanes::of(game.size(), game.to_move(), game.history())
        );
        let [(_, Move::Play(point))] = tree.moves(line[ply + 1]).unwrap()[..] else {
            panic!("a stone")
        };
        assert_eq!(
            example.policy,
            example::Policy::Move(BoardSize::NINE.index(point) as u16)
        );
        assert_eq!(
            example.outcome,
            if game.to_move() == Color::Black {
                1.0
            } else {
                -1.0
            }
        );
    }
}

fn chunk_records(count: usize) -> Vec<ChunkRecord> {
    let folder = folder_of_games(9, 2);
    let (games, _) = Games::read(&[folder.path().to_owned()], BoardSize::NINE).unwrap();
    (0..count as u64)
        .map(|index| {
            let example = games.example(index);
            let mut probabilities = vec![0.0; 82];
            probabilities[index as usize % 82] = 0.75;
            probabilities[81] += 0.25;
            ChunkRecord {
                planes: example.planes,
                to_move: example.to_move,
                probabilities,
                won: index % 3 == 0,
            }
        })
        .collect()
}

#[test]
fn chunks_of_both_forms_stream_every_good_record_and_count_the_bad() {
    let records = chunk_records(20);
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    records[..10]
        .iter()
        .for_each(|record| record.write_v1(&mut text));
    // The third record's result is spoilt.
    let mut lines: Vec<&str> = text.lines().collect();
    lines[3 * 19 - 1] = "2";
    let mut binary = Vec::new();
    records[10..]
        .iter()
        .for_each(|record| record.write_v2(&mut binary));
    for (name, bytes) in [
        ("text.gz", lines.join("\n").into_bytes()),
        ("binary.gz", binary),
    ] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&bytes).unwrap();
        std::fs::write(folder.path().join(name), encoder.finish().unwrap()).unwrap();
    }
    let files = chunks::find(&[folder.path().to_owned()]).unwrap();
    let mut stream = ChunkStream::new(files, BoardSize::NINE, 1.0, 1000, 3);
    let mut seen = [0; 20];
    for _ in 0..19 {
        let example = stream.next_example().unwrap();
        let known = records
            .iter()
            .position(|record| chunks::example(record.clone()) == example)
            .unwrap();
        seen[known] += 1;
    }
    let missed: Vec<usize> = (0..20).filter(|&index| seen[index] != 1).collect();
    assert_eq!(missed, [2]);
    assert_eq!(stream.report.skipped_games(), 1);
}

#[test]
fn training_from_chunks_resumes_at_its_file() {
    let folder = tempfile::tempdir().unwrap();
    for (number, records) in chunk_records(40).chunks(10).enumerate() {
        let mut binary = Vec::new();
        records
            .iter()
            .for_each(|record| record.write_v2(&mut binary));
        std::fs::write(folder.path().join(format!("{number}.gz")), binary).unwrap();
    }
    let mut settings = settings(9, 0, 4, folder.path());
    settings.data.games.clear();
    settings.data.chunks = vec![folder.path().to_owned()];
    settings.data.sample_share = 1.0;
    settings.data.shuffle_buffer = 16;
    let out = tempfile::tempdir().unwrap();
    let mut task = GoTask::new(settings.clone()).unwrap();
    let outcome = trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
    assert!(!outcome.history.curve("policy loss", Part::Test).is_empty());
    let position = task.position();
    assert!(position["files"].as_u64().unwrap() >= 3);
    let mut again = GoTask::new(settings).unwrap();
    again.seek(&position);
    assert_eq!(again.position(), position);
}

#[test]
fn weights_files_survive_the_way_into_the_trainer_and_back() {
    let shape = GoShape {
        size: 9,
        blocks: 2,
        filters: 8,
    };
    let original = LeelaNetwork::random(
        net::leela::LeelaVersion::V1,
        net::leela::LeelaShape::stock(9, 2, 8),
        4,
    );
    let mut model = model::build(shape, false, 1, 1);
    model::from_leela(&mut model, shape, &original).unwrap();
    let back = model::to_leela(&mut model, shape);
    for (mine, theirs) in back.rows().iter().zip(original.rows()) {
        for (mine, theirs) in mine.iter().zip(theirs) {
            assert!(
                (mine - theirs).abs() <= 1e-5 * theirs.abs().max(1e-3),
                "{mine} {theirs}"
            );
        }
    }
    let other = GoShape { blocks: 3, ..shape };
    assert!(model::from_leela(&mut model::build(other, false, 1, 1), other, &original).is_err());
}
