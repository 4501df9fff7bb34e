//! `tengen train`: networks from data.

mod go;
mod mario;
mod progress;
mod safety;
mod student;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::LockedFolder;
use learn::{
    TrainSettings,
    device::{Device, Engine},
    read_settings,
    trainer::{self, Task, name},
    write_settings,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::interrupt;

/// Train a network.
///
/// A training lives in a folder: settings.toml, checkpoint.bin, the network, the curves as
/// history.csv and curves.svg, and event files for TensorBoard. Ctrl-C writes a checkpoint before
/// the program ends, a second one ends it at once; the same command resumes from the last checkpoint.
///
/// Example: tengen train go --games kgs.tar.gz --out runs/go19
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Go(go::Args),
    Mario(mario::Args),
    Safety(safety::Args),
    Student(student::Args),
}

/// Runs the chosen training.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Go(args) => go::run(args),
        What::Mario(args) => mario::run(args),
        What::Safety(args) => safety::run(args),
        What::Student(args) => student::run(args),
    }
}

/// Options of every training.
#[derive(clap::Args)]
struct Common {
    /// Folder of the training; if there is one in it already, it is resumed.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Settings to start with instead of the defaults; options given here come on top.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Steps in all.
    #[arg(long)]
    steps: Option<u64>,
    /// Samples a step.
    #[arg(long)]
    batch: Option<usize>,
    /// Highest learning rate.
    #[arg(long)]
    rate: Option<f32>,
    /// What to train on; a graphics card needs a program built with the feature train-gpu.
    #[arg(long, value_enum)]
    device: Option<DeviceName>,
    /// Threads.
    #[arg(long)]
    threads: Option<usize>,
    /// Seed of everything that is random.
    #[arg(long)]
    seed: Option<u64>,
    /// Steps between two lines of progress.
    #[arg(long)]
    report_every: Option<u64>,
    /// Steps between two tests.
    #[arg(long)]
    test_every: Option<u64>,
    /// Seconds between two checkpoints; Ctrl-C writes one, too.
    #[arg(long, value_name = "SECONDS")]
    checkpoint_seconds: Option<u64>,
    /// Print progress as lines of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DeviceName {
    /// The processor.
    Cpu,
    /// The best graphics card there is.
    Gpu,
}

impl Common {
    /// The settings to begin with: those of the folder, or of the file given, or the defaults.
    fn settings<S: Default + DeserializeOwned>(&self) -> anyhow::Result<S> {
        let saved = self.out.join(name::SETTINGS);
        let file = match &self.settings {
            Some(file) => Some(file.as_path()),
            None => saved.exists().then_some(saved.as_path()),
        };
        Ok(match file {
            Some(file) => read_settings(file)?,
            None => S::default(),
        })
    }

    /// Puts the options on top of the settings.
    fn apply(&self, training: &mut TrainSettings) {
        fn set<T: Copy>(option: Option<T>, setting: &mut T) {
            if let Some(value) = option {
                *setting = value;
            }
        }
        set(self.steps, &mut training.steps);
        set(self.batch, &mut training.batch);
        set(self.rate, &mut training.schedule.rate);
        let device = self.device.map(|name| match name {
            DeviceName::Cpu => Device::Cpu,
            DeviceName::Gpu => Device::Gpu,
        });
        set(device, &mut training.device);
        set(self.threads, &mut training.threads);
        set(self.seed, &mut training.seed);
        set(self.report_every, &mut training.report_every);
        set(self.test_every, &mut training.test_every);
        set(self.checkpoint_seconds, &mut training.checkpoint_seconds);
    }

    /// Takes the folder of the training, saves the settings in it, and trains.
    fn train<S: Serialize>(
        &self,
        task: &mut dyn Task,
        settings: &S,
        training: &TrainSettings,
        engine: Option<Box<dyn Engine>>,
    ) -> anyhow::Result<ExitCode> {
        let folder = LockedFolder::take(&self.out)?;
        // A refused option must not replace the settings with which the training can go on.
        trainer::check(task, training, &folder)?;
        write_settings(&self.out.join(name::SETTINGS), settings)?;
        let stop = interrupt::stop_flag()?;
        let outcome = progress::train(task, training, &folder, engine, self.json, stop)?;
        if !outcome.is_finished {
            return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Paths in saved settings must not depend on where the program was started.
fn absolute(paths: &[PathBuf]) -> Vec<PathBuf> {
    let full =
        |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| Path::new(path).to_owned());
    paths.iter().map(full).collect()
}
