//! `tengen mario watch`: a player at work, drawn in colour.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use draw::bottle::to_rows;
use mario::{
    Ending, FRAMES_PER_SECOND, Game, Rules, Scenery, Speed,
    protocol::{Client, Deal, Server, Situation},
};
use mario_player::{Clock, NetSettings, Player, View};

use super::play::picture;
use super::stage::{Key, Stage};
use super::{DealArgs, PlayerArgs};
use crate::commands::terminal::{counted, is_colored};

/// Watch a player in the terminal
///
/// The player presses the buttons of a controller, frame by frame, through the AI protocol; the
/// clock stands while it thinks. Without a terminal every position is printed once. p pauses, q
/// ends. The exit code is 0 when the board was cleared and 1 when not.
#[derive(Args)]
#[command(after_help = "Example:
  tengen mario watch --level 20 --speed hi --player heuristic")]
pub struct WatchArgs {
    #[command(flatten)]
    deal: DealArgs,

    /// Starting speed: low, med, hi or ult
    #[arg(long, default_value = "med", value_parser = super::speed)]
    speed: Speed,

    /// How many times as fast as the console
    #[arg(long, default_value_t = 1.0)]
    times: f64,

    #[command(flatten)]
    player: PlayerArgs,
}

/// Exit code of a game that was not won.
const EXIT_LOST: u8 = 1;

pub fn run(args: WatchArgs) -> anyhow::Result<ExitCode> {
    if !(args.times > 0.0 && args.times.is_finite()) {
        anyhow::bail!("--times {} must be above 0", args.times);
    }
    let lineup = args.player.lineup(NetSettings::default(), Clock::Wall)?;
    let name = lineup.describe();
    let mut player = lineup.player(u64::from(args.deal.seed));
    player.new_game();
    let game = args.deal.game(Rules::default());
    let game = if std::io::stdout().is_terminal() {
        watch_live(&args, &name, game, &mut *player)?
    } else {
        watch_plain(&name, game, &mut *player)?
    };
    let won = game.ending() == Some(Ending::Cleared);
    let pills = counted(game.placed() as usize, "pill", "pills");
    let left = counted(game.board().viruses_left() as usize, "virus", "viruses");
    match won {
        true => println!("cleared with {pills}"),
        false => println!("{pills} placed, {left} left"),
    }
    Ok(if won {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_LOST)
    })
}

fn watch_live(
    args: &WatchArgs,
    name: &str,
    game: Game,
    player: &mut dyn Player,
) -> anyhow::Result<Game> {
    let viruses_at_start = game.viruses_at_start();
    let placed = RefCell::new(0);
    let brain = |situation: &Situation| {
        let view = View {
            board: situation.board,
            pill: situation.pill,
            next: Some(situation.next),
            viruses_at_start,
            placed: placed.replace_with(|count| *count + 1),
        };
        let decision = player.decide(&view)?;
        Ok(decision.map(|decision| decision.placement))
    };
    let mut client = Client::new(1, brain);
    let mut server = Server::new(Deal {
        game,
        speed: args.speed,
    });
    let mut stage = Stage::enter()?;
    let frame_time = Duration::from_secs_f64(1.0 / (FRAMES_PER_SECOND * args.times));
    let mut said = server.greeting();
    let mut paused = false;
    while !server.is_over() {
        let start = Instant::now();
        while !said.is_empty() {
            let mut answers = Vec::new();
            for message in said.drain(..) {
                let answered = client.receive(message);
                answers.extend(answered.map_err(anyhow::Error::from_boxed)?);
            }
            said = answers
                .into_iter()
                .flat_map(|answer| server.receive(answer))
                .collect();
        }
        if !paused {
            said = server.tick();
        }
        let lines = [
            name.to_owned(),
            format!("level {}   speed {}", args.deal.level, args.speed.name()),
            format!("viruses {}", server.game().board().viruses_left()),
            format!("pills {}", server.game().placed()),
            if paused {
                "PAUSED".to_owned()
            } else {
                String::new()
            },
        ];
        stage.show(&picture(&server, &lines))?;
        match stage.key(frame_time.saturating_sub(start.elapsed()))? {
            Some(Key::Quit) => break,
            Some(Key::Pause) => paused = !paused,
            _ => {}
        }
    }
    drop(stage);
    Ok(server.game().clone())
}

fn watch_plain(name: &str, mut game: Game, player: &mut dyn Player) -> anyhow::Result<Game> {
    println!("{name}");
    while game.ending().is_none() {
        let Some(decision) = player.decide(&View::of(&game))? else {
            break;
        };
        game.play(decision.placement)?;
        let lines = [
            format!("viruses {}", game.board().viruses_left()),
            format!("pills {}", game.placed()),
        ];
        let scenery = Scenery::still(*game.board(), Some(game.pill()), game.placed());
        for row in to_rows(&scenery.frame(0.0), is_colored(), &lines) {
            println!("{}", row.trim_end());
        }
    }
    Ok(game)
}
