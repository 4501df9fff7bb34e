//! `tengen train mario`: a Dr. Mario network.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use learn::trainer::name;
use mario_training::{MarioDesign, MarioSettings, MarioTask};

use super::{Common, absolute, progress};

/// Train a Dr. Mario network from examples or recorded games.
///
/// The result is a network in our compact format, which tengen mario loads.
///
/// Example: tengen train mario --data games.txt --blocks 4 --filters 32 --steps 5000 --out runs/mario
///
/// Example: tengen train mario --data round0.json --original --blocks 1 --filters 8 --out runs/original
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Examples (*.json) or recorded games (anything else), or a folder of them; may be given more than once.
    #[arg(long, value_name = "PATH")]
    data: Vec<PathBuf>,
    /// The original design with its loss and recipe, instead of ours.
    #[arg(long)]
    original: bool,
    /// Residual blocks.
    #[arg(long)]
    blocks: Option<usize>,
    /// Filters.
    #[arg(long)]
    filters: Option<usize>,
    /// Share of the games kept out for tests.
    #[arg(long)]
    test_share: Option<f64>,
}

/// Trains.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let fresh = args.common.settings.is_none() && !args.common.out.join(name::SETTINGS).exists();
    let mut settings: MarioSettings = if fresh && args.original {
        MarioSettings::original()
    } else {
        args.common.settings()?
    };
    if args.original && settings.network.design != MarioDesign::Original {
        bail!(
            "the settings at hand are for our design: choose another folder, or leave out --original"
        );
    }
    args.common.apply(&mut settings.training);
    let engine = settings.training.device.engine()?;
    let shape = &mut settings.network;
    shape.blocks = args.blocks.unwrap_or(shape.blocks);
    shape.filters = args.filters.unwrap_or(shape.filters);
    if shape.filters == 0 {
        bail!("--filters must be at least 1");
    }
    settings.data.test_share = args.test_share.unwrap_or(settings.data.test_share);
    if !args.data.is_empty() {
        settings.data.files = absolute(&args.data);
    }
    if settings.data.files.is_empty() {
        bail!("nothing to learn from: give --data");
    }
    settings.training.check()?;
    let mut task = MarioTask::new(settings.clone())?;
    progress::print_skipped(task.report());
    let (train, test) = task.positions();
    progress::print_amounts("examples", train as u64, test as u64);
    args.common
        .train(&mut task, &settings, &settings.training, engine)
}
