//! `tengen tsumego compress`: fewer bits a weight.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use net::compact::{self, Precision};
use rayon::prelude::*;
use tsumego::{Accuracy, FeatureSet, SafetyNet, compress, compress_rows};

use super::files::{LeftOut, for_each_positions};
use crate::commands::files::write_whole;

/// Round a network's weights to a few bits.
///
/// Each row of weights (those of one output) is rounded in steps of its own largest one; --fixed
/// rounds the original's way, in steps of 2^(1 - bits) between -1 and 1, whatever the weights are.
/// With positions, also prints the error at each number of bits.
///
/// Example: tengen tsumego compress safety.net --bits 5 --out small.net --positions test.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network.
    network: PathBuf,
    /// Bits a weight, 2 to 12.
    #[arg(long, default_value_t = 5)]
    bits: u32,
    /// Steps of 2^(1 - bits), clipped to -1..1, biases too, as the original did.
    #[arg(long)]
    fixed: bool,
    /// The compressed network.
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Labelled positions for a table of errors by bits.
    #[arg(long, value_name = "PATH")]
    positions: Vec<PathBuf>,
    /// Which planes the network wants, where their number leaves a choice.
    #[arg(long)]
    planes: Option<FeatureSet>,
}

/// The rows of the table, in its order; no bits means as they are.
const TABLE: [u32; 6] = [0, 8, 5, 4, 3, 2];

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    ensure!(
        (2..=12).contains(&args.bits),
        "--bits {}: choose 2 to 12",
        args.bits
    );
    let network = net::load(&args.network)?;
    let round = |bits: u32| {
        let mut rounded = network.clone();
        match args.fixed {
            true => compress(&mut rounded, bits),
            false => compress_rows(&mut rounded, bits),
        }
        rounded
    };
    if !args.positions.is_empty() {
        let mut nets = Vec::new();
        for bits in TABLE {
            let net = SafetyNet::new(&round(bits), args.planes)
                .with_context(|| args.network.display().to_string())?;
            nets.push((net, Accuracy::default()));
        }
        let planes = nets[0].0.feature_set();
        let mut left_out = LeftOut::default();
        for_each_positions(&args.positions, &mut |mut positions| {
            left_out.what_cannot_be_shown(&mut positions, planes);
            for (net, score) in &mut nets {
                let answers: Vec<bool> = positions
                    .par_iter()
                    .map(|p| net.chance_of_life(&p.problem, p.first, false) > 0.5)
                    .collect();
                for (position, answer) in positions.iter().zip(answers) {
                    score.add(position.is_safe, answer);
                }
            }
            Ok(())
        })?;
        left_out.report();
        println!("bits | error\n---- | -----");
        for (bits, (_, score)) in TABLE.into_iter().zip(&nets) {
            let name = match bits {
                0 => "all".to_owned(),
                bits => bits.to_string(),
            };
            println!("{name:>4} | {:.4}", 1.0 - score.accuracy());
        }
    }
    if let Some(out) = &args.out {
        let precision = match (args.fixed, args.bits) {
            // These keep the steps of each row, so that rounding again changes nothing.
            (false, 5) => Precision::Int5,
            (false, 8) => Precision::Int8,
            // Half precision holds steps of up to 11 bits, the fixed ones exactly.
            (_, ..=11) => Precision::F16,
            _ => Precision::F32,
        };
        let bytes = compact::write(&round(args.bits), precision);
        write_whole(out, &bytes)?;
        println!("{}: {} bytes", out.display(), bytes.len());
    }
    Ok(ExitCode::SUCCESS)
}
