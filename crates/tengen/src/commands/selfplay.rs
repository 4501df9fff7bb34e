//! `tengen selfplay`: games of a network against itself, as training data.

use std::{
    fs,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use anyhow::Context;
use flate2::{Compression, write::GzEncoder};
use go_player::{
    LoadedNetwork,
    record::write_chunk,
    selfplay::{Finished, SelfPlay},
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    commands::{backend::BackendArgs, files::write_whole, terminal::counted},
    interrupt,
};

/// Play a network against itself and keep the games as training data.
///
/// Each game becomes NUMBER.sgf and, in Leela Zero's training format, NUMBER.txt.gz. Games that
/// are already in the folder are not played again, so the same command continues after a stop.
///
/// Example: tengen selfplay --weights best.txt.gz --games 1000 --dir games
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network; without it, the one that `tengen gtp` would use.
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(flatten)]
    backend: BackendArgs,
    /// Folder for the games.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Games in all, those already in the folder included.
    #[arg(long, default_value_t = 100)]
    games: u64,
    /// Games at once; the network evaluates their positions together.
    #[arg(long, default_value_t = 32)]
    at_once: usize,
    /// Fixes the random choices: game by game, whatever else happens at once.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Simulations of a recorded move.
    #[arg(long, default_value_t = SelfPlay::default().simulations)]
    simulations: u64,
    /// Simulations of a move that is not recorded.
    #[arg(long, default_value_t = SelfPlay::default().quick_simulations)]
    quick_simulations: u64,
    /// Share of moves that are recorded.
    #[arg(long, default_value_t = SelfPlay::default().full_share)]
    full_share: f64,
    /// Moves at the start that are drawn from the policy.
    #[arg(long, default_value_t = SelfPlay::default().drawn_moves)]
    drawn_moves: usize,
    /// Komi of the games.
    #[arg(long, default_value_t = SelfPlay::default().komi, allow_negative_numbers = true)]
    komi: f32,
}

/// Plays the games.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.backend.choose();
    let network = LoadedNetwork::find(args.weights.as_deref())?;
    fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot create the folder {}", args.dir.display()))?;
    let settings = SelfPlay {
        komi: args.komi,
        simulations: args.simulations,
        quick_simulations: args.quick_simulations,
        full_share: args.full_share,
        drawn_moves: args.drawn_moves,
        ..SelfPlay::default()
    };
    let first = (0..args.games)
        .find(|&number| !is_there(&args.dir, number))
        .unwrap_or(args.games);
    let bar = progress_bar(args.games, first);
    let interrupted = interrupt::stop_flag()?;
    let stop = AtomicBool::new(first >= args.games);
    let positions = AtomicU64::new(0);
    let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let played = go_training::self_play(
        network,
        &settings,
        args.seed,
        first,
        Some(args.games),
        args.at_once,
        &stop,
        |number, game| {
            if !is_there(&args.dir, number) {
                positions.fetch_add(game.steps.len() as u64, Ordering::Relaxed);
                if let Err(error) = keep(&args.dir, number, &game) {
                    failure
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner())
                        .get_or_insert(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            bar.inc(1);
            if interrupted.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
        },
    );
    bar.finish_and_clear();
    if let Some(error) = failure
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
    {
        return Err(error);
    }
    played?;
    let there = (0..args.games)
        .filter(|&number| is_there(&args.dir, number))
        .count();
    println!(
        "{} in {}, {} recorded now",
        counted(there, "game", "games"),
        args.dir.display(),
        counted(positions.into_inner() as usize, "position", "positions")
    );
    if interrupted.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// The chunk is written last, so a game with a chunk is complete.
fn is_there(dir: &Path, number: u64) -> bool {
    chunk_path(dir, number).exists()
}

fn chunk_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:06}.txt.gz"))
}

fn keep(dir: &Path, number: u64, game: &Finished) -> anyhow::Result<()> {
    let mut tree = go::sgf::Tree::from_game(&game.game);
    tree.set_text(tree.root(), "RE", &game.result());
    write_whole(
        &dir.join(format!("{number:06}.sgf")),
        tree.to_string().as_bytes(),
    )?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(write_chunk(game.records()).as_bytes())?;
    write_whole(&chunk_path(dir, number), &gzip.finish()?)
}

fn progress_bar(games: u64, first: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} games, {per_sec}, {eta} left");
    let bar =
        ProgressBar::new(games).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.with_position(first)
}
