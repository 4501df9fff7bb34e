//! `tengen net average`.

use std::path::PathBuf;
use std::process::ExitCode;

use learn::surgery;
use net::{
    gzip,
    leela::{LeelaNetwork, TextStyle},
};

/// Average networks of one size, number by number.
///
/// Networks of one training, some steps apart, often play better together than each alone.
///
/// Example: tengen net average a.txt.gz b.txt.gz c.txt.gz --out mean.txt.gz
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The networks, Leela Zero weights files.
    #[arg(required = true)]
    networks: Vec<PathBuf>,
    /// The file to write, gzip text.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let networks: Vec<LeelaNetwork> = args
        .networks
        .iter()
        .map(|file| LeelaNetwork::load(file))
        .collect::<Result<_, _>>()?;
    let mean = surgery::average(&networks)?;
    super::write(&args.out, &gzip(&mean.to_text(TextStyle::default())))?;
    Ok(ExitCode::SUCCESS)
}
