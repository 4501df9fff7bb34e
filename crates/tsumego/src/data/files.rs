//! Games of files and folders, read some at a time: a collection may be larger than any memory.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use go::sgf::{self, SgfError, Tree};
use rayon::prelude::*;
use thiserror::Error;

use super::lines::{Piece, pieces};
use crate::problem::{LabelledPosition, RecordError, Side, labelled_positions};

/// Games handed on at a time: enough to keep all threads busy, few enough for any memory.
const GAMES_AT_ONCE: usize = 4096;

/// Why there is nothing to read.
#[derive(Debug, Error)]
pub enum NoGames {
    /// A path leads nowhere.
    #[error("{}: there is no such file or folder", .0.display())]
    Missing(PathBuf),
    /// A folder cannot be listed.
    #[error("{}", .folder.display())]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folders hold no SGF files.
    #[error("no SGF files found; give files or folders that hold *.sgf")]
    NoFiles,
    /// The games hold no labels.
    #[error("no labelled positions found; make them with `tengen tsumego expand`")]
    NoPositions,
}

/// Why a file or one of its games was left out.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The text is not SGF.
    #[error(transparent)]
    Sgf(#[from] SgfError),
    /// The labels of a game cannot be used.
    #[error(transparent)]
    Labels(#[from] RecordError),
    /// Nothing is in the file.
    #[error("the file is empty")]
    Empty,
}

/// A game and where it was found.
pub struct FoundGame {
    pub file: PathBuf,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The game.
    pub tree: Tree,
}

impl FoundGame {
    /// File and number, for complaints.
    pub fn place(&self) -> PathBuf {
        PathBuf::from(format!("{}, game {}", self.file.display(), self.number))
    }

    /// File and number as a reader names the problem.
    pub fn name(&self) -> String {
        format!("{}#{}", self.file.display(), self.number)
    }

    /// A name for files about this problem: the last two parts of its path, so that `gop/133.sgf`
    /// and `sim/133.sgf` stay apart, and its number after the first.
    pub fn output_name(&self, first: Side) -> String {
        let stem = self.file.with_extension("");
        let parts: Vec<String> = stem
            .components()
            .rev()
            .take(2)
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .filter(|part| part != "/" && part != "." && part != "..")
            .collect();
        let mut name: Vec<String> = parts.into_iter().rev().collect();
        if self.number > 1 {
            name.push(self.number.to_string());
        }
        format!("{}-{first}", name.join("-"))
    }
}

/// The SGF files of paths: files as they are, folders with all that lies in them, in order.
pub fn sgf_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, NoGames> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(NoGames::Missing(path.clone()));
        }
    }
    if files.is_empty() {
        return Err(NoGames::NoFiles);
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), NoGames> {
    let paths: io::Result<Vec<PathBuf>> =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths = paths.map_err(|source| NoGames::Folder {
        folder: folder.to_owned(),
        source,
    })?;
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

/// Hands on all games of all files, some at a time and in order. What cannot be read goes to `complain`, and the rest
/// goes on. Returns how often `complain` was called.
pub fn for_each_games<E: From<NoGames>>(
    paths: &[PathBuf],
    complain: &mut dyn FnMut(&Path, Unreadable),
    handle: &mut dyn FnMut(Vec<FoundGame>) -> Result<(), E>,
) -> Result<usize, E> {
    let mut failed = 0;
    let mut complain = |file: &Path, why: Unreadable| {
        failed += 1;
        complain(file, why);
    };
    for file in sgf_files(paths)? {
        let mut pieces = match fs::File::open(&file) {
            Ok(open) => pieces(BufReader::new(open)),
            Err(error) => {
                complain(&file, error.into());
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
            let read: Vec<Result<Vec<FoundGame>, Unreadable>> = some
                .into_par_iter()
                .map(|piece| read_piece(&file, piece?))
                .collect();
            let mut games = Vec::new();
            for result in read {
                match result {
                    Ok(found) => games.extend(found),
                    Err(error) => complain(&file, error),
                }
            }
            handle(games)?;
        }
        if is_empty {
            complain(&file, Unreadable::Empty);
        }
    }
    Ok(failed)
}

fn read_piece(file: &Path, piece: Piece) -> Result<Vec<FoundGame>, Unreadable> {
    let games = sgf::read(&piece.text).map_err(|mut error| {
        error.place.game += piece.first - 1;
        error
    })?;
    let found = games.games.into_iter().map(|tree| FoundGame {
        file: file.to_owned(),
        number: piece.first - 1 + tree.number(),
        tree,
    });
    Ok(found.collect())
}

/// Hands on all labelled positions of all files, some at a time and in order. Returns how much could not be read.
pub fn for_each_positions<E: From<NoGames>>(
    paths: &[PathBuf],
    complain: &mut dyn FnMut(&Path, Unreadable),
    handle: &mut dyn FnMut(Vec<LabelledPosition>) -> Result<(), E>,
) -> Result<usize, E> {
    let complain = RefCell::new(complain);
    let mut refused = 0;
    let mut is_empty = true;
    let failed = for_each_games(
        paths,
        &mut |file, why| (complain.borrow_mut())(file, why),
        &mut |games| {
            let read: Vec<_> = games
                .par_iter()
                .map(|game| labelled_positions(&game.tree))
                .collect();
            let mut positions = Vec::with_capacity(read.len());
            for (game, result) in games.iter().zip(read) {
                match result {
                    Ok(found) => positions.extend(found),
                    Err(error) => {
                        (complain.borrow_mut())(&game.place(), error.into());
                        refused += 1;
                    }
                }
            }
            is_empty &= positions.is_empty();
            handle(positions)
        },
    )?;
    if is_empty {
        return Err(NoGames::NoPositions.into());
    }
    Ok(failed + refused)
}
