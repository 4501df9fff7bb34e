//! The `tengen` program: one file a subcommand under `commands`, no logic of its own.
#![forbid(unsafe_code)]

#[macro_use]
mod output;

mod commands;
mod games;
mod interrupt;
mod version;

use std::{env, path::Path, process::ExitCode};

use clap::Parser;

/// Called by this name (a symlink), the program is Leela Zero's engine.
const LEELAZ: &str = "leelaz";
const KATAGO: &str = "katago";

fn main() -> ExitCode {
    if let Err(error) = net::Isa::from_environment() {
        return output::end(&error.into());
    }
    if is_called(LEELAZ) {
        return commands::gtp::run_as_leelaz();
    }
    if is_called(KATAGO) {
        return commands::gtp::run_as_katago();
    }
    let program = commands::Program::parse();
    match program.run() {
        Ok(code) => code,
        Err(error) => output::end(&error),
    }
}

fn is_called(name: &str) -> bool {
    let called = env::args_os().next().unwrap_or_default();
    Path::new(&called)
        .file_stem()
        .is_some_and(|stem| stem == name)
}
