//! Dynamic komi over GTP: its options, its test of the network, and what it tells stderr.

mod support;
#[path = "support/transcript.rs"]
mod transcript;

use gtp::{Engine, Input, Personality};
use support::{engine, quick_options};
use transcript::converse;

#[test]
fn a_network_that_cannot_be_told_another_komi_is_refused_at_run_time() {
    let shape = net::leela::LeelaShape::stock(9, 1, 4);
    let elf = net::leela::LeelaNetwork::random(net::leela::LeelaVersion::V2, shape, 1);
    let network = go_player::LoadedNetwork::from_leela(&elf, "elf".as_ref()).unwrap();
    let answers = support::Buffer::default();
    let mut engine = Engine::new(
        go_player::Player::new(network, quick_options()).unwrap(),
        Input::from_text(""),
        gtp::Outputs {
            answers: Box::new(answers.clone()),
            remarks: Box::new(std::io::sink()),
            log: None,
        },
        Personality::Tengen,
        String::new(),
    );
    for line in ["3 lz-setoption name handicap value true", "lz-setoption"] {
        engine.handle(line).unwrap();
    }
    let answered = answers.take();
    assert!(
        answered.starts_with("?3 dynamic komi needs a network that judges for the side to move"),
        "{answered}"
    );
    assert!(answered.contains("option name handicap type check default false value false"));
}

/// What is told to stderr about komi, its numbers left out.
fn komi_remarks(script: &str) -> String {
    let (mut engine, _, remarks) = engine(
        9,
        quick_options(),
        Personality::Tengen,
        Input::from_text(""),
    );
    for line in script.lines() {
        engine.handle(line).unwrap();
    }
    let said = remarks.take();
    let keys = [
        "komi",
        "opp_komi",
        "NN eval",
        "positions",
        "adjusted",
        "keeping",
        "komi |",
    ];
    let about_komi = said
        .lines()
        .filter(|line| keys.iter().any(|key| line.contains(key)));
    let without_numbers = about_komi.map(|line| {
        line.split_inclusive([' ', '='])
            .filter(|word| word.trim().parse::<f64>().is_err())
            .collect::<String>()
    });
    without_numbers.collect::<Vec<_>>().join("\n")
}

#[test]
fn dynamic_komi() {
    insta::assert_snapshot!(converse(
        "lz-setoption name handicap value true
lz-setoption name handicap value maybe
lz-setoption name tg-auto-pn value true
lz-setoption name handicap value true
lz-setoption name max-wr value 0.2
lz-setoption name min-wr value 0.15
lz-setoption name min-wr value 2
lz-setoption name wr-margin value 0.01
lz-setoption name target-komi value 0
lz-setoption name target-komi value inf
lz-setoption name adj-positions value 50
lz-setoption name adj-positions value 7
lz-setoption name adj-pct value 10
lz-setoption name adj-pct value 0
lz-setoption name num-adj value 2
lz-setoption name pos value true
lz-setoption name neg value true
lz-setoption name pos value false
lz-setoption name neg value true
lz-setoption name fixed-symmetry value 3
lz-setoption name fixed-symmetry value 8
lz-setoption name tg-sure-backup value true
lz-setoption name tg-no-guard value true
lz-setoption name tg-orig-policy value true
lz-setoption name tg-dyn-fpu value true
lz-setoption name max-komi value 100
lz-setoption name min-komi value 50
lz-setoption
genmove b
lz-setoption name nonslack value true
lz-setoption name handicap value false
lz-setoption
lz-setoption name nonslack value false
clear_board
fixed_handicap 4
final_score
lz-setoption name nonslack value true
final_score
dyn_komi_test 8
dyn_komi_test nonsense
known_command dyn_komi_test"
    ));
}

#[test]
fn the_komi_test_answers_its_verdict() {
    let answer = converse("7 dyn_komi_test\ndyn_komi_test 3\ndyn_komi_test average");
    let answers: Vec<&str> = answer.split("> ").skip(1).collect();
    assert_eq!(answers.len(), 3);
    assert!(answers[0].contains("=7 Negative komi total score: "));
    for answer in answers {
        let lines: Vec<&str> = answer.lines().collect();
        assert!(
            lines[2].starts_with("Positive komi total score: "),
            "{answer}"
        );
        let verdicts = ["good", "mediocre", "unusable"];
        assert!(verdicts.iter().any(|verdict| lines[3].starts_with(verdict)));
    }
}

#[test]
fn komi_is_told_to_stderr_in_a_mode_only() {
    assert_eq!(
        komi_remarks("komi 5.5\ngenmove b").matches("komi=").count(),
        0
    );
    let said = komi_remarks(
        "lz-setoption name tg-auto-pn value true
lz-setoption name nonslack value true
genmove b",
    );
    let ends = "NN eval=\nkomi=\nopp_komi=\nNN eval=";
    assert!(said.ends_with(ends), "{said}");
    assert!(
        said.starts_with("black positions: \nwhite positions: \n"),
        "{said}"
    );
}
