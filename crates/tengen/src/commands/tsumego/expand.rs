//! `tengen tsumego expand`: one labelled position for each node of a tree.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use rayon::prelude::*;
use tsumego::{Side, TreeError, canonical_name, expand_tree, labelled_tree};

use super::files::{complain, exit_code, for_each_games};
use crate::commands::files::{WholeFile, write_whole};
use crate::commands::terminal::{counted, spinner};

/// Play trees out: one labelled position a node, with TS, AS, MA, DS, TR and the problem's name in GN.
///
/// A position that more than one problem leads to is written once, for the first of them.
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
    if args.many {
        fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    }
    let mut collection = match args.many {
        true => None,
        false => Some(WholeFile::create(&args.out)?),
    };
    let bar = spinner("trees");
    let mut seen = HashSet::new();
    let (mut refused, mut count) = (0, 0);
    let failed = for_each_games(&args.paths, &mut |games| {
        let expanded: Vec<_> = games
            .par_iter()
            .map(|game| {
                let positions = expand_tree(&game.tree, first)?;
                let named = positions
                    .into_iter()
                    .map(|position| (canonical_name(&position.problem), position));
                Ok::<Vec<_>, TreeError>(named.collect())
            })
            .collect();
        for (game, positions) in games.iter().zip(expanded) {
            bar.inc(1);
            let positions = match positions {
                Ok(positions) => positions,
                Err(error) => {
                    bar.suspend(|| complain(&game.place(), &error.into()));
                    refused += 1;
                    continue;
                }
            };
            for (name, position) in positions {
                let defended = position.first == Side::Defender;
                if !seen.insert((name, defended)) {
                    continue;
                }
                count += 1;
                let text = labelled_tree(&position).to_string().replace('\n', "");
                match &mut collection {
                    Some(collection) => writeln!(collection, "{text}")?,
                    None => {
                        let starts = if defended { "d" } else { "a" };
                        let file = args.out.join(format!("{name:016x}{starts}.sgf"));
                        write_whole(&file, text.as_bytes())?;
                    }
                }
            }
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    if let Some(collection) = collection {
        collection.finish()?;
    }
    let count = counted(count, "position", "positions");
    println!("{count} in {}", args.out.display());
    Ok(exit_code(failed + refused))
}
