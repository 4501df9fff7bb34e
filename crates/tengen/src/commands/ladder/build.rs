//! `tengen ladder build`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;
use ladder::{DEFAULT_STEPS, LadderNetwork, Original};
use net::leela::{BOARD_SIZES, LeelaNetwork, TextStyle};

use crate::commands::{files::write_whole, terminal};

/// Build the ladder network: Leela Zero weights made by hand
///
/// Every Leela Zero program reads the file. The network sees ladders of both colours on all four
/// diagonals; each diagonal step costs half a block.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tengen ladder build > ladder.txt\n  tengen ladder build --steps 8 -o short.txt\n  tengen ladder build --original -o original.txt"
)]
pub struct Args {
    /// Diagonal steps the network follows a ladder
    #[arg(long, default_value_t = DEFAULT_STEPS, value_name = "COUNT", conflicts_with = "original", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    steps: usize,

    /// Rows of the board
    #[arg(
        long,
        default_value_t = 19,
        value_name = "ROWS",
        conflicts_with = "original"
    )]
    size: usize,

    /// Rebuild the first ladder network of 2017, faults included: 24 blocks, one diagonal
    #[arg(long)]
    original: bool,

    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !BOARD_SIZES.contains(&args.size) {
        bail!(
            "a board has {} to {} rows, not {}",
            BOARD_SIZES.start(),
            BOARD_SIZES.end(),
            args.size
        );
    }
    if args.original {
        return write(&args, Original::new().leela());
    }
    write(&args, LadderNetwork::new(args.size, args.steps).leela())
}

fn write(args: &Args, network: &LeelaNetwork) -> anyhow::Result<ExitCode> {
    let text = network.to_text(TextStyle::default());
    match &args.output {
        Some(file) => {
            write_whole(file, &text)?;
            let shape = network.shape();
            eprintln!(
                "{}: {} blocks of {} filters",
                file.display(),
                shape.blocks,
                shape.filters
            );
        }
        None => terminal::print(&String::from_utf8_lossy(&text))?,
    }
    Ok(ExitCode::SUCCESS)
}
