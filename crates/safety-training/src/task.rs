//! Training networks that say whether a group is safe.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::write_whole;
use net::{
    Network,
    compact::{self, Precision},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tsumego::place_in_window;

use crate::example::{self, Place, SafetyExample};
use crate::model::{self, MOVE_HEAD, OWNERSHIP_HEAD, SAFE_HEAD, SafetyDesign, SafetyShape};
use base::mix;
use learn::{
    Batch, DataError, LoadReport, Mode, Model, Part, Shape, Shuffle, TrainSettings, Trainable,
    loss::{self, Squash, Tally},
    optimiser::{Decay, Rule, Schedule},
    trainer::Task,
};

/// Everything about a training, as it is saved beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SafetySettings {
    pub network: SafetyShape,
    /// Where the data is.
    pub data: SafetyData,
    /// Weights of the best move and of ownership beside safety (ours only).
    pub side_weights: [f32; 2],
    /// How to train.
    pub training: TrainSettings,
}

/// Where labelled positions come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SafetyData {
    /// TFRecord files to learn from.
    pub train: Vec<PathBuf>,
    /// TFRecord files to test on: other problems, or the test says nothing.
    pub test: Vec<PathBuf>,
}

impl Default for SafetySettings {
    fn default() -> Self {
        let training = TrainSettings {
            batch: 128,
            optimiser: Rule::ADAM,
            schedule: Schedule {
                rate: 2e-3,
                warm_up: 200,
                then: Decay::Cosine { last: 0.01 },
            },
            ..TrainSettings::default()
        };
        Self {
            network: SafetyShape::default(),
            data: SafetyData::default(),
            side_weights: [0.1, 0.1],
            training,
        }
    }
}

impl SafetySettings {
    /// A design of the original with its own recipe: Adam at 1e-4 and batches of 50, or at 1e-3 and batches of 256;
    /// no decay, no schedule. Beside the network as it ends the average of its last quarter is written, as for ours.
    pub fn original(design: SafetyDesign) -> Self {
        let (network, batch, rate, steps) = match design {
            SafetyDesign::Pooled => (SafetyShape::POOLED, 50, 1e-4, 20_000),
            SafetyDesign::Dense | SafetyDesign::Ours => (SafetyShape::DENSE, 256, 1e-3, 20_000),
        };
        let mut settings = Self {
            network,
            ..Self::default()
        };
        settings.training.batch = batch;
        settings.training.steps = steps;
        settings.training.decay = 0.0;
        settings.training.schedule = Schedule {
            rate,
            warm_up: 0,
            then: Decay::Constant,
        };
        settings
    }
}

/// A safety training.
pub struct SafetyTask {
    settings: SafetySettings,
    model: Model,
    train: Vec<SafetyExample>,
    test: Vec<SafetyExample>,
    order: Shuffle,
    /// The test's order: neighbours in a file come from one problem, and a test may take but a few of them.
    test_order: Shuffle,
    report: LoadReport,
    input: Batch,
    /// Whether safe, a sample each; and for our network a point each, not a number where no target stone is.
    labels: Vec<f32>,
    safe: Batch,
    moves: Batch,
    ownership: Batch,
    row: Vec<f32>,
}

/// Ways to turn a window.
const SYMMETRIES: usize = 8;
/// The same test, whatever the training's seed.
const TEST_SEED: u64 = 1;
/// What is measured.
const MEASURES: [&str; 5] = [
    "loss",
    "safety loss",
    "accuracy",
    "move accuracy",
    "ownership accuracy",
];

impl SafetyTask {
    /// Reads the data and makes a network with random weights.
    pub fn new(mut settings: SafetySettings) -> Result<Self, DataError> {
        let mut report = LoadReport::default();
        let mut read = |files: &[PathBuf]| -> Result<Vec<SafetyExample>, DataError> {
            let mut all = Vec::new();
            for file in files {
                all.extend(example::read_file(file, &mut report)?);
            }
            Ok(all)
        };
        let mut train = read(&settings.data.train)?;
        let mut test = read(&settings.data.test)?;
        if settings.network.planes == 0 {
            settings.network.planes = train.first().map_or(0, |example| example.set.planes());
        }
        let planes = settings.network.planes;
        for (part, examples) in [("training", &mut train), ("test", &mut test)] {
            let before = examples.len();
            examples.retain(|example| example.set.planes() == planes);
            for _ in examples.len()..before {
                report.skip(
                    &format!(
                        "another number of planes than {planes}; pack the positions with `tengen tsumego pack --planes {planes}`"
                    ),
                    &format!("in the {part} files"),
                );
            }
        }
        if train.is_empty() {
            return Err(report.nothing(
                "labelled positions",
                &settings.data.train,
                ": give TFRecord files",
            ));
        }
        let seed = settings.training.seed;
        let window = settings.network.window;
        let map = Batch::zeros(Shape::Row(window * window), 0);
        Ok(Self {
            model: model::build(settings.network, seed, settings.training.threads),
            order: Shuffle::new(train.len() as u64, mix(seed)),
            test_order: Shuffle::new(test.len().max(1) as u64, TEST_SEED),
            train,
            test,
            report,
            input: Batch::default(),
            labels: Vec::new(),
            safe: map.clone(),
            moves: map.clone(),
            ownership: map,
            row: vec![0.0; planes * window * window],
            settings,
        })
    }

    /// The settings, with the number of planes filled in.
    pub fn settings(&self) -> &SafetySettings {
        &self.settings
    }

    /// What was read and left out.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// Positions to train on and to test on.
    pub fn positions(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }

    /// The network as plain data; none for the pooled design.
    pub fn network(&self) -> Option<Network> {
        model::to_network(&self.model, self.settings.network)
    }

    /// Sample `index` of the batch: example `at`, seen from stone `pick` of the target where that matters, turned.
    fn write(&mut self, part: Part, at: usize, pick: usize, symmetry: usize, index: usize) {
        let example = match part {
            Part::Train => &self.train[at],
            Part::Test => &self.test[at],
        };
        let window = self.settings.network.window;
        let centre = example.centre(window, pick);
        let place = |(x, y): Place| {
            place_in_window((usize::from(x), usize::from(y)), centre, window, symmetry)
        };
        example.show(centre, window, symmetry, &mut self.row);
        self.input.set_plain(index, &self.row);
        let label = f32::from(u8::from(example.is_safe));
        self.labels[index] = label;
        let safe = self.safe.sample_mut(index);
        safe.fill(f32::NAN);
        for cell in example.target.iter().filter_map(|&spot| place(spot)) {
            safe[cell] = label;
        }
        let moves = self.moves.sample_mut(index);
        moves.fill(0.0);
        let known: Vec<usize> = example
            .moves
            .iter()
            .filter_map(|&spot| place(spot))
            .collect();
        for &cell in &known {
            moves[cell] = 1.0 / known.len() as f32;
        }
        let ownership = self.ownership.sample_mut(index);
        ownership.fill(f32::NAN);
        for &(spot, is_defenders) in &example.owned {
            if let Some(cell) = place(spot) {
                ownership[cell] = f32::from(u8::from(is_defenders));
            }
        }
    }
}

impl Task for SafetyTask {
    fn title(&self) -> String {
        let SafetyShape {
            design,
            window,
            planes,
            blocks,
            filters,
        } = self.settings.network;
        match design {
            SafetyDesign::Pooled => {
                format!("Safety, first original design, {window}x{window}x{planes}")
            }
            SafetyDesign::Dense => format!(
                "Safety, second original design, {window}x{window}x{planes}, width {filters}"
            ),
            SafetyDesign::Ours => {
                format!("Safety, {window}x{window}x{planes}, {blocks} blocks of {filters} filters")
            }
        }
    }

    fn measures(&self) -> &[&'static str] {
        &MEASURES
    }

    fn model(&mut self) -> &mut dyn Trainable {
        &mut self.model
    }

    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError> {
        let first = number * self.settings.training.batch as u64;
        let samples = match part {
            Part::Train => samples,
            Part::Test => samples.min((self.test.len() as u64).saturating_sub(first) as usize),
        };
        self.input.fit(self.model.input(), samples);
        for map in [&mut self.safe, &mut self.moves, &mut self.ownership] {
            map.fit(map.shape, samples);
        }
        self.labels.resize(samples, 0.0);
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(mix(self.settings.training.seed ^ mix(number)));
        for index in 0..samples {
            let place = first + index as u64;
            match part {
                Part::Test => {
                    let at = self.test_order.at(place) as usize;
                    self.write(part, at, 0, 0, index);
                }
                Part::Train => {
                    let (pick, symmetry) = (
                        random.random_range(0..usize::MAX),
                        random.random_range(0..SYMMETRIES),
                    );
                    let at = self.order.at(place) as usize;
                    self.write(part, at, pick, symmetry, index);
                }
            }
        }
        Ok(samples)
    }

    fn forward(&mut self, mode: Mode) -> Vec<Tally> {
        self.model.forward(&self.input, mode);
        let samples = self.labels.len();
        let (outputs, gradient) = self.model.output_and_gradient(SAFE_HEAD);
        match self.settings.network.design {
            SafetyDesign::Pooled => {
                let mut target = Batch::zeros(Shape::Row(2), samples);
                for (index, &label) in self.labels.iter().enumerate() {
                    target.sample_mut(index)[label as usize] = 1.0;
                }
                let [loss, right] = loss::cross_entropy(outputs, &target, 1.0, gradient);
                vec![loss, loss, right, Tally::default(), Tally::default()]
            }
            SafetyDesign::Dense => {
                let [loss, right] =
                    loss::squared(outputs, Squash::Sigmoid, &self.labels, 0.5, 1.0, gradient);
                vec![loss, loss, right, Tally::default(), Tally::default()]
            }
            SafetyDesign::Ours => {
                let [safety, _] = loss::logistic(outputs, &self.safe, 1.0, gradient);
                let right = judged(outputs, &self.safe, &self.labels);
                let [move_weight, ownership_weight] = self.settings.side_weights;
                let (outputs, gradient) = self.model.output_and_gradient(MOVE_HEAD);
                let [moves, move_right] =
                    loss::cross_entropy(outputs, &self.moves, move_weight, gradient);
                let (outputs, gradient) = self.model.output_and_gradient(OWNERSHIP_HEAD);
                let [owners, owners_right] =
                    loss::logistic(outputs, &self.ownership, ownership_weight, gradient);
                let mean = |tally: Tally| tally.mean().unwrap_or(0.0);
                let total = mean(safety)
                    + f64::from(move_weight) * mean(moves)
                    + f64::from(ownership_weight) * mean(owners);
                let total = Tally {
                    sum: total * samples as f64,
                    count: samples as f64,
                };
                vec![total, safety, right, move_right, owners_right]
            }
        }
    }

    fn backward(&mut self) {
        self.model.backward(&self.input);
    }

    fn write_network(&mut self, folder: &Path, stem: &str) -> Result<PathBuf, io::Error> {
        match self.network() {
            Some(network) => {
                let path = folder.join(format!("{stem}.net"));
                write_whole(&path, &compact::write(&network, Precision::F32))?;
                Ok(path)
            }
            None => {
                let path = folder.join(format!("{stem}.json"));
                let vars: serde_json::Map<_, _> = self
                    .model
                    .params_mut()
                    .iter()
                    .map(|param| {
                        (
                            param.name.clone(),
                            json!({ "shape": param.shape, "data": param.values }),
                        )
                    })
                    .collect();
                write_whole(&path, json!({ "vars": vars }).to_string().as_bytes())?;
                Ok(path)
            }
        }
    }
}

/// How often the mean chance over the target's stones is on the label's side: what the player goes by.
fn judged(outputs: &Batch, safe: &Batch, labels: &[f32]) -> Tally {
    let mut right = Tally::default();
    for (index, &label) in labels.iter().enumerate() {
        let chances = outputs
            .sample(index)
            .iter()
            .zip(safe.sample(index))
            .filter(|(_, truth)| !truth.is_nan())
            .map(|(&logit, _)| Squash::Sigmoid.at(logit).0);
        let (mut sum, mut stones) = (0.0, 0.0);
        for chance in chances {
            sum += chance;
            stones += 1.0;
        }
        let says_safe = 2.0 * sum > stones;
        right.add(f64::from(u8::from(says_safe == (label > 0.5))));
    }
    right
}

/// The TFRecord files under a path, sorted.
pub fn find_files(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(path)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<io::Result<_>>()
        })
        .map_err(|error| DataError::File {
            path: path.to_owned(),
            error,
        })?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.ends_with(".tfrecords") || name.ends_with(".tfrecord")
    });
    files.sort();
    Ok(files)
}

#[cfg(test)]
pub(crate) mod tests;
