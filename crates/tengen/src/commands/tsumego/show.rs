//! `tengen tsumego show`: a picture of what lives and what dies.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use go::{Board, Point, sgf};
use tsumego::{
    Fate, FeatureSet, MapSettings, Problem, ProblemError, Recipe, SafetyNet, Side,
    generate_problems, map, problem_tree, to_svg,
};

use crate::commands::files::write_whole;
use crate::commands::terminal::counted;

/// Draw a position with each stone coloured from red (dies) to green (lives) if its opponent starts.
///
/// Each block that a safe wall encloses is judged by a network; with --exact, every group by the solver. Without a
/// file a new problem is made and kept.
///
/// Example: tengen tsumego show
/// Example: tengen tsumego show problem.sgf --out problem.svg
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// An SGF file [default: a new problem, kept as tengen.problem.sgf].
    file: Option<PathBuf>,
    /// The picture [default: beside the file, with the ending svg].
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// The network [default: the one inside the program].
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Which planes the network wants, where their number leaves a choice.
    #[arg(long)]
    planes: Option<FeatureSet>,
    /// Which game of a collection.
    #[arg(long, default_value_t = 1)]
    game: usize,
    /// Play this many moves of the main line first.
    #[arg(long, default_value_t = 0)]
    moves: usize,
    /// Let the solver read every group, also of open positions: green lives, red dies, yellow is
    /// decided by whoever plays first.
    #[arg(long, conflicts_with = "weights")]
    exact: bool,
    /// Nodes for each group with --exact.
    #[arg(long, default_value_t = 100_000)]
    nodes: u64,
}

/// Where a problem of our own is kept.
const OWN_PROBLEM: &str = "tengen.problem.sgf";

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = match args.file {
        Some(file) => file,
        None => make_problem()?,
    };
    let say = || file.display().to_string();
    let out = args.out.unwrap_or_else(|| file.with_extension("svg"));
    let bytes = fs::read(&file).with_context(say)?;
    let games = sgf::read(&bytes).with_context(say)?.games;
    let Some(tree) = args.game.checked_sub(1).and_then(|at| games.get(at)) else {
        bail!("{}: --game {} of {} games", say(), args.game, games.len());
    };
    let line = tree.main_line();
    let node = line[args.moves.min(line.len() - 1)];
    let board = tree.game_at(node).with_context(say)?.board().clone();
    if board
        .size()
        .points()
        .all(|point| board.stone(point).is_none())
    {
        bail!(
            "{}: the board is empty after move {}; show a later position with --moves N",
            say(),
            args.moves
        );
    }
    let net = match args.exact {
        true => None,
        false => Some(SafetyNet::find(args.weights.as_deref(), args.planes)?),
    };
    let (chances, refused) = match &net {
        Some(net) => guess(&board, net),
        None => (read(&board, args.nodes), None),
    };
    let svg = to_svg(&board, &|point| chances.get(&point).copied(), &[]);
    write_whole(&out, svg.as_bytes())?;
    let count = counted(chances.len(), "stone", "stones");
    match refused.filter(|_| chances.is_empty()) {
        None => println!("{}: {count} judged", out.display()),
        Some(reason) => println!(
            "{}: {count} judged: no block is enclosed ({reason}); --exact also reads open positions",
            out.display()
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// The network's guess for every block that a safe wall encloses, and why the first that none
/// encloses was left out.
fn guess(board: &Board, net: &SafetyNet) -> (HashMap<Point, f32>, Option<ProblemError>) {
    let mut chances: HashMap<Point, f32> = HashMap::new();
    let mut refused = None;
    for point in board.size().points().filter(|&p| board.stone(p).is_some()) {
        if chances.contains_key(&point) {
            continue;
        }
        match Problem::new(board.clone(), &[point]) {
            Ok(problem) => {
                let chance = net.chance_of_life(&problem, Side::Attacker, true);
                chances.extend(board.stones(point).map(|stone| (stone, chance)));
            }
            Err(reason) => refused = refused.or(Some(reason)),
        }
    }
    (chances, refused)
}

/// What reading says of every group: green alive, yellow critical, red dead.
fn read(board: &Board, nodes: u64) -> HashMap<Point, f32> {
    let settings = MapSettings {
        nodes,
        ..MapSettings::default()
    };
    let mut chances = HashMap::new();
    for group in map(board, &settings, &mut |_| ()) {
        let chance = match group.fate {
            Fate::Alive => 1.0,
            Fate::Critical => 0.5,
            Fate::Dead => 0.0,
            Fate::Unknown => continue,
        };
        chances.extend(group.stones.into_iter().map(|stone| (stone, chance)));
    }
    chances
}

/// Makes a problem that takes some reading, another one each time.
fn make_problem() -> anyhow::Result<PathBuf> {
    let recipe = Recipe {
        seed: rand::random(),
        smallest: 8,
        fewest_nodes: 200,
        ..Recipe::default()
    };
    let file = PathBuf::from(OWN_PROBLEM);
    let made = &generate_problems(&recipe, 1)[0];
    let tree = problem_tree(&made.problem, "");
    write_whole(&file, tree.to_string().as_bytes())?;
    eprintln!(
        "No file was named: {OWN_PROBLEM} is a new problem; `tengen tsumego solve` knows it."
    );
    Ok(file)
}
