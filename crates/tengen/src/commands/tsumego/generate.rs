//! `tengen tsumego generate`: our own problems.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context, ensure};
use go::BoardSize;
use tsumego::{Recipe, generate_collection};

use crate::commands::terminal::progress;
use crate::interrupt;

/// Make random enclosed problems, solved, no two alike up to symmetry and colour.
///
/// The collection grows line by line; the same command continues it after an interruption, and the
/// same seed always gives the same problems.
///
/// Example: tengen tsumego generate problems.sgf --count 100000 --seed 7 --settled 0.4
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The collection to fill.
    out: PathBuf,
    /// Problems wanted.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Every choice follows from this number.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sides of the boards, 5 to 19, each as often as the others.
    #[arg(long, value_delimiter = ',', default_value = "7,9,11,13")]
    board: Vec<usize>,
    /// Fewest moves available.
    #[arg(long, default_value_t = 4)]
    smallest: usize,
    /// Most moves available.
    #[arg(long, default_value_t = 14)]
    largest: usize,
    /// Fewest nodes the solver needs: how difficult.
    #[arg(long, default_value_t = 0)]
    fewest_nodes: u64,
    /// Most nodes the solver may need.
    #[arg(long, default_value_t = 20_000)]
    most_nodes: u64,
    /// Largest share of positions where it does not matter who starts, from 0 to 0.9: half of it
    /// for safe ones, half for unsafe ones.
    #[arg(long, default_value_t = 0.0)]
    settled: f64,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let board = |&side: &usize| {
        let size = BoardSize::new(side).filter(|size| (5..=19).contains(&size.get()));
        size.with_context(|| format!("--board {side}: choose 5 to 19"))
    };
    let boards = args.board.iter().map(board).collect::<Result<_, _>>()?;
    ensure!(
        (0.0..=0.9).contains(&args.settled),
        "--settled {}: choose 0 to 0.9",
        args.settled
    );
    ensure!(
        1 <= args.smallest && args.smallest <= args.largest,
        "--smallest {} --largest {}: no size lies between them",
        args.smallest,
        args.largest
    );
    let recipe = Recipe {
        seed: args.seed,
        boards,
        smallest: args.smallest,
        largest: args.largest,
        fewest_nodes: args.fewest_nodes,
        most_nodes: args.most_nodes,
        settled: args.settled,
    };
    let stop = interrupt::stop_flag()?;
    let bar = progress(args.count, "problems");
    let count = generate_collection(&recipe, &args.out, args.count, &mut |count| {
        bar.set_position(count as u64);
        !stop.load(Ordering::Relaxed)
    })?;
    bar.finish_and_clear();
    println!("{count} problems in {}", args.out.display());
    if count < args.count {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
