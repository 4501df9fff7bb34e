//! The options of dynamic komi.

use super::{
    Options,
    row::{AtStart, OptionRow, OptionValue},
};
use crate::{
    choice::ResignPolicy,
    dynamic_komi::{
        Mode, Settings,
        settings::{MIN_POSITIONS, MOST_POSITIONS},
    },
};

const MOST_ADJUSTMENTS: i64 = 1000;
/// Points of komi beyond any board.
const MOST_KOMI: f64 = f32::MAX as f64;

/// The modes come first: they set the defaults of the others. An option that starts with `tg` turns the opposite of
/// the default on.
pub(super) static DYNAMIC_KOMI: &[OptionRow] = &[
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
