//! `tengen net widen`.

use std::path::PathBuf;
use std::process::ExitCode;

use learn::surgery;
use net::{
    gzip,
    leela::{LeelaNetwork, TextStyle},
};

/// Make a network larger without changing what it plays (net2net).
///
/// New filters are copies that share their weight, new blocks begin by adding nothing; train the
/// result further, with a little --noise so that the copies can part.
///
/// Example: tengen net widen small.txt.gz --blocks 8 --filters 96 --noise 0.01 --out large.txt.gz
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network, a Leela Zero weights file.
    network: PathBuf,
    /// Residual blocks of the result; as many as before if left out.
    #[arg(long)]
    blocks: Option<usize>,
    /// Filters of the result; as many as before if left out.
    #[arg(long)]
    filters: Option<usize>,
    /// Random change of each weight, as a share of it.
    #[arg(long, default_value_t = 0.0)]
    noise: f32,
    /// Seed of the copies and the noise.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file to write, gzip text.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = LeelaNetwork::load(&args.network)?;
    let shape = network.shape();
    let (blocks, filters) = (
        args.blocks.unwrap_or(shape.blocks),
        args.filters.unwrap_or(shape.filters),
    );
    let large = surgery::widen(&network, blocks, filters, args.noise, args.seed)?;
    super::write(&args.out, &gzip(&large.to_text(TextStyle::default())))?;
    Ok(ExitCode::SUCCESS)
}
