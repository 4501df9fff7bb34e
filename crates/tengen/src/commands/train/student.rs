//! `tengen train student`: a Go network for every board, taught by a stronger one.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{bail, ensure};
use go_training::student::{SizeShare, StudentSettings, StudentTask};
use learn::device::{Device, DeviceError};

use super::{Common, absolute, progress};
use crate::commands::label::{Sizes, sizes};

/// Train a Go network for every board from the labels of a stronger one.
///
/// The labels are those of `tengen label`. The network plays on boards from 2x2 to 25x25, is told
/// komi and rules, and says policy, winning chance, lead, spread of the score and ownership. Games are
/// split into those to learn from and those to test on; positions are turned and mirrored at random,
/// and board sizes are mixed inside every batch. Tests are of the weights averaged over the last steps,
/// which are written as network-averaged.net after each test.
///
/// Example: tengen train student --labels nine.log --labels kgs.log --steps 20000 --out runs/student
/// Example: tengen train student --labels all.log --sizes 9:1,19:3 --out runs/student
/// Example: tengen train student --labels more.log --from nets/go.net --rate 0.002 --out runs/further
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// File of labels; may be given more than once.
    #[arg(long, value_name = "FILE")]
    labels: Vec<PathBuf>,
    /// How often labels of some board sizes are taken in a round, others once: 9:0.5,19:3
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    sizes: Option<Sizes>,
    /// Residual blocks.
    #[arg(long)]
    blocks: Option<usize>,
    /// Channels.
    #[arg(long)]
    channels: Option<usize>,
    /// Network to start from, written by such a training.
    #[arg(long, value_name = "NETWORK")]
    from: Option<PathBuf>,
}

/// Trains.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut settings: StudentSettings = args.common.settings()?;
    args.common.apply(&mut settings.training);
    if settings.training.device != Device::Cpu {
        return Err(DeviceError::OnlyProcessor.into());
    }
    let shape = &mut settings.network;
    shape.blocks = args.blocks.unwrap_or(shape.blocks);
    shape.channels = args.channels.unwrap_or(shape.channels);
    ensure!(
        shape.blocks > 0 && shape.channels > 0,
        "--blocks and --channels must be at least 1"
    );
    if !args.labels.is_empty() {
        settings.data.labels = absolute(&args.labels);
    }
    if settings.data.labels.is_empty() {
        bail!("nothing to learn from: give --labels");
    }
    if let Some(sizes) = &args.sizes {
        let shares = sizes.iter();
        settings.data.shares = shares
            .map(|&(size, share)| SizeShare { size, share })
            .collect();
    }
    settings.training.check()?;
    let mut task = StudentTask::new(settings.clone())?;
    if let Some(path) = &args.from {
        let network = net::load(path)?;
        task.start_from(&network)?;
    }
    let (train, test) = task.counts();
    eprintln!("{} games", task.games());
    progress::print_amounts("labels", train as u64, test as u64);
    let sizes: Vec<String> = task
        .by_size()
        .iter()
        .map(|(size, count)| format!("{count} on {size}x{size}"))
        .collect();
    eprintln!("to learn from: {}", sizes.join(", "));
    args.common
        .train(&mut task, &settings, &settings.training, None)
}
