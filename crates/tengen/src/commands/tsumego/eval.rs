//! `tengen tsumego eval`: how good a safety network is.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::json;
use tsumego::{
    Accuracy, FeatureSet, LabelledPosition, Limits, Reach, Recipe, SafetyNet, Side, Split,
    StoneDifference, canonical_name, expand_tree, generate_problems, grow_tree,
};

use super::files::{LeftOut, exit_code, for_each_positions};
use crate::commands::terminal::{counted, spinner};

/// Ask a network about labelled positions: error by size, balanced accuracy, speed.
///
/// The lookup of problem and stone difference, which knows no Go but has seen these very positions, is
/// always printed beside it. Without files it is asked about problems made and solved for the purpose.
///
/// Example: tengen tsumego eval
/// Example: tengen tsumego eval positions.sgf
/// Example: tengen tsumego eval positions.sgf -w mine.net --average --held-out 0.1
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions, or folders of them [default: new problems].
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
    #[arg(long, value_name = "SHARE", requires = "paths")]
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
/// Problems made where no positions are named.
const OWN_PROBLEMS: usize = 200;
/// Most positions around each of them.
const OWN_POSITIONS: usize = 50;
/// Nodes for the label of each.
const OWN_NODES: u64 = 100_000;
/// The network inside the program has learned from another seed.
const OWN_SEED: u64 = 1001;
/// Largest share of problems where it does not matter who starts, as among those it has learned from.
const OWN_SETTLED: f64 = 0.4;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let net = SafetyNet::find(args.weights.as_deref(), args.planes)?;
    let mut control = StoneDifference::default();
    let mut sizes: BTreeMap<usize, Accuracy> = BTreeMap::new();
    let mut all = Accuracy::default();
    let mut seconds = 0.0;
    let bar = spinner("positions");
    let mut left_out = LeftOut::default();
    let mut ask = |mut positions: Vec<LabelledPosition>| {
        left_out.what_cannot_be_shown(&mut positions, net.feature_set());
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
    };
    let failed = if args.paths.is_empty() {
        eprintln!("No positions were named: the solver makes {OWN_PROBLEMS} new problems first.");
        ask(own_positions())?;
        0
    } else {
        for_each_positions(&args.paths, &mut ask)?
    };
    bar.finish_and_clear();
    left_out.report();
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
        "{}: accuracy {:.1} %, balanced {:.1} %, {a_second:.0} evaluations a second",
        counted(all.count(), "position", "positions"),
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

/// The positions around new problems, solved; none twice up to symmetry and colour.
fn own_positions() -> Vec<LabelledPosition> {
    let recipe = Recipe {
        seed: OWN_SEED,
        settled: OWN_SETTLED,
        ..Recipe::default()
    };
    let reach = Reach {
        most: OWN_POSITIONS,
        nodes: OWN_NODES,
        ..Reach::default()
    };
    let around: Vec<Vec<LabelledPosition>> = generate_problems(&recipe, OWN_PROBLEMS)
        .par_iter()
        .map(|made| {
            let name = made.number.to_string();
            let tree = grow_tree(&made.problem, &name, &reach, &Limits::default());
            expand_tree(&tree, &Side::BOTH).expect("a tree we have grown")
        })
        .collect();
    let mut seen = HashSet::new();
    let mut positions = around.concat();
    positions.retain(|p| seen.insert((canonical_name(&p.problem), p.first == Side::Defender)));
    positions
}
