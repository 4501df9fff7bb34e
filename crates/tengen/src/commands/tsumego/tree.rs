//! `tengen tsumego tree`: the positions around each problem, labelled.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use tsumego::{Limits, Reach, grow_collection, problem_of};

use super::files::{complain, exit_code, read_games};
use crate::commands::terminal::progress;
use crate::interrupt;

/// Grow trees of positions around problems: every move of both sides, labelled by solving.
///
/// Takes single problems and collections (such as `generate` makes). Each tree is one line of the
/// output, with TS (safe if the attacker starts) and TD (safe if the defender starts) on each node.
/// The same command continues an interrupted run.
///
/// Example: tengen tsumego tree problems.sgf --out trees.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The collection of trees to fill.
    #[arg(short, long)]
    out: PathBuf,
    /// Moves from the root.
    #[arg(long, default_value_t = 20)]
    depth: usize,
    /// A position with fewer moves is not followed.
    #[arg(long, default_value_t = 4)]
    smallest: usize,
    /// Most positions a problem.
    #[arg(long, default_value_t = 20_000)]
    most: usize,
    /// Nodes for one label.
    #[arg(long, default_value_t = 1_000_000)]
    nodes: u64,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (games, mut failed) = read_games(&args.paths)?;
    let mut problems = Vec::new();
    for game in games {
        match problem_of(&game.tree) {
            Ok(record) => {
                let stem = game.file.with_extension("");
                let name = record
                    .name
                    .unwrap_or_else(|| format!("{}#{}", stem.display(), game.number));
                problems.push((name, record.problem));
            }
            Err(error) => {
                complain(&game.place(), &error.into());
                failed += 1;
            }
        }
    }
    let reach = Reach {
        depth: args.depth,
        smallest: args.smallest,
        most: args.most,
        nodes: args.nodes,
    };
    let stop = interrupt::stop_flag()?;
    let bar = progress(problems.len(), "problems");
    let mut done = 0;
    grow_collection(
        &problems,
        &args.out,
        &reach,
        &Limits::default(),
        &mut |count| {
            bar.set_position(count as u64);
            done = count;
            !stop.load(Ordering::Relaxed)
        },
    )?;
    bar.finish_and_clear();
    println!("{done} trees in {}", args.out.display());
    if done < problems.len() {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(exit_code(failed))
}
