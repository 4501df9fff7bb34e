//! `tengen mario eval`: how good a player is, level by level.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;
use mario::Rules;
use mario_player::{Clock, Estimate, LevelResult, NetSettings, Results, Series, evaluate};
use serde_json::json;

use super::{Levels, PlayerArgs};
use crate::commands::terminal;
use crate::interrupt;

/// Measure a player: win rate, viruses left and pills used at each level, with 95 % intervals
///
/// Deals the console's boards and pill lists from seeds that the heuristic was not tuned on.
/// Games are independent and run one on each core; with a fixed number of playouts the result does
/// not depend on how many. Seconds are counted in processor time, so that a busy machine does not
/// weaken the player. With --out every finished game is kept, and the same command resumes after
/// an interruption.
#[derive(Args)]
#[command(after_help = "Examples:
  tengen mario eval --levels 0..20 --games 60 --player heuristic
  tengen mario eval --levels 15,20 --games 60 --seconds 0.5 --out half.jsonl")]
pub struct EvalArgs {
    /// Levels, such as 0..20 or 0,5,10
    #[arg(long, default_value = "0,3,5,10,15,20", value_parser = super::levels)]
    levels: Levels,

    /// Games at each level
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=16383))]
    games: u64,

    /// Number of the first game; other numbers deal other games
    #[arg(long, default_value_t = 0)]
    first_game: u64,

    /// Cut games after so many pills
    #[arg(long, default_value_t = 400)]
    most_pills: u32,

    /// End games after so many pills in a row without a virus cleared
    #[arg(long, value_name = "PILLS")]
    stall_after: Option<u32>,

    /// Threads; 0 means one for each core
    #[arg(long, default_value_t = 0)]
    threads: usize,

    /// Keep finished games in this file, and count those it holds already
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print one JSON object, every game in it
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    player: PlayerArgs,
}

pub fn run(args: EvalArgs) -> anyhow::Result<ExitCode> {
    let lineup = args
        .player
        .lineup(NetSettings::default(), Clock::Processor)?;
    let rules = Rules {
        stall_after: args.stall_after,
        most_pills: Some(args.most_pills),
    };
    let mut results = match &args.out {
        Some(path) => Results::open(path, &lineup.describe(), rules)?,
        None => Results::in_memory(),
    };
    let series = Series {
        levels: args.levels.0,
        games: args.games,
        first_game: args.first_game,
        rules,
        threads: match args.threads {
            0 => terminal::processors(),
            threads => threads,
        },
    };
    let stop = interrupt::stop_flag()?;
    let bar = terminal::progress(series.levels.len() * args.games as usize, "games");
    let new_player = |seed| lineup.player(seed);
    let levels = evaluate(&series, &new_player, &mut results, stop, &|_| bar.inc(1))?;
    bar.finish_and_clear();
    if args.json {
        let report = json!({
            "player": lineup.describe(),
            "rules": { "most_pills": args.most_pills, "stall_after": args.stall_after },
            "levels": levels,
        });
        println!("{report}");
    } else {
        println!(
            "{}, {} a level",
            lineup.describe(),
            terminal::counted(args.games as usize, "game", "games")
        );
        println!("level  won         win rate, 95 %     viruses left   pills a virus   pills/s");
        levels.iter().for_each(print_row);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_row(result: &LevelResult) {
    let won = format!("{}/{}", result.wins, result.games);
    let Estimate { value, low, high } = result.win_rate;
    let rate = format!(
        "{:5.1} % ({:.1}-{:.1})",
        100.0 * value,
        100.0 * low,
        100.0 * high
    );
    let plus_minus = |estimate: Option<Estimate>| match estimate {
        Some(Estimate { value, high, .. }) => format!("{value:.2} ± {:.2}", high - value),
        None => "-".to_owned(),
    };
    println!(
        "{:5}  {won:9} {rate:>19}   {:>12}   {:>13}   {:7.1}",
        result.level,
        plus_minus(result.viruses_left),
        plus_minus(result.pills_per_virus),
        result.pills_per_second,
    );
}
