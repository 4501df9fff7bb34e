//! The subcommands, one file each, in the order `--help` lists them.

pub mod gtp;
mod matches;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Residual networks that read Go and Dr. Mario.
#[derive(Parser)]
#[command(name = "tengen", version, about)]
pub struct Program {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Gtp(gtp::Args),
    Match(matches::Args),
}

impl Program {
    /// Runs the chosen subcommand; with none, prints the help.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => {
                Self::command().print_long_help()?;
                Ok(ExitCode::SUCCESS)
            }
            Some(Command::Gtp(args)) => gtp::run(args),
            Some(Command::Match(args)) => matches::run(args),
        }
    }
}
