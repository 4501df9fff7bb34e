//! `tengen net graft`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use ladder::{Gains, graft};
use net::{
    NetworkContent, NetworkFile,
    leela::{LeelaNetwork, TextStyle},
};

/// Graft a ladder network onto a trained one.
///
/// The towers stand side by side; the logit of a ladder move gets a gain added, by what it tries and
/// whether it works. `tengen ladder fit` says which gains explain the moves of games. Without a ladder on the board the result answers as the base does.
/// Its heads have more planes than stock Leela Zero accepts: it is for Tengen.
///
/// Example: tengen ladder build -o ladder.txt
///          tengen net graft best-network.gz ladder.txt -o grafted.txt
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The trained network.
    base: PathBuf,
    /// A network from `tengen ladder build`.
    ladder: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Added to the logit of an extension that gets away.
    #[arg(long, default_value_t = Gains::default().escape_works, value_name = "LOGIT", allow_hyphen_values = true)]
    escape_works: f32,
    /// Added to the logit of an extension that is caught.
    #[arg(long, default_value_t = Gains::default().escape_fails, value_name = "LOGIT", allow_hyphen_values = true)]
    escape_fails: f32,
    /// Added to the logit of an atari that captures.
    #[arg(long, default_value_t = Gains::default().chase_works, value_name = "LOGIT", allow_hyphen_values = true)]
    chase_works: f32,
    /// Added to the logit of an atari that does not.
    #[arg(long, default_value_t = Gains::default().chase_fails, value_name = "LOGIT", allow_hyphen_values = true)]
    chase_fails: f32,
    /// Share of the ladder network's own value that enters the value, before the tanh.
    #[arg(long, default_value_t = Gains::default().value, value_name = "FACTOR")]
    value_gain: f32,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let base = load(&args.base)?;
    let ladder = load(&args.ladder)?;
    let gains = Gains {
        escape_works: args.escape_works,
        escape_fails: args.escape_fails,
        chase_works: args.chase_works,
        chase_fails: args.chase_fails,
        value: args.value_gain,
    };
    let grafted = graft(&base, &ladder, gains)
        .with_context(|| format!("{} and {}", args.base.display(), args.ladder.display()))?;
    super::write(&args.output, &grafted.to_exact_text(TextStyle::default()))?;
    let shape = grafted.shape();
    eprintln!(
        "{}: {} blocks of {} filters",
        args.output.display(),
        shape.blocks,
        shape.filters
    );
    Ok(ExitCode::SUCCESS)
}

fn load(file: &Path) -> anyhow::Result<LeelaNetwork> {
    match NetworkFile::load(file)?.content {
        NetworkContent::Leela(leela, _) => Ok(*leela),
        other => LeelaNetwork::from_network(&other.to_network())
            .with_context(|| file.display().to_string()),
    }
}
