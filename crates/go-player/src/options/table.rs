//! The table of options: each is said here once. A new one is a field of [`Options`] and a row.

use std::fmt::Write;

use super::{Options, komi_rows::DYNAMIC_KOMI, player_rows::PLAYER, row::OptionRow};
use crate::dynamic_komi::{Mode, Settings};

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
    use crate::dynamic_komi::settings::MIN_POSITIONS;

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
