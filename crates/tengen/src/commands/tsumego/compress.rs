//! `tengen tsumego compress`: fewer bits a weight.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use net::compact::{self, Precision};
use rayon::prelude::*;
use tsumego::{FeatureSet, SafetyNet, Score, compress};

use super::files::{read_positions, write_whole};

/// Round a network's weights to a few bits, the original's way.
///
/// With positions, also prints the error at each number of bits.
///
/// Example: tengen tsumego compress safety.tng --bits 5 --out small.tng --positions test.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network.
    network: PathBuf,
    /// Bits a weight, 1 to 12: multiples of 2^(1 - bits), clipped to -1..1.
    #[arg(long, default_value_t = 5)]
    bits: u32,
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
        (1..=12).contains(&args.bits),
        "--bits {}: choose 1 to 12",
        args.bits
    );
    let network = net::file::load(&args.network)?;
    if !args.positions.is_empty() {
        let (positions, _) = read_positions(&args.positions)?;
        println!("bits | error\n---- | -----");
        for bits in TABLE {
            let mut rounded = network.clone();
            compress(&mut rounded, bits);
            let net = SafetyNet::new(&rounded, args.planes)
                .with_context(|| args.network.display().to_string())?;
            let answers: Vec<bool> = positions
                .par_iter()
                .map(|p| net.chance_of_life(&p.problem, p.first, false) > 0.5)
                .collect();
            let mut score = Score::default();
            for (position, answer) in positions.iter().zip(answers) {
                score.add(position.is_safe, answer);
            }
            let name = if bits == 0 {
                "all".to_owned()
            } else {
                bits.to_string()
            };
            println!("{name:>4} | {:.3}", 1.0 - score.accuracy());
        }
    }
    if let Some(out) = &args.out {
        let mut rounded = network.clone();
        compress(&mut rounded, args.bits);
        // Half precision holds every level of up to 11 bits exactly, in half the space.
        let precision = if args.bits <= 11 {
            Precision::F16
        } else {
            Precision::F32
        };
        let bytes = compact::write(&rounded, precision);
        write_whole(out, &bytes)?;
        println!("{}: {} bytes", out.display(), bytes.len());
    }
    Ok(ExitCode::SUCCESS)
}
