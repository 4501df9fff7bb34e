//! `tengen net soak`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use net::{SoakOptions, soak};
use serde_json::json;

use std::io::IsTerminal;

/// Evaluate random batches of several networks from several threads for a long time.
///
/// Every so often, and at the end, results are compared with the reference evaluator. Exit code 1 if
/// any differs by more than 1e-4 or if memory has grown.
///
/// Example: tengen net soak --minutes 10 --threads 4
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// How long.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Threads.
    #[arg(long, default_value_t = 4)]
    threads: usize,
    /// Seed of networks and positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Memory that may come and go with the allocator's moods.
const SLACK_BYTES: u64 = 32 << 20;
/// How often the bar moves.
const TICK: Duration = Duration::from_millis(500);

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    ensure!(args.threads > 0, "--threads starts at 1");
    ensure!(
        args.minutes > 0.0 && args.minutes < 10_000.0,
        "--minutes {}: more than 0 and less than a week",
        args.minutes
    );
    let duration = Duration::from_secs_f64(args.minutes * 60.0);
    let bar = if std::io::stderr().is_terminal() {
        indicatif::ProgressBar::new(duration.as_secs())
    } else {
        indicatif::ProgressBar::hidden()
    };
    let report = soak(
        SoakOptions {
            duration,
            threads: args.threads,
            seed: args.seed,
        },
        TICK,
        |elapsed| {
            bar.set_position(elapsed.as_secs());
        },
    );
    bar.finish_and_clear();
    let grown = report.grown_bytes();
    if args.json {
        println!(
            "{}",
            json!({
                "evaluations": report.evaluations, "checked": report.checked, "largest_error": report.largest_error,
                "memory_after_warm_up": report.memory_after_warm_up, "memory_at_end": report.memory_at_end,
            })
        );
    } else {
        println!(
            "{} evaluations, {} compared with the reference",
            report.evaluations, report.checked
        );
        println!("largest error {:.2e}", report.largest_error);
        match (report.memory_after_warm_up, report.memory_at_end) {
            (Some(before), Some(after)) => {
                println!(
                    "resident memory {} KiB after warm-up, {} KiB at the end",
                    before >> 10,
                    after >> 10
                );
            }
            _ => println!("resident memory is not known on this system"),
        }
    }
    let good = report.largest_error < 1e-4 && grown.is_none_or(|grown| grown < SLACK_BYTES);
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
