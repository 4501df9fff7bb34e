//! `tengen mario selfplay`: records of games, to learn from.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use mario_player::{Clock, NetSettings};
use mario_training::{PillSource, SelfPlaySettings, self_play};

use super::{Levels, PlayerArgs};
use crate::commands::terminal::{self, counted};
use crate::interrupt;

#[derive(Clone, Copy, ValueEnum)]
enum Pills {
    /// The console's board and pill list
    Console,
    /// Independent pills, as the corpus of round 0 has them
    Independent,
}

/// Let a player play itself and append the records to a file
///
/// Every game is written whole and synced, so the run may be interrupted in any way: the same
/// command resumes after the last whole game, to the same bytes.
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario selfplay games.txt --games 1000 --levels 0..10 --player round0 --playouts 2000
  tengen mario examples games.txt examples.json --augment")]
pub struct SelfplayArgs {
    /// File of records; what it holds already counts
    records: PathBuf,

    /// Games the file shall hold in the end
    #[arg(long, default_value_t = 100)]
    games: u64,

    /// Levels to deal from, such as 0..20 or 3,8; each is as likely as the others
    #[arg(long, default_value = "0..20", value_parser = super::levels)]
    levels: Levels,

    /// Where pills come from
    #[arg(long, value_enum, default_value = "console")]
    pills: Pills,

    /// Draw one move in five instead of always playing the best, and add noise to a network's
    /// priors
    #[arg(long)]
    explore: bool,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Games at once; 0 means one for each core
    #[arg(long, default_value_t = 0)]
    threads: usize,

    #[command(flatten)]
    player: PlayerArgs,
}

pub fn run(args: SelfplayArgs) -> anyhow::Result<ExitCode> {
    let noise = args.explore.then_some(NetSettings::SELF_PLAY_NOISE);
    let net = NetSettings {
        noise,
        ..NetSettings::default()
    };
    let lineup = args.player.lineup(net, Clock::Processor)?;
    let mut levels = args.levels.0;
    levels.sort_unstable();
    levels.dedup();
    let (Some(&lowest), Some(&highest)) = (levels.first(), levels.last()) else {
        bail!("--levels names no level");
    };
    let is_range = levels.len() == usize::from(highest - lowest) + 1;
    let settings = SelfPlaySettings {
        player: lineup.describe(),
        lowest_level: lowest,
        highest_level: highest,
        levels: if is_range { Vec::new() } else { levels },
        pills: match args.pills {
            Pills::Console => PillSource::Console,
            Pills::Independent => PillSource::Independent,
        },
        explore: args.explore,
        seed: args.seed,
    };
    let threads = match args.threads {
        0 => terminal::processors(),
        threads => threads,
    };
    let stop = interrupt::stop_flag()?;
    let bar = terminal::progress(args.games as usize, "games");
    let new_player = |seed| lineup.player(seed);
    let report = self_play(
        &args.records,
        args.games,
        threads,
        &settings,
        &new_player,
        stop,
        |games| {
            bar.set_position(games);
        },
    )?;
    bar.finish_and_clear();
    println!(
        "{}: {}, {} of them found there",
        args.records.display(),
        counted(report.games as usize, "game", "games"),
        report.resumed
    );
    if report.games < args.games {
        println!("stopped early; the same command resumes here");
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
