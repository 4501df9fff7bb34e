//! `tengen net compare`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use net::{Backend, compare, load};
use serde_json::json;

/// Say how far apart two networks are on random positions.
///
/// With --reference the second one is run by the slow, plain evaluator: the same file twice then
/// checks the fast one. Exit code 1 if any output is farther apart than --tolerance.
///
/// Example: tengen net compare best.txt.gz best.net --positions 200
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The first network.
    a: PathBuf,
    /// The second network, of the same shape.
    b: PathBuf,
    /// Random positions.
    #[arg(long, default_value_t = 100)]
    positions: usize,
    /// Seed of the positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run the second network by the reference evaluator.
    #[arg(long)]
    reference: bool,
    /// Run the first network with 3x3 convolutions in bf16: the same file twice then says what that costs.
    #[arg(long)]
    bf16: bool,
    /// The largest difference that still counts as the same.
    #[arg(long)]
    tolerance: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let backend = if args.bf16 {
        Backend::CpuBf16
    } else {
        Backend::Cpu
    };
    let first = backend.open(&load(&args.a)?)?;
    let other = if args.reference {
        Backend::Reference
    } else {
        Backend::Cpu
    };
    let second = other.open(&load(&args.b)?)?;
    let Some(differences) = compare(&*first, &*second, args.positions, args.seed)? else {
        bail!(
            "{} and {} have inputs or outputs of different shapes",
            args.a.display(),
            args.b.display()
        );
    };
    if args.json {
        let outputs: Vec<_> = differences
            .iter()
            .map(|output| {
                json!({
                    "name": output.name, "largest": output.largest,
                    "root_mean_square": output.root_mean_square, "same_best": output.same_best,
                })
            })
            .collect();
        println!(
            "{}",
            json!({"positions": args.positions, "outputs": outputs})
        );
    } else {
        println!(
            "{:<14} {:>12} {:>12} {:>10}",
            "output", "largest", "rms", "same best"
        );
        for output in &differences {
            println!(
                "{:<14} {:>12.3e} {:>12.3e} {:>9.1}%",
                output.name,
                output.largest,
                output.root_mean_square,
                100.0 * output.same_best
            );
        }
    }
    let apart = differences
        .iter()
        .map(|output| output.largest)
        .fold(0.0, f64::max);
    let same = args.tolerance.is_none_or(|tolerance| apart <= tolerance);
    Ok(if same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
