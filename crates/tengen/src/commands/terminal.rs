//! What the terminal can show.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Whether to print in colour: to a terminal whose user did not say no.
pub fn is_colored() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
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
