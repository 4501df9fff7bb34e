//! `tengen net convert`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use net::compact::{self, Precision};
use net::file::{NetworkContent, NetworkFile, gzip};
use net::leela::{LeelaNetwork, TextStyle};

/// Convert a network file to another format.
///
/// The official spelling of numbers has six digits, as the official files do; --exact keeps every bit.
/// Integer precisions have one scale per output, so that they cost as little accuracy as possible.
///
/// Example: tengen net convert best-network.gz best.net --to f16
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The file to read.
    from: PathBuf,
    /// The file to write.
    file: PathBuf,
    /// The format to write.
    #[arg(long, value_enum)]
    to: Format,
    /// With text formats: as many digits as it takes to read back the same numbers.
    #[arg(long)]
    exact: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Leela Zero text.
    Text,
    /// Leela Zero text, gzip.
    Gzip,
    /// Compact, 32-bit floats.
    F32,
    /// Compact, 16-bit floats.
    F16,
    /// Compact, 8-bit integers.
    Int8,
    /// Compact, 5-bit integers.
    Int5,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let content = NetworkFile::load(&args.from)?.content;
    let bytes = match args.to {
        Format::Text => {
            text(content, args.exact).with_context(|| args.from.display().to_string())?
        }
        Format::Gzip => {
            let text =
                text(content, args.exact).with_context(|| args.from.display().to_string())?;
            gzip(&text)
        }
        Format::F32 => compact::write(&content.to_network(), Precision::F32),
        Format::F16 => compact::write(&content.to_network(), Precision::F16),
        Format::Int8 => compact::write(&content.to_network(), Precision::Int8),
        Format::Int5 => compact::write(&content.to_network(), Precision::Int5),
    };
    super::write(&args.file, &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn text(content: NetworkContent, exact: bool) -> anyhow::Result<Vec<u8>> {
    let (leela, style) = match content {
        NetworkContent::Leela(leela, style) => (*leela, style),
        NetworkContent::Compact(network) => {
            (LeelaNetwork::from_network(&network)?, TextStyle::default())
        }
    };
    Ok(if exact {
        leela.to_exact_text(style)
    } else {
        leela.to_text(style)
    })
}
