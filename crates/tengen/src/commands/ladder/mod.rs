//! `tengen ladder`: ladders, by search and by network.

mod build;
mod fit;
mod read;
mod show;
mod test;

use std::process::ExitCode;

use clap::Subcommand;

/// Read ladders
#[derive(Subcommand)]
pub enum Command {
    Read(read::Args),
    Build(build::Args),
    Test(test::Args),
    Show(show::Args),
    Fit(fit::Args),
}

pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Read(args) => read::run(args),
        Command::Build(args) => build::run(args),
        Command::Test(args) => test::run(args),
        Command::Show(args) => show::run(args),
        Command::Fit(args) => fit::run(args),
    }
}
