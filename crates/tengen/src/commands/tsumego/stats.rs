//! `tengen tsumego stats`: how many positions are safe, by size.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tsumego::{Score, StoneDifference, count_by_size};

use super::files::{exit_code, read_positions};

/// Count safe and unsafe positions by the number of moves available.
///
/// Example: tengen tsumego stats positions.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (positions, failed) = read_positions(&args.paths)?;
    let lookup = StoneDifference::fit(&positions);
    let mut control = Score::default();
    for position in &positions {
        control.add(position.is_safe, lookup.is_safe(position));
    }
    let sizes = count_by_size(&positions);
    if args.json {
        let rows: Vec<_> = sizes
            .iter()
            .map(|(size, counts)| json!({"size": size, "safe": counts.safe, "unsafe": counts.unsafe_}))
            .collect();
        println!(
            "{}",
            json!({"sizes": rows, "stone_difference_accuracy": control.accuracy()})
        );
        return Ok(exit_code(failed));
    }
    println!("size |    safe |  unsafe\n---- | ------- | -------");
    for (size, counts) in &sizes {
        println!("{size:4} | {:7} | {:7}", counts.safe, counts.unsafe_);
    }
    println!(
        "{} positions; the problem's name and the difference in stones alone tell {:.1} % of them",
        positions.len(),
        100.0 * control.accuracy()
    );
    Ok(exit_code(failed))
}
