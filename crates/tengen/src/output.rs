//! Printing that survives a closed pipe (`tengen ... | head -1`) and a full disk.
//!
//! The standard library's `println!` panics in both cases. The macros here take its place in the whole program: when
//! nobody reads on, the program ends quietly; when the text cannot be stored, it ends with a sentence. What goes to
//! standard error is for people, and a program does not stop because nobody looks.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// What an error of standard output is called.
pub const CANNOT_WRITE: &str = "cannot write to standard output";

macro_rules! println {
    () => { $crate::output::line(format_args!("")) };
    ($($argument:tt)*) => { $crate::output::line(format_args!($($argument)*)) };
}

macro_rules! eprintln {
    () => { $crate::output::error_line(format_args!("")) };
    ($($argument:tt)*) => { $crate::output::error_line(format_args!($($argument)*)) };
}

/// Prints a line, or ends the program.
pub fn line(line: Arguments<'_>) {
    text(format_args!("{line}\n"));
}

/// Prints a text, or ends the program.
pub fn text(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush()) {
        if error.kind() != ErrorKind::BrokenPipe {
            error_line(format_args!("tengen: {CANNOT_WRITE}: {error}"));
        }
        std::process::exit(i32::from(code_of(&error)));
    }
}

/// Prints a line for a person, if anyone looks.
pub fn error_line(line: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// How the program ends with an error: quietly if only the reader of its output has gone.
pub fn end(error: &anyhow::Error) -> ExitCode {
    let io_error = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<io::Error>());
    let is_output = error.chain().any(|cause| cause.to_string() == CANNOT_WRITE);
    if let (Some(io_error), true) = (io_error, is_output)
        && io_error.kind() == ErrorKind::BrokenPipe
    {
        return ExitCode::SUCCESS;
    }
    error_line(format_args!("tengen: {}", crate::commands::sentence(error)));
    ExitCode::from(crate::commands::EXIT_BAD_INPUT)
}

/// A reader that has seen enough is no failure.
fn code_of(error: &io::Error) -> u8 {
    match error.kind() {
        ErrorKind::BrokenPipe => 0,
        _ => crate::commands::EXIT_BAD_INPUT,
    }
}
