//! `tengen work`: plays for a run on another machine.

use std::{path::PathBuf, process::ExitCode, sync::atomic::Ordering};

use fleet::wire::Acceptance;
use worker::{Options, Progress, work};

use super::{backend::BackendArgs, terminal::counted};
use crate::interrupt;

/// Play for a run of `tengen zero --serve` on another machine
///
/// Takes tasks, plays them many at once, and hands the games in. Finished games are kept in the folder until the server
/// has said that they are in the run's log, so nothing is lost when this program, the server or the line between them
/// breaks; start it again and it resumes. Ctrl-C ends it at any time.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  tengen work http://192.168.0.7:8470 --token tgn_... --dir spool"
)]
pub struct Args {
    /// The server's address
    #[arg(value_name = "URL")]
    url: String,

    /// The worker's folder: its key, networks, and games that are on their way
    #[arg(long, value_name = "FOLDER", default_value = "worker")]
    dir: PathBuf,

    /// The token that the run's operator gave you; it is kept in the folder
    #[arg(long)]
    token: Option<String>,

    /// A name for the status page, at the first start
    #[arg(long)]
    name: Option<String>,

    /// The key that the server must have, in hexadecimal digits; without it the first one met is trusted from then on
    #[arg(long, value_name = "KEY")]
    server_key: Option<String>,

    /// The certificate of the authority that signed the server's, as a PEM file, if it is not a public one
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Games at once
    #[arg(long, value_name = "N", default_value_t = 16)]
    at_once: usize,

    /// End after so many games
    #[arg(long, value_name = "N")]
    games: Option<u64>,

    #[command(flatten)]
    backend: BackendArgs,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.backend.choose();
    let stop = interrupt::stop_flag()?;
    let options = Options {
        url: args.url,
        dir: args.dir,
        token: args.token,
        name: args.name,
        server_key: args.server_key,
        ca: args.ca,
        at_once: args.at_once,
        games: args.games,
    };
    let summary = work(&options, stop, &show)?;
    println!(
        "{} finished, {} taken by the run",
        counted(summary.finished as usize, "game", "games"),
        summary.accepted
    );
    if summary.waiting > 0 {
        println!(
            "{} wait in {} and are handed in at the next start",
            counted(summary.waiting, "game", "games"),
            options.dir.display()
        );
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(progress: Progress) {
    match progress {
        Progress::Joined { name, game, key } => {
            println!("playing {game} as {name}; the server's key is {key}");
        }
        Progress::Receipt(receipt) => {
            let id = &receipt.game[..receipt.game.len().min(8)];
            match receipt.verdict {
                Acceptance::Accepted => println!("game {id}: taken, number {}", receipt.seq),
                Acceptance::Duplicate => println!("game {id}: was there already"),
                Acceptance::Refused => println!("game {id}: refused: {}", receipt.why),
                Acceptance::Stale => println!("game {id}: too late: {}", receipt.why),
                Acceptance::Quarantined => println!("game {id}: kept apart: {}", receipt.why),
            }
        }
        Progress::Say(say) => eprintln!("tengen: {say}"),
        Progress::Idle => println!("nothing is wanted now; waiting"),
    }
}
