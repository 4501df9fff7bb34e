//! `tengen net resize`.

use std::path::PathBuf;
use std::process::ExitCode;

use net::{
    NetworkContent, NetworkFile, gzip,
    leela::{LeelaNetwork, TextStyle},
};

/// Lay a Go network out for another board size.
///
/// The tower plays on any board; the heads are moved point by point, edges to edges. The result
/// plays at once, below the strength of a network trained on that board; train it further to get
/// there.
///
/// Example: tengen net resize go19.txt.gz --size 13 --out go13.txt.gz
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network, a Leela Zero weights file or a compact one.
    network: PathBuf,
    /// The new board size, 2 to 25.
    #[arg(long)]
    size: usize,
    /// The file to write, gzip text.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let leela = match NetworkFile::load(&args.network)?.content {
        NetworkContent::Leela(leela, _) => *leela,
        other => LeelaNetwork::from_network(&other.to_network())?,
    };
    let resized = leela.resized(args.size)?;
    super::write(&args.out, &gzip(&resized.to_text(TextStyle::default())))?;
    Ok(ExitCode::SUCCESS)
}
