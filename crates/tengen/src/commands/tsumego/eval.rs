//! `tengen tsumego eval`: how good a safety network is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use rayon::prelude::*;
use serde_json::json;
use tsumego::{FeatureSet, SafetyNet, Score, StoneDifference};

use super::files::{exit_code, read_positions};
use crate::commands::terminal::progress;

/// Ask a network about labelled positions: error by size, balanced accuracy, speed.
///
/// The lookup of problem and stone difference, which knows no Go, is always printed beside it.
/// Without a network only the lookup is scored.
///
/// Example: tengen tsumego eval positions.sgf -w safety.tng
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The network.
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Which planes the network wants, where their number leaves a choice.
    #[arg(long)]
    planes: Option<FeatureSet>,
    /// Average over the target's stones and all symmetries.
    #[arg(long)]
    average: bool,
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
    let mut sizes: BTreeMap<usize, Score> = BTreeMap::new();
    let mut all = Score::default();
    let mut a_second = 0.0;
    if let Some(file) = &args.weights {
        let network = net::file::load(file)?;
        let net =
            SafetyNet::new(&network, args.planes).with_context(|| file.display().to_string())?;
        let bar = progress(positions.len(), "positions");
        let started = Instant::now();
        let chances: Vec<f32> = positions
            .par_iter()
            .map(|position| {
                bar.inc(1);
                net.chance_of_life(&position.problem, position.first, args.average)
            })
            .collect();
        a_second = positions.len() as f64 / started.elapsed().as_secs_f64();
        bar.finish_and_clear();
        for (position, chance) in positions.iter().zip(chances) {
            let says_safe = chance > 0.5;
            all.add(position.is_safe, says_safe);
            sizes
                .entry(position.size)
                .or_default()
                .add(position.is_safe, says_safe);
        }
    }
    if args.json {
        let rows: Vec<_> = sizes
            .iter()
            .map(|(size, s)| json!({"size": size, "error": 1.0 - s.accuracy(), "count": s.count()}))
            .collect();
        println!(
            "{}",
            json!({
                "positions": positions.len(),
                "sizes": rows,
                "accuracy": args.weights.as_ref().map(|_| all.accuracy()),
                "balanced_accuracy": args.weights.as_ref().map(|_| all.balanced_accuracy()),
                "evaluations_a_second": args.weights.as_ref().map(|_| a_second),
                "stone_difference_accuracy": control.accuracy(),
                "stone_difference_balanced_accuracy": control.balanced_accuracy(),
            })
        );
        return Ok(exit_code(failed));
    }
    if args.weights.is_some() {
        println!("size | error | count\n---- | ----- | -----");
        for (size, score) in &sizes {
            println!(
                "{size:4} | {:.3} | {}",
                1.0 - score.accuracy(),
                score.count()
            );
        }
        println!(
            "accuracy {:.1} %, balanced {:.1} %, {a_second:.0} evaluations a second",
            100.0 * all.accuracy(),
            100.0 * all.balanced_accuracy()
        );
    }
    println!(
        "control (problem and stone difference, no Go): accuracy {:.1} %, balanced {:.1} %",
        100.0 * control.accuracy(),
        100.0 * control.balanced_accuracy()
    );
    Ok(exit_code(failed))
}
