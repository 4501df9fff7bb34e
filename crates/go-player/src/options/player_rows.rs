//! The player's options: Leela Zero's, in its order, and a few more.

use std::thread;

use search::{FpuBase, StopMode};

use super::{
    Memory, Options,
    row::{AtStart, OptionRow, OptionValue},
};
use crate::{choice::ResignPolicy, ladders::Ladders};

/// From here on a limit of visits or playouts is none. Leela Zero announces this number as its largest.
const NO_LIMIT: i64 = 1_000_000_000;
const MOST_RANDOM_MOVES: i64 = 1_000_000;
const MOST_LAG: i64 = 3000;

pub(super) static PLAYER: &[OptionRow] = &[
    OptionRow {
        long: "memory",
        short: None,
        name: "Maximum Memory Use (MiB)",
        placeholder: "MIB",
        help: "Memory for network, tree and evaluation cache, in MiB.",
        value: OptionValue::Whole {
            range: *Memory::TOTAL_MIB.start() as i64..=*Memory::TOTAL_MIB.end() as i64,
            start: AtStart::Same,
            get: |o| o.memory.total_mib as i64,
            set: |o, mib| o.memory.total_mib = mib as usize,
        },
    },
    OptionRow {
        long: "cache-percent",
        short: None,
        name: "Percentage of memory for cache",
        placeholder: "PERCENT",
        help: "The evaluation cache's share of what the network leaves of --memory; the tree gets the rest.",
        value: OptionValue::Whole {
            range: *Memory::CACHE_PERCENT.start() as i64..=*Memory::CACHE_PERCENT.end() as i64,
            start: AtStart::Same,
            get: |o| o.memory.cache_percent as i64,
            set: |o, percent| o.memory.cache_percent = percent as usize,
        },
    },
    OptionRow {
        long: "visits",
        short: Some('v'),
        name: "Visits",
        placeholder: "N",
        help: "Weaken engine by limiting the number of visits; 0 sets no limit.",
        value: OptionValue::Whole {
            range: 0..=NO_LIMIT,
            start: AtStart::Nearest(0..=NO_LIMIT),
            get: |o| limit_number(o.visits),
            set: |o, visits| o.visits = limit(visits),
        },
    },
    OptionRow {
        long: "playouts",
        short: Some('p'),
        name: "Playouts",
        placeholder: "N",
        help: "Weaken engine by limiting the number of playouts; 0 sets no limit. Requires --noponder.",
        value: OptionValue::Whole {
            range: 0..=NO_LIMIT,
            start: AtStart::Nearest(0..=NO_LIMIT),
            get: |o| limit_number(o.playouts),
            set: |o, playouts| o.playouts = limit(playouts),
        },
    },
    OptionRow {
        long: "lagbuffer",
        short: Some('b'),
        name: "Lagbuffer",
        placeholder: "CS",
        help: "Safety margin for time usage in centiseconds.",
        value: OptionValue::Whole {
            range: 0..=MOST_LAG,
            start: AtStart::Nearest(0..=i64::MAX),
            get: |o| o.lag,
            set: |o, lag| o.lag = lag,
        },
    },
    OptionRow {
        long: "resignpct",
        short: Some('r'),
        name: "Resign Percentage",
        placeholder: "PERCENT",
        help: "Resign when winrate is less than x%. -1 uses 10% but scales for handicap, 0 never resigns; \
               --handicap makes 0 the default.",
        value: OptionValue::Whole {
            range: -1..=30,
            start: AtStart::Nearest(-1..=100),
            get: |o| i64::from(o.resign.percent()),
            set: |o, percent| o.resign = ResignPolicy::from_percent(percent as i32),
        },
    },
    OptionRow {
        long: "noponder",
        short: None,
        name: "Pondering",
        placeholder: "",
        help: "Disable thinking on opponent's time.",
        value: OptionValue::Switch {
            given: false,
            get: |o| o.ponder,
            set: |o, ponder| o.ponder = ponder,
        },
    },
    OptionRow {
        long: "threads",
        short: Some('t'),
        name: "Threads",
        placeholder: "N",
        help: "Number of threads to use; on the command line, 0 takes one for each processor.",
        value: OptionValue::Whole {
            range: 1..=Options::MOST_THREADS as i64,
            start: AtStart::Chosen(0..=Options::MOST_THREADS as i64),
            get: |o| o.threads as i64,
            set: |o, threads| o.threads = threads_for(threads as usize),
        },
    },
    OptionRow {
        long: "batchsize",
        short: None,
        name: "Batch Size",
        placeholder: "N",
        help: "Most positions a thread evaluates at once; on the command line, 0 takes a good number.",
        value: OptionValue::Whole {
            range: 1..=Options::MOST_IN_BATCH as i64,
            start: AtStart::Chosen(0..=Options::MOST_IN_BATCH as i64),
            get: |o| o.batch as i64,
            set: |o, batch| o.batch = batch as usize,
        },
    },
    OptionRow {
        long: "timemanage",
        short: None,
        name: "Time Management",
        placeholder: "MODE",
        help: "When to stop before time or visits are used up.",
        value: OptionValue::Choice {
            words: &[
                ("auto", "no_pruning with --noise, else on"),
                (
                    "on",
                    "stop when the best move can't change, if that saves time",
                ),
                ("off", "never stop early"),
                ("fast", "like on, even if no time is saved"),
                ("no_pruning", "like on, all visits kept as they fall"),
            ],
            get: |o| match o.stop_mode {
                StopMode::Auto => "auto",
                StopMode::On => "on",
                StopMode::Off => "off",
                StopMode::Fast => "fast",
                StopMode::NoPruning => "no_pruning",
            },
            set: |o, word| {
                o.stop_mode = match word {
                    "on" => StopMode::On,
                    "off" => StopMode::Off,
                    "fast" => StopMode::Fast,
                    "no_pruning" => StopMode::NoPruning,
                    _ => StopMode::Auto,
                };
            },
        },
    },
    OptionRow {
        long: "noise",
        short: Some('n'),
        name: "Noise",
        placeholder: "",
        help: "Enable policy network randomization.",
        value: OptionValue::Switch {
            given: true,
            get: |o| o.noise,
            set: |o, noise| o.noise = noise,
        },
    },
    OptionRow {
        long: "dumbpass",
        short: Some('d'),
        name: "Dumb Pass",
        placeholder: "",
        help: "Don't use heuristics for smarter passing.",
        value: OptionValue::Switch {
            given: true,
            get: |o| o.dumb_pass,
            set: |o, dumb| o.dumb_pass = dumb,
        },
    },
    OptionRow {
        long: "randomcnt",
        short: Some('m'),
        name: "Random Moves",
        placeholder: "N",
        help: "Play more randomly the first x moves.",
        value: OptionValue::Whole {
            range: 0..=MOST_RANDOM_MOVES,
            start: AtStart::Nearest(0..=MOST_RANDOM_MOVES),
            get: |o| o.random_moves as i64,
            set: |o, moves| o.random_moves = moves as usize,
        },
    },
    OptionRow {
        long: "randomvisits",
        short: None,
        name: "Random Visits",
        placeholder: "N",
        help: "Don't play random moves if they have <= x visits.",
        value: OptionValue::Whole {
            range: 0..=NO_LIMIT,
            start: AtStart::Nearest(0..=NO_LIMIT),
            get: |o| i64::from(o.random_min_visits),
            set: |o, visits| o.random_min_visits = visits as u32,
        },
    },
    OptionRow {
        long: "randomtemp",
        short: None,
        name: "Random Temperature",
        placeholder: "T",
        help: "Temperature to use for random move selection.",
        value: OptionValue::Decimal {
            range: 0.001..=1000.0,
            get: |o| o.random_temperature,
            set: |o, temperature| o.random_temperature = temperature,
        },
    },
    OptionRow {
        long: "fpu",
        short: None,
        name: "First Play Urgency",
        placeholder: "BASE",
        help: "How a move that was never tried is judged.",
        value: OptionValue::Choice {
            words: &[
                ("mean", "by the running mean of its parent"),
                (
                    "net",
                    "by the network's value of its parent, as in Leela Zero 0.17",
                ),
            ],
            get: |o| match o.fpu_base {
                FpuBase::ParentEvaluation => "net",
                _ => "mean",
            },
            set: |o, word| {
                o.fpu_base = match word {
                    "net" => FpuBase::ParentEvaluation,
                    _ => FpuBase::ParentMean,
                };
            },
        },
    },
    OptionRow {
        long: "ladders",
        short: None,
        name: "Ladders",
        placeholder: "MODE",
        help: "Whether ladders are read exactly at every leaf of the search.",
        value: OptionValue::Choice {
            words: &[
                ("off", "the network is left alone"),
                (
                    "on",
                    "the verdicts change priors and values, as fitted on games",
                ),
                (
                    "prune",
                    "the same, and extensions of two or more stones that are caught are not searched",
                ),
            ],
            get: |o| match o.ladders {
                Ladders::Off => "off",
                Ladders::On => "on",
                Ladders::Prune => "prune",
            },
            set: |o, word| {
                o.ladders = match word {
                    "on" => Ladders::On,
                    "prune" => Ladders::Prune,
                    _ => Ladders::Off,
                };
            },
        },
    },
];

fn limit(count: i64) -> Option<u64> {
    u64::try_from(count)
        .ok()
        .filter(|&count| count > 0 && count < NO_LIMIT as u64)
}

fn limit_number(limit: Option<u64>) -> i64 {
    limit.map_or(0, |count| count as i64)
}

/// 0 stands for one thread for each processor.
fn threads_for(asked: usize) -> usize {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    if asked == 0 { processors() } else { asked }
}
