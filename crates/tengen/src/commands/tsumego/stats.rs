//! `tengen tsumego stats`: how many positions are safe, by size.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tsumego::{Accuracy, Side, StoneDifference, count_by_size};

use super::files::{exit_code, read_positions};
use crate::commands::terminal::counted;

/// Count safe and unsafe positions by the number of moves available and who starts.
///
/// Example: tengen tsumego stats positions.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions or generated problems, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (positions, failed) = read_positions(&args.paths)?;
    let lookup = StoneDifference::fit(&positions);
    let mut control = Accuracy::default();
    for position in &positions {
        control.add(position.is_safe, lookup.is_safe(position));
    }
    let counts = Side::BOTH.map(|first| {
        let asked = positions.iter().filter(|position| position.first == first);
        count_by_size(asked)
    });
    let sizes: BTreeSet<usize> = counts.iter().flat_map(BTreeMap::keys).copied().collect();
    let of_size = |size: usize| {
        let counted = counts.each_ref().map(|by_size| by_size.get(&size).copied());
        counted.map(Option::unwrap_or_default)
    };
    if args.json {
        let rows: Vec<_> = sizes
            .iter()
            .map(|&size| {
                let [attacked, defended] = of_size(size);
                json!({
                    "size": size,
                    "attacker_starts": {"safe": attacked.safe, "unsafe": attacked.unsafe_},
                    "defender_starts": {"safe": defended.safe, "unsafe": defended.unsafe_},
                })
            })
            .collect();
        println!(
            "{}",
            json!({"sizes": rows, "stone_difference_accuracy": control.accuracy()})
        );
        return Ok(exit_code(failed));
    }
    println!("     |  attacker starts  |  defender starts");
    println!("size |    safe |  unsafe |    safe |  unsafe");
    println!("---- | ------- | ------- | ------- | -------");
    for &size in &sizes {
        let [attacked, defended] = of_size(size);
        println!(
            "{size:4} | {:7} | {:7} | {:7} | {:7}",
            attacked.safe, attacked.unsafe_, defended.safe, defended.unsafe_
        );
    }
    println!(
        "{}; the problem's name and the difference in stones alone tell {:.1} % of them",
        counted(positions.len(), "position", "positions"),
        100.0 * control.accuracy()
    );
    Ok(exit_code(failed))
}
