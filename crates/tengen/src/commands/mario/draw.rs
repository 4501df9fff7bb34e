//! `tengen mario draw`: a record as an animated SVG or GIF.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use draw::bottle::{to_gif, to_svg};
use mario::{film, still};
use mario_player::read_records;

use crate::commands::files::write_whole;
use crate::commands::terminal::counted;

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
    let record = read_records(&args.record)?
        .nth(args.game as usize - 1)
        .with_context(|| format!("{} has no game {}", args.record.display(), args.game))??;
    let in_record = || format!("{}: game {}", args.record.display(), args.game);
    let frames = match args.still {
        None => film(&record, args.times).with_context(in_record)?,
        Some(pills) if pills > record.moves.len() => bail!(
            "--still {pills}: game {} of {} has only {}",
            args.game,
            args.record.display(),
            counted(record.moves.len(), "pill", "pills")
        ),
        Some(pills) => vec![still(&record, pills).with_context(in_record)?],
    };
    let kind = args.picture.extension().and_then(|ending| ending.to_str());
    let content = match kind {
        Some("svg") => to_svg(&frames).into_bytes(),
        Some("gif") => to_gif(&frames)?,
        _ => bail!(
            "{}: expected a file ending in .svg or .gif",
            args.picture.display()
        ),
    };
    write_whole(&args.picture, &content)?;
    let seconds: f64 = frames.iter().map(|frame| frame.seconds).sum();
    println!(
        "{}: {}, {seconds:.1} s, {} bytes",
        args.picture.display(),
        counted(frames.len(), "picture", "pictures"),
        content.len()
    );
    Ok(ExitCode::SUCCESS)
}
