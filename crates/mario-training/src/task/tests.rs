//! The Dr. Mario training against the golden vectors of the original design, and as a whole.

use serde_json::Value;

use super::*;
use learn::trainer;

#[cfg(feature = "burn")]
mod burn;

/// A few examples of real play, by recorded games of placements chosen at random.
fn examples(count: usize) -> Vec<Example> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut all = Vec::new();
    let mut seed = 2;
    while all.len() < count {
        seed += 2;
        let mut game = mario::Game::console(seed, 2, mario::Rules::default());
        while game.ending().is_none() {
            let (board, pill) = (*game.board(), game.pill());
            let legal: Vec<_> = flood(&board).placements(pill).collect();
            let chosen = legal[random.random_range(0..legal.len())];
            let mut moves = std::collections::BTreeMap::new();
            let images = if pill.is_double() {
                vec![chosen, chosen.for_swapped_pill()]
            } else {
                vec![chosen]
            };
            for &image in &images {
                moves.insert(image, 1.0 / images.len() as f64);
            }
            let won = if random.random_bool(0.5) { 1 } else { -1 };
            all.push(Example {
                board,
                pill,
                won,
                cleared: random.random_range(0..5),
                duration: random.random_range(1..60),
                moves,
            });
            game.play(chosen).unwrap();
        }
    }
    all.truncate(count);
    all
}

pub(crate) fn settings(design: MarioDesign, folder: &Path) -> MarioSettings {
    let mut settings = MarioSettings {
        network: MarioShape {
            design,
            blocks: 1,
            filters: 5,
        },
        ..MarioSettings::default()
    };
    settings.data.files = vec![folder.to_owned()];
    settings.data.test_share = 0.3;
    settings.training.threads = 1;
    settings.training.batch = 8;
    settings.training.steps = 10;
    settings.training.report_every = 5;
    settings.training.test_every = 5;
    settings
}

pub(crate) fn folder_of_examples(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, stretch) in examples(count).chunks(20).enumerate() {
        let values: Vec<Value> = stretch.iter().map(Example::to_json).collect();
        fs::write(
            folder.path().join(format!("{number}.json")),
            serde_json::to_string(&values).unwrap(),
        )
        .unwrap();
    }
    folder
}

#[test]
fn gradient_of_the_whole_loss_equals_finite_differences_in_both_designs() {
    const SAMPLES: usize = 3;
    let folder = folder_of_examples(60);
    for design in [MarioDesign::Original, MarioDesign::Ours] {
        let mut task = MarioTask::new(settings(design, folder.path())).unwrap();
        task.load(Part::Train, 0, SAMPLES).unwrap();
        task.truths[0].cleared = 0.0;
        task.forward(Mode::Train { seed: 1 });
        task.backward();
        let input: Vec<f64> = (0..SAMPLES)
            .flat_map(|index| task.input.plain(index))
            .map(f64::from)
            .collect();
        let loss = |task: &MarioTask| -> f64 {
            let (logits, values, first, width) = match design {
                MarioDesign::Original => {
                    let all = task.model.exact(&input, 0);
                    (all.clone(), all, SCALARS, SCALARS + MOVES_LEN)
                }
                MarioDesign::Ours => (
                    task.model.exact(&input, MOVES_HEAD),
                    task.model.exact(&input, VALUE_HEAD),
                    0,
                    SCALARS,
                ),
            };
            let weights = match design {
                MarioDesign::Original => [1.0; 3],
                MarioDesign::Ours => task.settings.weights.map(f64::from),
            };
            let softplus = |x: f64| if x > 5.0 { x } else { x.exp().ln_1p() };
            let mut sum = 0.0;
            for (index, truth) in task.truths.iter().enumerate() {
                let row = &values[index * width..];
                let divide = |value: f32| f64::from(value.max(1.0));
                sum += weights[0] * (row[0].tanh() - f64::from(truth.won)).powi(2);
                sum += weights[1]
                    * ((softplus(row[1]) - f64::from(truth.cleared)) / divide(truth.cleared))
                        .powi(2);
                sum += weights[2]
                    * ((softplus(row[2]) - f64::from(truth.duration)) / divide(truth.duration))
                        .powi(2);
                let length = logits.len() / SAMPLES;
                let row = &logits[index * length + first..][..MOVES_LEN];
                let chance = |place: usize| match design {
                    MarioDesign::Original => 1.0 / (1.0 + (-row[place]).exp()),
                    MarioDesign::Ours => {
                        f64::from(task.mask.sample(index)[place]) * row[place].exp()
                    }
                };
                let total: f64 = (0..MOVES_LEN).map(chance).sum();
                for place in 0..MOVES_LEN {
                    let target = f64::from(task.moves.sample(index)[place]);
                    if target > 0.0 {
                        sum -= target * (chance(place) / total).ln();
                    }
                }
            }
            sum / SAMPLES as f64
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
                    "{design:?} {name} [{index}]: {} instead of {exact}",
                    gradient[index]
                );
            }
        }
    }
}

fn data_folder() -> PathBuf {
    match std::env::var_os("TENGEN_DATA") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    }
}

#[test]
fn original_design_gives_the_golden_loss_and_gradients() {
    let Ok(text) = fs::read_to_string(data_folder().join("dr-mario/net_tiny.json")) else {
        println!("skipped: no data");
        return;
    };
    let golden: Value = serde_json::from_str(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("two.json"),
        golden["examples"].to_string(),
    )
    .unwrap();
    let mut settings = settings(MarioDesign::Original, folder.path());
    settings.network.filters = 2;
    settings.data.test_share = 0.0;
    settings.summed = true;
    let mut task = MarioTask::new(settings).unwrap();

    // Parameters by the formula of the file; our order of tensors is the file's.
    let order = golden["parameter_order"].as_array().unwrap();
    let names: Vec<&str> = order
        .iter()
        .map(|entry| entry[0].as_str().unwrap())
        .collect();
    let mut number = 0;
    for (param, name) in task.model.params_mut().into_iter().zip(&names) {
        for value in &mut param.values {
            let wave = 0.1 * (0.7 * f64::from(number) + 0.3).sin();
            *value = (wave + if name.ends_with(".g") { 1.0 } else { 0.0 }) as f32;
            number += 1;
        }
    }
    assert_eq!(
        u64::from(number as u32),
        golden["parameter_count"].as_u64().unwrap()
    );

    task.input.fit(task.model.input(), 2);
    task.moves.fit(task.moves.shape, 2);
    task.mask.fit(task.mask.shape, 2);
    task.truths.resize(2, Truth::default());
    for index in 0..2 {
        let example = task.train[index].clone();
        task.write(&example, index);
    }
    let squares: f64 = task
        .model
        .params_mut()
        .iter()
        .flat_map(|param| &param.values)
        .map(|&value| f64::from(value).powi(2))
        .sum();
    for (mode, key) in [
        (Mode::Evaluate, "eval_mode_running_mean0_var1"),
        (Mode::Train { seed: 0 }, "train_mode"),
    ] {
        let tallies = task.forward(mode);
        let terms = &golden[key]["loss_terms_won_cleared_duration_moves_reg"];
        let [_, moves, _, won, _, cleared, duration] = tallies[..] else {
            panic!("seven measures")
        };
        for (index, got) in [
            won.sum,
            cleared.sum,
            duration.sum,
            moves.sum,
            1e-4 * squares,
        ]
        .into_iter()
        .enumerate()
        {
            let expected = terms[index].as_f64().unwrap();
            assert!(
                (got - expected).abs() < 1e-4 * expected,
                "{key} term {index}: {got} instead of {expected}"
            );
        }
        for index in 0..2 {
            for (at, expected) in golden[key]["pre_outputs_first6"][index]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
            {
                let got = f64::from(task.model.output(0).sample(index)[at]);
                assert!(
                    (got - expected.as_f64().unwrap()).abs() < 1e-4,
                    "{key}: {got} instead of {expected}"
                );
            }
        }
    }
    task.backward();
    const DECAY: f64 = 2e-4;
    for (place, expected) in golden["gradients_train_mode_central_difference_1e-5"]
        .as_object()
        .unwrap()
    {
        let (name, index) = place.trim_end_matches(']').split_once('[').unwrap();
        let tensor = names.iter().position(|known| *known == name).unwrap();
        let shape: Vec<usize> = order[tensor][1]
            .as_array()
            .unwrap()
            .iter()
            .map(|size| size.as_u64().unwrap() as usize)
            .collect();
        let index = index
            .split(", ")
            .map(|number| number.parse::<usize>().unwrap())
            .zip(&shape)
            .fold(0, |flat, (number, size)| flat * size + number);
        let param = &task.model.params_mut()[tensor];
        let got = f64::from(param.gradient[index]) + DECAY * f64::from(param.values[index]);
        let expected = expected.as_f64().unwrap();
        assert!(
            (got - expected).abs() < 1e-3 * expected.abs().max(1e-3),
            "{place}: {got} instead of {expected}"
        );
    }
}

/// The help's own example, with few filters and the recipe as it is.
#[test]
fn the_recipe_of_the_original_trains_a_small_network() {
    let folder = folder_of_examples(300);
    let out = tempfile::tempdir().unwrap();
    let mut settings = MarioSettings::original();
    settings.network.blocks = 1;
    settings.network.filters = 8;
    settings.data.files = vec![folder.path().to_owned()];
    settings.training.threads = 1;
    settings.training.report_every = 10;
    let mut task = MarioTask::new(settings.clone()).unwrap();
    let mut losses = Vec::new();
    let mut observe = |report: &trainer::Report<'_>| {
        if report.part == Part::Train {
            losses.push(report.values[0].1.unwrap());
        }
        true
    };
    trainer::train(&mut task, &settings.training, out.path(), &mut observe).unwrap();
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!(
        losses.iter().all(|loss| loss.is_finite()) && last < first,
        "{losses:?}"
    );
}

#[test]
fn the_written_network_answers_as_the_training_model_does() {
    use net::Evaluator;
    let folder = folder_of_examples(200);
    for design in [MarioDesign::Original, MarioDesign::Ours] {
        let out = tempfile::tempdir().unwrap();
        let settings = settings(design, folder.path());
        let mut task = MarioTask::new(settings.clone()).unwrap();
        let outcome =
            trainer::train(&mut task, &settings.training, out.path(), &mut |_| true).unwrap();
        task.load(Part::Test, 0, 3).unwrap();
        task.forward(Mode::Evaluate);
        let network = net::load(&outcome.averaged.unwrap()).unwrap();
        let plan = net::Backend::Cpu.open(&network).unwrap();
        let shape = plan.shape().clone();
        let planes: Vec<f32> = (0..3).flat_map(|index| task.input.plain(index)).collect();
        let mut rows = vec![0.0; 3 * shape.output_len()];
        plan.evaluate(&planes, &mut rows).unwrap();
        for (index, row) in rows.chunks_exact(shape.output_len()).enumerate() {
            let head = if design == MarioDesign::Ours {
                VALUE_HEAD
            } else {
                0
            };
            let won = task.model.output(head).sample(index)[0].tanh();
            let played = row[shape.output(mario_player::network::WON).unwrap().start];
            assert!((won - played).abs() < 1e-4, "{design:?}: {won} {played}");
            let moves = &row[shape.output(mario_player::network::MOVES).unwrap()];
            assert!((moves.iter().sum::<f32>() - 1.0).abs() < 1e-3);
        }
        mario_player::NetJudge::new(plan).unwrap();
    }
}

#[test]
fn bad_examples_are_counted_and_no_data_is_an_error() {
    let folder = folder_of_examples(20);
    let path = folder.path().join("0.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('[', "[[1,2,3],", 1)).unwrap();
    fs::write(folder.path().join("9.json"), "nonsense").unwrap();
    let task = MarioTask::new(settings(MarioDesign::Ours, folder.path())).unwrap();
    assert_eq!(task.report().skipped_games(), 2);
    let empty = tempfile::tempdir().unwrap();
    let error = MarioTask::new(settings(MarioDesign::Ours, empty.path()))
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .starts_with("no examples to learn from in"),
        "{error}"
    );
}
