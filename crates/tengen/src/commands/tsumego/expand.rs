//! `tengen tsumego expand`: one labelled position for each node of a tree.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use tsumego::{Side, canonical_name, expand_tree, labelled_tree};

use super::files::{Games, complain, exit_code, read_games, write_whole};
use crate::commands::terminal::progress;

/// Play trees out: one labelled position a node, with TS, AS, MA, DS and the problem's name in GN.
///
/// Example: tengen tsumego expand trees.sgf --out positions.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Collections of trees.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// A collection, or with --many a folder of single files.
    #[arg(short, long)]
    out: PathBuf,
    /// Who starts in the positions.
    #[arg(long, value_parser = ["attacker", "defender", "both"], default_value = "both")]
    first: String,
    /// Write many files, named by position, instead of one collection.
    #[arg(long)]
    many: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let first: &[Side] = match args.first.as_str() {
        "attacker" => &[Side::Attacker],
        "defender" => &[Side::Defender],
        _ => &Side::BOTH,
    };
    let Games { games, mut failed } = read_games(&args.paths)?;
    if args.many {
        fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    }
    let bar = progress(games.len(), "trees");
    let mut seen = HashSet::new();
    let mut collection = String::new();
    let mut count = 0;
    for (file, tree) in games {
        bar.inc(1);
        let positions = match expand_tree(&tree, first) {
            Ok(positions) => positions,
            Err(error) => {
                bar.suspend(|| complain(&file, &error.into()));
                failed += 1;
                continue;
            }
        };
        for position in positions {
            let name = canonical_name(&position.problem);
            let defended = position.first == Side::Defender;
            if !seen.insert((name, defended)) {
                continue;
            }
            count += 1;
            let text = labelled_tree(&position).to_string();
            if args.many {
                let starts = if defended { "d" } else { "a" };
                let file = args.out.join(format!("{name:016x}{starts}.sgf"));
                write_whole(&file, text.as_bytes())?;
            } else {
                collection.push_str(&text);
            }
        }
    }
    bar.finish_and_clear();
    if !args.many {
        write_whole(&args.out, collection.as_bytes())?;
    }
    println!("{count} positions in {}", args.out.display());
    Ok(exit_code(failed))
}
