//! The player's table of options as arguments of the command line.

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser},
};
use go_player::{OPTION_GROUPS, OptionRow, Options, option_rows};

/// The options that were given, each with its value if it takes one.
#[derive(Default)]
pub struct PlayerArgs {
    given: Vec<(&'static OptionRow, Option<String>)>,
}

impl PlayerArgs {
    /// Changes options to what was given. Dynamic komi's come first: a mode has its own default for resigning.
    pub fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        for group in OPTION_GROUPS.iter().rev() {
            for row in group.rows {
                for (_, value) in self
                    .given
                    .iter()
                    .filter(|(given, _)| given.long == row.long)
                {
                    row.set_at_start(options, value.as_deref())
                        .map_err(|why| anyhow::anyhow!("--{}: {why}", row.long))?;
                }
            }
        }
        Ok(())
    }

    /// The value given for an option, by its name on the command line.
    pub fn value(&self, long: &str) -> Option<&str> {
        let (_, value) = self.given.iter().find(|(row, _)| row.long == long)?;
        value.as_deref()
    }
}

impl Args for PlayerArgs {
    fn augment_args(command: Command) -> Command {
        OPTION_GROUPS.iter().fold(command, |command, group| {
            let rows = group.rows.iter();
            rows.fold(command, |command, row| {
                command.arg(argument(row).help_heading(group.heading))
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PlayerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = PlayerArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for row in option_rows() {
            if !row.takes_value() {
                if matches.get_flag(row.long) {
                    self.given.push((row, None));
                }
            } else if let Some(value) = matches.get_one::<String>(row.long) {
                self.given.push((row, Some(value.clone())));
            }
        }
        Ok(())
    }
}

fn argument(row: &'static OptionRow) -> Arg {
    let mut help = row.help.to_owned();
    let default = row.default_text();
    if !default.is_empty() {
        help = format!("{} [{default}]", help.trim_end_matches('.'));
    }
    let argument = Arg::new(row.long).long(row.long).help(help);
    let argument = match row.short {
        Some(short) => argument.short(short),
        None => argument,
    };
    if !row.takes_value() {
        return argument.action(ArgAction::SetTrue);
    }
    let argument = argument
        .value_name(row.placeholder)
        .allow_negative_numbers(row.takes_negative());
    let words = row.words();
    if words.is_empty() {
        return argument.value_parser(move |word: &str| checked(row, word));
    }
    let words = words
        .iter()
        .map(|(word, what)| PossibleValue::new(*word).help(*what));
    argument.value_parser(PossibleValuesParser::new(words))
}

/// The word, if the option takes it.
fn checked(row: &OptionRow, word: &str) -> Result<String, go_player::WrongValue> {
    row.set_at_start(&mut Options::default(), Some(word))?;
    Ok(word.to_owned())
}
