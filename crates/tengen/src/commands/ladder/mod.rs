//! `tengen ladder`: ladders, by search and by network.

mod read;

use std::process::ExitCode;

use clap::Subcommand;

/// Read ladders
#[derive(Subcommand)]
pub enum Command {
    Read(read::Args),
}

pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Read(args) => read::run(args),
    }
}
