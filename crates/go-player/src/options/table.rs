//! The table of options: each is said here once. A new one is a field of [`Options`] and a row.

use std::{fmt::Write, thread};

use search::{FpuBase, StopMode};

use super::{
    Memory, Options,
    row::{AtStart, OptionRow, OptionValue},
};
use crate::{
    choice::ResignPolicy,
    dynamic_komi::{
        Mode, Settings,
        settings::{MIN_POSITIONS, MOST_POSITIONS},
    },
};

/// From here on a limit of visits or playouts is none. Leela Zero announces this number as its largest.
const NO_LIMIT: i64 = 1_000_000_000;
const MOST_RANDOM_MOVES: i64 = 1_000_000;
const MOST_ADJUSTMENTS: i64 = 1000;
const MOST_LAG: i64 = 3000;
/// Points of komi beyond any board.
const MOST_KOMI: f64 = f32::MAX as f64;

/// A group of rows: a heading of `--help`, a table of the documentation.
pub struct OptionGroup {
    /// The heading; the first group has none of its own.
    pub heading: Option<&'static str>,
    /// The rows, in the order in which they are shown.
    pub rows: &'static [OptionRow],
}

/// Every option of the player: Leela Zero's first, in its order, then those of dynamic komi.
pub static OPTION_GROUPS: &[OptionGroup] = &[
    OptionGroup {
        heading: None,
        rows: PLAYER,
    },
    OptionGroup {
        heading: Some("Dynamic komi"),
        rows: DYNAMIC_KOMI,
    },
];

/// All rows of all groups.
pub fn option_rows() -> impl Iterator<Item = &'static OptionRow> {
    OPTION_GROUPS.iter().flat_map(|group| group.rows)
}

static PLAYER: &[OptionRow] = &[
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
];

/// The modes come first: they set the defaults of the others. An option that starts with `tg` turns the opposite of
/// the default on.
static DYNAMIC_KOMI: &[OptionRow] = &[
    OptionRow {
        help: "For giving stones: raise komi while White seems lost, and come back to the target as the game turns. \
               Changes the defaults below and never resigns (-r 0).",
        ..komi_switch(
            "handicap",
            |o| o.komi.mode == Some(Mode::Handicap),
            |o, on| {
                set_mode(o, Mode::Handicap, on);
                // Whoever gives stones starts with a winrate at which others resign.
                if on && o.resign == ResignPolicy::Default {
                    o.resign = ResignPolicy::Never;
                }
            },
        )
    },
    OptionRow {
        help: "For won games: move komi against whoever leads, so that it plays on for more. Changes the defaults below.",
        ..komi_switch(
            "nonslack",
            |o| o.komi.mode == Some(Mode::NonSlack),
            |o, on| set_mode(o, Mode::NonSlack, on),
        )
    },
    OptionRow {
        help: "Lower komi when White's winrate, from 0 to 1, is above this.",
        ..winrate(
            "max-wr",
            |o| o.komi.max_winrate,
            |o, rate| o.komi.max_winrate = rate,
        )
    },
    OptionRow {
        help: "Raise komi when White's winrate is below this.",
        ..winrate(
            "min-wr",
            |o| o.komi.min_winrate,
            |o, rate| o.komi.min_winrate = rate,
        )
    },
    OptionRow {
        help: "An adjustment aims this far inside the range.",
        ..winrate(
            "wr-margin",
            |o| o.komi.margin,
            |o, rate| o.komi.margin = rate,
        )
    },
    OptionRow {
        long: "target-komi",
        short: None,
        name: "target-komi",
        placeholder: "KOMI",
        help: "The komi that is played for: a game starts with it, in the score as well, and returns to it.",
        value: OptionValue::Decimal {
            range: -MOST_KOMI..=MOST_KOMI,
            get: |o| o.komi.target_komi,
            set: |o, komi| o.komi.target_komi = komi,
        },
    },
    OptionRow {
        long: "adj-positions",
        short: None,
        name: "adj-positions",
        placeholder: "N",
        help: "Positions of each colour to collect before an adjustment. A search with a limit asks for an eighth of it \
               at most: 25 for --visits 200.",
        value: OptionValue::Whole {
            range: MIN_POSITIONS as i64..=MOST_POSITIONS as i64,
            start: AtStart::Nearest(MIN_POSITIONS as i64..=i64::MAX),
            get: |o| o.komi.positions as i64,
            set: |o, positions| o.komi.positions = positions as usize,
        },
    },
    OptionRow {
        long: "adj-pct",
        short: None,
        name: "adj-pct",
        placeholder: "PERCENT",
        help: "How many percent of --adj-positions an adjustment keeps: those nearest the root's winrate.",
        value: OptionValue::Decimal {
            range: 0.0..=100.0,
            get: |o| o.komi.kept_percent,
            set: |o, percent| o.komi.kept_percent = percent,
        },
    },
    OptionRow {
        long: "num-adj",
        short: None,
        name: "num-adj",
        placeholder: "N",
        help: "Most adjustments during the search for one move.",
        value: OptionValue::Whole {
            range: 0..=MOST_ADJUSTMENTS,
            start: AtStart::Nearest(0..=MOST_ADJUSTMENTS),
            get: |o| i64::from(o.komi.adjustments_per_search),
            set: |o, count| o.komi.adjustments_per_search = count as u32,
        },
    },
    OptionRow {
        help: "Beyond a komi of 7.5, trust winrates only where komi burdens the side to move.",
        ..komi_switch(
            "pos",
            |o| !o.komi.trust.negative,
            |o, only| o.komi.trust.negative = !only,
        )
    },
    OptionRow {
        help: "Beyond a komi of 7.5, trust winrates only where komi helps the side to move.",
        ..komi_switch(
            "neg",
            |o| !o.komi.trust.positive,
            |o, only| o.komi.trust.positive = !only,
        )
    },
    OptionRow {
        help: "Do not test the network to find out about --pos and --neg.",
        ..komi_switch(
            "tg-auto-pn",
            |o| o.komi.test_network != defaults(o).test_network,
            |o, other| o.komi.test_network = defaults(o).test_network != other,
        )
    },
    OptionRow {
        long: "fixed-symmetry",
        short: None,
        name: "fixed-symmetry",
        placeholder: "N",
        help: "Evaluate every position, the root included, through this one of the eight symmetries; -1 draws one at random \
               each time.",
        value: OptionValue::Whole {
            range: -1..=7,
            start: AtStart::Nearest(i64::MIN..=i64::MAX),
            get: |o| o.komi.fixed_symmetry.map_or(-1, i64::from),
            set: |o, number| {
                o.komi.fixed_symmetry = u8::try_from(number)
                    .ok()
                    .filter(|&number| usize::from(number) < go::Symmetry::COUNT);
            },
        },
    },
    OptionRow {
        help: "Expand a position whose winrate is not trusted without counting it, instead of taking its best move's winrate.",
        ..komi_switch(
            "tg-sure-backup",
            |o| o.komi.sure_backup != defaults(o).sure_backup,
            |o, other| o.komi.sure_backup = defaults(o).sure_backup != other,
        )
    },
    OptionRow {
        help: "Let komi leave the range of -7.5 to 7.5 on the turn whose winrates are not trusted, too.",
        ..komi_switch(
            "tg-orig-policy",
            |o| o.komi.original_policy != defaults(o).original_policy,
            |o, other| o.komi.original_policy = defaults(o).original_policy != other,
        )
    },
    OptionRow {
        help: "Judge moves never tried by the network's value of their parent (with a mode), or by its mean.",
        ..komi_switch(
            "tg-dyn-fpu",
            |o| o.komi.dynamic_fpu != defaults(o).dynamic_fpu,
            |o, other| o.komi.dynamic_fpu = defaults(o).dynamic_fpu != other,
        )
    },
    OptionRow {
        help: "Let a leader play what its search likes, without a second look at the target komi.",
        ..komi_switch(
            "tg-no-guard",
            |o| !o.komi.guard,
            |o, without| o.komi.guard = !without,
        )
    },
    OptionRow {
        help: "Never give White more than this.",
        ..komi_bound(
            "max-komi",
            |o| Some(o.komi.max_komi).filter(|&komi| komi < MOST_KOMI),
            |o, komi| o.komi.max_komi = komi.unwrap_or(MOST_KOMI),
        )
    },
    OptionRow {
        help: "Never give White less than this.",
        ..komi_bound(
            "min-komi",
            |o| Some(o.komi.min_komi).filter(|&komi| komi > -MOST_KOMI),
            |o, komi| o.komi.min_komi = komi.unwrap_or(-MOST_KOMI),
        )
    },
];

const fn komi_switch(
    name: &'static str,
    get: fn(&Options) -> bool,
    set: fn(&mut Options, bool),
) -> OptionRow {
    let value = OptionValue::Switch {
        given: true,
        get,
        set,
    };
    komi_row(name, "", value)
}

const fn winrate(
    name: &'static str,
    get: fn(&Options) -> f64,
    set: fn(&mut Options, f64),
) -> OptionRow {
    let value = OptionValue::Decimal {
        range: 0.0..=1.0,
        get,
        set,
    };
    komi_row(name, "RATE", value)
}

const fn komi_bound(
    name: &'static str,
    get: fn(&Options) -> Option<f64>,
    set: fn(&mut Options, Option<f64>),
) -> OptionRow {
    komi_row(name, "KOMI", OptionValue::Bound { get, set })
}

/// Dynamic komi's options have one name in all places.
const fn komi_row(name: &'static str, placeholder: &'static str, value: OptionValue) -> OptionRow {
    OptionRow {
        long: name,
        short: None,
        name,
        placeholder,
        help: "",
        value,
    }
}

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

fn defaults(options: &Options) -> Settings {
    Settings::for_mode(options.komi.mode)
}

/// Switches a mode on, with its defaults, or off if it is on.
fn set_mode(options: &mut Options, mode: Mode, on: bool) {
    let is_on = options.komi.mode == Some(mode);
    if is_on != on {
        options.komi = options.komi.clone().with_mode(on.then_some(mode));
    }
}

impl OptionRow {
    /// The defaults in handicap games and in nonslack mode, where the mode changes them.
    pub fn defaults_of_modes(&self) -> Option<[String; 2]> {
        let with = |mode| {
            self.show(&Options {
                komi: Settings::for_mode(mode),
                ..Options::default()
            })
        };
        let is_mode = ["handicap", "nonslack"].contains(&self.name);
        let of_modes = [Mode::Handicap, Mode::NonSlack].map(|mode| with(Some(mode)));
        (!is_mode && of_modes.iter().any(|of_mode| *of_mode != with(None))).then_some(of_modes)
    }

    /// The defaults, as `--help` and the documentation write them.
    pub fn default_text(&self) -> String {
        match (self.defaults_of_modes(), self.default_at_start()) {
            (Some([handicap, nonslack]), _) => {
                format!("handicap: {handicap}, nonslack: {nonslack}")
            }
            (None, Some(default)) => format!("default: {default}"),
            (None, None) => String::new(),
        }
    }
}

/// A group as a table in Markdown.
pub fn options_markdown(group: &OptionGroup) -> String {
    let mut page = String::from(
        "| command line | `lz-setoption` | values | default | meaning |\n| --- | --- | --- | --- | --- |\n",
    );
    for row in group.rows {
        let value = if row.takes_value() {
            format!(" {}", row.placeholder)
        } else {
            String::new()
        };
        let short = row
            .short
            .map_or_else(String::new, |short| format!("`-{short}` "));
        let default = match row.defaults_of_modes() {
            Some(_) => row.default_text(),
            None => row
                .default_at_start()
                .unwrap_or_else(|| row.show(&Options::default())),
        };
        let mut meaning = row.help.replace("<=", "≤");
        for (word, what) in row.words() {
            let _ = write!(meaning, " `{word}`: {what}.");
        }
        let _ = writeln!(
            page,
            "| {short}`--{}{value}` | `{}` | {} | {default} | {meaning} |",
            row.long,
            row.name,
            row.values(),
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_letters_are_unique_and_every_row_is_explained() {
        let (mut names, mut longs, mut shorts) = (HashSet::new(), HashSet::new(), HashSet::new());
        for row in option_rows() {
            assert!(names.insert(row.name.to_lowercase()), "{}", row.name);
            assert!(longs.insert(row.long), "--{}", row.long);
            assert!(
                row.short.is_none_or(|short| shorts.insert(short)),
                "--{}",
                row.long
            );
            assert!(row.help.ends_with('.'), "--{}", row.long);
            assert_eq!(
                row.takes_value(),
                !row.placeholder.is_empty(),
                "--{}",
                row.long
            );
        }
    }

    #[test]
    fn what_a_row_shows_it_takes_and_a_wrong_word_changes_nothing() {
        for row in option_rows() {
            let mut options = Options::default();
            let shown = row.show(&options);
            row.set(&mut options, &shown).unwrap();
            assert_eq!(options, Options::default(), "{}", row.name);
            assert!(row.set(&mut options, "gibberish").is_err(), "{}", row.name);
            assert_eq!(options, Options::default(), "{}", row.name);
        }
    }

    #[test]
    fn the_command_line_takes_the_nearest_number_where_run_time_refuses() {
        let row = |name| option_rows().find(|row| row.long == name).unwrap();
        let mut options = Options::default();
        row("adj-positions")
            .set_at_start(&mut options, Some("1"))
            .unwrap();
        assert_eq!(options.komi.positions, MIN_POSITIONS);
        assert!(row("adj-positions").set(&mut options, "1").is_err());
        row("threads")
            .set_at_start(&mut options, Some("0"))
            .unwrap();
        assert!(options.threads >= 1);
        assert!(row("threads").set(&mut options, "0").is_err());
        assert!(
            row("memory")
                .set_at_start(&mut options, Some("64"))
                .is_err()
        );
    }
}
