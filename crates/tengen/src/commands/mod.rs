//! The subcommands, one file each, in the order `--help` lists them.

mod analysis;
mod analyze;
mod backend;
mod bench;
mod completions;
mod doctor;
mod files;
mod fleet;
pub mod gtp;
mod label;
mod ladder;
mod mario;
mod matches;
mod net;
pub mod roles;
mod selfplay;
mod sgf;
mod studio;
mod terminal;
mod train;
mod tsumego;
mod work;
pub mod zero;

pub use terminal::sentence;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Exit code for bad input of any kind: a wrong flag, a damaged file, a missing argument.
pub const EXIT_BAD_INPUT: u8 = 2;

/// Residual networks that read Go and Dr. Mario.
#[derive(Parser)]
#[command(name = "tengen", version = crate::version::version(), about)]
pub struct Program {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Studio(studio::Args),
    Gtp(gtp::Args),
    Analyze(analyze::Args),
    Analysis(analysis::Args),
    Bench(bench::Args),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Ladder(ladder::Command),
    #[command(subcommand)]
    Mario(mario::Command),
    Match(matches::Args),
    #[command(subcommand)]
    Sgf(sgf::Command),
    Selfplay(selfplay::Args),
    Label(label::Args),
    Train(train::Args),
    #[command(subcommand)]
    Zero(zero::Command),
    Work(work::Args),
    #[command(subcommand)]
    Fleet(fleet::Command),
    Net(net::Args),
    #[command(subcommand)]
    Tsumego(tsumego::Command),
    Completions(completions::Args),
    Man(completions::ManArgs),
}

impl Program {
    /// Runs the chosen subcommand; with none, prints the help.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => {
                Self::command().print_long_help()?;
                Ok(ExitCode::SUCCESS)
            }
            Some(Command::Studio(args)) => studio::run(args),
            Some(Command::Gtp(args)) => gtp::run(args),
            Some(Command::Analyze(args)) => analyze::run(args),
            Some(Command::Analysis(args)) => analysis::run(args),
            Some(Command::Bench(args)) => bench::run(args),
            Some(Command::Doctor(args)) => doctor::run(args),
            Some(Command::Ladder(command)) => ladder::run(command),
            Some(Command::Mario(command)) => mario::run(command),
            Some(Command::Match(args)) => matches::run(args),
            Some(Command::Sgf(command)) => sgf::run(command),
            Some(Command::Selfplay(args)) => selfplay::run(args),
            Some(Command::Label(args)) => label::run(args),
            Some(Command::Zero(command)) => zero::run(command),
            Some(Command::Work(args)) => work::run(args),
            Some(Command::Fleet(command)) => fleet::run(command),
            Some(Command::Train(args)) => train::run(args),
            Some(Command::Net(args)) => net::run(args),
            Some(Command::Tsumego(command)) => tsumego::run(command),
            Some(Command::Completions(args)) => completions::run(args),
            Some(Command::Man(args)) => completions::run_man(args),
        }
    }
}
