//! `tengen tsumego`: is this group safe?

mod answer;
mod compress;
mod eval;
mod expand;
mod features;
mod files;
mod generate;
mod pack;
mod publish;
mod show;
mod solve;
mod stats;
mod tree;
mod validate;

use std::process::ExitCode;

/// Is this group safe? Solve problems, make them, and turn them into training data.
#[derive(clap::Subcommand)]
pub enum Command {
    Solve(Box<solve::Args>),
    Generate(generate::Args),
    Tree(tree::Args),
    Expand(expand::Args),
    Stats(stats::Args),
    Validate(validate::Args),
    Features(features::Args),
    Pack(pack::Args),
    Eval(eval::Args),
    Compress(compress::Args),
    Publish(publish::Args),
    Show(show::Args),
}

pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Solve(args) => solve::run(*args),
        Command::Generate(args) => generate::run(args),
        Command::Tree(args) => tree::run(args),
        Command::Expand(args) => expand::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Features(args) => features::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Compress(args) => compress::run(args),
        Command::Publish(args) => publish::run(args),
        Command::Show(args) => show::run(args),
    }
}
