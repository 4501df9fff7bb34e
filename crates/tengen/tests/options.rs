//! Every row of the player's table of options is reached on the command line, by `lz-setoption` and in `--help`; that it
//! is in the documentation, `go-player` tests.

mod support {
    pub mod converse;
    pub mod network;
}

use std::{path::Path, process::Command};

use go_player::{OptionRow, OptionValue, Options, option_rows};
use support::{
    converse::{converse, text},
    network::write_small_network,
};

/// A value other than the default that agrees with the defaults of all other options.
fn another_value(row: &OptionRow) -> String {
    let default = row.show(&Options::default());
    match &row.value {
        OptionValue::Switch { given, .. } => given.to_string(),
        OptionValue::Whole { range, .. } => {
            let near = [*range.start(), *range.start() + 1];
            let another = near.into_iter().find(|value| value.to_string() != default);
            another.unwrap().to_string()
        }
        OptionValue::Decimal { .. } if default == "0.5" => "0.25".to_owned(),
        OptionValue::Decimal { .. } => "0.5".to_owned(),
        OptionValue::Bound { .. } if row.long.starts_with("min") => "-100".to_owned(),
        OptionValue::Bound { .. } => "100".to_owned(),
        OptionValue::Choice { words, .. } => words
            .iter()
            .map(|(word, _)| (*word).to_owned())
            .find(|word| *word != default)
            .unwrap(),
    }
}

/// What `lz-setoption` lists after `arguments` on the command line and `input` on the wire.
fn listed(weights: &Path, arguments: &[String], input: &str) -> String {
    // The random network cannot be told another komi, and would be refused with a mode.
    let usual = [("tg-auto-pn", "--tg-auto-pn"), ("noponder", "--noponder")];
    let is_given = |long: &str| arguments.iter().any(|word| word == &format!("--{long}"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
    program.args(["gtp", "--quiet", "-w"]).arg(weights);
    program.args(arguments);
    program.args(
        usual
            .iter()
            .filter(|(long, _)| !is_given(long))
            .map(|(_, option)| option),
    );
    let output = converse(&mut program, &format!("{input}lz-setoption\nquit\n"));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    let answers = text(&output.stdout);
    assert!(!answers.contains('?'), "{arguments:?} {input}: {answers}");
    answers
}

#[test]
fn every_option_can_be_given_on_the_command_line_and_set_at_run_time() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("net.txt");
    write_small_network(&weights);
    for row in option_rows() {
        let value = another_value(row);
        let expected = format!(
            "option name {} {} value {value}\n",
            row.name,
            row.announcement()
        );
        let mut arguments = vec![format!("--{}", row.long)];
        if row.takes_value() {
            arguments.push(value.clone());
        }
        let given = listed(&weights, &arguments, "") + "\n";
        assert!(given.contains(&expected), "--{}: {given}", row.long);
        let command = format!("lz-setoption name {} value {value}\n", row.name);
        let set = listed(&weights, &[], &command) + "\n";
        assert!(set.contains(&expected), "{command}: {set}");
    }
}

#[test]
fn help_lists_every_option_with_its_sentence_and_default() {
    let output = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(["gtp", "--help"])
        .output();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = words(&text(&output.unwrap().stdout));
    for row in option_rows() {
        let letter = row
            .short
            .map_or_else(String::new, |short| format!("-{short}, "));
        let option = format!("{letter}--{}", row.long);
        assert!(help.contains(&option), "{option} is not in --help");
        let sentence = words(row.help.trim_end_matches('.'));
        assert!(help.contains(&sentence), "{option}: {sentence}");
        assert!(help.contains(&row.default_text()), "{option}");
    }
}
