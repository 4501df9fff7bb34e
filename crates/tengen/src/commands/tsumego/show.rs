//! `tengen tsumego show`: a picture of what lives and what dies.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use go::{Board, Point, sgf};
use tsumego::{
    FeatureSet, Ko, Limits, Problem, Recipe, SafetyNet, Side, Solver, Verdict, generate_problems,
    problem_tree, to_svg,
};

use crate::commands::files::write_whole;

/// Draw a position with each stone coloured from red (dies) to green (lives) if its opponent starts.
///
/// Each block that a safe wall encloses is judged by a network; with --exact, by the solver. Without a
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
    /// Let the solver judge: red or green, nothing between.
    #[arg(long, conflicts_with = "weights")]
    exact: bool,
    /// Nodes for each block with --exact.
    #[arg(long, default_value_t = 1_000_000)]
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
    let net = match args.exact {
        true => None,
        false => Some(SafetyNet::find(args.weights.as_deref(), args.planes)?),
    };
    let mut chances: HashMap<Point, f32> = HashMap::new();
    for point in board.size().points().filter(|&p| board.stone(p).is_some()) {
        if chances.contains_key(&point) {
            continue;
        }
        if let Some(chance) = judge(&board, point, net.as_ref(), args.nodes) {
            chances.extend(board.stones(point).map(|stone| (stone, chance)));
        }
    }
    let svg = to_svg(&board, &|point| chances.get(&point).copied(), &[]);
    write_whole(&out, svg.as_bytes())?;
    println!("{}: {} stones judged", out.display(), chances.len());
    Ok(ExitCode::SUCCESS)
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

fn judge(board: &Board, point: Point, net: Option<&SafetyNet>, nodes: u64) -> Option<f32> {
    let problem = Problem::new(board.clone(), &[point]).ok()?;
    if let Some(net) = net {
        return Some(net.chance_of_life(&problem, Side::Attacker, true));
    }
    let mut solver = Solver::new(&problem, Limits::default().with_nodes(nodes));
    let solution = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
    match solution.verdict {
        Verdict::Safe => Some(1.0),
        Verdict::Unsafe => Some(0.0),
        Verdict::Unknown => None,
    }
}
