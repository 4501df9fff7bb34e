//! What the terminal can show.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};

use anyhow::Context;
use clap::builder::RangedU64ValueParser;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Whether to print in colour: to a terminal whose user did not say no.
pub fn is_colored() -> bool {
    std::io::stdout().is_terminal() && allows_color(std::env::var_os("NO_COLOR").as_deref())
}

/// The convention of `NO_COLOR`: any value but an empty one forbids colours.
fn allows_color(no_color: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty)
}

/// Processors this program may use: the default of every `--threads`.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A count with its noun: "1 picture", "2 pictures".
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Reads a number from 0 to `most`, for options.
pub fn count_up_to(most: usize) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=most as u64)
}

/// Prints to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context(output::CANNOT_WRITE)
}

/// An error with its causes in one sentence; a cause that the sentence before it tells already is not told again.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    let mut last = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if last.contains(&cause) {
            continue;
        }
        if !sentence.is_empty() {
            sentence += ": ";
        }
        sentence += &cause;
        last = cause;
    }
    sentence
}

/// A progress bar on stderr, hidden when that is not a terminal.
pub fn progress(steps: usize, unit: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {unit}, {{eta}} left"));
    let bar = ProgressBar::new(steps as u64);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The same where the number of steps is unknown.
pub fn spinner(unit: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{{spinner}} {{pos}} {unit}, {{elapsed}}"));
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_of_no_color_but_an_empty_one_forbids_colours() {
        assert!(allows_color(None) && allows_color(Some(OsStr::new(""))));
        assert!(!allows_color(Some(OsStr::new("1"))) && !allows_color(Some(OsStr::new("0"))));
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        let pictures = [0, 1, 2].map(|count| counted(count, "picture", "pictures"));
        assert_eq!(pictures, ["0 pictures", "1 picture", "2 pictures"]);
    }

    #[test]
    fn no_cause_is_told_twice() {
        let error = anyhow::anyhow!("no such file")
            .context("cannot start gnugo: no such file")
            .context("game 1: cannot start gnugo: no such file")
            .context("the match stopped");
        assert_eq!(
            sentence(&error),
            "the match stopped: game 1: cannot start gnugo: no such file"
        );
    }
}
