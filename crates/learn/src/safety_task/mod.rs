//! Training networks that say whether a group is safe.

pub mod model;
pub mod records;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use net::compact::{self, Precision};
use net::file::write_whole;
use net::network::Network;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::model::{MOVE_HEAD, OWNERSHIP_HEAD, SAFE_HEAD, SafetyDesign, SafetyShape};
use self::records::{Place, SafetyExample};
use crate::batch::{Batch, Shape};
use crate::go_task::games::LoadReport;
use crate::history::Part;
use crate::layer::Mode;
use crate::loss::{self, Squash, Tally};
use crate::model::Model;
use crate::optimiser::{Decay, Rule, Schedule};
use crate::settings::TrainSettings;
use crate::shuffle::{Shuffle, mix};
use crate::trainer::{DataError, Task};

/// Everything about a training, as it is saved beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SafetySettings {
    /// The network.
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
    /// no decay, no schedule, no averaging.
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
        settings.training.average.from = 1.0;
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
    report: LoadReport,
    input: Batch,
    /// Whether safe, a sample each; and for our network a point each, not a number where no target stone is.
    labels: Vec<f32>,
    safe: Batch,
    moves: Batch,
    ownership: Batch,
    row: Vec<f32>,
}

/// What is measured.
const MEASURES: [&str; 5] = [
    "loss",
    "safety loss",
    "accuracy",
    "move accuracy",
    "ownership accuracy",
];
/// Counts in planes are divided by this, as the player divides them.
const LARGEST_COUNT: f32 = 8.0;

impl SafetyTask {
    /// Reads the data and makes a network with random weights.
    pub fn new(mut settings: SafetySettings) -> Result<Self, DataError> {
        let mut report = LoadReport::default();
        let mut read = |files: &[PathBuf]| -> Result<Vec<SafetyExample>, DataError> {
            let mut all = Vec::new();
            for file in files {
                all.extend(records::read_file(file, &mut report)?);
            }
            Ok(all)
        };
        let mut train = read(&settings.data.train)?;
        let mut test = read(&settings.data.test)?;
        if settings.network.planes == 0 {
            settings.network.planes = train.first().map_or(0, |example| example.planes);
        }
        let planes = settings.network.planes;
        for (part, examples) in [("training", &mut train), ("test", &mut test)] {
            let before = examples.len();
            examples.retain(|example| example.planes == planes);
            for _ in examples.len()..before {
                report.skip(
                    &format!("another number of planes than {planes}"),
                    &format!("in the {part} files"),
                );
            }
        }
        if train.is_empty() {
            let place = settings
                .data
                .train
                .iter()
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
                .join(", ");
            let hint = match report.skipped.iter().next() {
                Some((why, (count, name))) => {
                    format!(" ({count} left out: {why}, the first is {name})")
                }
                None => ": give TFRecord files".to_owned(),
            };
            return Err(DataError::Nothing {
                what: "labelled positions",
                place,
                hint,
            });
        }
        let seed = settings.training.seed;
        let window = settings.network.window;
        let map = Batch::zeros(Shape::Row(window * window), 0);
        Ok(Self {
            model: model::build(settings.network, seed, settings.training.threads),
            order: Shuffle::new(train.len() as u64, mix(seed)),
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

    fn write(&mut self, part: Part, at: usize, centre: usize, symmetry: u8, index: usize) {
        let example = match part {
            Part::Train => &self.train[at],
            Part::Test => &self.test[at],
        };
        let window = self.settings.network.window;
        let points = window * window;
        let centre = example.target[centre % example.target.len()];
        let place = |spot: Place| in_window(spot, centre, window, symmetry);
        self.row.fill(0.0);
        for &(number, value) in &example.values {
            let (point, plane) = (
                number as usize / example.planes,
                number as usize % example.planes,
            );
            let spot = ((point % example.width) as u8, (point / example.width) as u8);
            if let Some(cell) = place(spot) {
                let count = !(0..=1).contains(&value);
                self.row[plane * points + cell] = if count {
                    f32::from(value) / LARGEST_COUNT
                } else {
                    f32::from(value)
                };
            }
        }
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
        if let Some(owners) = &example.ownership {
            for (point, &owner) in owners.iter().enumerate() {
                let spot = ((point % example.width) as u8, (point / example.width) as u8);
                if let (Some(cell), 0 | 1) = (place(spot), owner) {
                    ownership[cell] = f32::from(owner);
                }
            }
        }
    }
}

/// Where a spot falls in the window around `centre`, turned: bit 2 of the symmetry transposes, the rest are quarter turns.
fn in_window(spot: Place, centre: Place, window: usize, symmetry: u8) -> Option<usize> {
    let reach = (window / 2) as isize;
    let (mut x, mut y) = (
        spot.0 as isize - centre.0 as isize,
        spot.1 as isize - centre.1 as isize,
    );
    if symmetry & 4 != 0 {
        std::mem::swap(&mut x, &mut y);
    }
    for _ in 0..symmetry & 3 {
        (x, y) = (-y, x);
    }
    let inside =
        |value: isize| (-reach..=reach).contains(&value) && value + reach < window as isize;
    (inside(x) && inside(y)).then(|| (y + reach) as usize * window + (x + reach) as usize)
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

    fn model(&mut self) -> &mut Model {
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
                Part::Test => self.write(part, place as usize, 0, 0, index),
                Part::Train => {
                    let (centre, symmetry) = (
                        random.random_range(0..usize::MAX),
                        random.random_range(0..8),
                    );
                    let at = self.order.at(place) as usize;
                    self.write(part, at, centre, symmetry, index);
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

/// How often the mean logit over the target's stones is on the label's side.
fn judged(outputs: &Batch, safe: &Batch, labels: &[f32]) -> Tally {
    let mut right = Tally::default();
    for (index, &label) in labels.iter().enumerate() {
        let stones = outputs
            .sample(index)
            .iter()
            .zip(safe.sample(index))
            .filter(|(_, truth)| !truth.is_nan());
        let sum: f32 = stones.map(|(logit, _)| logit).sum();
        right.add(f64::from(u8::from((sum > 0.0) == (label > 0.5))));
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
        file.extension()
            .is_some_and(|kind| kind == "tfrecords" || kind == "tfrecord")
    });
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
