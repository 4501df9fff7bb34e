//! The options of dynamic komi, under their names on the command line.

use go_player::{
    Options,
    choice::ResignPolicy,
    dynamic_komi::{
        Mode, Settings,
        settings::{MIN_POSITIONS, MOST_POSITIONS},
    },
};

use super::{Entry, check, within};

const MOST_ADJUSTMENTS: u32 = 1000;
/// Points of komi beyond any board.
const MOST_KOMI: f64 = f32::MAX as f64;

pub(super) static OPTIONS: &[Entry] = &[
    Entry {
        name: "handicap",
        kind: "type check default false",
        show: |o| (o.komi.mode == Some(Mode::Handicap)).to_string(),
        set: |o, v| {
            set_mode(o, Mode::Handicap, check(v)?);
            // Whoever gives stones starts with a winrate at which others resign.
            if o.komi.mode == Some(Mode::Handicap) && o.resign == ResignPolicy::Default {
                o.resign = ResignPolicy::Never;
            }
            Some(())
        },
    },
    Entry {
        name: "nonslack",
        kind: "type check default false",
        show: |o| (o.komi.mode == Some(Mode::NonSlack)).to_string(),
        set: |o, v| {
            set_mode(o, Mode::NonSlack, check(v)?);
            Some(())
        },
    },
    Entry {
        name: "max-wr",
        kind: "type string default 1",
        show: |o| o.komi.max_winrate.to_string(),
        set: |o, v| within(v, 0.0..=1.0).map(|rate| o.komi.max_winrate = rate),
    },
    Entry {
        name: "min-wr",
        kind: "type string default 0",
        show: |o| o.komi.min_winrate.to_string(),
        set: |o, v| within(v, 0.0..=1.0).map(|rate| o.komi.min_winrate = rate),
    },
    Entry {
        name: "wr-margin",
        kind: "type string default 0",
        show: |o| o.komi.margin.to_string(),
        set: |o, v| within(v, 0.0..=1.0).map(|rate| o.komi.margin = rate),
    },
    Entry {
        name: "target-komi",
        kind: "type string default 7.5",
        show: |o| o.komi.target_komi.to_string(),
        set: |o, v| within(v, -MOST_KOMI..=MOST_KOMI).map(|komi| o.komi.target_komi = komi),
    },
    Entry {
        name: "adj-positions",
        kind: "type spin default 200 min 8 max 100000",
        show: |o| o.komi.positions.to_string(),
        set: |o, v| within(v, MIN_POSITIONS..=MOST_POSITIONS).map(|n| o.komi.positions = n),
    },
    Entry {
        name: "adj-pct",
        kind: "type string default 4",
        show: |o| o.komi.kept_percent.to_string(),
        set: |o, v| within(v, 0.0..=100.0).map(|percent| o.komi.kept_percent = percent),
    },
    Entry {
        name: "num-adj",
        kind: "type spin default 0 min 0 max 1000",
        show: |o| o.komi.adjustments_per_search.to_string(),
        set: |o, v| {
            within(v, 0..=MOST_ADJUSTMENTS).map(|count| o.komi.adjustments_per_search = count)
        },
    },
    Entry {
        name: "pos",
        kind: "type check default false",
        show: |o| (!o.komi.trust.negative).to_string(),
        set: |o, v| check(v).map(|only| o.komi.trust.negative = !only),
    },
    Entry {
        name: "neg",
        kind: "type check default false",
        show: |o| (!o.komi.trust.positive).to_string(),
        set: |o, v| check(v).map(|only| o.komi.trust.positive = !only),
    },
    Entry {
        name: "tg-auto-pn",
        kind: "type check default false",
        show: |o| (o.komi.test_network != defaults(o).test_network).to_string(),
        set: |o, v| check(v).map(|other| o.komi.test_network = defaults(o).test_network != other),
    },
    Entry {
        name: "fixed-symmetry",
        kind: "type spin default -1 min -1 max 7",
        show: |o| o.komi.fixed_symmetry.map_or(-1, i32::from).to_string(),
        set: |o, v| within(v, -1..=7).map(|n: i8| o.komi.fixed_symmetry = u8::try_from(n).ok()),
    },
    Entry {
        name: "tg-sure-backup",
        kind: "type check default false",
        show: |o| (o.komi.sure_backup != defaults(o).sure_backup).to_string(),
        set: |o, v| check(v).map(|other| o.komi.sure_backup = defaults(o).sure_backup != other),
    },
    Entry {
        name: "tg-orig-policy",
        kind: "type check default false",
        show: |o| (o.komi.original_policy != defaults(o).original_policy).to_string(),
        set: |o, v| {
            let other = check(v)?;
            o.komi.original_policy = defaults(o).original_policy != other;
            Some(())
        },
    },
    Entry {
        name: "tg-dyn-fpu",
        kind: "type check default false",
        show: |o| (o.komi.dynamic_fpu != defaults(o).dynamic_fpu).to_string(),
        set: |o, v| check(v).map(|other| o.komi.dynamic_fpu = defaults(o).dynamic_fpu != other),
    },
    Entry {
        name: "tg-no-guard",
        kind: "type check default false",
        show: |o| (!o.komi.guard).to_string(),
        set: |o, v| check(v).map(|without| o.komi.guard = !without),
    },
    Entry {
        name: "max-komi",
        kind: "type string default none",
        show: |o| bound_text(o.komi.max_komi),
        set: |o, v| bound(v, MOST_KOMI).map(|komi| o.komi.max_komi = komi),
    },
    Entry {
        name: "min-komi",
        kind: "type string default none",
        show: |o| bound_text(o.komi.min_komi),
        set: |o, v| bound(v, -MOST_KOMI).map(|komi| o.komi.min_komi = komi),
    },
];

/// A bound of komi, or none.
fn bound(word: &str, none: f64) -> Option<f64> {
    if word.eq_ignore_ascii_case("none") {
        return Some(none);
    }
    within(word, -MOST_KOMI..=MOST_KOMI)
}

fn bound_text(komi: f64) -> String {
    if komi.abs() >= MOST_KOMI {
        "none".to_owned()
    } else {
        komi.to_string()
    }
}

fn defaults(options: &Options) -> Settings {
    Settings::for_mode(options.komi.mode)
}

/// Switches a mode on, with its defaults, or off if it is on.
fn set_mode(options: &mut Options, mode: Mode, on: bool) {
    let is_on = options.komi.mode == Some(mode);
    if is_on == on {
        return;
    }
    options.komi = options.komi.clone().with_mode(on.then_some(mode));
}
