//! `tengen analysis`: many positions at once, by KataGo's JSON protocol.

use std::{
    io::{self, BufReader},
    path::PathBuf,
    process::ExitCode,
};

use analysis::{GoAnalyst, Perspective, Settings, serve};
use anyhow::Context;
use go_player::{LoadedNetwork, Options};

use super::terminal;

/// Bytes of opinions that are kept for each board size.
const CACHE_BYTES: usize = 256 << 20;

/// Analyse positions for programs: KataGo's JSON protocol, one object a line
///
/// Reads queries from standard input and writes answers to standard output, many positions at once
/// and in any order, as KaTrain and other clients of KataGo's analysis engine expect. When the input
/// ends, the queries in hand are answered first.
///
/// Example:
///   echo '{"id":"a","rules":"japanese","komi":6.5,"boardXSize":9,"boardYSize":9,
///          "moves":[["B","E5"]],"maxVisits":100}' | tengen analysis
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network; without it, the one that `tengen gtp` would use
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Positions searched at once; 0: one for each processor
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = terminal::count_up_to(Options::MOST_THREADS))]
    threads: usize,

    /// Most visits of a query that names no limit
    #[arg(short, long, value_name = "N")]
    visits: Option<u64>,

    /// Whose chances to report unless a query says otherwise: black, white or sidetomove
    #[arg(long, default_value = "black", value_parser = perspective)]
    report_as: Perspective,

    /// Say nothing about fields of a query that mean nothing here
    #[arg(long)]
    no_warnings: bool,
}

fn perspective(text: &str) -> Result<Perspective, String> {
    Perspective::read(text).ok_or_else(|| "expected black, white or sidetomove".to_owned())
}

/// Answers queries until the input ends.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = LoadedNetwork::find(args.weights.as_deref())?;
    let threads = match args.threads {
        0 => terminal::processors(),
        threads => threads,
    };
    let options = Options {
        visits: args.visits,
        ponder: false,
        ..Options::default()
    };
    let analyst = GoAnalyst::new(network, options, threads, CACHE_BYTES);
    let settings = Settings {
        threads,
        perspective: args.report_as,
        warn_unused: !args.no_warnings,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_hash: option_env!("TENGEN_COMMIT").unwrap_or("unknown").to_owned(),
    };
    let input = BufReader::new(io::stdin());
    match serve(&analyst, &settings, input, io::stdout()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        served => served
            .context("cannot write the answers")
            .map(|()| ExitCode::SUCCESS),
    }
}
