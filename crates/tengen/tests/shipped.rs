//! With no network named and none to be found, the program plays and analyses with its own.

mod support {
    pub mod converse;
}

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use support::converse::{converse, text};

fn tengen(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
    program.args(arguments).current_dir(home).env("HOME", home);
    converse(&mut program, input)
}

#[test]
fn gtp_plays_on_every_board() {
    let home = tempfile::tempdir().unwrap();
    let sizes = [9, 13, 19, 25, 2];
    let mut input = String::new();
    for size in sizes {
        input += &format!("boardsize {size}\ngenmove b\n");
    }
    input += "boardsize 26\nquit\n";
    let output = tengen(
        home.path(),
        &["gtp", "-v", "8", "-t", "1", "--noponder"],
        &input,
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answers = text(&output.stdout);
    assert!(
        answers.contains("? unacceptable size: boards are from 2x2 to 25x25"),
        "{answers}"
    );
    assert_eq!(answers.matches("\n? ").count(), 1, "{answers}");
    assert!(text(&output.stderr).contains("Network go (built in): Tengen version 1"));
}

#[test]
fn analyze_makes_a_game_when_none_is_named() {
    let home = tempfile::tempdir().unwrap();
    let output = tengen(home.path(), &["analyze", "--visits", "8"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let record = fs::read(home.path().join("tengen.analyzed.sgf")).unwrap();
    let games = go::sgf::read(&record).unwrap().games;
    assert!(games[0].main_line().len() > 1);
    let picture = fs::read_to_string(home.path().join("tengen.analyzed.svg")).unwrap();
    assert!(picture.starts_with("<svg"));
}

#[test]
fn an_analysed_record_says_the_encoding_it_is_written_in() {
    let home = tempfile::tempdir().unwrap();
    // Two signs in the national encoding that the record names.
    let record = b"(;GM[1]FF[4]SZ[9]CA[GB2312]PB[\xc9\xea\xd5\xe6];B[ee];W[ec])";
    fs::write(home.path().join("g.sgf"), record).unwrap();
    let output = tengen(home.path(), &["analyze", "g.sgf", "--visits", "4"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let written = fs::read(home.path().join("g.analyzed.sgf")).unwrap();
    let game = go::sgf::read(&written).unwrap().games.remove(0);
    assert_eq!(game.text(game.root(), "PB"), Some("\u{7533}\u{771f}"));
    assert_eq!(game.text(game.root(), "CA"), Some("UTF-8"));
}

#[test]
fn the_safety_network_is_asked_about_new_problems_when_none_are_named() {
    let home = tempfile::tempdir().unwrap();
    let output = tengen(home.path(), &["tsumego", "eval", "--json"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let score: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let field = |name: &str| score[name].as_f64().unwrap();
    assert!(field("positions") > 2_000.0, "{score}");
    let control = field("stone_difference_balanced_accuracy");
    assert!(field("balanced_accuracy") > control, "{score}");
}

#[test]
fn show_makes_a_problem_when_none_is_named() {
    let home = tempfile::tempdir().unwrap();
    let output = tengen(home.path(), &["tsumego", "show"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let record = fs::read(home.path().join("tengen.problem.sgf")).unwrap();
    let problem = tsumego::read_problem(&record).unwrap().problem;
    let picture = fs::read_to_string(home.path().join("tengen.problem.svg")).unwrap();
    assert!(picture.starts_with("<svg"));
    let mut solver = tsumego::Solver::new(&problem, tsumego::Limits::default());
    let mut verdict = |first| {
        let solution = solver.solve(&problem, first, tsumego::Ko::ATTACKER);
        solution.verdict
    };
    assert_eq!(verdict(tsumego::Side::Attacker), tsumego::Verdict::Unsafe);
    assert_eq!(verdict(tsumego::Side::Defender), tsumego::Verdict::Safe);
}

#[test]
fn doctor_finds_the_network_inside() {
    let home = tempfile::tempdir().unwrap();
    let output = tengen(home.path(), &["doctor"], "");
    let report = text(&output.stdout);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("go (built in)"), "{report}");
}
