//! `tengen tsumego eval`: how good a safety network is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::json;
use tsumego::{FeatureSet, SafetyNet, Score, Split, StoneDifference};

use super::files::{exit_code, for_each_positions};
use crate::commands::terminal::spinner;

/// Ask a network about labelled positions: error by size, balanced accuracy, speed.
///
/// The lookup of problem and stone difference, which knows no Go but has seen these very positions, is
/// always printed beside it.
///
/// Example: tengen tsumego eval positions.sgf
/// Example: tengen tsumego eval positions.sgf -w mine.net --average --held-out 0.1
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The network [default: the one inside the program].
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Which planes the network wants, where their number leaves a choice.
    #[arg(long)]
    planes: Option<FeatureSet>,
    /// Average over all symmetries (and, with the original's planes, the target's stones).
    #[arg(long)]
    average: bool,
    /// Only the problems that `pack --test SHARE` keeps for testing.
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// The seed that `pack` was given.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A chance above this says "safe".
const EVEN: f32 = 0.5;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let net = SafetyNet::find(args.weights.as_deref(), args.planes)?;
    let mut control = StoneDifference::default();
    let mut sizes: BTreeMap<usize, Score> = BTreeMap::new();
    let mut all = Score::default();
    let mut seconds = 0.0;
    let bar = spinner("positions");
    let failed = for_each_positions(&args.paths, &mut |mut positions| {
        if let Some(share) = args.held_out {
            positions.retain(|p| Split::ByProblem.is_test(p, share, args.seed));
        }
        let started = Instant::now();
        let chances: Vec<f32> = positions
            .par_iter()
            .map(|p| net.chance_of_life(&p.problem, p.first, args.average))
            .collect();
        seconds += started.elapsed().as_secs_f64();
        for (position, chance) in positions.iter().zip(chances) {
            let says_safe = chance > EVEN;
            control.add(position);
            all.add(position.is_safe, says_safe);
            let size = sizes.entry(position.size).or_default();
            size.add(position.is_safe, says_safe);
        }
        bar.inc(positions.len() as u64);
        Ok(())
    })?;
    bar.finish_and_clear();
    let control = control.score();
    let a_second = all.count() as f64 / seconds;
    if args.json {
        let rows: Vec<_> = sizes
            .iter()
            .map(|(size, s)| json!({"size": size, "error": 1.0 - s.accuracy(), "count": s.count()}))
            .collect();
        println!(
            "{}",
            json!({
                "positions": all.count(),
                "sizes": rows,
                "accuracy": all.accuracy(),
                "balanced_accuracy": all.balanced_accuracy(),
                "evaluations_a_second": a_second,
                "stone_difference_accuracy": control.accuracy(),
                "stone_difference_balanced_accuracy": control.balanced_accuracy(),
            })
        );
        return Ok(exit_code(failed));
    }
    println!("size | error | count\n---- | ----- | -----");
    for (size, score) in &sizes {
        println!(
            "{size:4} | {:.3} | {}",
            1.0 - score.accuracy(),
            score.count()
        );
    }
    println!(
        "{} positions: accuracy {:.1} %, balanced {:.1} %, {a_second:.0} evaluations a second",
        all.count(),
        100.0 * all.accuracy(),
        100.0 * all.balanced_accuracy()
    );
    println!(
        "control (problem and stone difference, no Go): accuracy {:.1} %, balanced {:.1} %",
        100.0 * control.accuracy(),
        100.0 * control.balanced_accuracy()
    );
    Ok(exit_code(failed))
}
