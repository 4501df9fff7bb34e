//! `tengen mario solve`: few pills, with the whole list known.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use mario::{Placed, Record, RecordEnd, RecordMove, Rules};
use mario_player::{SolveSettings, Weights, solve};
use serde_json::json;

use super::DealArgs;
use crate::commands::terminal;

/// Clear a level with as few pills as a beam search finds, the pill list known
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario solve --seed 0x8988 --level 10 --record best.txt")]
pub struct SolveArgs {
    #[command(flatten)]
    deal: DealArgs,

    /// Boards kept after each pill; more is slower and better
    #[arg(long, default_value_t = 4000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    width: u64,

    /// Write the solution as a game record
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: SolveArgs) -> anyhow::Result<ExitCode> {
    let game = args.deal.game(Rules::default());
    let settings = SolveSettings {
        width: args.width as usize,
        ..SolveSettings::default()
    };
    let viruses = game.viruses_at_start() as usize;
    let bar = terminal::progress(viruses, "viruses cleared");
    let solution = solve(&game, &Weights::default(), &settings, |_, fewest| {
        bar.set_position((viruses - fewest as usize) as u64);
    });
    bar.finish_and_clear();
    let Some(solution) = solution else {
        bail!("no way found: try a larger --width than {}", args.width);
    };
    if let Some(path) = &args.record {
        let placed = |(index, at): (usize, &mario::Placement)| Placed {
            x: at.x,
            y: at.y,
            content: game.pills().get(index).turned(at.turns),
        };
        let moves = solution
            .placements
            .iter()
            .enumerate()
            .map(placed)
            .map(|chosen| RecordMove {
                chosen,
                weights: vec![(chosen, 1.0)],
            })
            .collect();
        let record = Record {
            board: *game.board(),
            moves,
            end: RecordEnd::End,
        };
        crate::commands::files::write_whole(path, record.to_string().as_bytes())?;
    }
    let pills = solution.placements.len();
    if args.json {
        let placements: Vec<_> = solution
            .placements
            .iter()
            .map(|at| json!([at.turns, at.x, at.y]))
            .collect();
        println!(
            "{}",
            json!({
                "seed": args.deal.seed, "level": args.deal.level, "viruses": viruses,
                "pills": pills, "lower_bound": solution.lower_bound, "placements": placements,
            })
        );
    } else {
        println!(
            "level {}, seed {:#06x}: {viruses} viruses cleared with {pills} pills (at least {} are needed)",
            args.deal.level, args.deal.seed, solution.lower_bound
        );
    }
    Ok(ExitCode::SUCCESS)
}
