//! `tengen mario draw`: a record as an animated SVG or GIF.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use mario_player::selfplay::read_records;

use super::film::film;
use super::gif::gif;
use super::svg::svg;

/// Draw a recorded game as an animation
///
/// The file's ending says which kind: .svg or .gif.
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario solve --level 5 --record game.txt
  tengen mario draw game.txt game.gif")]
pub struct DrawArgs {
    /// Records, as self-play and solve write them
    record: PathBuf,

    /// The picture to write, .svg or .gif
    picture: PathBuf,

    /// Which game of the file, counted from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    game: u64,

    /// How many times as fast as normal
    #[arg(long, default_value_t = 1.0)]
    times: f64,

    /// Draw only the position after so many pills, without any motion
    #[arg(long, value_name = "PILLS")]
    still: Option<usize>,
}

pub fn run(args: DrawArgs) -> anyhow::Result<ExitCode> {
    if !(args.times > 0.0 && args.times.is_finite()) {
        bail!("--times {} must be above 0", args.times);
    }
    let mut record = read_records(&args.record)?
        .nth(args.game as usize - 1)
        .with_context(|| format!("{} has no game {}", args.record.display(), args.game))??;
    if let Some(pills) = args.still {
        record.moves.truncate(pills);
    }
    let mut frames = film(&record, args.times)?;
    if args.still.is_some() {
        frames.drain(..frames.len() - 1);
    }
    let kind = args.picture.extension().and_then(|ending| ending.to_str());
    let content = match kind {
        Some("svg") => svg(&frames).into_bytes(),
        Some("gif") => gif(&frames)?,
        _ => bail!(
            "{}: expected a file ending in .svg or .gif",
            args.picture.display()
        ),
    };
    crate::commands::files::write_whole(&args.picture, &content)?;
    let seconds: f64 = frames.iter().map(|frame| frame.seconds).sum();
    println!(
        "{}: {} pictures, {seconds:.1} s, {} bytes",
        args.picture.display(),
        frames.len(),
        content.len()
    );
    Ok(ExitCode::SUCCESS)
}
