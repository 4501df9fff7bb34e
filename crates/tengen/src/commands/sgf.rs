//! `tengen sgf`: game records.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Subcommand;
use go::sgf::{Report, Severity};
use serde_json::json;

use super::terminal::{self, counted};

/// Exit code when a file was read and something is wrong with it.
const EXIT_UNSOUND: u8 = 1;

/// Look at game records
#[derive(Subcommand)]
pub enum Command {
    Check(CheckArgs),
}

/// Check SGF files: read, replay every line, write and read again
///
/// Reports counts and every problem with its game, node and property. The exit code is 0 when
/// all files are sound, 1 when one is not, 2 when one cannot be opened.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen sgf check game.sgf collection/")]
pub struct CheckArgs {
    /// Files to check; in folders, all that end in .sgf
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Check(args) => check(args),
    }
}

fn check(args: CheckArgs) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for path in &args.files {
        collect(path, &mut files)?;
    }
    let bar = terminal::progress(files.len(), "files");
    let mut reports = Vec::new();
    for file in files {
        let bytes =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        reports.push((file, go::sgf::check(&bytes)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let output = if args.json {
        as_json(&reports)
    } else {
        as_text(&reports)
    };
    print(&output)?;
    let all_sound = reports.iter().all(|(_, report)| report.is_sound());
    Ok(if all_sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_UNSOUND)
    })
}

/// A reader that closes the pipe early has seen enough; that is no error.
fn print(output: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(output.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    if !path.metadata().with_context(cannot)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).with_context(cannot)?;
    let mut inside = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    inside.sort();
    for path in inside {
        let is_sgf = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("sgf"));
        if path.is_dir() || is_sgf {
            collect(&path, files)?;
        }
    }
    Ok(())
}

fn total(reports: &[(PathBuf, Report)], count: impl Fn(&Report) -> usize) -> usize {
    reports.iter().map(|(_, report)| count(report)).sum()
}

fn findings(report: &Report, severity: Severity) -> usize {
    report
        .findings
        .iter()
        .filter(|finding| finding.severity == severity)
        .count()
}

fn as_text(reports: &[(PathBuf, Report)]) -> String {
    let mut text = String::new();
    for (file, report) in reports {
        for finding in &report.findings {
            let severity = severity_name(finding.severity);
            let (file, place, message) = (file.display(), &finding.place, &finding.message);
            text += &format!("{file}: {severity}: {place}: {message}\n");
        }
    }
    text + &format!(
        "{}, {}, {}, {}, {}: {} unsound, {}, {}\n",
        counted(reports.len(), "file", "files"),
        counted(total(reports, |report| report.games), "game", "games"),
        counted(total(reports, |report| report.nodes), "node", "nodes"),
        counted(total(reports, |report| report.moves), "move", "moves"),
        counted(
            total(reports, |report| report.variations),
            "variation",
            "variations"
        ),
        counted(
            total(reports, |report| usize::from(!report.is_sound())),
            "file",
            "files"
        ),
        counted(
            total(reports, |report| findings(report, Severity::Error)),
            "error",
            "errors"
        ),
        counted(
            total(reports, |report| findings(report, Severity::Note)),
            "note",
            "notes"
        ),
    )
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Note => "note",
    }
}

fn as_json(reports: &[(PathBuf, Report)]) -> String {
    let files: Vec<_> = reports
        .iter()
        .map(|(file, report)| {
            let findings: Vec<_> = report
                .findings
                .iter()
                .map(|finding| {
                    json!({
                        "severity": severity_name(finding.severity),
                        "game": finding.place.game,
                        "node": finding.place.node,
                        "property": finding.place.property,
                        "line": finding.place.line,
                        "message": finding.message,
                    })
                })
                .collect();
            json!({
                "file": file.display().to_string(),
                "games": report.games,
                "nodes": report.nodes,
                "moves": report.moves,
                "variations": report.variations,
                "encoding": report.encoding,
                "sound": report.is_sound(),
                "findings": findings,
            })
        })
        .collect();
    format!("{}\n", json!({ "files": files }))
}
