//! Training Dr. Mario networks from examples or from recorded games.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::write_whole;
use mario::{COLOR_PERMUTATIONS, Example, StallCounts, flood};
use mario_player::{
    network::MOVES_LEN,
    planes::{INPUT_LEN, write_planes},
    read_records,
};
use net::{
    Network,
    compact::{self, Precision},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::loss::{self, SCALARS, Truth};
use crate::model::{self, MOVES_HEAD, MarioDesign, MarioShape, VALUE_HEAD};
use base::mix;
use learn::{
    Batch, DataError, LoadReport, Mode, Model, Part, Shape, Shuffle, TrainSettings, Trainable,
    checkpoint::{self, CheckpointError},
    loss::{Tally, masked_cross_entropy},
    optimiser::{Decay, Rule, Schedule},
    trainer::Task,
};

/// Everything about a training, as it is saved beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MarioSettings {
    pub network: MarioShape,
    /// Where the data is.
    pub data: MarioData,
    /// Weights of our loss: who wins, viruses cleared, pills placed; the moves weigh 1. The original weighs all the same.
    pub weights: [f32; SCALARS],
    /// Whether gradients are summed over the batch, as the original does, instead of averaged.
    pub summed: bool,
    /// How to train.
    pub training: TrainSettings,
}

impl Default for MarioSettings {
    fn default() -> Self {
        let training = TrainSettings {
            batch: 256,
            optimiser: Rule::ADAM,
            schedule: Schedule {
                rate: 2e-3,
                warm_up: 200,
                then: Decay::Cosine { last: 0.01 },
            },
            ..TrainSettings::default()
        };
        Self {
            network: MarioShape::default(),
            data: MarioData::default(),
            weights: [1.0, 0.25, 0.1],
            summed: false,
            training,
        }
    }
}

impl MarioSettings {
    /// The original's recipe: 19 blocks of 256 filters, loss summed over the batch, plain momentum 0.9, rate 0.1, and
    /// the squared length of all parameters times 1e-4 (whose gradient is 2e-4 times the parameter). The length of the
    /// gradient is limited, which the original does without: at that rate a sum over a batch soon is not a number.
    pub fn original() -> Self {
        let training = TrainSettings {
            steps: 100,
            decay: 2e-4,
            clip: 1.0,
            optimiser: Rule::Momentum {
                momentum: 0.9,
                nesterov: false,
            },
            schedule: Schedule {
                rate: 0.1,
                warm_up: 0,
                then: Decay::Constant,
            },
            ..TrainSettings::default()
        };
        Self {
            network: MarioShape {
                design: MarioDesign::Original,
                blocks: 19,
                filters: 256,
            },
            data: MarioData {
                augment: false,
                ..MarioData::default()
            },
            weights: [1.0; SCALARS],
            summed: true,
            training,
        }
    }
}

/// Where Dr. Mario positions come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MarioData {
    /// Files of examples (`*.json`) or of recorded games (anything else), or folders of them.
    pub files: Vec<PathBuf>,
    /// Share of the games (or, of example files, of stretches of examples) kept out for tests.
    pub test_share: f64,
    /// Whether colours are renamed and sides exchanged at random.
    pub augment: bool,
    /// Whether a stalled game counts as won.
    pub stall_is_won: bool,
}

impl Default for MarioData {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            test_share: 0.05,
            augment: true,
            stall_is_won: false,
        }
    }
}

/// Examples of one file that are kept or taken out together: positions of one game are alike.
const STRETCH: usize = 64;

/// A Dr. Mario training.
pub struct MarioTask {
    settings: MarioSettings,
    model: Model,
    train: Vec<Example>,
    test: Vec<Example>,
    order: Shuffle,
    report: LoadReport,
    input: Batch,
    moves: Batch,
    mask: Batch,
    truths: Vec<Truth>,
    row: Vec<f32>,
}

/// Two measures that others ask for by name.
pub(crate) const MOVES_LOSS: &str = "moves loss";
pub(crate) const WON_ERROR: &str = "won error";

/// What is measured.
const MEASURES: [&str; 7] = [
    "loss",
    MOVES_LOSS,
    "move accuracy",
    WON_ERROR,
    "winner accuracy",
    "cleared error",
    "duration error",
];

impl MarioTask {
    /// Reads the data and makes a network with random weights.
    pub fn new(settings: MarioSettings) -> Result<Self, DataError> {
        let stall = if settings.data.stall_is_won {
            StallCounts::AsWon
        } else {
            StallCounts::AsLost
        };
        let mut report = LoadReport::default();
        let mut groups = Vec::new();
        for path in &settings.data.files {
            read_path(path, stall, &mut groups, &mut report)?;
        }
        let limit = settings.data.test_share.clamp(0.0, 1.0);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (index, group) in groups.into_iter().enumerate() {
            let chance = mix(index as u64 ^ mix(settings.training.seed)) as f64 / u64::MAX as f64;
            let side = if chance < limit {
                &mut test
            } else {
                &mut train
            };
            side.extend(group);
        }
        report.positions = (train.len() + test.len()) as u64;
        if train.is_empty() {
            return Err(report.nothing(
                "examples to learn from",
                &settings.data.files,
                ": give files of examples (*.json) or recorded games",
            ));
        }
        Ok(Self::with_examples(settings, train, test, report))
    }

    /// Trains on positions in memory, such as those of recent self-play.
    pub fn from_examples(
        settings: MarioSettings,
        train: Vec<Example>,
        test: Vec<Example>,
    ) -> Result<Self, DataError> {
        if train.is_empty() {
            return Err(DataError::Nothing {
                what: "positions to train on",
                place: "memory".to_owned(),
                hint: String::new(),
            });
        }
        let report = LoadReport::default();
        Ok(Self::with_examples(settings, train, test, report))
    }

    fn with_examples(
        settings: MarioSettings,
        train: Vec<Example>,
        test: Vec<Example>,
        report: LoadReport,
    ) -> Self {
        let seed = settings.training.seed;
        let moves = Batch::zeros(Shape::Row(MOVES_LEN), 0);
        Self {
            model: model::build(settings.network, seed, settings.training.threads),
            order: Shuffle::new(train.len() as u64, mix(seed)),
            train,
            test,
            report,
            input: Batch::default(),
            mask: moves.clone(),
            moves,
            truths: Vec::new(),
            row: vec![0.0; INPUT_LEN],
            settings,
        }
    }

    /// Starts from the weights of another training's checkpoint, and from nothing else of it.
    pub fn resume_weights(&mut self, checkpoint: &Path) -> Result<(), CheckpointError> {
        let rule = self.settings.training.optimiser;
        checkpoint::load_weights(checkpoint, &mut self.model, rule)
    }

    /// What was read and left out.
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// Examples to train on and kept out.
    pub fn positions(&self) -> (usize, usize) {
        (self.train.len(), self.test.len())
    }

    /// The network as plain data.
    pub fn network(&self) -> Network {
        model::to_network(&self.model, self.settings.network.design)
    }

    fn write(&mut self, example: &Example, index: usize) {
        write_planes(&example.board, example.pill, &mut self.row);
        self.input.set_plain(index, &self.row);
        let target = self.moves.sample_mut(index);
        target.fill(0.0);
        let mask = self.mask.sample_mut(index);
        mask.fill(0.0);
        for (placement, &chance) in &example.moves {
            target[placement.index()] = chance as f32;
            mask[placement.index()] = 1.0;
        }
        let legal: Vec<_> = flood(&example.board).placements(example.pill).collect();
        for placement in legal {
            mask[placement.index()] = 1.0;
            if example.pill.is_double() {
                mask[placement.for_swapped_pill().index()] = 1.0;
            }
        }
        self.truths[index] = Truth {
            won: f32::from(example.won),
            cleared: example.cleared as f32,
            duration: example.duration as f32,
        };
    }
}

/// Reads one file or folder; examples that are kept together come as one group.
fn read_path(
    path: &Path,
    stall: StallCounts,
    groups: &mut Vec<Vec<Example>>,
    report: &mut LoadReport,
) -> Result<(), DataError> {
    let failed = |error| DataError::File {
        path: path.to_owned(),
        error,
    };
    if path.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .and_then(|entries| {
                entries
                    .map(|entry| Ok(entry?.path()))
                    .collect::<io::Result<_>>()
            })
            .map_err(failed)?;
        inside.retain(|file| {
            file.extension()
                .is_some_and(|kind| kind == "json" || kind == "txt" || kind == "records")
        });
        inside.sort();
        return inside
            .iter()
            .try_for_each(|file| read_path(file, stall, groups, report));
    }
    let name = path.display().to_string();
    if path.extension().is_some_and(|kind| kind == "json") {
        let text = fs::read_to_string(path).map_err(failed)?;
        let values: Vec<serde_json::Value> = match serde_json::from_str(&text) {
            Ok(values) => values,
            Err(_) => {
                report.skip("a file that is no JSON array of examples", &name);
                return Ok(());
            }
        };
        let mut good = Vec::new();
        for (number, value) in values.iter().enumerate() {
            match Example::from_json(value, number + 1) {
                Ok(example) => good.push(example),
                Err(error) => report.skip("a bad example", &format!("{name}: {error}")),
            }
        }
        groups.extend(good.chunks(STRETCH).map(<[Example]>::to_vec));
        return Ok(());
    }
    let records =
        read_records(path).map_err(|error| failed(io::Error::other(error.to_string())))?;
    for record in records {
        let examples = record
            .map_err(|error| error.to_string())
            .and_then(|record| {
                Example::of_record(&record, stall).map_err(|error| error.to_string())
            });
        match examples {
            Ok(examples) if examples.is_empty() => {
                report.skip("a game without examples (out of time)", &name)
            }
            Ok(examples) => {
                report.games += 1;
                groups.push(examples);
            }
            Err(error) => report.skip("a bad record", &format!("{name}: {error}")),
        }
    }
    Ok(())
}

/// One of the images of an example that play the same.
fn varied(example: &Example, random: &mut Xoshiro256PlusPlus) -> Example {
    let mut image =
        example.recolored(COLOR_PERMUTATIONS[random.random_range(0..COLOR_PERMUTATIONS.len())]);
    if random.random_bool(0.5) {
        image = image.with_pill_swapped();
    }
    if random.random_bool(0.5) {
        image = image.mirrored();
    }
    image
}

impl Task for MarioTask {
    fn title(&self) -> String {
        let MarioShape {
            design,
            blocks,
            filters,
        } = self.settings.network;
        let design = match design {
            MarioDesign::Original => "original design",
            MarioDesign::Ours => "our design",
        };
        format!("Dr. Mario, {design}, {blocks} blocks of {filters} filters")
    }

    fn measures(&self) -> &[&'static str] {
        &MEASURES
    }

    fn model(&mut self) -> &mut dyn Trainable {
        &mut self.model
    }

    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError> {
        let batch = self.settings.training.batch as u64;
        let first = number * batch;
        let samples = match part {
            Part::Train => samples,
            Part::Test => samples.min((self.test.len() as u64).saturating_sub(first) as usize),
        };
        self.input.fit(self.model.input(), samples);
        self.moves.fit(self.moves.shape, samples);
        self.mask.fit(self.mask.shape, samples);
        self.truths.resize(samples, Truth::default());
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(mix(self.settings.training.seed ^ mix(number)));
        for index in 0..samples {
            let place = first + index as u64;
            let example = match part {
                Part::Test => self.test[place as usize].clone(),
                Part::Train => {
                    let example = &self.train[self.order.at(place) as usize];
                    if self.settings.data.augment {
                        varied(example, &mut random)
                    } else {
                        example.clone()
                    }
                }
            };
            self.write(&example, index);
        }
        Ok(samples)
    }

    fn forward(&mut self, mode: Mode) -> Vec<Tally> {
        self.model.forward(&self.input, mode);
        let samples = self.truths.len();
        let share = if self.settings.summed {
            1.0
        } else {
            1.0 / samples.max(1) as f32
        };
        let (terms, weights, right) = match self.settings.network.design {
            MarioDesign::Original => {
                let (outputs, gradient) = self.model.output_and_gradient(0);
                let terms = loss::design(outputs, &self.truths, &self.moves, share, gradient);
                (terms, [1.0; SCALARS], Tally::default())
            }
            MarioDesign::Ours => {
                let (outputs, gradient) = self.model.output_and_gradient(MOVES_HEAD);
                let weight = share * samples as f32;
                let [moves, right] =
                    masked_cross_entropy(outputs, &self.moves, Some(&self.mask), weight, gradient);
                let (outputs, gradient) = self.model.output_and_gradient(VALUE_HEAD);
                let weights = self.settings.weights;
                let mut terms = [Tally::default(); SCALARS + 1];
                for (index, truth) in self.truths.iter().enumerate() {
                    let (row, slope) = (outputs.sample(index), gradient.sample_mut(index));
                    slope.fill(0.0);
                    for (term, (squash, target, divisor)) in truth.terms().into_iter().enumerate() {
                        let (value, derivative) = squash.at(row[term]);
                        let error = (value - target) / divisor;
                        slope[term] = share * weights[term] * 2.0 * error / divisor * derivative;
                        terms[term].add(f64::from(error * error));
                    }
                }
                terms[SCALARS] = moves;
                (terms, weights, right)
            }
        };
        let mut winner = Tally::default();
        let (head, offset) = match self.settings.network.design {
            MarioDesign::Original => (0, 0),
            MarioDesign::Ours => (VALUE_HEAD, 0),
        };
        for (index, truth) in self.truths.iter().enumerate() {
            let value = self.model.output(head).sample(index)[offset];
            winner.add(f64::from(u8::from((value > 0.0) == (truth.won > 0.0))));
        }
        let [won, cleared, duration, moves] = terms;
        let mut total = moves.sum;
        for (term, weight) in [won, cleared, duration].into_iter().zip(weights) {
            total += f64::from(weight) * term.sum;
        }
        vec![
            Tally {
                sum: total,
                count: samples as f64,
            },
            moves,
            right,
            won,
            winner,
            cleared,
            duration,
        ]
    }

    fn backward(&mut self) {
        self.model.backward(&self.input);
    }

    fn write_network(&mut self, folder: &Path, stem: &str) -> Result<PathBuf, io::Error> {
        let path = folder.join(format!("{stem}.net"));
        write_whole(&path, &compact::write(&self.network(), Precision::F32))?;
        Ok(path)
    }
}

#[cfg(test)]
pub(crate) mod tests;
