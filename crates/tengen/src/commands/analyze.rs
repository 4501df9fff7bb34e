//! `tengen analyze`: a game, looked at move by move.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use analysis::KatrainEntry;
use anyhow::{Context, Result, anyhow, bail};
use go::sgf::Tree;
use go_player::{LoadedNetwork, Options, Player, Review, ownership_svg, review_svg};
use serde_json::json;

use super::{backend::BackendArgs, terminal};

/// What a game is called that was in no file.
const OWN_GAME: &str = "tengen.sgf";

/// Analyse a game record: winrates, scores, best lines, and the moves that cost most
///
/// Writes the record with comments and better lines, and the winrate as a picture. With a network that predicts the
/// score the picture and the mistakes are in points, and who owns the board at the end is a picture too. Without a
/// record, the network plays itself first and that game is analysed.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen analyze game.sgf -w network.gz --visits 400")]
pub struct Args {
    /// The game record [default: a game of the network against itself]
    #[arg(value_name = "GAME.sgf")]
    game: Option<PathBuf>,

    /// File with network weights
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    #[command(flatten)]
    backend: BackendArgs,

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

    /// Where the picture of who owns the board goes, if the network predicts it [default: GAME.owners.svg]
    #[arg(long, value_name = "FILE")]
    owners: Option<PathBuf>,

    /// Also write what was found as KaTrain keeps it, which then shows it without asking its own engine; makes the
    /// record some kilobytes a move larger
    #[arg(long)]
    katrain: bool,

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
    let owners = args
        .owners
        .unwrap_or_else(|| game.with_extension("owners.svg"));
    check_places([&output, &picture, &owners], args.game.as_deref())?;
    let record = args.game.as_deref().map(read_first).transpose()?;
    args.backend.choose();
    let network = LoadedNetwork::find(args.weights.as_deref())?;
    let processors = terminal::processors();
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
    let (network, batch) = match network.is_on_device() {
        true => network.for_threads(options.threads),
        false => (network, options.batch),
    };
    let mut player = Player::new(network, Options { batch, ..options })?;
    let mut tree = match record {
        Some(tree) => tree,
        None => play_own(&mut player)?,
    };
    let bar = terminal::progress(tree.main_line().len(), "positions");
    let mut kept = Vec::new();
    let review = Review::of(&mut player, &tree, &mut |node, player| {
        bar.inc(1);
        if args.katrain {
            kept.push((node, KatrainEntry::of(player)));
        }
    })
    .with_context(|| format!("cannot analyse {}", game.display()))?;
    bar.finish_and_clear();

    let graph = review_svg(&review, &title(&tree), args.marks);
    review.annotate(&mut tree, args.marks);
    for (node, entry) in &kept {
        entry.write(&mut tree, *node);
    }
    let root = tree.root();
    // The record may have been in another encoding; the text is written in this one.
    tree.set_text(root, "CA", "UTF-8");
    write(&output, tree.to_string().as_bytes())?;
    write(&picture, graph.as_bytes())?;
    let mut written = vec![&output, &picture];
    if let Some(drawn) = draw_owners(&review, &tree)? {
        write(&owners, drawn.as_bytes())?;
        written.push(&owners);
    }
    let text = if args.json {
        format!("{}\n", to_json(&review, args.marks))
    } else {
        let files: String = written
            .iter()
            .map(|file| format!("{}\n", file.display()))
            .collect();
        summary(&review, args.marks) + &files
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A place that cannot be written to is better known before the analysis than after it.
fn check_places(files: [&PathBuf; 3], game: Option<&Path>) -> Result<()> {
    for (index, file) in files.iter().enumerate() {
        if files[..index].contains(file) {
            bail!(
                "cannot write two results to {}: name different files with -o, --graph and --owners",
                file.display()
            );
        }
        if index > 0 && game == Some(file) {
            bail!(
                "cannot write a picture to {}: that is the game record",
                file.display()
            );
        }
        // It is removed again when it is dropped unfinished.
        crate::commands::files::WholeFile::create(file)?;
    }
    Ok(())
}

/// Who owns the last position, if the network says so.
fn draw_owners(review: &Review, tree: &Tree) -> Result<Option<String>> {
    let Some((node, score)) = review
        .positions
        .last()
        .and_then(|position| Some((position.node, position.score.as_ref()?)))
    else {
        return Ok(None);
    };
    let game = tree.game_at(node)?;
    Ok(Some(ownership_svg(game.board(), &score.ownership_black)))
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
        return "no mistakes were found\n".to_owned();
    }
    let mut text = String::new();
    for swing in dearest {
        let better = match swing.better {
            Some(better) => format!("better was {better}"),
            None => "the search would have played it too".to_owned(),
        };
        text += &format!(
            "move {:3}: {} {:4} lost {}, {better}\n",
            swing.move_number,
            swing.color,
            swing.mv.to_string(),
            swing.cost_text(),
        );
    }
    text
}

fn to_json(review: &Review, marks: usize) -> serde_json::Value {
    let line =
        |moves: &[go::Move]| -> Vec<String> { moves.iter().map(go::Move::to_string).collect() };
    let winrates = review.winrates_black();
    let leads = review.leads_black();
    let positions: Vec<_> = review
        .positions
        .iter()
        .enumerate()
        .map(|(index, position)| {
            let score = position.score.as_ref();
            json!({
                "move_number": position.move_number,
                "played": position.played.map(|(color, mv)| format!("{color} {mv}")),
                "to_move": position.to_move.to_string(),
                "winrate_black": winrates[index],
                "searched_winrate_black": position.winrate_black,
                "lead_black": leads.as_ref().map(|leads| leads[index]),
                "searched_lead_black": score.map(|score| score.lead_black),
                "score_spread": score.map(|score| score.spread),
                "ownership_black": score.map(|score| &score.ownership_black),
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
                "points": swing.points,
                "better": swing.better.map(|better| better.to_string()),
            })
        })
        .collect();
    json!({ "positions": positions, "largest_swings": swings })
}
