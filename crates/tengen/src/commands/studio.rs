//! `tengen studio`: everything on one page in the browser.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use studio::{Settings, Studio};

use super::{backend::BackendArgs, terminal};

/// Play, analyse, review, solve, watch and train in the browser
///
/// Starts a server on 127.0.0.1, prints its address and opens it where there is a display. Nothing leaves this machine.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen studio game.sgf")]
pub struct Args {
    /// Game records to open
    #[arg(value_name = "GAME.sgf")]
    files: Vec<PathBuf>,

    /// The port [default: 32278, or any that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Only print the address
    #[arg(long)]
    no_open: bool,

    /// A folder with runs of training; may be given more than once [default: runs]
    #[arg(long, value_name = "DIR")]
    runs: Vec<PathBuf>,

    /// A folder with networks; may be given more than once
    #[arg(long, value_name = "DIR")]
    nets: Vec<PathBuf>,

    /// A network file to choose from; may be given more than once
    #[arg(short, long, value_name = "FILE")]
    weights: Vec<PathBuf>,

    #[command(flatten)]
    backend: BackendArgs,

    /// Threads to search with [default: all processors but one]
    #[arg(short, long, value_name = "N")]
    threads: Option<usize>,

    /// Memory for search trees, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory: usize,

    /// Seed of the search
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    // A second start opens another tab of the studio that runs already, unless it was told otherwise.
    if args.port.is_none()
        && args.files.is_empty()
        && let Some(address) = studio::running_address()
    {
        terminal::print(&format!("The studio is running already: {address}\n"))?;
        show(&address, args.no_open);
        return Ok(ExitCode::SUCCESS);
    }
    args.backend.choose();
    let usual = Settings::default();
    let settings = Settings {
        port: args.port,
        threads: args.threads.unwrap_or(usual.threads).max(1),
        memory_mib: args.memory,
        seed: args.seed,
        runs: if args.runs.is_empty() {
            usual.runs.clone()
        } else {
            args.runs
        },
        nets: args.nets,
        weights: args.weights,
        ..usual
    };
    let running = Studio::start(settings)?;
    let mut path = "/".to_owned();
    for file in &args.files {
        path = running.open_file(file)?;
    }
    let address = running.address().replace("/#", &format!("{path}#"));
    terminal::print(&format!("{address}\n"))?;
    eprintln!("Press Ctrl-C to end.");
    show(&address, args.no_open);
    running.wait();
    Ok(ExitCode::SUCCESS)
}

/// Opens the browser where there is a display; that it cannot be opened is no error.
fn show(address: &str, is_only_printed: bool) {
    let has_display = cfg!(any(target_os = "macos", windows))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if has_display && !is_only_printed {
        studio::open_browser(address);
    }
}
