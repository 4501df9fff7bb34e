//! `tengen analyze`: a game, looked at move by move.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use anyhow::{Context, Result, anyhow, bail};
use go::sgf::Tree;
use go_player::{LoadedNetwork, Options, Player, Review, winrate_svg};
use serde_json::json;

use super::terminal;

/// What a game is called that was in no file.
const OWN_GAME: &str = "tengen.sgf";

/// Analyse a game record: winrates, best lines, and the moves that cost most
///
/// Writes the record with comments and better lines, and the winrate as a picture. Without a record, the network plays
/// itself first and that game is analysed.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen analyze game.sgf -w network.gz --visits 400")]
pub struct Args {
    /// The game record [default: a game of the network against itself]
    #[arg(value_name = "GAME.sgf")]
    game: Option<PathBuf>,

    /// File with network weights
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Visits a position
    #[arg(short, long, default_value_t = 200, value_name = "N")]
    visits: u64,

    /// Threads to search with; 0 takes one for each processor
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = terminal::count_up_to(Options::MOST_THREADS))]
    threads: usize,

    /// Seed of the search
    #[arg(short, long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// How many of the dearest moves to mark
    #[arg(long, default_value_t = 5, value_name = "N")]
    marks: usize,

    /// Where the annotated record goes [default: GAME.analyzed.sgf]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Where the picture goes [default: GAME.analyzed.svg]
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,

    /// Print every position as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let game = args.game.as_deref().unwrap_or(Path::new(OWN_GAME));
    let output = args
        .output
        .unwrap_or_else(|| game.with_extension("analyzed.sgf"));
    let picture = args
        .graph
        .unwrap_or_else(|| game.with_extension("analyzed.svg"));
    for file in [&output, &picture] {
        check_folder(file)?;
    }
    let record = args.game.as_deref().map(read_first).transpose()?;
    let network = LoadedNetwork::find(args.weights.as_deref())?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let options = Options {
        visits: Some(args.visits.max(1)),
        threads: if args.threads == 0 {
            processors
        } else {
            args.threads
        },
        seed: args.seed,
        ..Options::default()
    };
    let mut player = Player::new(network, options)?;
    let mut tree = match record {
        Some(tree) => tree,
        None => play_own(&mut player)?,
    };
    let bar = terminal::progress(tree.main_line().len(), "positions");
    let review = Review::of(&mut player, &tree, &mut |done, _| {
        bar.set_position(done as u64)
    })?;
    bar.finish_and_clear();

    let graph = winrate_svg(&review, &title(&tree), args.marks);
    review.annotate(&mut tree, args.marks);
    let root = tree.root();
    // The record may have been in another encoding; the text is written in this one.
    tree.set_text(root, "CA", "UTF-8");
    write(&output, tree.to_string().as_bytes())?;
    write(&picture, graph.as_bytes())?;
    let text = if args.json {
        format!("{}\n", to_json(&review, args.marks))
    } else {
        let files = format!("{}\n{}\n", output.display(), picture.display());
        summary(&review, args.marks) + &files
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A place that cannot be written to is better known before the analysis than after it.
fn check_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    match folder {
        Some(folder) if !folder.is_dir() => bail!(
            "cannot write {}: there is no folder {}",
            file.display(),
            folder.display()
        ),
        _ => Ok(()),
    }
}

/// The first game of a file.
fn read_first(file: &Path) -> Result<Tree> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let collection = go::sgf::read(&bytes)
        .map_err(|error| anyhow!("cannot read {}: {error}", file.display()))?;
    match collection.games.into_iter().next() {
        Some(tree) => Ok(tree),
        None => bail!("{} holds no game", file.display()),
    }
}

fn play_own(player: &mut Player) -> Result<Tree> {
    eprintln!("No game record was named: the network plays itself first.");
    let bar = terminal::progress(0, "moves");
    let tree = go_player::exhibition(player, &mut |moves| bar.set_position(moves as u64))?;
    bar.finish_and_clear();
    Ok(tree)
}

fn title(tree: &Tree) -> String {
    let text = |name, unknown| tree.text(tree.root(), name).unwrap_or(unknown).to_owned();
    let result = tree.text(tree.root(), "RE").unwrap_or("?");
    format!("{} - {} {result}", text("PB", "Black"), text("PW", "White"))
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    crate::commands::files::write_whole(file, bytes)
}

fn summary(review: &Review, marks: usize) -> String {
    let dearest = review.largest_swings(marks);
    if dearest.is_empty() {
        return "no move lost anything\n".to_owned();
    }
    let mut text = String::new();
    for swing in dearest {
        let before = &review.positions[swing.index - 1];
        let better = before.best_line.first().map(go::Move::to_string);
        text += &format!(
            "move {:3}: {} {:4} lost {:4.1} %, better was {}\n",
            swing.move_number,
            swing.color,
            swing.mv.to_string(),
            swing.loss * 100.0,
            better.unwrap_or_else(|| "to pass".to_owned())
        );
    }
    text
}

fn to_json(review: &Review, marks: usize) -> serde_json::Value {
    let line =
        |moves: &[go::Move]| -> Vec<String> { moves.iter().map(go::Move::to_string).collect() };
    let positions: Vec<_> = review
        .positions
        .iter()
        .map(|position| {
            json!({
                "move_number": position.move_number,
                "played": position.played.map(|(color, mv)| format!("{color} {mv}")),
                "to_move": position.to_move.to_string(),
                "winrate_black": position.winrate_black,
                "visits": position.visits,
                "best_line": line(&position.best_line),
            })
        })
        .collect();
    let swings: Vec<_> = review
        .largest_swings(marks)
        .iter()
        .map(|swing| {
            json!({
                "move_number": swing.move_number,
                "color": swing.color.to_string(),
                "move": swing.mv.to_string(),
                "loss": swing.loss,
            })
        })
        .collect();
    json!({ "positions": positions, "largest_swings": swings })
}
