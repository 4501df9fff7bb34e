//! `tengen mario examples`: records made into training examples.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use mario::{Example, StallCounts};
use mario_player::read_records;

use crate::commands::files::WholeFile;
use crate::commands::terminal::counted;

/// Turn game records into a JSON array of [board, pill, won, cleared, duration, moves]
///
/// Games that ran out of time are left out. A stalled game counts as lost unless told otherwise.
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario examples games.txt examples.json --augment")]
pub struct ExamplesArgs {
    /// Records, as self-play writes them
    records: PathBuf,

    /// The JSON file to write
    examples: PathBuf,

    /// Add all colour permutations and mirror images: 12 or 24 examples for one
    #[arg(long)]
    augment: bool,

    /// Count stalled games as won, as the design's prose says
    #[arg(long)]
    stall_won: bool,
}

pub fn run(args: ExamplesArgs) -> anyhow::Result<ExitCode> {
    let stall = if args.stall_won {
        StallCounts::AsWon
    } else {
        StallCounts::AsLost
    };
    let mut out = WholeFile::create(&args.examples)?;
    let (games, examples) = write_examples(&args, stall, &mut out)?;
    out.finish()?;
    println!(
        "{}: {} from {}",
        args.examples.display(),
        counted(examples as usize, "example", "examples"),
        counted(games as usize, "game", "games")
    );
    Ok(ExitCode::SUCCESS)
}

fn write_examples(
    args: &ExamplesArgs,
    stall: StallCounts,
    out: &mut impl Write,
) -> anyhow::Result<(u64, u64)> {
    let (mut games, mut count) = (0, 0);
    out.write_all(b"[")?;
    for record in read_records(&args.records)? {
        let record = record?;
        games += 1;
        let mut examples = Example::of_record(&record, stall)
            .with_context(|| format!("{}: game {games}", args.records.display()))?;
        if args.augment {
            examples = Example::augmented(&examples);
        }
        for example in examples {
            let comma = if count > 0 { ",\n" } else { "\n" };
            write!(out, "{comma}{}", example.to_json())?;
            count += 1;
        }
    }
    out.write_all(b"\n]\n")?;
    out.flush()?;
    Ok((games, count))
}
