//! How a training shows itself: a bar on a terminal, lines of text or JSON.

use std::io::IsTerminal;
use std::sync::atomic::AtomicBool;

use base::LockedFolder;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use learn::{
    LoadReport, Part, TrainSettings,
    device::Engine,
    trainer::{self, Outcome, Report, Task},
};
use serde_json::json;

/// Trains, showing progress.
pub fn train(
    task: &mut dyn Task,
    training: &TrainSettings,
    folder: &LockedFolder,
    engine: Option<Box<dyn Engine>>,
    as_json: bool,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let bar = if std::io::stderr().is_terminal() {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}")?;
        ProgressBar::new(training.steps).with_style(style)
    } else {
        ProgressBar::hidden()
    };
    let mut observe = |report: &Report<'_>| {
        bar.set_position(report.step);
        if as_json {
            bar.suspend(|| println!("{}", to_json(report)));
        } else if report.part == Part::Test
            && report.values.iter().all(|(_, value)| value.is_none())
        {
            // Nothing is kept out for tests, which was said at the start.
        } else if report.part == Part::Test || bar.is_hidden() {
            bar.suspend(|| println!("{}", to_text(report)));
        }
        if report.part == Part::Train {
            bar.set_message(to_text(report));
        }
        true
    };
    let outcome = trainer::train_in(task, training, folder, engine, stop, &mut observe)?;
    bar.finish_and_clear();
    if as_json {
        let files = json!({ "network": outcome.network, "averaged": outcome.averaged, "resumed_at": outcome.resumed_at });
        println!("{files}");
    } else {
        if !outcome.is_finished {
            println!("stopped; the same command resumes");
        }
        println!("network: {}", outcome.network.display());
        if let Some(averaged) = &outcome.averaged {
            println!("averaged network: {}", averaged.display());
        }
        let curves = folder.path().join(trainer::name::CURVES);
        println!("curves: {}", curves.display());
    }
    Ok(outcome)
}

/// Says how much there is to learn from, and what is done if nothing can be kept out for tests.
pub fn print_amounts(what: &str, train: u64, test: u64) {
    let kept = match test {
        0 => "none kept out for tests, since there are too few: only losses on what is learned are shown".to_owned(),
        test => format!("{test} kept out for tests"),
    };
    eprintln!("{train} {what} to learn from, {kept}");
}

/// Says what was left out of the data, and why.
pub fn print_skipped(report: &LoadReport) {
    for (why, (count, first)) in &report.skipped {
        eprintln!("left out {count}: {why}; the first is {first}");
    }
}

fn to_text(report: &Report<'_>) -> String {
    let mut text = format!("step {:>7}", report.step);
    if report.part == Part::Test {
        text.push_str("  test");
    }
    for (name, value) in &report.values {
        if let Some(value) = value {
            let shown = if name.ends_with("accuracy") {
                format!("{:.2}%", 100.0 * value)
            } else {
                format!("{value:.4}")
            };
            text.push_str(&format!("  {name} {shown}"));
        }
    }
    if report.part == Part::Train {
        let left = std::time::Duration::from_secs_f64(report.seconds_left.clamp(0.0, 1e9));
        text.push_str(&format!(
            "  rate {:.5}  {:.1}/s  {:#} left",
            report.rate,
            report.samples_per_second,
            HumanDuration(left)
        ));
    }
    text
}

fn to_json(report: &Report<'_>) -> serde_json::Value {
    let values: serde_json::Map<_, _> = report
        .values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let part = match report.part {
        Part::Train => "train",
        Part::Test => "test",
    };
    json!({
        "step": report.step,
        "steps": report.steps,
        "part": part,
        "values": values,
        "rate": report.rate,
        "samples_per_second": report.samples_per_second,
        "seconds_left": report.seconds_left,
    })
}
