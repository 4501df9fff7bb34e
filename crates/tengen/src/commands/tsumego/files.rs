//! Files in and out, shared by the subcommands.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use go::sgf::{self, Tree};
use tsumego::{LabelledPosition, labelled_positions};

/// Bad input of any kind.
pub const EXIT_BAD_INPUT: u8 = 2;

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

/// Every game of every file. What cannot be read is reported and counted, and the rest goes on.
pub struct Games {
    pub games: Vec<(PathBuf, Tree)>,
    pub failed: usize,
}

pub fn read_games(paths: &[PathBuf]) -> anyhow::Result<Games> {
    let mut found = Games {
        games: Vec::new(),
        failed: 0,
    };
    for file in sgf_files(paths)? {
        let read = fs::read(&file)
            .map_err(anyhow::Error::from)
            .and_then(|bytes| Ok(sgf::read(&bytes)?));
        match read {
            Ok(collection) => {
                let games = collection.games.into_iter();
                found.games.extend(games.map(|game| (file.clone(), game)));
            }
            Err(error) => {
                complain(&file, &error);
                found.failed += 1;
            }
        }
    }
    Ok(found)
}

/// Every labelled position of every file.
pub fn read_positions(paths: &[PathBuf]) -> anyhow::Result<(Vec<LabelledPosition>, usize)> {
    let Games { games, mut failed } = read_games(paths)?;
    let mut positions = Vec::with_capacity(games.len());
    for (file, game) in games {
        match labelled_positions(&game) {
            Ok(found) => positions.extend(found),
            Err(error) => {
                let place = format!("{}, game {}", file.display(), game.number());
                complain(Path::new(&place), &error.into());
                failed += 1;
            }
        }
    }
    if positions.is_empty() {
        bail!("no labelled positions found; make them with `tengen tsumego expand`");
    }
    Ok((positions, failed))
}

pub fn complain(file: &Path, error: &anyhow::Error) {
    eprintln!("tengen: {}: {error:#}", file.display());
}

/// Success, or the code for bad input if something could not be read.
pub fn exit_code(failed: usize) -> ExitCode {
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_BAD_INPUT)
    }
}

/// Writes a file in one step: nobody sees half of it.
pub fn write_whole(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let say = || format!("cannot write {}", file.display());
    let mut name = file.file_name().map(OsStr::to_owned).with_context(say)?;
    name.push(".part");
    let part = file.with_file_name(name);
    let mut out = fs::File::create(&part).with_context(say)?;
    out.write_all(content).with_context(say)?;
    out.sync_all().with_context(say)?;
    fs::rename(&part, file).with_context(say)
}
