//! `tengen train safety`: a network that says whether a group is safe.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use learn::trainer::name;
use safety_training::{SafetyDesign, SafetySettings, SafetyTask, find_files};

use super::{Common, absolute, progress};

/// Train a network on labelled positions in TFRecord files.
///
/// Test on positions of other problems than those learnt from, or the figures mean nothing.
/// Designs: ours (a residual tower), dense and pooled (the two original ones, with their recipes).
///
/// Records for the dense design are packed with tsumego pack --planes 13, for the pooled one with --planes 5.
///
/// Example: tengen train safety --data main.tfrecords --test test.tfrecords --steps 10000 --out runs/safety
///
/// Example: tengen train safety --data main.tfrecords --test test.tfrecords --design dense --out runs/dense
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// TFRecord file to learn from, or folder of them; may be given more than once.
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// TFRecord file to test on, or folder of them; may be given more than once.
    #[arg(long, value_name = "PATH")]
    test: Vec<PathBuf>,
    /// Which network.
    #[arg(long, value_enum)]
    design: Option<Design>,
    /// Residual blocks.
    #[arg(long)]
    blocks: Option<usize>,
    /// Filters, or width of the dense layers.
    #[arg(long)]
    filters: Option<usize>,
    /// Rows and columns around the target.
    #[arg(long)]
    window: Option<usize>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Design {
    Ours,
    Dense,
    Pooled,
}

/// Trains.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let fresh = args.common.settings.is_none() && !args.common.out.join(name::SETTINGS).exists();
    let design = args.design.map(|design| match design {
        Design::Ours => SafetyDesign::Ours,
        Design::Dense => SafetyDesign::Dense,
        Design::Pooled => SafetyDesign::Pooled,
    });
    let mut settings: SafetySettings = match design {
        Some(design @ (SafetyDesign::Dense | SafetyDesign::Pooled)) if fresh => {
            SafetySettings::original(design)
        }
        _ => args.common.settings()?,
    };
    if design.is_some_and(|design| design != settings.network.design) {
        bail!(
            "the settings at hand are for another design: choose another folder, or leave out --design"
        );
    }
    args.common.apply(&mut settings.training);
    let engine = settings.training.device.engine()?;
    let shape = &mut settings.network;
    shape.blocks = args.blocks.unwrap_or(shape.blocks);
    shape.filters = args.filters.unwrap_or(shape.filters);
    shape.window = args.window.unwrap_or(shape.window);
    if shape.filters == 0 || shape.window.is_multiple_of(2) {
        bail!("--filters must be at least 1 and --window odd");
    }
    let files = |paths: &[PathBuf]| -> anyhow::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for path in absolute(paths) {
            found.extend(find_files(&path)?);
        }
        Ok(found)
    };
    if !args.data.is_empty() {
        settings.data.train = files(&args.data)?;
    }
    if !args.test.is_empty() {
        settings.data.test = files(&args.test)?;
    }
    if settings.data.train.is_empty() {
        bail!("nothing to learn from: give --data with TFRecord files");
    }
    settings.training.check()?;
    let mut task = SafetyTask::new(settings)?;
    let settings = task.settings().clone();
    progress::print_skipped(task.report());
    let (train, test) = task.positions();
    match test {
        0 => eprintln!(
            "{train} positions to learn from, none to test on: only losses on what is learned are shown"
        ),
        test => eprintln!("{train} positions to learn from, {test} to test on"),
    }
    args.common
        .train(&mut task, &settings, &settings.training, engine)
}
