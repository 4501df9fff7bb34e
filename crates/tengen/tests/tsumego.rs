//! `tengen tsumego` from the outside: bad input, batches, the whole pipeline.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// White has three in a row in the corner.
const PROBLEM: &str =
    "(;FF[4]SZ[7]PL[B]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]MA[af])";

fn tengen(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .arg("tsumego")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bad_problems_get_one_sentence_each_and_the_batch_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let bad = [
        ("no-target", PROBLEM.replace("MA[af]", ""), "no target"),
        (
            "empty-target",
            PROBLEM.replace("MA[af]", "MA[aa]"),
            "empty point",
        ),
        ("no-wall", "(;SZ[7]AW[cc]MA[cc])".to_owned(), "no safe wall"),
        ("several", format!("{PROBLEM}{PROBLEM}"), "2 games"),
        ("broken", "(;SZ[7]AB[aa".to_owned(), "broken"),
        ("too-large", "(;SZ[25]AW[cc]MA[cc])".to_owned(), "25x25"),
    ];
    for (name, text, _) in &bad {
        fs::write(folder.path().join(format!("{name}.sgf")), text).unwrap();
    }
    fs::write(folder.path().join("good.sgf"), PROBLEM).unwrap();
    let output = tengen(&["solve", "."], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stdout(&output).contains("attacker first: unsafe, black B1"),
        "{}",
        stdout(&output)
    );
    assert!(stdout(&output).contains("defender first: safe, white B1"));
    let complaints = stderr(&output);
    assert_eq!(complaints.lines().count(), bad.len(), "{complaints}");
    for (name, _, expected) in &bad {
        let line = complaints.lines().find(|line| line.contains(name));
        assert!(
            line.is_some_and(|line| line.contains(expected)),
            "{name}: {complaints}"
        );
    }
}

#[test]
fn missing_files_and_wrong_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["solve", "nowhere.sgf"][..],
        &["solve", "."],
        &["generate", "out.sgf", "--board", "30"],
        &["generate", "out.sgf", "--smallest", "9", "--largest", "3"],
        &["pack", "nowhere.sgf", "--out", "data"],
        &["eval", "nowhere.sgf"],
        &["publish", "nowhere.net", "--out", "x.mjs"],
    ] {
        let output = tengen(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn a_generated_set_becomes_records_and_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = tengen(arguments, folder.path());
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            stderr(&output)
        );
        stdout(&output)
    };
    let generate = [
        "generate",
        "set.sgf",
        "--largest",
        "8",
        "--most-nodes",
        "2000",
        "--count",
    ];
    run(&[&generate[..], &["3"]].concat());
    // A line that was cut off is dropped, and the rest is the same as in one run.
    let text = fs::read_to_string(folder.path().join("set.sgf")).unwrap();
    fs::write(folder.path().join("set.sgf"), format!("{text}(;SZ[9]AB[")).unwrap();
    run(&[&generate[..], &["6"]].concat());
    let continued = fs::read(folder.path().join("set.sgf")).unwrap();
    fs::remove_file(folder.path().join("set.sgf")).unwrap();
    run(&[&generate[..], &["6"]].concat());
    assert_eq!(fs::read(folder.path().join("set.sgf")).unwrap(), continued);

    run(&[
        "tree",
        "set.sgf",
        "--out",
        "trees.sgf",
        "--depth",
        "2",
        "--most",
        "60",
    ]);
    run(&["expand", "trees.sgf", "--out", "positions.sgf"]);
    assert!(run(&["stats", "positions.sgf"]).starts_with("size |    safe |  unsafe"));
    let checked = run(&["validate", "positions.sgf", "--count", "40"]);
    assert!(
        checked.starts_with("40 labels confirmed, 0 wrong, 0 not"),
        "{checked}"
    );
    let packed = run(&[
        "pack",
        "positions.sgf",
        "--out",
        "data",
        "--planes",
        "13",
        "--test",
        "0.3",
    ]);
    assert!(packed.contains("main.tfrecords") && packed.contains("test.tfrecords"));
    run(&[
        "features",
        "positions.sgf",
        "--out",
        "planes.jsonl",
        "--planes",
        "14",
    ]);
    assert!(run(&["eval", "positions.sgf"]).contains("control (problem and stone difference"));
}
