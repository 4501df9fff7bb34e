//! `tengen tsumego publish`: a network as one JavaScript module.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use tsumego::{FeatureSet, SafetyNet, publish};

use crate::commands::files::write_whole;

/// Write a self-contained ES module with the compressed weights and evaldcnn(board, [x, y]).
///
/// Example: tengen tsumego publish safety.tng --bits 5 --out safety.mjs
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network, of 13 or 14 planes.
    network: PathBuf,
    /// The module.
    #[arg(short, long)]
    out: PathBuf,
    /// Bits a weight.
    #[arg(long, default_value_t = 5)]
    bits: u32,
    /// Which planes the network wants, where their number leaves a choice.
    #[arg(long)]
    planes: Option<FeatureSet>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = net::load(&args.network)?;
    let say = || args.network.display().to_string();
    let set = SafetyNet::new(&network, args.planes)
        .with_context(say)?
        .feature_set();
    let module = publish(&network, set, args.bits).with_context(say)?;
    write_whole(&args.out, module.as_bytes())?;
    println!("{}: {} bytes", args.out.display(), module.len());
    Ok(ExitCode::SUCCESS)
}
