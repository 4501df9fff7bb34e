//! `tengen doctor`: is everything there that playing needs?

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use go_player::doctor::{self, State};

/// Exit code when something does not work.
const EXIT_UNWELL: u8 = 1;

/// Say what was found on this machine, and whether anything is wrong
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen doctor -w network.gz")]
pub struct Args {
    /// File with network weights
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command; the exit code is 1 if something does not work.
pub fn run(args: Args) -> Result<ExitCode> {
    let findings = doctor::examine(args.weights.as_deref());
    if args.json {
        println!("{}", serde_json::to_string(&findings)?);
    } else {
        for finding in &findings {
            let sign = match finding.state {
                State::Good => "good",
                State::Note => "note",
                State::Bad => "BAD ",
            };
            println!("{sign}  {:<10}  {}", finding.subject, finding.text);
        }
    }
    let is_unwell = findings.iter().any(|finding| finding.state == State::Bad);
    Ok(if is_unwell {
        ExitCode::from(EXIT_UNWELL)
    } else {
        ExitCode::SUCCESS
    })
}
