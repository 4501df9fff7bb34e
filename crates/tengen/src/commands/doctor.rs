//! `tengen doctor`: is everything there that playing needs?

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use go_player::doctor::{self, Finding, State};
use learn::device::{Device, DeviceError};

use super::terminal;

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
    let mut findings = doctor::examine(args.weights.as_deref());
    findings.extend(graphics());
    let mut text = String::new();
    if args.json {
        text += &format!("{}\n", serde_json::to_string(&findings)?);
    } else {
        for finding in &findings {
            let sign = match finding.state {
                State::Good => "good",
                State::Note => "note",
                State::Bad => "BAD ",
            };
            text += &format!("{sign}  {:<10}  {}\n", finding.subject, finding.text);
        }
    }
    terminal::print(&text)?;
    let is_unwell = findings.iter().any(|finding| finding.state == State::Bad);
    Ok(if is_unwell {
        ExitCode::from(EXIT_UNWELL)
    } else {
        ExitCode::SUCCESS
    })
}

/// What could train besides the processor; nothing in a program built without that.
fn graphics() -> Option<Finding> {
    let (state, text) = match Device::Gpu.name() {
        Ok(name) => (State::Good, format!("{name}; train --device gpu uses it")),
        Err(DeviceError::NotBuilt) => return None,
        Err(error) => (State::Note, error.to_string()),
    };
    Some(Finding {
        subject: "graphics",
        state,
        text,
    })
}
