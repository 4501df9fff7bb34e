//! Files in and out, shared by the subcommands: what could not be read is reported, and the rest goes on.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tsumego::{FeatureSet, FoundGame, LabelledPosition, Unreadable};

use crate::commands::{EXIT_BAD_INPUT, sentence};

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

/// Hands on all games of all files, some at a time and in order. Returns how many could not be read.
pub fn for_each_games(
    paths: &[PathBuf],
    handle: &mut dyn FnMut(Vec<FoundGame>) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    tsumego::for_each_games(paths, &mut complain_of, handle)
}

/// Every game of every file, and how many could not be read.
pub fn read_games(paths: &[PathBuf]) -> anyhow::Result<(Vec<FoundGame>, usize)> {
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
    tsumego::for_each_positions(paths, &mut complain_of, handle)
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

fn complain_of(place: &Path, why: Unreadable) {
    complain(place, &why.into());
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
