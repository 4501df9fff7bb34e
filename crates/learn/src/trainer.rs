//! The loop: batches in, steps, tests, checkpoints, curves and networks out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use thiserror::Error;

use crate::average::Average;
use crate::checkpoint::{self, CheckpointError, Progress};
use crate::curves;
use crate::data::DataError;
use crate::device::{DeviceError, Engine};
use crate::events::EventFile;
use crate::history::{History, Part, Row};
use crate::layer::Mode;
use crate::loss::Tally;
use crate::optimiser::Optimiser;
use crate::settings::{SettingsError, TrainSettings};
use crate::trainable::Trainable;
use base::write_whole;
use base::{LockError, LockedFolder};

/// Files of a run's folder.
pub mod name {
    /// Everything needed to resume.
    pub const CHECKPOINT: &str = "checkpoint.bin";
    /// Written when a training begins; a resumed one must agree with it.
    pub const SETTINGS: &str = "settings.toml";
    /// The curves as a picture.
    pub const CURVES: &str = "curves.svg";
    /// The curves as a table.
    pub const HISTORY: &str = "history.csv";
    /// The network as it stands, without extension.
    pub const NETWORK: &str = "network";
    /// The averaged network, without extension.
    pub const AVERAGED: &str = "network-averaged";
}

/// A network to be trained with the data to train it on.
pub trait Task {
    /// One line for the picture.
    fn title(&self) -> String;

    /// What [`Self::forward`] measures; the first is the loss that training lowers.
    fn measures(&self) -> &[&'static str];

    fn model(&mut self) -> &mut dyn Trainable;

    /// Called when a step of the training begins.
    fn begin_step(&mut self, _step: u64) {}

    /// Gets batch `number` ready and returns the number of its samples: fewer than asked, or none, at the end of a test set.
    fn load(&mut self, part: Part, number: u64, samples: usize) -> Result<usize, DataError>;

    /// Runs the batch that was loaded and sets the gradients of the heads' outputs.
    fn forward(&mut self, mode: Mode) -> Vec<Tally>;

    /// Sets the parameters' gradients.
    fn backward(&mut self);

    /// Writes the network to `folder`; `stem` is the file's name without extension. Returns the file.
    fn write_network(&mut self, folder: &Path, stem: &str) -> Result<PathBuf, io::Error>;

    /// Where the data stands, to be kept in a checkpoint.
    fn position(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Resumes the data source from a position that a checkpoint kept.
    fn seek(&mut self, _position: &serde_json::Value) {}
}

/// Why a training ended early.
#[derive(Debug, Error)]
pub enum TrainError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Another process trains in the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// What to train on.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A file of the run's folder.
    #[error("cannot write {}: {error}", path.display())]
    File {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// Training blew up.
    #[error("the loss is not a number at step {step}: {advice}")]
    Diverged {
        step: u64,
        /// What to try next.
        advice: &'static str,
    },
}

/// A line of progress.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    pub step: u64,
    pub steps: u64,
    /// Which samples the numbers are from.
    pub part: Part,
    /// Names and means, the loss first.
    pub values: Vec<(&'a str, Option<f64>)>,
    /// Learning rate.
    pub rate: f32,
    /// Samples trained on a second, since the last line.
    pub samples_per_second: f64,
    /// Seconds left at that speed.
    pub seconds_left: f64,
}

/// What a training made.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub history: History,
    pub network: PathBuf,
    /// The averaged network, if averaging was on.
    pub averaged: Option<PathBuf>,
    /// Steps done before this run.
    pub resumed_at: u64,
    /// Whether all steps are done; otherwise the training was stopped and can be resumed.
    pub is_finished: bool,
}

/// Trains a task in a folder, resuming from its checkpoint if there is one. `observe` is told of progress and returns
/// whether to go on; when it says no, the run is saved and ends.
pub fn train(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &Path,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
) -> Result<Outcome, TrainError> {
    settings.check()?;
    let engine = settings.device.engine()?;
    train_in(
        task,
        settings,
        &LockedFolder::take(folder)?,
        engine,
        &AtomicBool::new(false),
        observe,
    )
}

/// Trains to the end and returns what was measured; nothing when `on_progress`, which is told the steps done and due
/// after every step, returned false. Then the training was saved and the same call resumes it.
pub fn train_to_end(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &Path,
    on_progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Option<History>, TrainError> {
    settings.check()?;
    let engine = settings.device.engine()?;
    let locked = LockedFolder::take(folder)?;
    let mut stopped = false;
    let mut observe = |_: &Report<'_>| true;
    let mut each_step = |step, steps| {
        stopped = !on_progress(step, steps);
        !stopped
    };
    let outcome = run(
        task,
        settings,
        locked.path(),
        engine,
        &mut observe,
        &mut each_step,
    );
    task.model().leave_engine();
    Ok((!stopped).then_some(outcome?.history))
}

/// The same in a folder already taken, with what computes in place of the model's layers already chosen. Once `stop` is
/// set, the training is saved after the step under way and ends.
pub fn train_in(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &LockedFolder,
    engine: Option<Box<dyn Engine>>,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
) -> Result<Outcome, TrainError> {
    settings.check()?;
    let mut each_step = |_, _| !stop.load(Ordering::Relaxed);
    let outcome = run(
        task,
        settings,
        folder.path(),
        engine,
        observe,
        &mut each_step,
    );
    task.model().leave_engine();
    outcome
}

/// Refuses a folder whose checkpoint cannot be resumed, before anything in it is changed.
pub fn check(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &LockedFolder,
) -> Result<(), TrainError> {
    settings.check()?;
    let mut optimiser = Optimiser::new(settings.optimiser, settings.decay, None);
    let checkpoint = folder.path().join(name::CHECKPOINT);
    let mut average = Average::default();
    checkpoint::load(&checkpoint, task.model(), &mut optimiser, &mut average)?;
    Ok(())
}

fn run(
    task: &mut dyn Task,
    settings: &TrainSettings,
    folder: &Path,
    engine: Option<Box<dyn Engine>>,
    observe: &mut dyn FnMut(&Report<'_>) -> bool,
    each_step: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Outcome, TrainError> {
    let mut run = Run::open(task, settings, folder, engine)?;
    let resumed_at = run.progress.step;
    let mut wants_more = true;
    while run.progress.step < settings.steps && wants_more {
        wants_more = run.advance(observe)?;
        wants_more &= each_step(run.progress.step, settings.steps);
    }
    let network = run.save()?;
    let is_finished = run.progress.step >= settings.steps;
    let averaged = if is_finished {
        run.write_average()?
    } else {
        None
    };
    Ok(Outcome {
        history: run.progress.history,
        network,
        averaged,
        resumed_at,
        is_finished,
    })
}

struct Run<'a> {
    task: &'a mut dyn Task,
    settings: &'a TrainSettings,
    folder: &'a Path,
    measures: Vec<&'static str>,
    progress: Progress,
    optimiser: Optimiser,
    average: Average,
    events: EventFile,
    reported: Instant,
    saved: Instant,
    /// Seconds spent testing or saving since the last line: no part of the speed of training.
    paused: f64,
}

impl<'a> Run<'a> {
    fn open(
        task: &'a mut dyn Task,
        settings: &'a TrainSettings,
        folder: &'a Path,
        engine: Option<Box<dyn Engine>>,
    ) -> Result<Self, TrainError> {
        let clip = (settings.clip > 0.0).then_some(settings.clip);
        let mut optimiser = Optimiser::new(settings.optimiser, settings.decay, clip);
        let mut average = Average::default();
        let measures = task.measures().to_vec();
        let checkpoint = folder.join(name::CHECKPOINT);
        let progress = checkpoint::load(&checkpoint, task.model(), &mut optimiser, &mut average)?;
        let mut progress = match progress {
            Some(progress) => {
                task.seek(&progress.position);
                progress
            }
            None => Progress {
                history: History::new(&measures),
                ..Progress::default()
            },
        };
        if let Some(engine) = engine {
            task.model().move_to(engine, &mut optimiser)?;
        }
        progress.tallies.resize(measures.len(), Tally::default());
        let events =
            EventFile::create(folder, progress.step).map_err(|error| TrainError::File {
                path: folder.to_owned(),
                error,
            })?;
        Ok(Self {
            task,
            settings,
            folder,
            measures,
            progress,
            optimiser,
            average,
            events,
            reported: Instant::now(),
            saved: Instant::now(),
            paused: 0.0,
        })
    }

    /// One step, and whatever is due after it.
    fn advance(
        &mut self,
        observe: &mut dyn FnMut(&Report<'_>) -> bool,
    ) -> Result<bool, TrainError> {
        let settings = self.settings;
        let step = self.progress.step;
        self.task.begin_step(step);
        self.task.load(Part::Train, step, settings.batch)?;
        let seed = settings.seed ^ step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let tallies = self.task.forward(Mode::Train { seed });
        self.task.model().check_engine()?;
        if tallies[0].mean().is_some_and(|loss| !loss.is_finite()) {
            let has_checkpoint = self.folder.join(name::CHECKPOINT).exists();
            let advice = if has_checkpoint {
                "run the same command with a lower --rate, or with `clip` in settings.toml; it resumes from the last checkpoint"
            } else {
                "run the same command with a lower --rate, or with `clip` in settings.toml"
            };
            return Err(TrainError::Diverged { step, advice });
        }
        self.task.backward();
        let rate = settings.schedule.at(step, settings.steps);
        self.task.model().step(&mut self.optimiser, rate);
        self.progress
            .tallies
            .iter_mut()
            .zip(tallies)
            .for_each(|(sum, tally)| sum.merge(tally));
        self.progress.step += 1;
        let step = self.progress.step;
        let last = step == settings.steps;

        let averaging = step as f64 > settings.average.from * settings.steps as f64;
        if !averaging {
            // What a shorter training left behind, before it was given more steps, is not of this average.
            self.average = Average::default();
        }
        if averaging && (step.is_multiple_of(settings.average.every.max(1)) || last) {
            self.task.model().fetch(&mut self.optimiser)?;
            self.average.add(self.task.model(), settings.average.most);
        }
        let mut wants_more = true;
        if step.is_multiple_of(settings.report_every) || last {
            let tallies = std::mem::replace(
                &mut self.progress.tallies,
                vec![Tally::default(); self.measures.len()],
            );
            let done = (step - 1) % settings.report_every + 1;
            wants_more &= self.record(Part::Train, &tallies, rate, done, observe)?;
            self.reported = Instant::now();
            self.paused = 0.0;
        }
        if step.is_multiple_of(settings.test_every) || last {
            let began = Instant::now();
            let tallies = if settings.average.tested && self.average.count() > 0 && !last {
                self.test_average()?
            } else {
                self.test()?
            };
            wants_more &= self.record(Part::Test, &tallies, rate, 0, observe)?;
            self.paused += began.elapsed().as_secs_f64();
        }
        if self.saved.elapsed().as_secs() >= settings.checkpoint_seconds {
            let began = Instant::now();
            self.save()?;
            self.paused += began.elapsed().as_secs_f64();
        }
        Ok(wants_more)
    }

    fn test(&mut self) -> Result<Vec<Tally>, TrainError> {
        let mut tallies = vec![Tally::default(); self.measures.len()];
        let mut left = self.settings.test_samples;
        for number in 0.. {
            let asked = left.min(self.settings.batch);
            let loaded = if asked == 0 {
                0
            } else {
                self.task.load(Part::Test, number, asked)?
            };
            if loaded == 0 {
                break;
            }
            let found = self.task.forward(Mode::Evaluate);
            self.task.model().check_engine()?;
            tallies
                .iter_mut()
                .zip(found)
                .for_each(|(sum, tally)| sum.merge(tally));
            left -= loaded;
        }
        Ok(tallies)
    }

    /// Tests and writes the averaged network; the training goes on as if nothing had happened.
    fn test_average(&mut self) -> Result<Vec<Tally>, TrainError> {
        self.task.model().fetch(&mut self.optimiser)?;
        let model = self.task.model();
        let kept: Vec<Vec<f32>> = model
            .statistics_mut()
            .into_iter()
            .map(|it| it.clone())
            .collect();
        self.become_average()?;
        let tallies = self.test()?;
        self.write_network(name::AVERAGED)?;
        self.average.swap(self.task.model());
        let model = self.task.model();
        model.resume_statistics();
        for (statistic, kept) in model.statistics_mut().into_iter().zip(kept) {
            *statistic = kept;
        }
        model.send(&mut self.optimiser);
        Ok(tallies)
    }

    fn record(
        &mut self,
        part: Part,
        tallies: &[Tally],
        rate: f32,
        steps_done: u64,
        observe: &mut dyn FnMut(&Report<'_>) -> bool,
    ) -> Result<bool, TrainError> {
        let step = self.progress.step;
        let values: Vec<Option<f64>> = tallies.iter().map(|tally| tally.mean()).collect();
        let prefix = match part {
            Part::Train => "train",
            Part::Test => "test",
        };
        let tags: Vec<String> = self
            .measures
            .iter()
            .map(|measure| format!("{prefix}/{measure}"))
            .collect();
        let mut scalars: Vec<(&str, f64)> = tags
            .iter()
            .zip(&values)
            .filter_map(|(tag, value)| Some((tag.as_str(), (*value)?)))
            .collect();
        let seconds = (self.reported.elapsed().as_secs_f64() - self.paused).max(1e-9);
        let samples_per_second = (steps_done as usize * self.settings.batch) as f64 / seconds;
        if part == Part::Train {
            scalars.push(("train/rate", f64::from(rate)));
            scalars.push(("train/samples per second", samples_per_second));
        }
        self.events
            .scalars(step, &scalars)
            .map_err(|error| TrainError::File {
                path: self.events.path().to_owned(),
                error,
            })?;
        let report = Report {
            step,
            steps: self.settings.steps,
            part,
            values: self
                .measures
                .iter()
                .copied()
                .zip(values.iter().copied())
                .collect(),
            rate,
            samples_per_second,
            seconds_left: (self.settings.steps - step) as f64 * seconds / steps_done.max(1) as f64,
        };
        let wants_more = observe(&report);
        self.progress.history.rows.push(Row { step, part, values });
        Ok(wants_more)
    }

    /// Writes checkpoint, network, table and picture; each is whole at any moment.
    fn save(&mut self) -> Result<PathBuf, TrainError> {
        self.progress.position = self.task.position();
        self.task.model().fetch(&mut self.optimiser)?;
        checkpoint::save(
            &self.folder.join(name::CHECKPOINT),
            &self.progress,
            self.task.model(),
            &self.optimiser,
            &self.average,
        )?;
        let network = self.write_network(name::NETWORK)?;
        let picture = curves::svg(&self.progress.history, &self.task.title());
        for (name, text) in [
            (name::HISTORY, self.progress.history.to_csv()),
            (name::CURVES, picture),
        ] {
            let path = self.folder.join(name);
            write_whole(&path, text.as_bytes())
                .map_err(|error| TrainError::File { path, error })?;
        }
        self.saved = Instant::now();
        Ok(network)
    }

    fn write_network(&mut self, stem: &str) -> Result<PathBuf, TrainError> {
        self.task
            .write_network(self.folder, stem)
            .map_err(|error| TrainError::File {
                path: self.folder.join(stem),
                error,
            })
    }

    /// Writes the averaged network with statistics of its own; the model keeps the averaged weights.
    fn write_average(&mut self) -> Result<Option<PathBuf>, TrainError> {
        if self.average.count() == 0 {
            return Ok(None);
        }
        self.become_average()?;
        self.write_network(name::AVERAGED).map(Some)
    }

    /// Swaps the averaged weights in, and takes their statistics from a few batches.
    fn become_average(&mut self) -> Result<(), TrainError> {
        self.average.swap(self.task.model());
        self.task.model().send(&mut self.optimiser);
        self.task.model().restart_statistics();
        for number in 0..self.settings.average.refresh {
            let step = self.settings.steps + number;
            self.task.load(Part::Train, step, self.settings.batch)?;
            self.task.forward(Mode::Train {
                seed: self.settings.seed ^ step,
            });
            self.task.model().check_engine()?;
        }
        self.task.model().fetch(&mut self.optimiser)?;
        Ok(())
    }
}
