//! Training Go networks of Leela Zero's kind, from games or from training chunks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use go::{BoardSize, Symmetry};
use net::leela::{LeelaNetwork, TextStyle};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::chunks::{self, ChunkStream};
use crate::example::{GoExample, Writer};
use crate::games::Games;
use crate::model::{self, GoShape, OWNER_HEAD, OtherShape, POLICY_HEAD, VALUE_HEAD};
use base::mix;
use base::write_whole;
use learn::{
    Batch, DataError, LoadReport, Mode, Model, Part, Shape, Shuffle, TrainSettings, Trainable,
    checkpoint::{self, CheckpointError},
    loss::{self, Squash, Tally},
    trainer::Task,
};

/// Everything about a training, as it is saved beside the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoSettings {
    pub network: GoShape,
    /// Where the data is.
    pub data: GoData,
    /// Weight of the value's squared error beside the policy's cross-entropy.
    pub value_weight: f32,
    /// Weight of the owners' cross-entropy, a mean over the points; 0 for no third head. Games know it, chunks do not.
    pub owner_weight: f32,
    /// The step at which the value head starts anew as a count of what the third head finds owned.
    pub count_from: Option<u64>,
    /// How to train.
    pub training: TrainSettings,
}

impl Default for GoSettings {
    fn default() -> Self {
        Self {
            network: GoShape::default(),
            data: GoData::default(),
            value_weight: 1.0,
            owner_weight: 0.0,
            count_from: None,
            training: TrainSettings::default(),
        }
    }
}

impl GoSettings {
    /// Whether there is a third head.
    pub fn learns_owners(&self) -> bool {
        self.owner_weight > 0.0
    }
}

/// Where Go positions come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GoData {
    /// SGF files, folders, or tar archives of them.
    pub games: Vec<PathBuf>,
    /// Leela Zero training chunks, or folders of them.
    pub chunks: Vec<PathBuf>,
    /// Share of the games (or chunk files) kept out for tests.
    pub test_share: f64,
    /// Learn who wins from even games only, as many won by Black as by White; the others teach moves.
    pub fair_results: bool,
    /// Learn from games with a fair result alone, moves too.
    pub only_fair: bool,
    /// Share of the positions of a chunk that are used; Leela Zero's trainer takes one in sixteen.
    pub sample_share: f64,
    /// Positions of chunks shuffled at a time.
    pub shuffle_buffer: usize,
}

impl Default for GoData {
    fn default() -> Self {
        Self {
            games: Vec::new(),
            chunks: Vec::new(),
            test_share: 0.03,
            fair_results: true,
            only_fair: false,
            sample_share: 1.0 / 16.0,
            shuffle_buffer: 1 << 17,
        }
    }
}

enum Source {
    Games {
        train: Games,
        test: Games,
        order: Shuffle,
        test_order: Shuffle,
    },
    Chunks {
        stream: Box<ChunkStream>,
        test: Vec<GoExample>,
    },
    Memory {
        train: Vec<GoExample>,
        test: Vec<GoExample>,
        order: Shuffle,
    },
}

/// How many games teach more than moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taught {
    /// Games that teach who wins.
    pub winner: usize,
    /// Games that teach who owns the points in the end.
    pub owners: usize,
}

/// A Go training.
pub struct GoTask {
    settings: GoSettings,
    model: Model,
    source: Source,
    report: LoadReport,
    taught: Taught,
    writer: Writer,
    input: Batch,
    policy: Batch,
    outcome: Vec<f32>,
    owners: Batch,
}

/// Two measures that others ask for by name.
pub(crate) const POLICY_LOSS: &str = "policy loss";
pub(crate) const VALUE_ERROR: &str = "value error";

/// What is measured; the last one if there is a head for it.
const MEASURES: [&str; 6] = [
    "loss",
    POLICY_LOSS,
    "move accuracy",
    VALUE_ERROR,
    "winner accuracy",
    "owner accuracy",
];
const OWNER_MEASURE: usize = 5;
/// Leela Zero reports the squared error of a value in -1..1 as that of a chance in 0..1.
const VALUE_ERROR_SHARE: f64 = 0.25;
/// Positions of chunks kept for tests.
const CHUNK_TEST_POSITIONS: usize = 1 << 14;

impl GoTask {
    /// Reads the data and makes a network with random weights.
    pub fn new(settings: GoSettings) -> Result<Self, DataError> {
        let size = board_size(&settings)?;
        let seed = settings.training.seed;
        let data = &settings.data;
        let mut taught = Taught::default();
        let (source, report) = if data.chunks.is_empty() {
            let (mut train, report) = Games::read(&data.games, size)?;
            if data.fair_results || data.only_fair {
                train.keep_fair_results();
            }
            if data.only_fair {
                train.keep_games_with_winner();
            }
            if settings.learns_owners() {
                train.find_owners();
            }
            taught = Taught {
                winner: train.with_winner(),
                owners: train.with_owners(),
            };
            let test = train.take_out(data.test_share);
            if train.is_empty() {
                let place = format!("{} games", report.games);
                let hint = ": all of them were kept out for tests, lower the test share".to_owned();
                return Err(DataError::Nothing {
                    what: "games to train on",
                    place,
                    hint,
                });
            }
            let source = Source::Games {
                order: Shuffle::new(train.positions(), mix(seed)),
                test_order: Shuffle::new(test.positions().max(1), 0),
                train,
                test,
            };
            (source, report)
        } else {
            open_chunks(data, size, seed)?
        };
        let mut task = Self::with_source(settings, size, source, report);
        task.taught = taught;
        Ok(task)
    }

    /// Trains on positions in memory, such as those of recent self-play.
    pub fn from_examples(
        settings: GoSettings,
        train: Vec<GoExample>,
        test: Vec<GoExample>,
    ) -> Result<Self, DataError> {
        let size = board_size(&settings)?;
        if train.is_empty() {
            return Err(DataError::Nothing {
                what: "positions to train on",
                place: "memory".to_owned(),
                hint: String::new(),
            });
        }
        let order = Shuffle::new(train.len() as u64, mix(settings.training.seed));
        let source = Source::Memory { train, test, order };
        let report = LoadReport::default();
        Ok(Self::with_source(settings, size, source, report))
    }

    fn with_source(
        settings: GoSettings,
        size: BoardSize,
        source: Source,
        report: LoadReport,
    ) -> Self {
        let moves = size.area() + 1;
        let seed = settings.training.seed;
        Self {
            model: model::build(
                settings.network,
                settings.learns_owners(),
                seed,
                settings.training.threads,
            ),
            source,
            report,
            taught: Taught::default(),
            writer: Writer::new(size),
            input: Batch::default(),
            policy: Batch::zeros(Shape::Row(moves), 0),
            outcome: Vec::new(),
            owners: Batch::zeros(Shape::Row(size.area()), 0),
            settings,
        }
    }

    /// What was read and left out.
    pub fn report(&self) -> &LoadReport {
        match &self.source {
            Source::Games { .. } | Source::Memory { .. } => &self.report,
            Source::Chunks { stream, .. } => &stream.report,
        }
    }

    /// How many of the games teach more than moves.
    pub fn taught(&self) -> Taught {
        self.taught
    }

    /// Positions to train on and kept out; unknown for a stream.
    pub fn positions(&self) -> Option<(u64, u64)> {
        match &self.source {
            Source::Games { train, test, .. } => Some((train.positions(), test.positions())),
            Source::Memory { train, test, .. } => Some((train.len() as u64, test.len() as u64)),
            Source::Chunks { .. } => None,
        }
    }

    /// Starts from the weights of another network.
    pub fn start_from(&mut self, network: &LeelaNetwork) -> Result<(), OtherShape> {
        model::from_leela(&mut self.model, self.settings.network, network)
    }

    /// Starts from the weights of another training's checkpoint, and from nothing else of it.
    pub fn resume_weights(&mut self, checkpoint: &Path) -> Result<(), CheckpointError> {
        let rule = self.settings.training.optimiser;
        checkpoint::load_weights(checkpoint, &mut self.model, rule)
    }

    /// The network as it stands.
    pub fn network(&mut self) -> LeelaNetwork {
        model::to_leela(&mut self.model, self.settings.network)
    }

    fn example(&mut self, part: Part, place: u64) -> Result<Option<GoExample>, DataError> {
        Ok(match (&mut self.source, part) {
            (Source::Games { train, order, .. }, Part::Train) => {
                Some(train.example(order.at(place)))
            }
            (
                Source::Games {
                    test, test_order, ..
                },
                Part::Test,
            ) => (place < test.positions()).then(|| test.example(test_order.at(place))),
            (Source::Chunks { stream, .. }, Part::Train) => Some(stream.next_example()?),
            (Source::Memory { train, order, .. }, Part::Train) => {
                Some(train[order.at(place) as usize].clone())
            }
            (Source::Chunks { test, .. } | Source::Memory { test, .. }, Part::Test) => {
                test.get(place as usize).cloned()
            }
        })
    }
}

fn board_size(settings: &GoSettings) -> Result<BoardSize, DataError> {
    BoardSize::new(settings.network.size).ok_or_else(|| DataError::Nothing {
        what: "board",
        place: format!("{0}x{0}", settings.network.size),
        hint: ": sizes go from 2 to 25".to_owned(),
    })
}

fn open_chunks(
    data: &GoData,
    size: BoardSize,
    seed: u64,
) -> Result<(Source, LoadReport), DataError> {
    let (files, test_files) = chunks::split(chunks::find(&data.chunks)?, data.test_share);
    let mut report = LoadReport::default();
    let mut test = Vec::new();
    for file in &test_files {
        let records = chunks::read_file(file, size, &mut report)?;
        test.extend(records.into_iter().map(chunks::example));
        if test.len() >= CHUNK_TEST_POSITIONS {
            break;
        }
    }
    let order = Shuffle::new(test.len().max(1) as u64, 0);
    let test = (0..test.len() as u64)
        .map(|place| test[order.at(place) as usize].clone())
        .collect();
    let stream = ChunkStream::new(files, size, data.sample_share, data.shuffle_buffer, seed);
    Ok((
        Source::Chunks {
            stream: Box::new(stream),
            test,
        },
        report,
    ))
}

impl Task for GoTask {
    fn title(&self) -> String {
        let GoShape {
            size,
            blocks,
            filters,
        } = self.settings.network;
        format!("Go {size}x{size}, {blocks} blocks of {filters} filters")
    }

    fn measures(&self) -> &[&'static str] {
        match self.settings.learns_owners() {
            true => &MEASURES,
            false => &MEASURES[..OWNER_MEASURE],
        }
    }

    fn model(&mut self) -> &mut dyn Trainable {
        &mut self.model
    }

    fn begin_step(&mut self, step: u64) {
        if self.settings.count_from == Some(step) && self.settings.learns_owners() {
            model::count_owners(&mut self.model, self.settings.network);
        }
    }

    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError> {
        self.input.fit(self.model.input(), samples);
        self.policy.fit(self.policy.shape, samples);
        self.outcome.resize(samples, 0.0);
        self.owners.fit(self.owners.shape, samples);
        let seed = mix(self.settings.training.seed ^ mix(number));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let batch = self.settings.training.batch as u64;
        let area = self.owners.shape.len();
        for index in 0..samples {
            let Some(example) = self.example(part, number * batch + index as u64)? else {
                self.input.fit(self.model.input(), index);
                self.policy.fit(self.policy.shape, index);
                self.outcome.truncate(index);
                self.owners.fit(self.owners.shape, index);
                return Ok(index);
            };
            let symmetry = match part {
                Part::Train => Symmetry::ALL[random.random_range(0..Symmetry::COUNT)],
                Part::Test => Symmetry::IDENTITY,
            };
            self.writer.write(
                &example,
                symmetry,
                index,
                &mut self.input,
                &mut self.policy,
                &mut self.outcome,
            );
            if self.settings.learns_owners() {
                let row = &mut self.owners.sample_mut(index)[..area];
                self.writer.write_owners(&example, symmetry, row);
            }
        }
        Ok(samples)
    }

    fn forward(&mut self, mode: Mode) -> Vec<Tally> {
        self.model.forward(&self.input, mode);
        let (logits, gradient) = self.model.output_and_gradient(POLICY_HEAD);
        let [policy, right] = loss::cross_entropy(logits, &self.policy, 1.0, gradient);
        let weight = self.settings.value_weight;
        let (values, gradient) = self.model.output_and_gradient(VALUE_HEAD);
        let [value, winner] =
            loss::squared(values, Squash::Tanh, &self.outcome, 0.0, weight, gradient);
        let mut total = Tally {
            sum: policy.sum + f64::from(weight) * value.sum,
            count: policy.count,
        };
        let value = Tally {
            sum: value.sum * VALUE_ERROR_SHARE,
            ..value
        };
        if !self.settings.learns_owners() {
            return vec![total, policy, right, value, winner];
        }
        let weight = self.settings.owner_weight;
        let (logits, gradient) = self.model.output_and_gradient(OWNER_HEAD);
        let [owner, owned] = loss::logistic(logits, &self.owners, weight, gradient);
        total.sum += f64::from(weight) * owner.mean().unwrap_or(0.0) * total.count;
        vec![total, policy, right, value, winner, owned]
    }

    fn backward(&mut self) {
        self.model.backward(&self.input);
    }

    fn write_network(&mut self, folder: &Path, stem: &str) -> Result<PathBuf, io::Error> {
        let text = self.network().to_text(TextStyle::default());
        let path = folder.join(format!("{stem}.txt.gz"));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&text)?;
        write_whole(&path, &encoder.finish()?)?;
        Ok(path)
    }

    fn position(&self) -> serde_json::Value {
        match &self.source {
            Source::Games { .. } | Source::Memory { .. } => serde_json::Value::Null,
            Source::Chunks { stream, .. } => {
                json!({ "files": stream.files_read, "of": stream.files() })
            }
        }
    }

    fn seek(&mut self, position: &serde_json::Value) {
        if let (Source::Chunks { stream, .. }, Some(files)) =
            (&mut self.source, position["files"].as_u64())
        {
            stream.seek(files, position["of"].as_u64());
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
