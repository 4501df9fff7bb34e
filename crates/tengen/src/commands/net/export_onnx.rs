//! `tengen net export-onnx`.

use std::path::PathBuf;
use std::process::ExitCode;

use net::NetworkFile;

/// Write a network as an ONNX model for other frameworks.
///
/// The inputs are `planes` of [batch, planes, height, width] and, if the network has them, `globals` of
/// [batch, globals]; each output has its own name.
///
/// Example: tengen net export-onnx best.txt.gz --out best.onnx
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network.
    network: PathBuf,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = NetworkFile::load(&args.network)?.content.to_network();
    super::write(&args.out, &net::onnx::export(&network)?)?;
    Ok(ExitCode::SUCCESS)
}
