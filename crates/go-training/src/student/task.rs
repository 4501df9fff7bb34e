//! The training of a student.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use base::{mix, write_whole};
use go::Symmetry;
use go_player::{SCORE_UNIT, TengenFeatures};
use learn::{
    AverageSettings, DataError, Mode, Part, TrainSettings, Trainable,
    checkpoint::{self, CheckpointError},
    loss::Tally,
    optimiser::{Decay, Rule, Schedule},
    size_free::{SizeFree, SizeFreeBatch, SizeFreeOutputs, SizeFreeShape, VALUES},
    trainer::Task,
};
use net::{
    Network,
    compact::{self, Precision},
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{
    loss::{Errors, MEASURES},
    sample::{Sample, groups},
    samples::{Samples, StudentData},
};
use crate::label::LabelError;

/// The board a written network is laid out for; it can be laid out for any other.
const WRITTEN_SIZE: usize = 19;

/// Batches on which the input of batch norm is measured before a network is trained further.
const MEASURED_BATCHES: u64 = 64;

/// The size of a student.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudentShape {
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the trunk.
    pub channels: usize,
}

impl Default for StudentShape {
    fn default() -> StudentShape {
        StudentShape {
            blocks: 6,
            channels: 64,
        }
    }
}

impl StudentShape {
    /// A network of this size with random weights.
    pub(crate) fn random(self, seed: u64, threads: usize) -> SizeFree {
        let shape = SizeFreeShape {
            planes: TengenFeatures::PLANES,
            globals: TengenFeatures::GLOBALS,
            blocks: self.blocks,
            channels: self.channels,
        };
        SizeFree::new(shape, seed, threads)
    }
}

/// The network as the file of a size-free network has it.
pub(crate) fn file_of(network: &SizeFree) -> Vec<u8> {
    compact::write(&network.export(WRITTEN_SIZE), Precision::F16)
}

/// How to train a student.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudentSettings {
    pub network: StudentShape,
    pub data: StudentData,
    pub training: TrainSettings,
}

impl Default for StudentSettings {
    fn default() -> StudentSettings {
        StudentSettings {
            network: StudentShape::default(),
            data: StudentData::default(),
            training: TrainSettings {
                batch: 64,
                clip: 5.0,
                optimiser: Rule::Adam {
                    beta1: 0.9,
                    beta2: 0.99,
                    epsilon: 1e-8,
                },
                schedule: Schedule {
                    rate: 5e-3,
                    warm_up: 150,
                    then: Decay::Linear {
                        from: 0.7,
                        last: 0.01,
                    },
                },
                average: AverageSettings {
                    from: 0.0,
                    every: 4,
                    most: 80,
                    refresh: 60,
                    tested: true,
                },
                test_samples: 2048,
                ..TrainSettings::default()
            },
        }
    }
}

/// A student with its labels.
pub struct StudentTask {
    settings: StudentSettings,
    network: SizeFree,
    samples: Samples,
    /// The batch that was loaded: where each sample is, and how it is turned.
    loaded: Vec<(Part, u64, Symmetry)>,
    batch: SizeFreeBatch,
    gradient: SizeFreeOutputs,
}

impl StudentTask {
    /// Reads the labels and makes a network with random weights.
    pub fn new(settings: StudentSettings) -> Result<StudentTask, LabelError> {
        let samples = Samples::read(&settings.data, settings.training.seed)?;
        if samples.train(0).is_none() {
            return Err(LabelError::Settings(
                "there are no labels to learn from: give more files, or other shares of sizes"
                    .into(),
            ));
        }
        Ok(StudentTask::of(settings, samples))
    }

    /// A training on samples that are in memory already.
    pub(crate) fn from_samples(
        settings: StudentSettings,
        train: Vec<Arc<Sample>>,
        test: Vec<Arc<Sample>>,
    ) -> StudentTask {
        let samples = Samples::of(train, test, settings.training.seed);
        StudentTask::of(settings, samples)
    }

    fn of(settings: StudentSettings, samples: Samples) -> StudentTask {
        let training = &settings.training;
        StudentTask {
            network: settings.network.random(training.seed, training.threads),
            samples,
            loaded: Vec::new(),
            batch: SizeFreeBatch::default(),
            gradient: SizeFreeOutputs::default(),
            settings,
        }
    }

    /// Takes the weights of a checkpoint, with every digit, and begins anew otherwise.
    pub(crate) fn resume_weights(&mut self, checkpoint: &Path) -> Result<(), CheckpointError> {
        let rule = self.settings.training.optimiser;
        checkpoint::load_weights(checkpoint, &mut self.network, rule)
    }

    /// Starts from the weights of a network that such a training wrote.
    pub fn start_from(&mut self, network: &Network) -> Result<(), LabelError> {
        let batch = self.settings.training.batch;
        let mut batches = Vec::new();
        for number in 0..MEASURED_BATCHES {
            let loaded = self.load(Part::Train, number, batch);
            loaded.map_err(|error| LabelError::Settings(error.to_string()))?;
            batches.push(self.batch.clone());
        }
        let started = self.network.start_from(network, batches.into_iter());
        started.map_err(|error| LabelError::Settings(error.to_string()))
    }

    /// Labels to learn from, and those kept out.
    pub fn counts(&self) -> (usize, usize) {
        self.samples.counts()
    }

    /// Labels to learn from by the side of the board.
    pub fn by_size(&self) -> std::collections::BTreeMap<usize, usize> {
        self.samples.by_size()
    }

    /// Games in the files.
    pub fn games(&self) -> usize {
        self.samples.games
    }

    /// The network as it stands.
    pub fn network(&self) -> Network {
        self.network.export(WRITTEN_SIZE)
    }

    /// The file of the network as it stands.
    pub(crate) fn network_file(&self) -> Vec<u8> {
        file_of(&self.network)
    }

    fn sample(&self, part: Part, place: u64) -> Option<&Sample> {
        match part {
            Part::Train => self.samples.train(place),
            Part::Test => self.samples.test(place),
        }
    }
}

impl Task for StudentTask {
    fn title(&self) -> String {
        let StudentShape { blocks, channels } = self.settings.network;
        format!("Go on every board, {blocks} blocks of {channels} channels")
    }

    fn measures(&self) -> &[&'static str] {
        &MEASURES
    }

    fn model(&mut self) -> &mut dyn Trainable {
        &mut self.network
    }

    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError> {
        let seed = mix(self.settings.training.seed ^ mix(number));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let start = number * self.settings.training.batch as u64;
        let mut loaded = Vec::with_capacity(samples);
        for place in start..start + samples as u64 {
            if self.sample(part, place).is_none() {
                break;
            }
            let symmetry = match part {
                Part::Train => Symmetry::ALL[random.random_range(0..Symmetry::COUNT)],
                Part::Test => Symmetry::IDENTITY,
            };
            loaded.push((part, place, symmetry));
        }
        // Samples of one size lie together.
        loaded.sort_by_key(|&(part, place, _)| self.sample(part, place).map(|it| it.size));
        let found: Vec<&Sample> = loaded
            .iter()
            .filter_map(|&(part, place, _)| match part {
                Part::Train => self.samples.train(place),
                Part::Test => self.samples.test(place),
            })
            .collect();
        let batch = &mut self.batch;
        batch.groups = groups(&found);
        batch.planes.fit(TengenFeatures::PLANES, &batch.groups);
        batch.globals.clear();
        let turned = found.iter().zip(&loaded);
        let mut group = 0;
        let mut index = 0;
        for (sample, &(_, _, symmetry)) in turned {
            if index == batch.groups[group].samples {
                (group, index) = (group + 1, 0);
            }
            sample.write_planes(symmetry, index, group, &mut batch.planes);
            batch.globals.extend(sample.globals);
            index += 1;
        }
        self.loaded = loaded;
        Ok(self.loaded.len())
    }

    fn forward(&mut self, mode: Mode) -> Vec<Tally> {
        let outputs = self.network.forward(&self.batch, mode);
        let gradient = &mut self.gradient;
        gradient.clone_from(outputs);
        let mut errors = Errors::new(self.loaded.len());
        let mut at = 0;
        let (mut policy, mut owners) = (Vec::new(), Vec::new());
        for (group, size) in self.batch.groups.iter().enumerate() {
            let points = size.board.points();
            for index in 0..size.samples {
                let (part, place, symmetry) = self.loaded[at];
                let sample = match part {
                    Part::Train => self.samples.train(place),
                    Part::Test => self.samples.test(place),
                };
                let Some(sample) = sample else { continue };
                sample.write_policy(symmetry, &mut policy);
                sample.write_ownership(symmetry, &mut owners);
                let moves = index * (points + 1)..(index + 1) * (points + 1);
                let cells = index * points..(index + 1) * points;
                let values = &outputs.value[at * VALUES..(at + 1) * VALUES];
                let slopes = &mut gradient.value[at * VALUES..(at + 1) * VALUES];
                let mut loss = errors.policy(
                    size.board.width,
                    &outputs.policy[group][moves.clone()],
                    &policy,
                    sample.entropy,
                    &mut gradient.policy[group][moves],
                );
                loss += errors.win(values[0], sample.winrate, &mut slopes[0]);
                loss += errors.lead(values[1], sample.lead, SCORE_UNIT, &mut slopes[1]);
                let off = values[1] - sample.lead;
                loss += errors.spread(values[2], sample.spread, off, SCORE_UNIT, &mut slopes[2]);
                loss += errors.ownership(
                    &outputs.ownership[group][cells.clone()],
                    &owners,
                    &mut gradient.ownership[group][cells],
                );
                errors.total(loss);
                at += 1;
            }
        }
        errors.into_tallies()
    }

    fn backward(&mut self) {
        self.network.backward(&self.batch, &self.gradient);
    }

    fn write_network(&mut self, folder: &Path, stem: &str) -> Result<PathBuf, io::Error> {
        let path = folder.join(format!("{stem}.net"));
        write_whole(&path, &file_of(&self.network))?;
        Ok(path)
    }
}
