//! Is everything there that playing needs?

use std::{fs, path::Path, thread};

use go::Symmetry;
use net::{Backend, Isa};
use serde::Serialize;

use crate::{
    judge::Judge,
    network::{LoadedNetwork, NetworkError},
    options::{Memory, Options},
    player::Player,
};

/// Two evaluators that differ by more than this do not run the same network.
const LARGEST_DIFFERENCE: f32 = 1e-3;

/// How things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// It works, but could be better.
    Note,
    /// It does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub subject: &'static str,
    pub state: State,
    /// What was found, and what to do about it.
    pub text: String,
}

/// Looks at the processor, the memory and the network (the named one, or the one that would be found).
pub fn examine(weights: Option<&Path>) -> Vec<Finding> {
    let mut findings = vec![processor(), threads(), memory()];
    findings.extend(network(weights));
    findings
}

fn processor() -> Finding {
    let (state, text) = match Isa::detect() {
        Isa::Portable => (
            State::Note,
            "no AVX2 with FMA: the portable kernels run, several times slower".to_owned(),
        ),
        isa => {
            let all: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
            let text = format!("{isa} kernels (this processor has {})", all.join(", "));
            (State::Good, text)
        }
    };
    Finding {
        subject: "processor",
        state,
        text,
    }
}

fn threads() -> Finding {
    let count = thread::available_parallelism().map_or(1, usize::from);
    Finding {
        subject: "threads",
        state: State::Good,
        text: format!("{count} available; --threads 0 uses all"),
    }
}

fn memory() -> Finding {
    let wanted = Memory::default().total_mib;
    let (state, text) = match available_mib() {
        None => (
            State::Note,
            "this system does not say how much is free".to_owned(),
        ),
        Some(free) if free < wanted => (
            State::Note,
            format!(
                "{free} MiB available, less than the {wanted} MiB a search may take; give --memory {}",
                (free / 2).max(*Memory::TOTAL_MIB.start())
            ),
        ),
        Some(free) => (
            State::Good,
            format!("{free} MiB available, a search takes up to {wanted}"),
        ),
    };
    Finding {
        subject: "memory",
        state,
        text,
    }
}

fn available_mib() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

fn network(weights: Option<&Path>) -> Vec<Finding> {
    let bad = |text: String| Finding {
        subject: "network",
        state: State::Bad,
        text,
    };
    let network = match LoadedNetwork::find(weights) {
        Ok(network) => network,
        Err(error) => return vec![bad(error.to_string())],
    };
    let summary = format!(
        "{}: {}, {} blocks of {} filters",
        network.name(),
        network.encoder.family(),
        network.blocks,
        network.filters
    );
    match agreement(network) {
        Err(error) => vec![bad(error.to_string())],
        Ok((size, difference)) => {
            let state = if difference <= LARGEST_DIFFERENCE {
                State::Good
            } else {
                State::Bad
            };
            vec![
                Finding {
                    subject: "network",
                    state: State::Good,
                    text: format!("{summary}, plays {size}"),
                },
                Finding {
                    subject: "evaluation",
                    state,
                    text: format!("fast and plain evaluators agree to {difference:.1e}"),
                },
            ]
        }
    }
}

/// How far the fast evaluator is from the plain one on an empty board: the network's own, or a small one if it plays on
/// all, since the plain one takes its time.
fn agreement(network: LoadedNetwork) -> Result<(go::BoardSize, f32), NetworkError> {
    let small = network.for_size(go::BoardSize::NINE);
    let network = small.unwrap_or(network);
    let plain = Backend::Reference.open(&network.layers()?)?;
    let plain = Judge::with_encoder(plain, network.encoder.clone(), 0);
    let player = Player::new(network, Options::default())?;
    let position = player.position();
    let fast = player.opinion(Some(Symmetry::IDENTITY))?;
    let plain = plain.opinion(&position, Symmetry::IDENTITY)?;
    let policies = fast.policy.iter().zip(&plain.policy);
    let difference = policies.fold((fast.winrate - plain.winrate).abs(), |largest, (a, b)| {
        largest.max((a - b).abs())
    });
    Ok((position.size(), difference))
}
