//! `tengen bench`: how fast this machine thinks.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use go_player::{LoadedNetwork, Options, bench};
use net::Isa;

use super::{backend::BackendArgs, terminal};

/// Measure evaluations and playouts a second
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen bench -w network.gz")]
pub struct Args {
    /// File with network weights
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    #[command(flatten)]
    backend: BackendArgs,

    /// Threads of the second search; 0 takes one for each processor
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = terminal::count_up_to(Options::MOST_THREADS))]
    threads: usize,

    /// Seconds for each size of batch
    #[arg(long, default_value_t = 2.0, value_name = "S")]
    seconds: f64,

    /// Visits of each search
    #[arg(short, long, default_value_t = 800, value_name = "N")]
    visits: u64,

    /// Instruction set of the kernels: portable, avx2 or avx512; the fastest one of this processor unless given
    #[arg(long, value_name = "SET")]
    instructions: Option<Isa>,

    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(isa) = args.instructions {
        isa.choose()?;
    }
    args.backend.choose();
    let network = LoadedNetwork::find(args.weights.as_deref())?;
    let processors = terminal::processors();
    let threads = if args.threads == 0 {
        processors
    } else {
        args.threads
    };
    let bar = terminal::progress(0, "measurements");
    let figures = bench::measure(
        &network,
        args.seconds.max(0.0),
        args.visits.max(2),
        threads,
        &mut |done, steps| {
            bar.set_length(steps as u64);
            bar.set_position(done as u64);
        },
    )?;
    bar.finish_and_clear();
    if args.json {
        terminal::print(&format!("{}\n", serde_json::to_string(&figures)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{}: {} blocks of {} filters, {} kernels\n",
        network.file.display(),
        network.blocks,
        network.filters,
        Isa::detect()
    );
    for speed in &figures.evaluations {
        text += &format!(
            "{:8.1} evaluations/s in batches of {}\n",
            speed.per_second, speed.batch
        );
    }
    let alone = figures.searches[0].per_second;
    for speed in &figures.searches {
        text += &format!(
            "{:8.1} playouts/s with {}, {:.2} times one thread\n",
            speed.per_second,
            terminal::counted(speed.threads, "thread", "threads"),
            speed.per_second / alone
        );
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
