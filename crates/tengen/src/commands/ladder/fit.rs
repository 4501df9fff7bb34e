//! `tengen ladder fit`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{bail, ensure};
use go::sgf::{GameResult, Tree, WinBy};
use go::{LadderReader, Symmetry};
use go_player::{Assumptions, LoadedNetwork, Position};
use ladder::{
    Fit, FitSample, MOVE_SORTS, STRING_SORTS, decided_strings, fit, ladder_moves, sort_name,
    string_sort_name,
};
use serde_json::json;

use super::test::read;
use crate::commands::terminal;

/// Memory for opinions; every position is asked once.
const CACHE_BYTES: usize = 1 << 20;

/// Fit what ladder moves are worth to a network, on games
///
/// For positions of the games, the exact reader says which ladder moves work, the network says how
/// likely it thinks each move is, and the game says which was played. The gains that explain the
/// moves best are printed by kind of move and size of the string, each with its standard error:
/// what to add to the logit of such a move. The same for the value, by stones that ladders decide
/// and who won. These are the numbers behind `--ladders` and the graft.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen ladder fit best-network.gz games/*.sgf --every 3")]
pub struct Args {
    /// The network
    network: PathBuf,

    /// Games of strong players, for the network's board size
    #[arg(required = true, num_args = 1..)]
    games: Vec<PathBuf>,

    /// Take every so many moves
    #[arg(long, default_value_t = 3, value_name = "MOVES", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100))]
    every: usize,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let network = LoadedNetwork::load(&args.network)?;
    let size = network.size();
    let mut trees = Vec::new();
    for file in &args.games {
        let games = read(file)?.into_iter();
        trees.extend(games.filter(|tree| tree.size().is_ok_and(|of_game| of_game == size)));
    }
    ensure!(
        !trees.is_empty(),
        "none of the games is for {size}, the board of {}",
        args.network.display()
    );
    let bar = terminal::progress(trees.len(), "games");
    let judge = network.judge(CACHE_BYTES);
    let mut samples = Vec::new();
    for tree in &trees {
        let line = tree.main_line();
        for pair in line.windows(2).step_by(args.every) {
            samples.extend(sample(&judge, tree, pair[0], pair[1])?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if samples.is_empty() {
        bail!("the games have no move to learn from");
    }
    let fit = fit(&samples);
    terminal::print(&if args.json {
        format!("{}\n", as_json(&fit, trees.len(), samples.len()))
    } else {
        table(&fit, trees.len(), samples.len())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// One position and what was played in it; none where no move follows or the record cannot be replayed.
fn sample(
    judge: &go_player::Judge,
    tree: &Tree,
    node: go::sgf::NodeId,
    next: go::sgf::NodeId,
) -> anyhow::Result<Option<FitSample>> {
    let (Ok(game), Ok(moves)) = (tree.game_at(node), tree.moves(next)) else {
        return Ok(None);
    };
    let Some(&(color, played)) = moves.first() else {
        return Ok(None);
    };
    if color != game.to_move() {
        return Ok(None);
    }
    let position = Position::new(&game, Assumptions::default());
    let opinion = judge.opinion(&position, Symmetry::IDENTITY)?;
    let board = game.board();
    let mut reader = LadderReader::default();
    let mut points = Vec::new();
    let mut sample = FitSample {
        winrate: f64::from(opinion.winrate),
        stones: decided_strings(&mut reader, board, color),
        won: match tree.result() {
            // Who lost on time may have been winning.
            GameResult::Win(_, WinBy::Time) => None,
            GameResult::Win(winner, _) => Some(winner == color),
            _ => None,
        },
        ..FitSample::default()
    };
    for ladder in ladder_moves(&mut reader, board, color) {
        match points.iter().position(|&point| point == ladder.point) {
            Some(index) => sample.moves[index].1.push(ladder.sort()),
            None => {
                let probability = opinion.policy[board.size().index(ladder.point)];
                points.push(ladder.point);
                sample
                    .moves
                    .push((f64::from(probability), vec![ladder.sort()]));
            }
        }
    }
    sample.played = points
        .iter()
        .position(|&point| played.point() == Some(point));
    Ok(Some(sample))
}

fn table(fit: &Fit, games: usize, positions: usize) -> String {
    let mut text = format!(
        "{} of {}\n\nadded to the logit of a move\n",
        terminal::counted(positions, "position", "positions"),
        terminal::counted(games, "game", "games")
    );
    for sort in 0..MOVE_SORTS {
        text += &row(
            &sort_name(sort),
            fit.policy[sort],
            fit.policy_errors[sort],
            fit.policy_seen[sort],
        );
    }
    text += &format!(
        "log-likelihood a move {:.5} -> {:.5}\n\nadded to the value before the logistic function, a stone\n",
        fit.policy_likelihood[0], fit.policy_likelihood[1]
    );
    for sort in 0..STRING_SORTS {
        text += &row(
            &string_sort_name(sort),
            fit.value[sort],
            fit.value_errors[sort],
            fit.value_seen[sort],
        );
    }
    text += &format!(
        "log-likelihood a result {:.5} -> {:.5}\n",
        fit.value_likelihood[0], fit.value_likelihood[1]
    );
    text
}

fn row(name: &str, gain: f64, error: f64, seen: usize) -> String {
    format!("  {name:40} {gain:7.3} +- {error:.3}  seen {seen}\n")
}

fn as_json(fit: &Fit, games: usize, positions: usize) -> serde_json::Value {
    let moves: Vec<_> = (0..MOVE_SORTS)
        .map(|sort| {
            json!({ "sort": sort_name(sort), "gain": fit.policy[sort], "error": fit.policy_errors[sort], "seen": fit.policy_seen[sort] })
        })
        .collect();
    let strings: Vec<_> = (0..STRING_SORTS)
        .map(|sort| {
            json!({ "sort": string_sort_name(sort), "gain": fit.value[sort], "error": fit.value_errors[sort], "seen": fit.value_seen[sort] })
        })
        .collect();
    json!({
        "games": games, "positions": positions,
        "policy": moves, "policy_likelihood": fit.policy_likelihood,
        "value": strings, "value_likelihood": fit.value_likelihood,
    })
}
