//! `tengen net quantize`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use learn::surgery;
use net::{
    NetworkContent, NetworkFile,
    compact::{self, Precision},
    gzip,
    leela::TextStyle,
};

/// Round a network's numbers: fewer digits for a text file, or the original safety network's bits.
///
/// For compact files with a scale for each output, which lose far less, see tengen net convert.
///
/// Example: tengen net quantize best.txt.gz --digits 3 --out small.txt.gz
/// Example: tengen net quantize safety.net --bits 5 --out coarse.net
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network.
    network: PathBuf,
    /// Significant digits to keep (Leela Zero weights files).
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=9), required_unless_present = "bits")]
    digits: Option<u8>,
    /// Bits to keep: numbers become multiples of 1/2^(bits-1) between -1 and 1.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=24), conflicts_with = "digits")]
    bits: Option<u32>,
    /// The file to write: gzip text with --digits, compact with --bits.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let content = NetworkFile::load(&args.network)?.content;
    let bytes = match (args.digits, args.bits, content) {
        (Some(digits), _, NetworkContent::Leela(mut network, _)) => {
            surgery::round_digits(&mut network, usize::from(digits));
            gzip(&network.to_text(TextStyle::default()))
        }
        (Some(_), _, _) => {
            bail!(
                "{} is no Leela Zero file: --digits is for Leela Zero weights files, use --bits",
                args.network.display()
            )
        }
        (None, bits, content) => {
            let mut network = content.to_network();
            surgery::clip_bits(&mut network, bits.unwrap_or(8));
            compact::write(&network, Precision::F32)
        }
    };
    super::write(&args.out, &bytes)?;
    Ok(ExitCode::SUCCESS)
}
