//! `tengen net new`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use net::{
    leela::{BOARD_SIZES, LeelaNetwork, LeelaShape, LeelaVersion, TextStyle},
    sha256_of_bytes,
};

/// Make a random Leela Zero network, the same for the same seed.
///
/// Example: tengen net new --blocks 5 --filters 64 --size 19 --seed 1 first.txt
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The file to write; plain text.
    file: PathBuf,
    /// Residual blocks.
    #[arg(long, default_value_t = 5)]
    blocks: usize,
    /// Planes of the tower.
    #[arg(long, default_value_t = 64)]
    filters: usize,
    /// Board size.
    #[arg(long, default_value_t = 19)]
    size: usize,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Make the value Black's winning chance (version 2) instead of the mover's (version 1).
    #[arg(long)]
    value_of_black: bool,
}

/// The most of either that a network file of less than a few gigabytes can have.
const MOST: usize = 1024;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    ensure!(
        BOARD_SIZES.contains(&args.size),
        "--size {}: board sizes are 2 to 25",
        args.size
    );
    ensure!(
        (1..=MOST).contains(&args.filters),
        "--filters {}: between 1 and {MOST}, please",
        args.filters
    );
    ensure!(
        args.blocks <= MOST,
        "--blocks {}: at most {MOST}, please",
        args.blocks
    );
    let version = if args.value_of_black {
        LeelaVersion::V2
    } else {
        LeelaVersion::V1
    };
    let shape = LeelaShape::stock(args.size, args.blocks, args.filters);
    let text = LeelaNetwork::random(version, shape, args.seed).to_text(TextStyle::default());
    super::write(&args.file, &text)?;
    println!("{}", sha256_of_bytes(&text));
    Ok(ExitCode::SUCCESS)
}
