//! What one row of the table of options says, and how its value is read, shown and documented.

use std::ops::RangeInclusive;

use super::Options;

/// One option of the player. Command line, `lz-setoption`, `--help` and the documentation are made from it.
pub struct OptionRow {
    /// The name on the command line, without its two dashes.
    pub long: &'static str,
    /// The letter on the command line.
    pub short: Option<char>,
    /// The name for `lz-setoption`.
    pub name: &'static str,
    /// What stands for the value in `--help`; switches have none.
    pub placeholder: &'static str,
    /// The sentence of `--help` and of the documentation.
    pub help: &'static str,
    /// The type of the value, and how it is read and written.
    pub value: OptionValue,
}

/// The type of an option's value, with access to its place in [`Options`].
pub enum OptionValue {
    /// `true` or `false`.
    Switch {
        /// What the switch stands for on the command line.
        given: bool,
        get: fn(&Options) -> bool,
        set: fn(&mut Options, bool),
    },
    /// A whole number.
    Whole {
        /// What may be set at run time.
        range: RangeInclusive<i64>,
        /// What the command line takes.
        start: AtStart,
        get: fn(&Options) -> i64,
        set: fn(&mut Options, i64),
    },
    /// A number. The command line takes any; [`Options::check`] has the last word.
    Decimal {
        /// What may be set at run time.
        range: RangeInclusive<f64>,
        get: fn(&Options) -> f64,
        set: fn(&mut Options, f64),
    },
    /// A number, or `none`.
    Bound {
        get: fn(&Options) -> Option<f64>,
        set: fn(&mut Options, Option<f64>),
    },
    /// One of a few words.
    Choice {
        /// Each word, and what it means.
        words: &'static [(&'static str, &'static str)],
        get: fn(&Options) -> &'static str,
        /// Stores one of the words.
        set: fn(&mut Options, &'static str),
    },
}

/// What the command line takes for a whole number.
pub enum AtStart {
    /// What may be set at run time.
    Same,
    /// The nearest number of a range.
    Nearest(RangeInclusive<i64>),
    /// The nearest number of a range; 0, which is also the default, lets the program choose.
    Chosen(RangeInclusive<i64>),
}

/// Why a word is not an option's value: the sentence says what is expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct WrongValue(String);

impl OptionRow {
    /// Sets the option at run time. Nothing changes on failure.
    pub fn set(&self, options: &mut Options, word: &str) -> Result<(), WrongValue> {
        self.store(options, word, false)
    }

    /// Sets the option to what the command line says; `None` is a switch that was given.
    pub fn set_at_start(
        &self,
        options: &mut Options,
        word: Option<&str>,
    ) -> Result<(), WrongValue> {
        match (&self.value, word) {
            (OptionValue::Switch { given, set, .. }, None) => {
                set(options, *given);
                Ok(())
            }
            (_, word) => self.store(options, word.unwrap_or_default(), true),
        }
    }

    /// The present value, as `lz-setoption` shows it.
    pub fn show(&self, options: &Options) -> String {
        match &self.value {
            OptionValue::Switch { get, .. } => get(options).to_string(),
            OptionValue::Whole { get, .. } => get(options).to_string(),
            OptionValue::Decimal { get, .. } => get(options).to_string(),
            OptionValue::Bound { get, .. } => {
                get(options).map_or_else(|| "none".to_owned(), |number| number.to_string())
            }
            OptionValue::Choice { get, .. } => get(options).to_owned(),
        }
    }

    /// The type, default and range, as `lz-setoption` announces them.
    pub fn announcement(&self) -> String {
        let default = self.show(&Options::default());
        match &self.value {
            OptionValue::Switch { .. } => format!("type check default {default}"),
            OptionValue::Whole { range, .. } => {
                let (min, max) = (range.start(), range.end());
                format!("type spin default {default} min {min} max {max}")
            }
            OptionValue::Decimal { .. } | OptionValue::Bound { .. } => {
                format!("type string default {default}")
            }
            OptionValue::Choice { words, .. } => {
                let words: String = words
                    .iter()
                    .map(|(word, _)| format!(" var {word}"))
                    .collect();
                format!("type combo default {default}{words}")
            }
        }
    }

    /// Whether the command line takes a value.
    pub fn takes_value(&self) -> bool {
        !matches!(self.value, OptionValue::Switch { .. })
    }

    /// Whether a value of the command line may start with a minus sign.
    pub fn takes_negative(&self) -> bool {
        match &self.value {
            OptionValue::Whole { range, start, .. } => match start {
                AtStart::Same => *range.start() < 0,
                AtStart::Nearest(wider) | AtStart::Chosen(wider) => *wider.start() < 0,
            },
            OptionValue::Decimal { range, .. } => *range.start() < 0.0,
            OptionValue::Bound { .. } => true,
            OptionValue::Switch { .. } | OptionValue::Choice { .. } => false,
        }
    }

    /// The words that the option takes, each with its meaning; empty for every type but a choice.
    pub fn words(&self) -> &'static [(&'static str, &'static str)] {
        match &self.value {
            OptionValue::Choice { words, .. } => words,
            _ => &[],
        }
    }

    /// The values of the option, in words.
    pub fn values(&self) -> String {
        match &self.value {
            OptionValue::Switch { .. } => "`true` or `false`".to_owned(),
            OptionValue::Whole { range, .. } => format!("{} to {}", range.start(), range.end()),
            // Beyond any board there is no bound worth naming.
            OptionValue::Decimal { range, .. } if *range.end() > 1e6 => "a number".to_owned(),
            OptionValue::Decimal { range, .. } => format!("{} to {}", range.start(), range.end()),
            OptionValue::Bound { .. } => "a number or `none`".to_owned(),
            OptionValue::Choice { words, .. } => {
                let words: Vec<String> =
                    words.iter().map(|(word, _)| format!("`{word}`")).collect();
                words.join(" ")
            }
        }
    }

    /// The default on the command line. Switches and numbers that stand for "none" have no default to show.
    pub fn default_at_start(&self) -> Option<String> {
        match &self.value {
            OptionValue::Switch { .. } | OptionValue::Bound { .. } => None,
            OptionValue::Whole {
                start: AtStart::Chosen(_),
                ..
            } => Some("0".to_owned()),
            _ => Some(self.show(&Options::default())),
        }
    }

    fn store(&self, options: &mut Options, word: &str, at_start: bool) -> Result<(), WrongValue> {
        let wrong = || WrongValue(self.values().replace('`', ""));
        match &self.value {
            OptionValue::Switch { set, .. } => {
                let on = match word.to_ascii_lowercase().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong()),
                };
                set(options, on);
            }
            OptionValue::Whole {
                range, start, set, ..
            } => {
                let number: i64 = word.parse().map_err(|_| wrong())?;
                let number = match start {
                    AtStart::Nearest(wider) | AtStart::Chosen(wider) if at_start => {
                        number.clamp(*wider.start(), *wider.end())
                    }
                    _ => number,
                };
                if !at_start || matches!(start, AtStart::Same) {
                    Some(number)
                        .filter(|number| range.contains(number))
                        .ok_or_else(wrong)?;
                }
                set(options, number);
            }
            OptionValue::Decimal { range, set, .. } => {
                let number: f64 = word.parse().map_err(|_| wrong())?;
                if !at_start && !range.contains(&number) {
                    return Err(wrong());
                }
                set(options, number);
            }
            OptionValue::Bound { set, .. } => {
                let is_none = word.eq_ignore_ascii_case("none");
                let number: Option<f64> = word.parse().ok().filter(|n: &f64| n.is_finite());
                if !is_none && number.is_none() {
                    return Err(wrong());
                }
                set(options, number);
            }
            OptionValue::Choice { words, set, .. } => {
                let known = words
                    .iter()
                    .find(|(known, _)| known.eq_ignore_ascii_case(word));
                let (known, _) = known.ok_or_else(wrong)?;
                set(options, known);
            }
        }
        Ok(())
    }
}
