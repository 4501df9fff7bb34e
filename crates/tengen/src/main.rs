//! The `tengen` program: one file a subcommand under `commands`, no logic of its own.
#![forbid(unsafe_code)]

mod commands;

use std::process::ExitCode;

use clap::Parser;

/// Exit code for bad input of any kind: a wrong flag, a damaged file, a missing argument.
const EXIT_BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let program = commands::Program::parse();
    match program.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tengen: {error:#}");
            ExitCode::from(EXIT_BAD_INPUT)
        }
    }
}
