//! `tengen doctor`: is everything there that playing needs?

#[cfg(feature = "gpu")]
use std::path::Path;
use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use go_player::doctor::{self, Finding, State};
use learn::device::{Device, DeviceError};

use super::terminal;

/// Exit code when something does not work.
const EXIT_UNWELL: u8 = 1;

/// Say what was found on this machine, and whether anything is wrong
#[derive(clap::Args)]
#[command(after_help = "Example:\n  tengen doctor -w network.gz")]
pub struct Args {
    /// File with network weights
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command; the exit code is 1 if something does not work.
pub fn run(args: Args) -> Result<ExitCode> {
    let mut findings = doctor::examine(args.weights.as_deref());
    #[cfg(feature = "gpu")]
    findings.extend(adapters(args.weights.as_deref()));
    findings.extend(graphics());
    let mut text = String::new();
    if args.json {
        text += &format!("{}\n", serde_json::to_string(&findings)?);
    } else {
        for finding in &findings {
            let sign = match finding.state {
                State::Good => "good",
                State::Note => "note",
                State::Bad => "BAD ",
            };
            text += &format!("{sign}  {:<10}  {}\n", finding.subject, finding.text);
        }
    }
    terminal::print(&text)?;
    let is_unwell = findings.iter().any(|finding| finding.state == State::Bad);
    Ok(if is_unwell {
        ExitCode::from(EXIT_UNWELL)
    } else {
        ExitCode::SUCCESS
    })
}

/// What could train besides the processor; nothing in a program built without that.
fn graphics() -> Option<Finding> {
    let (state, text) = match Device::Gpu.name() {
        Ok(name) => (State::Good, format!("{name}; train --device gpu uses it")),
        Err(DeviceError::NotBuilt) => return None,
        Err(error) => (State::Note, error.to_string()),
    };
    Some(Finding {
        subject: "training",
        state,
        text,
    })
}

/// The graphics processors that `--gpu N` can name, each with its speed; nothing in a program built without them.
#[cfg(feature = "gpu")]
fn adapters(weights: Option<&Path>) -> Vec<Finding> {
    let found = net::gpu::adapters();
    let finding = |state, text| Finding {
        subject: "graphics",
        state,
        text,
    };
    if found.is_empty() {
        let text = "no graphics processor: the processor runs the networks".to_owned();
        return vec![finding(State::Note, text)];
    }
    let on_processor = speed(weights, net::Backend::Cpu);
    let tried = found.into_iter().map(|adapter| {
        let options = net::GpuOptions {
            adapter: Some(adapter.index),
            ..net::GpuOptions::default()
        };
        let about = format!("--gpu {}: {adapter}", adapter.index);
        match (speed(weights, net::Backend::Gpu(options)), &on_processor) {
            (Err(error), _) => finding(State::Note, format!("{about}: {error}")),
            (Ok(fast), Ok(slow)) => {
                let text = format!(
                    "{about}: {fast:.0} evaluations/s, one core of the processor {slow:.0}"
                );
                finding(State::Good, text)
            }
            (Ok(fast), Err(_)) => finding(State::Good, format!("{about}: {fast:.0} evaluations/s")),
        }
    });
    tried.collect()
}

/// Evaluations a second of the network in the batches that the backend likes, one call after another.
#[cfg(feature = "gpu")]
fn speed(weights: Option<&Path>, backend: net::Backend) -> Result<f64, go_player::NetworkError> {
    use std::time::{Duration, Instant};

    /// How long to measure, the first call apart.
    const TIME: Duration = Duration::from_millis(500);
    backend.choose();
    let network = go_player::LoadedNetwork::find(weights);
    net::Backend::Cpu.choose();
    let evaluator = network?.evaluator;
    let (shape, batch) = (evaluator.shape(), evaluator.preferred_batch());
    let inputs = vec![0.0; batch * shape.input_len()];
    let mut outputs = vec![0.0; batch * shape.output_len()];
    evaluator.evaluate(&inputs, &mut outputs)?;
    let start = Instant::now();
    let mut done = 0;
    while start.elapsed() < TIME {
        evaluator.evaluate(&inputs, &mut outputs)?;
        done += batch;
    }
    Ok(done as f64 / start.elapsed().as_secs_f64())
}
