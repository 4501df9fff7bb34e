//! `tengen ladder test`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use go::sgf::Tree;
use go::{Board, BoardSize};
use indicatif::ProgressBar;
use ladder::{
    Candidate, DEFAULT_STEPS, LadderNetwork, LadderScore, Marks, Original, TestSet, boards_of,
    examine, from_record, kind_of, played, sets,
};
use serde_json::{Value, json};

use crate::commands::terminal;

/// Examine the ladder networks against the exact reader
///
/// Plants ladders, lets them run, plays at random, all from one seed; asks both networks by their
/// real forward pass about every ladder that the exact reader has: the extension of each string in
/// atari, both ataris on each string with two liberties. Coverage is the share of these that a
/// network says anything about; accuracy is of what it says, precision of its yes, and recall of
/// all that work. Rows marked "running" leave out what the next move decides. Boards
/// without such strings must leave ours exactly silent.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tengen ladder test\n  tengen ladder test --boards 20000 --json\n  tengen ladder test --boards 500 --games collection.sgf"
)]
pub struct Args {
    /// Boards of every planted set; the other sets are in proportion
    #[arg(long, default_value_t = 2000, value_name = "COUNT")]
    boards: usize,

    /// Makes other boards
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Diagonal steps of our network
    #[arg(long, default_value_t = DEFAULT_STEPS, value_name = "COUNT", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    steps: usize,

    /// Leave the original network out
    #[arg(long)]
    ours_only: bool,

    /// Only sets whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Also ask about positions of these 19x19 games, every tenth move
    #[arg(long, value_name = "SGF", num_args = 1..)]
    games: Vec<PathBuf>,

    /// Only count the ladder moves played in these games, one JSON line each: did they work?
    #[arg(long, value_name = "SGF", num_args = 1.., conflicts_with = "games")]
    played: Vec<PathBuf>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Positions of a game are this many moves apart: closer ones hold the same ladders.
const MOVES_APART: usize = 10;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.played.is_empty() {
        return count_played(&args.played);
    }
    let games = boards_of_games(&args.games)?;
    let sets = wanted_sets(&args)?;
    let ours = LadderNetwork::new(BoardSize::NINETEEN.get(), args.steps).candidate()?;
    let original = Original::new().candidate()?;
    let mut names = vec!["ours"];
    let mut candidates: Vec<&Candidate> = vec![&ours];
    if !args.ours_only {
        names.push("original");
        candidates.push(&original);
    }

    let total: usize = sets.iter().map(|set| set.boards).sum::<usize>() + games.len();
    let bar = terminal::progress(total, "boards");
    let advance = |bar: &ProgressBar, boards: usize| bar.inc(boards as u64);
    let mut report = Vec::new();
    for set in &sets {
        let boards = boards_of(set, BoardSize::NINETEEN, args.seed);
        let marks = examine(&candidates, boards, kind_of(set), |boards| {
            advance(&bar, boards)
        });
        bar.suspend(|| show(&args, &set.name, &names, &marks))?;
        report.push(as_json(&set.name, &names, &marks));
    }
    if !games.is_empty() {
        let name = "positions from games";
        let marks = examine(&candidates, games.into_iter(), None, |boards| {
            advance(&bar, boards)
        });
        bar.suspend(|| show(&args, name, &names, &marks))?;
        report.push(as_json(name, &names, &marks));
    }
    bar.finish_and_clear();
    if args.json {
        let report = json!({ "seed": args.seed, "sets": report });
        terminal::print(&format!("{report}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The sets that `--only` leaves. With games to ask about, that may be none.
fn wanted_sets(args: &Args) -> anyhow::Result<Vec<TestSet>> {
    let all = sets(args.boards);
    let Some(text) = &args.only else {
        return Ok(all);
    };
    let names: Vec<String> = all.iter().map(|set| format!("\"{}\"", set.name)).collect();
    let wanted: Vec<TestSet> = all
        .into_iter()
        .filter(|set| set.name.contains(text.as_str()))
        .collect();
    if wanted.is_empty() && args.games.is_empty() {
        bail!(
            "no set's name contains {text:?}; the sets are {}",
            names.join(", ")
        );
    }
    Ok(wanted)
}

fn count_played(files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    for file in files {
        for (index, tree) in read(file)?.iter().enumerate() {
            let [black, white] = played(tree);
            let line = json!({ "file": file, "game": index + 1, "black": black, "white": white });
            terminal::print(&format!("{line}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn boards_of_games(files: &[PathBuf]) -> anyhow::Result<Vec<Board>> {
    let mut boards = Vec::new();
    for file in files {
        let games = read(file)?;
        let all = games.iter().flat_map(|tree| from_record(tree, MOVES_APART));
        boards.extend(all.filter(|board| board.size() == BoardSize::NINETEEN));
    }
    Ok(boards)
}

pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Tree>> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let collection =
        go::sgf::read(&bytes).map_err(|error| anyhow!("{} is damaged: {error}", file.display()))?;
    Ok(collection.games)
}

fn show(args: &Args, set: &str, names: &[&str], marks: &[Marks]) -> anyhow::Result<()> {
    if args.json {
        return Ok(());
    }
    let mut text = format!("{set}\n");
    for (name, marks) in names.iter().zip(marks) {
        for (kind, score) in [
            ("escape", &marks.escape),
            ("  running", &marks.escape_running),
            ("chase", &marks.chase),
            ("  running", &marks.chase_running),
        ] {
            if score.count() > 0 {
                text += &format!("  {}\n", row(name, kind, score));
            }
        }
        text += &format!(
            "  {name:8} {}; {:.2} ms a position, the exact reader {:.3} ms\n",
            silence(marks.boards_without_ladder, marks.false_alarms),
            milliseconds(marks.network_seconds, marks.positions),
            milliseconds(marks.reader_seconds, marks.positions),
        );
    }
    terminal::print(&text)
}

/// On how many boards without a ladder a network says nothing.
fn silence(boards: usize, alarms: usize) -> String {
    let boards_named = terminal::counted(boards, "board", "boards");
    match (boards, alarms) {
        (0, _) => "no board without a ladder".to_owned(),
        (1, 0) => "silent on the one board without a ladder".to_owned(),
        (_, 0) => format!("silent on all {boards_named} without a ladder"),
        _ => format!(
            "silent on {} of {boards_named} without a ladder",
            boards.saturating_sub(alarms)
        ),
    }
}

fn row(name: &str, kind: &str, score: &LadderScore) -> String {
    format!(
        "{name:8} {kind:9} asked {:6}  coverage {}  accuracy {}  precision {}  recall {}  ({} right yes, {} wrong yes, {} wrong no, {} right no; unanswered {} yes, {} no)",
        score.count(),
        share(score.coverage()),
        share(score.accuracy()),
        share(score.precision()),
        share(score.recall()),
        score.true_yes,
        score.false_yes,
        score.false_no,
        score.true_no,
        score.silent_yes,
        score.silent_no,
    )
}

/// A share, or a dash where nothing was counted.
fn share(share: f64) -> String {
    if share.is_nan() {
        return format!("{:6}", "-");
    }
    format!("{share:.4}")
}

fn milliseconds(seconds: f64, count: usize) -> f64 {
    seconds * 1000.0 / count.max(1) as f64
}

fn as_json(set: &str, names: &[&str], marks: &[Marks]) -> Value {
    let networks: Vec<Value> = names
        .iter()
        .zip(marks)
        .map(|(name, marks)| json!({ "network": name, "marks": marks }))
        .collect();
    json!({ "set": set, "networks": networks })
}

#[cfg(test)]
mod tests {
    use super::silence;

    #[test]
    fn silence_is_told_in_words_that_fit_the_number() {
        assert_eq!(silence(0, 0), "no board without a ladder");
        assert_eq!(silence(1, 0), "silent on the one board without a ladder");
        assert_eq!(silence(7, 0), "silent on all 7 boards without a ladder");
        assert_eq!(silence(7, 2), "silent on 5 of 7 boards without a ladder");
    }
}
