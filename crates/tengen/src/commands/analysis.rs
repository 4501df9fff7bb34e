//! `tengen analysis`: many positions at once, by KataGo's JSON protocol.

use std::{
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use analysis::{GoAnalyst, Limits, Perspective, Settings};
use anyhow::{Context, bail};
use go_player::{LoadedNetwork, Options};

use super::{backend::BackendArgs, terminal};

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

    /// A human-imitation network of KataGo's: queries that name a humanSLProfile are told what such people would play
    #[arg(long, value_name = "FILE")]
    human_model: Option<PathBuf>,

    #[command(flatten)]
    backend: BackendArgs,

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

/// How to answer queries, whatever name the program was called by.
pub struct Setup {
    /// The network's file; the one that is found if none.
    pub weights: Option<PathBuf>,
    /// A second network's file, one that imitates people.
    pub human: Option<PathBuf>,
    /// Positions searched at once; one for each processor if none.
    pub threads: Option<usize>,
    /// The most threads that search one position.
    pub threads_per_position: usize,
    /// How to search unless a query says otherwise.
    pub options: Options,
    /// Longest time of one search, unless a query says otherwise.
    pub max_time: Option<Duration>,
    /// Longest principal variation, unless a query says otherwise.
    pub pv_len: Option<usize>,
    pub perspective: Perspective,
    pub warn_unused: bool,
    /// What `query_version` answers.
    pub version: String,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            weights: None,
            human: None,
            threads: None,
            threads_per_position: terminal::processors(),
            options: Options {
                ponder: false,
                ..Options::default()
            },
            max_time: None,
            pv_len: None,
            perspective: Perspective::default(),
            warn_unused: true,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Answers queries until the input ends.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.backend.choose();
    let usual = Setup::default();
    serve(Setup {
        weights: args.weights,
        human: args.human_model,
        threads: Some(args.threads).filter(|&threads| threads > 0),
        options: Options {
            visits: args.visits,
            ..usual.options
        },
        perspective: args.report_as,
        warn_unused: !args.no_warnings,
        ..usual
    })?;
    Ok(ExitCode::SUCCESS)
}

fn human_network(file: &Path) -> anyhow::Result<LoadedNetwork> {
    let network = LoadedNetwork::find(Some(file))?;
    if !network.encoder.imitates_people() {
        bail!(
            "{} does not imitate people: --human-model wants one of KataGo's networks with a metadata encoder",
            file.display()
        );
    }
    Ok(network)
}

/// Loads the network and answers queries from standard input until they end.
pub fn serve(setup: Setup) -> anyhow::Result<()> {
    let network = LoadedNetwork::find(setup.weights.as_deref())?;
    let threads = setup.threads.unwrap_or_else(terminal::processors);
    let limits = Limits {
        positions: threads,
        threads: terminal::processors(),
        threads_per_position: setup.threads_per_position,
        cache_bytes: CACHE_BYTES,
        max_time: setup.max_time,
    };
    let name = network.name().into_owned();
    let mut analyst = GoAnalyst::new(network, setup.options, limits);
    if let Some(file) = &setup.human {
        analyst = analyst.with_human(human_network(file)?);
    }
    let settings = Settings {
        threads,
        perspective: setup.perspective,
        pv_len: setup.pv_len,
        warn_unused: setup.warn_unused,
        version: setup.version,
        git_hash: option_env!("TENGEN_COMMIT").unwrap_or("unknown").to_owned(),
    };
    // Clients show this as a log; there is nothing else to wait for.
    eprintln!("{name}: ready for queries, {threads} at once");
    let input = BufReader::new(io::stdin());
    match analysis::serve(&analyst, &settings, input, io::stdout()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served.context("cannot write the answers"),
    }
}
