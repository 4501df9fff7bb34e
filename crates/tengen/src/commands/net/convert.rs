//! `tengen net convert`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use net::{
    NetworkContent, NetworkFile,
    compact::{Precision, write, write_katago},
    gzip,
    katago::FloatStyle,
    leela::{LeelaNetwork, TextStyle},
};

/// Convert a network file to another format.
///
/// The format follows from the ending of the file to write: .net is our compact format, .bin and .bin.gz KataGo's,
/// .txt and .gz the text format of the family the network belongs to. --to overrides it.
/// The official spelling of Leela Zero's numbers has six digits, as the official files do; --exact keeps every bit.
/// Integer precisions have one scale per output, so that they cost as little accuracy as possible.
///
/// Examples:
///   tengen net convert best-network.gz -o best.net --to f16
///   tengen net convert kata1-b18c384nbt.bin.gz -o b18.net
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The file to read.
    from: PathBuf,
    /// The file to write.
    #[arg(value_name = "OUT", required_unless_present = "out")]
    file: Option<PathBuf>,
    /// The file to write.
    #[arg(short, long, value_name = "OUT", conflicts_with = "file")]
    out: Option<PathBuf>,
    /// The format to write; without it, the ending of the file says.
    #[arg(long, value_enum)]
    to: Option<Format>,
    /// With Leela Zero's text: as many digits as it takes to read back the same numbers.
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
    /// KataGo, binary floats; gzip if the file ends in .gz.
    Katago,
    /// KataGo, decimal floats; gzip if the file ends in .gz.
    KatagoText,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(file) = args.out.or(args.file) else {
        bail!("name the file to write with -o OUT");
    };
    let content = NetworkFile::load(&args.from)?.content;
    let format = match args.to {
        Some(format) => format,
        None => by_ending(&file, &content)?,
    };
    let packed = file.extension().is_some_and(|ending| ending == "gz");
    let from = || args.from.display().to_string();
    let bytes = match format {
        Format::Text => text(content, args.exact).with_context(from)?,
        Format::Gzip => gzip(&text(content, args.exact).with_context(from)?),
        Format::F32 => compact(&content, Precision::F32),
        Format::F16 => compact(&content, Precision::F16),
        Format::Int8 => compact(&content, Precision::Int8),
        Format::Int5 => compact(&content, Precision::Int5),
        Format::Katago => katago(&content, FloatStyle::Binary, packed).with_context(from)?,
        Format::KatagoText => katago(&content, FloatStyle::Text, packed).with_context(from)?,
    };
    super::write(&file, &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn by_ending(file: &Path, content: &NetworkContent) -> anyhow::Result<Format> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_kata = matches!(content, NetworkContent::KataGo(_));
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    Ok(if ends(&[".net"]) {
        Format::F32
    } else if ends(&[".bin", ".bin.gz"]) {
        Format::Katago
    } else if ends(&[".txt", ".txt.gz"]) && is_kata {
        Format::KatagoText
    } else if ends(&[".gz"]) && is_kata {
        Format::Katago
    } else if ends(&[".gz"]) {
        Format::Gzip
    } else if ends(&[".txt"]) {
        Format::Text
    } else {
        bail!(
            "{}: the ending says no format: use .net, .bin, .bin.gz, .txt or .gz, or give --to",
            file.display()
        );
    })
}

fn compact(content: &NetworkContent, precision: Precision) -> Vec<u8> {
    match content {
        NetworkContent::KataGo(kata) => write_katago(kata, precision),
        other => write(&other.to_network(), precision),
    }
}

fn katago(content: &NetworkContent, style: FloatStyle, packed: bool) -> anyhow::Result<Vec<u8>> {
    let NetworkContent::KataGo(kata) = content else {
        bail!("not a KataGo network, so it cannot be written as one");
    };
    let bytes = kata.to_bytes(style);
    Ok(if packed { gzip(&bytes) } else { bytes })
}

fn text(content: NetworkContent, exact: bool) -> anyhow::Result<Vec<u8>> {
    let (leela, style) = match content {
        NetworkContent::Leela(leela, style) => (*leela, style),
        other => (
            LeelaNetwork::from_network(&other.to_network())?,
            TextStyle::default(),
        ),
    };
    Ok(if exact {
        leela.to_exact_text(style)
    } else {
        leela.to_text(style)
    })
}
