//! Files in and out, shared by the subcommands.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use go::sgf::{self, Tree};
use rayon::prelude::*;
use tsumego::{FeatureSet, LabelledPosition, Piece, labelled_positions, pieces};

use crate::commands::{EXIT_BAD_INPUT, sentence};

/// The SGF files of paths: files as they are, folders with all that lies in them, in order.
pub fn sgf_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else if path.exists() {
            files.push(path.clone());
        } else {
            bail!("{}: there is no such file or folder", path.display());
        }
    }
    if files.is_empty() {
        bail!("no SGF files found; give files or folders that hold *.sgf");
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| folder.display().to_string())?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().and_then(OsStr::to_str) == Some("sgf") {
            files.push(path);
        }
    }
    Ok(())
}

/// Positions left out because planes that do not say who starts cannot show them.
#[derive(Default)]
pub struct LeftOut(usize);

impl LeftOut {
    /// Takes out what the planes cannot show: the same planes would have both answers.
    pub fn what_cannot_be_shown(&mut self, positions: &mut Vec<LabelledPosition>, set: FeatureSet) {
        let before = positions.len();
        positions.retain(|position| set.can_show(position.first));
        self.0 += before - positions.len();
    }

    /// Says how many there were, if any.
    pub fn report(&self) {
        if self.0 > 0 {
            let count = self.0;
            eprintln!(
                "left out {count}: the defender starts, which these planes do not show; 14-first and tengen do"
            );
        }
    }
}

/// A game and where it was found.
pub struct Found {
    pub file: PathBuf,
    /// Its number in the file, from 1.
    pub number: usize,
    pub tree: Tree,
}

impl Found {
    /// File and number, for complaints.
    pub fn place(&self) -> PathBuf {
        PathBuf::from(format!("{}, game {}", self.file.display(), self.number))
    }
}

/// Games handed on at a time: enough to keep all threads busy, few enough for any memory.
const GAMES_AT_ONCE: usize = 4096;

/// Hands on all games of all files, some at a time and in order. What cannot be read is reported
/// and counted, and the rest goes on.
pub fn for_each_games(
    paths: &[PathBuf],
    handle: &mut dyn FnMut(Vec<Found>) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let mut failed = 0;
    for file in sgf_files(paths)? {
        let mut pieces = match fs::File::open(&file) {
            Ok(open) => pieces(BufReader::new(open)),
            Err(error) => {
                complain(&file, &error.into());
                failed += 1;
                continue;
            }
        };
        let mut is_empty = true;
        loop {
            let some: Vec<io::Result<Piece>> = pieces.by_ref().take(GAMES_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            is_empty = false;
            let read: Vec<anyhow::Result<Vec<Found>>> = some
                .into_par_iter()
                .map(|piece| read_piece(&file, piece?))
                .collect();
            let mut games = Vec::new();
            for result in read {
                match result {
                    Ok(found) => games.extend(found),
                    Err(error) => {
                        complain(&file, &error);
                        failed += 1;
                    }
                }
            }
            handle(games)?;
        }
        if is_empty {
            complain(&file, &anyhow!("the file is empty"));
            failed += 1;
        }
    }
    Ok(failed)
}

fn read_piece(file: &Path, piece: Piece) -> anyhow::Result<Vec<Found>> {
    let games = sgf::read(&piece.text).map_err(|mut error| {
        error.place.game += piece.first - 1;
        error
    })?;
    let found = games.games.into_iter().map(|tree| Found {
        file: file.to_owned(),
        number: piece.first - 1 + tree.number(),
        tree,
    });
    Ok(found.collect())
}

/// Every game of every file, and how many could not be read.
pub fn read_games(paths: &[PathBuf]) -> anyhow::Result<(Vec<Found>, usize)> {
    let mut all = Vec::new();
    let failed = for_each_games(paths, &mut |games| {
        all.extend(games);
        Ok(())
    })?;
    Ok((all, failed))
}

/// Hands on all labelled positions of all files, some at a time and in order.
pub fn for_each_positions(
    paths: &[PathBuf],
    handle: &mut dyn FnMut(Vec<LabelledPosition>) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let mut refused = 0;
    let mut is_empty = true;
    let failed = for_each_games(paths, &mut |games| {
        let read: Vec<_> = games
            .par_iter()
            .map(|game| labelled_positions(&game.tree))
            .collect();
        let mut positions = Vec::with_capacity(read.len());
        for (game, result) in games.iter().zip(read) {
            match result {
                Ok(found) => positions.extend(found),
                Err(error) => {
                    complain(&game.place(), &error.into());
                    refused += 1;
                }
            }
        }
        is_empty &= positions.is_empty();
        handle(positions)
    })?;
    if is_empty {
        bail!("no labelled positions found; make them with `tengen tsumego expand`");
    }
    Ok(failed + refused)
}

/// Every labelled position of every file, and how many could not be read.
pub fn read_positions(paths: &[PathBuf]) -> anyhow::Result<(Vec<LabelledPosition>, usize)> {
    let mut all = Vec::new();
    let failed = for_each_positions(paths, &mut |positions| {
        all.extend(positions);
        Ok(())
    })?;
    Ok((all, failed))
}

pub fn complain(file: &Path, error: &anyhow::Error) {
    eprintln!("tengen: {}: {}", file.display(), sentence(error));
}

/// Success, or the code for bad input if something could not be read.
pub fn exit_code(failed: usize) -> ExitCode {
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_BAD_INPUT)
    }
}
