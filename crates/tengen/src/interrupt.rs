//! Ctrl-C asks a long job to stop at the next safe moment; a second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

static STOP: AtomicBool = AtomicBool::new(false);

/// The exit code of a program ended by Ctrl-C: 128 and the number of the signal.
pub const EXIT_INTERRUPTED: u8 = 130;

/// A flag that is set by the first Ctrl-C, whoever asks for it and how often.
pub fn stop_flag() -> anyhow::Result<&'static AtomicBool> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(EXIT_INTERRUPTED));
        }
        eprintln!("stopping at the next safe moment; press Ctrl-C again to stop at once");
    };
    match ctrlc::set_handler(handler) {
        // A command that hands over to another has asked before.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(error) => Err(error).context("cannot listen for Ctrl-C"),
    }
}
