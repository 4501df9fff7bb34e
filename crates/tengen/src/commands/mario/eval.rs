//! `tengen mario eval`: how good a player is, level by level.

use std::process::ExitCode;

use clap::Args;
use mario::Rules;
use mario_player::evaluate::{Estimate, LevelResult, evaluate_level};
use mario_player::tree::NetSettings;
use serde_json::json;

use super::{Levels, PlayerArgs};
use crate::commands::terminal;

/// Measure a player: win rate, viruses left and pills used at each level, with 95 % intervals
///
/// Deals the console's boards and pill lists from seeds that the heuristic was not tuned on.
/// Games are independent and run on all cores; with a fixed number of playouts the result does
/// not depend on how many.
#[derive(Args)]
#[command(after_help = "Examples:
  tengen mario eval --levels 0..20 --games 60 --player heuristic
  tengen mario eval --levels 15,20 --games 60 --time 0.5 --json")]
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

    /// Print one JSON object, every game in it
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    player: PlayerArgs,
}

pub fn run(args: EvalArgs) -> anyhow::Result<ExitCode> {
    let lineup = args.player.lineup(NetSettings::default())?;
    let rules = Rules {
        stall_after: args.stall_after,
        most_pills: Some(args.most_pills),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()?;
    let bar = terminal::progress(args.levels.0.len() * args.games as usize, "games");
    let mut results = Vec::new();
    if !args.json {
        println!("{}, {} games a level", lineup.describe(), args.games);
        println!("level  won         win rate, 95 %     viruses left   pills a virus   pills/s");
    }
    for &level in &args.levels.0 {
        let result = pool.install(|| {
            let new_player = |seed| lineup.player(seed);
            evaluate_level(
                &new_player,
                level,
                args.games,
                args.first_game,
                rules,
                &|_| bar.inc(1),
            )
        });
        if !args.json {
            bar.suspend(|| print_row(&result));
        }
        results.push(result);
    }
    bar.finish_and_clear();
    if args.json {
        let report = json!({
            "player": lineup.describe(),
            "rules": { "most_pills": args.most_pills, "stall_after": args.stall_after },
            "levels": results,
        });
        println!("{report}");
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
