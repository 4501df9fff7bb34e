//! `lz-setoption`: everything that can be changed between two moves.

mod dynamic_komi;

use std::io;

use go_player::{FpuBase, Memory, Options, StopMode, choice::ResignPolicy};

use crate::{
    engine::{Answer, Engine},
    line::Request,
};

const INCORRECT: &str = "incorrect value";
/// Zero stands for no limit.
const MOST_VISITS: u64 = 1_000_000_000;

/// One option: how it is announced, and how it is set.
struct Entry {
    name: &'static str,
    kind: &'static str,
    show: fn(&Options) -> String,
    set: fn(&mut Options, &str) -> Option<()>,
}

/// Leela Zero's options first, in its order and with its defaults shown.
static OPTIONS: &[Entry] = &[
    Entry {
        name: "Maximum Memory Use (MiB)",
        kind: "type spin default 2048 min 128 max 131072",
        show: |o| o.memory.total_mib.to_string(),
        set: |o, v| within(v, Memory::TOTAL_MIB).map(|mib| o.memory.total_mib = mib),
    },
    Entry {
        name: "Percentage of memory for cache",
        kind: "type spin default 10 min 1 max 99",
        show: |o| o.memory.cache_percent.to_string(),
        set: |o, v| within(v, Memory::CACHE_PERCENT).map(|share| o.memory.cache_percent = share),
    },
    Entry {
        name: "Visits",
        kind: "type spin default 0 min 0 max 1000000000",
        show: |o| o.visits.unwrap_or(0).to_string(),
        set: |o, v| within(v, 0..=MOST_VISITS).map(|n| o.visits = (n > 0).then_some(n)),
    },
    Entry {
        name: "Playouts",
        kind: "type spin default 0 min 0 max 1000000000",
        show: |o| o.playouts.unwrap_or(0).to_string(),
        set: |o, v| {
            let playouts = within(v, 0..=MOST_VISITS)?;
            // Thinking on the opponent's time would use the limit up.
            if playouts > 0 && o.ponder {
                return None;
            }
            o.playouts = (playouts > 0).then_some(playouts);
            Some(())
        },
    },
    Entry {
        name: "Lagbuffer",
        kind: "type spin default 100 min 0 max 3000",
        show: |o| o.lag.to_string(),
        set: |o, v| within(v, 0..=3000).map(|lag| o.lag = lag),
    },
    Entry {
        name: "Resign Percentage",
        kind: "type spin default -1 min -1 max 30",
        show: |o| o.resign.percent().to_string(),
        set: |o, v| within(v, -1..=30).map(|p| o.resign = ResignPolicy::from_percent(p)),
    },
    Entry {
        name: "Pondering",
        kind: "type check default true",
        show: |o| o.ponder.to_string(),
        set: |o, v| {
            let ponder = check(v)?;
            if ponder && o.playouts.is_some() {
                return None;
            }
            o.ponder = ponder;
            Some(())
        },
    },
    Entry {
        name: "Threads",
        kind: "type spin default 1 min 1 max 256",
        show: |o| o.threads.to_string(),
        set: |o, v| within(v, 1..=Options::MOST_THREADS).map(|n| o.threads = n),
    },
    Entry {
        name: "Batch Size",
        kind: "type spin default 1 min 1 max 256",
        show: |o| o.batch.to_string(),
        set: |o, v| within(v, 1..=Options::MOST_IN_BATCH).map(|n| o.batch = n),
    },
    Entry {
        name: "Time Management",
        kind: "type combo default auto var auto var on var off var fast var no_pruning",
        show: |o| stop_mode_name(o.stop_mode).to_owned(),
        set: |o, v| stop_mode(v).map(|mode| o.stop_mode = mode),
    },
    Entry {
        name: "Noise",
        kind: "type check default false",
        show: |o| o.noise.to_string(),
        set: |o, v| check(v).map(|noise| o.noise = noise),
    },
    Entry {
        name: "Dumb Pass",
        kind: "type check default false",
        show: |o| o.dumb_pass.to_string(),
        set: |o, v| check(v).map(|dumb| o.dumb_pass = dumb),
    },
    Entry {
        name: "Random Moves",
        kind: "type spin default 0 min 0 max 1000000",
        show: |o| o.random_moves.to_string(),
        set: |o, v| within(v, 0..=1_000_000).map(|n| o.random_moves = n),
    },
    Entry {
        name: "Random Visits",
        kind: "type spin default 1 min 0 max 1000000000",
        show: |o| o.random_min_visits.to_string(),
        set: |o, v| within(v, 0..=MOST_VISITS as u32).map(|n| o.random_min_visits = n),
    },
    Entry {
        name: "Random Temperature",
        kind: "type string default 1",
        show: |o| o.random_temperature.to_string(),
        set: |o, v| within(v, 0.001..=1000.0).map(|t| o.random_temperature = t),
    },
    Entry {
        name: "First Play Urgency",
        kind: "type combo default mean var mean var net",
        show: |o| match o.fpu_base {
            FpuBase::ParentEvaluation => "net".to_owned(),
            _ => "mean".to_owned(),
        },
        set: |o, v| {
            o.fpu_base = match v.to_ascii_lowercase().as_str() {
                "mean" => FpuBase::ParentMean,
                "net" => FpuBase::ParentEvaluation,
                _ => return None,
            };
            Some(())
        },
    },
];

/// `name N value V`; without arguments, the list of options with their present values.
pub fn setoption(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    if request.arguments.is_empty() {
        return Ok(Answer::ok(list(engine.player.options())));
    }
    let Some((name, value)) = name_and_value(request) else {
        return Ok(Answer::failure("incorrect syntax for lz-setoption"));
    };
    let entry = entries().find(|entry| entry.name.eq_ignore_ascii_case(&name));
    let Some(entry) = entry else {
        return Ok(Answer::failure("Unknown option"));
    };
    let mut options = engine.player.options().clone();
    let memory_before = options.memory;
    if (entry.set)(&mut options, &value).is_none() {
        return Ok(Answer::failure(INCORRECT));
    }
    let memory_changed = options.memory != memory_before;
    if let Err(error) = engine.player.set_options(options) {
        return Ok(Answer::failure(error.to_string()));
    }
    if !memory_changed {
        return Ok(Answer::ok(""));
    }
    let shares = engine.player.memory_shares();
    Ok(Answer::ok(format!(
        "Setting max tree size to {} MiB and cache size to {} MiB.",
        shares.tree_mib(),
        shares.cache_mib()
    )))
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    OPTIONS.iter().chain(dynamic_komi::OPTIONS)
}

fn list(options: &Options) -> String {
    let lines: Vec<String> = entries()
        .map(|entry| {
            format!(
                "option name {} {} value {}",
                entry.name,
                entry.kind,
                (entry.show)(options)
            )
        })
        .collect();
    format!("\n{}", lines.join("\n"))
}

fn name_and_value(request: &Request) -> Option<(String, String)> {
    let words = &request.arguments;
    if !words.first()?.eq_ignore_ascii_case("name") {
        return None;
    }
    let at = words.iter().position(|w| w.eq_ignore_ascii_case("value"))?;
    let (name, value) = (words.get(1..at)?, words.get(at + 1..)?);
    (!name.is_empty() && !value.is_empty()).then(|| (name.join(" "), value.join(" ")))
}

/// A number within a range.
fn within<N: std::str::FromStr + PartialOrd>(
    word: &str,
    range: std::ops::RangeInclusive<N>,
) -> Option<N> {
    word.parse().ok().filter(|number| range.contains(number))
}

fn check(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn stop_mode(word: &str) -> Option<StopMode> {
    Some(match word.to_ascii_lowercase().as_str() {
        "auto" => StopMode::Auto,
        "on" => StopMode::On,
        "off" => StopMode::Off,
        "fast" => StopMode::Fast,
        "no_pruning" => StopMode::NoPruning,
        _ => return None,
    })
}

fn stop_mode_name(mode: StopMode) -> &'static str {
    match mode {
        StopMode::Auto => "auto",
        StopMode::On => "on",
        StopMode::Off => "off",
        StopMode::Fast => "fast",
        StopMode::NoPruning => "no_pruning",
    }
}
