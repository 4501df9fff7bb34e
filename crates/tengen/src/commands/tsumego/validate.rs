//! `tengen tsumego validate`: solve a share of the labels again.

use std::path::PathBuf;
use std::process::ExitCode;

use rand::seq::SliceRandom;
use rand::{SeedableRng, rngs::StdRng};
use rayon::prelude::*;
use tsumego::{Limits, check_label};

use super::files::{exit_code, read_positions};
use crate::commands::EXIT_BAD_INPUT;
use crate::commands::terminal::progress;

/// Solve a random share of labelled positions from scratch and compare.
///
/// Example: tengen tsumego validate positions.sgf --count 200
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// SGF files of labelled positions or generated problems, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Positions to check.
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Which ones follows from this number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Nodes for one position.
    #[arg(long, default_value_t = 5_000_000)]
    nodes: u64,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (mut positions, failed) = read_positions(&args.paths)?;
    positions.shuffle(&mut StdRng::seed_from_u64(args.seed));
    positions.truncate(args.count);
    let bar = progress(positions.len(), "positions");
    let limits = Limits::default().with_nodes(args.nodes);
    let answers: Vec<Option<bool>> = positions
        .par_iter()
        .map(|position| {
            let answer = check_label(position, &limits);
            bar.inc(1);
            answer
        })
        .collect();
    bar.finish_and_clear();
    let right = answers.iter().filter(|&&a| a == Some(true)).count();
    let wrong = answers.iter().filter(|&&a| a == Some(false)).count();
    let unknown = answers.len() - right - wrong;
    println!("{right} labels confirmed, {wrong} wrong, {unknown} not solved within the limit");
    if wrong > 0 {
        return Ok(ExitCode::from(EXIT_BAD_INPUT));
    }
    Ok(exit_code(failed))
}
