//! `tengen train go`: a network of Leela Zero's kind.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use go_training::{GoSettings, GoShape, GoTask, PRESETS};
use learn::device::Device;
use net::leela::LeelaNetwork;

use super::{Common, absolute, progress};
use crate::commands::terminal::counted;

/// Train a Go network from games or from Leela Zero training chunks.
///
/// The result is a weights file that leelaz and tengen load. Games are split into those to learn
/// from and those to test on; positions are turned and mirrored at random. Presets: tiny 2x32,
/// laptop 6x64, lz-5x64, zero-mini 12x64, zero 40x256.
///
/// Example: tengen train go --games kgs-2015.tar.gz --games more-sgfs/ --preset laptop
///          --steps 20000 --out runs/go19
/// Example: tengen train go --chunks selfplay/ --from best.txt.gz --blocks 5 --filters 64
///          --out runs/next
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// SGF file, folder, or tar archive (also gzip) of SGF files; may be given more than once.
    #[arg(long, value_name = "PATH")]
    games: Vec<PathBuf>,
    /// Leave out games that do not teach who wins: with handicap, another komi, or decided by the clock.
    #[arg(long, requires = "games")]
    only_fair: bool,
    /// Leela Zero training chunk (text or binary, gzip) or folder of them; may be given more than once.
    #[arg(long, value_name = "PATH", conflicts_with = "games")]
    chunks: Vec<PathBuf>,
    /// A named size.
    #[arg(long)]
    preset: Option<String>,
    /// Residual blocks.
    #[arg(long)]
    blocks: Option<usize>,
    /// Filters.
    #[arg(long)]
    filters: Option<usize>,
    /// Board size.
    #[arg(long)]
    size: Option<usize>,
    /// Weight of the value's error beside the policy's.
    #[arg(long)]
    value_weight: Option<f32>,
    /// Weight of who has each point in the end, learned beside the rest from games: it teaches the network what the
    /// result is made of.
    #[arg(long)]
    owner_weight: Option<f32>,
    /// Step at which the value starts anew as a count of the points that the owners' head gives to the side to move.
    #[arg(long, value_name = "STEP")]
    count_from: Option<u64>,
    /// Share of the games kept out for tests.
    #[arg(long)]
    test_share: Option<f64>,
    /// Network to start from.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
}

/// Trains.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut settings: GoSettings = args.common.settings()?;
    args.common.apply(&mut settings.training);
    let engine = settings.training.device.engine()?;
    if let Some(name) = &args.preset {
        let Some(shape) = GoShape::preset(name) else {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            bail!(
                "there is no preset {name}: choose one of {}",
                names.join(", ")
            );
        };
        settings.network = shape;
    }
    let shape = &mut settings.network;
    shape.blocks = args.blocks.unwrap_or(shape.blocks);
    shape.filters = args.filters.unwrap_or(shape.filters);
    shape.size = args.size.unwrap_or(shape.size);
    shape.check()?;
    settings.value_weight = args.value_weight.unwrap_or(settings.value_weight);
    settings.owner_weight = args.owner_weight.unwrap_or(settings.owner_weight);
    settings.count_from = args.count_from.or(settings.count_from);
    settings.data.only_fair |= args.only_fair;
    settings.data.test_share = args.test_share.unwrap_or(settings.data.test_share);
    if !args.games.is_empty() || !args.chunks.is_empty() {
        settings.data.games = absolute(&args.games);
        settings.data.chunks = absolute(&args.chunks);
    }
    if settings.data.games.is_empty() && settings.data.chunks.is_empty() {
        bail!("nothing to learn from: give --games or --chunks");
    }
    settings.training.check()?;
    if settings.count_from.is_some() {
        ensure!(
            settings.learns_owners() && settings.training.device == Device::Cpu,
            "--count-from counts what --owner-weight teaches, on the device cpu: give both there, or neither"
        );
    }

    let start = args.from.as_deref().map(LeelaNetwork::load).transpose()?;
    let mut task = GoTask::new(settings.clone())?;
    if let Some(start) = &start {
        task.start_from(start)?;
    }
    progress::print_skipped(task.report());
    if let Some((train, test)) = task.positions() {
        let (report, taught) = (task.report(), task.taught());
        eprintln!("{}", counted(report.games, "game", "games"));
        progress::print_amounts("positions", train, test);
        eprintln!(
            "{} of the games teach who wins, {} who has the points in the end",
            taught.winner, taught.owners
        );
    }
    args.common
        .train(&mut task, &settings, &settings.training, engine)
}
