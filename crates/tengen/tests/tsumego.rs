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

/// Every kind of bad problem: its name, the file, and a word of the sentence about it.
fn bad_problems() -> [(&'static str, String, &'static str); 5] {
    [
        (
            "empty-target",
            PROBLEM.replace("MA[af]", "MA[aa]"),
            "empty point",
        ),
        ("no-wall", "(;SZ[7]AW[cc]MA[cc])".to_owned(), "no safe wall"),
        ("one-colour", "(;SZ[7]AW[cc])".to_owned(), "one colour only"),
        ("broken", "(;SZ[7]AB[aa".to_owned(), "broken"),
        ("too-large", "(;SZ[25]AW[cc]MA[cc])".to_owned(), "25x25"),
    ]
}

/// Checks that each file was complained about in one line that says what is wrong.
fn expect_complaints(output: &Output, expected: &[(&str, &str)]) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    let complaints = stderr(output);
    assert_eq!(complaints.lines().count(), expected.len(), "{complaints}");
    for (name, word) in expected {
        let line = complaints.lines().find(|line| line.contains(name));
        assert!(
            line.is_some_and(|line| line.contains(word)),
            "{name}: {complaints}"
        );
    }
}

#[test]
fn bad_problems_get_one_sentence_each_and_the_batch_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let bad = bad_problems();
    for (name, text, _) in &bad {
        fs::write(folder.path().join(format!("{name}.sgf")), text).unwrap();
    }
    fs::write(folder.path().join("good.sgf"), PROBLEM).unwrap();
    let output = tengen(&["solve", "."], folder.path());
    let expected = bad.each_ref().map(|(name, _, word)| (*name, *word));
    expect_complaints(&output, &expected);
    let answers = stdout(&output);
    assert!(
        answers.contains("attacker first: unsafe, black B1"),
        "{answers}"
    );
    assert!(answers.contains("defender first: safe, white B1"));
}

#[test]
fn a_collection_gives_a_table_goes_on_after_bad_ones_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let unmarked = PROBLEM.replace("MA[af]", "");
    let book = format!("{PROBLEM}\n(;SZ[7]AW[cc]MA[cc])\n{unmarked}\n");
    fs::write(folder.path().join("book.sgf"), book).unwrap();
    let solve = || {
        tengen(
            &["solve", "book.sgf", "--out", "answers.jsonl"],
            folder.path(),
        )
    };
    let output = solve();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("game 2: no safe wall"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("White at"),
        "what was assumed is said"
    );
    let table = stdout(&output);
    let rows: Vec<&str> = table
        .lines()
        .filter(|row| row.contains("tacker |"))
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(
        rows.iter().all(|row| row.contains("unsafe | B1")),
        "{table}"
    );
    // An answer that was cut off is asked for again, the others are not.
    let file = folder.path().join("answers.jsonl");
    let answers = fs::read_to_string(&file).unwrap();
    fs::write(&file, &answers[..answers.len() - 5]).unwrap();
    assert!(stderr(&solve()).contains("3 questions answered before"));
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&fs::read_to_string(&file).unwrap()), lines(&answers));
}

#[test]
fn the_group_can_be_named_and_an_answer_explained() {
    let folder = tempfile::tempdir().unwrap();
    let unmarked = PROBLEM.replace("MA[af]", "");
    fs::write(folder.path().join("three.sgf"), unmarked).unwrap();
    let arguments = ["solve", "three.sgf", "--target", "A2", "--explain"];
    let output = tengen(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for words in [
        "attacker first: unsafe, black B1",
        "the only solution: B1",
        "A1 fails to",
        "hint 4: Black plays B1.",
        "difficulty: trivial",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // The same group as if in a game, its wall seen as stones that get away.
    let in_game = tengen(&["solve", "three.sgf", "--at", "A2"], folder.path());
    assert!(stdout(&in_game).contains("attacker first: unsafe, black B1"));
    let off = tengen(&["solve", "three.sgf", "--at", "T2"], folder.path());
    assert_eq!(off.status.code(), Some(2));
    assert_eq!(stderr(&off).lines().count(), 1, "{}", stderr(&off));
}

#[test]
fn one_bad_problem_alone_is_refused_in_one_sentence() {
    for (name, text, word) in bad_problems() {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("{name}.sgf");
        fs::write(folder.path().join(&file), text).unwrap();
        let output = tengen(&["solve", &file], folder.path());
        expect_complaints(&output, &[(name, word)]);
        assert_eq!(stdout(&output), "", "{name}");
    }
}

#[test]
fn commands_that_take_collections_pass_over_bad_games() {
    let folder = tempfile::tempdir().unwrap();
    let mut bad = bad_problems().to_vec();
    // These want a mark, where `solve` infers the group.
    bad.retain(|(name, ..)| *name != "one-colour");
    bad.push(("no-target", PROBLEM.replace("MA[af]", ""), "no target"));
    for (name, text, _) in &bad {
        fs::write(folder.path().join(format!("{name}.sgf")), text).unwrap();
    }
    fs::write(folder.path().join("good.sgf"), PROBLEM).unwrap();
    let expected: Vec<_> = bad.iter().map(|(name, _, word)| (*name, *word)).collect();
    let output = tengen(&["tree", ".", "--out", "trees.txt"], folder.path());
    expect_complaints(&output, &expected);
    assert!(
        stdout(&output).starts_with("1 trees"),
        "{}",
        stdout(&output)
    );
    let output = tengen(&["expand", ".", "--out", "positions.txt"], folder.path());
    expect_complaints(&output, &expected);
    // Labels are asked for by these, and there are none in the good file either.
    fs::write(
        folder.path().join("label.sgf"),
        PROBLEM.replace("PL[B]", "PL[B]TS[0]AS[3]"),
    )
    .unwrap();
    let unlabelled = [&expected[..], &[("good", "TS")]].concat();
    for command in [
        &["stats", "."][..],
        &["validate", "."],
        &["features", ".", "--out", "planes.jsonl"],
        &["pack", ".", "--out", "data"],
    ] {
        let output = tengen(command, folder.path());
        expect_complaints(&output, &unlabelled);
    }
}

#[test]
fn missing_files_and_wrong_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["solve", "nowhere.sgf"][..],
        &["solve", "."],
        &["generate", "out.sgf", "--board", "30"],
        &["generate", "out.sgf", "--board", "9,4"],
        &["generate", "out.sgf", "--settled", "1.5"],
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
        "--settled",
        "0.5",
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
    let stats = run(&["stats", "positions.sgf"]);
    assert!(
        stats.contains("\nsize |    safe |  unsafe |    safe |  unsafe\n"),
        "{stats}"
    );
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
    // These planes do not say who starts, so only one of the two answers to each position may be there.
    let mut answers = std::collections::HashMap::new();
    for line in fs::read_to_string(folder.path().join("planes.jsonl"))
        .unwrap()
        .lines()
    {
        let shown: serde_json::Value = serde_json::from_str(line).unwrap();
        let planes = (shown["features"].to_string(), shown["target"].to_string());
        let safe = shown["safe"].as_bool().unwrap();
        assert_eq!(*answers.entry(planes).or_insert(safe), safe, "{line}");
    }
    assert!(answers.len() > 10, "{}", answers.len());
    assert!(run(&["eval", "positions.sgf"]).contains("control (problem and stone difference"));

    run(&["pack", "positions.sgf", "--out", "ours", "--gzip"]);
    let mut train = Command::new(env!("CARGO_BIN_EXE_tengen"));
    train.current_dir(folder.path());
    train.args(["train", "safety", "--data", "ours/main.tfrecords.gz"]);
    train.args(["--test", "ours/test.tfrecords.gz", "--out", "run"]);
    train.args(["--blocks", "1", "--filters", "8", "--steps", "5"]);
    let output = train.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let small = ["--bits", "4", "--out", "small.net"];
    run(&[&["compress", "run/network.net"][..], &small].concat());
    let scored = run(&["eval", "positions.sgf", "-w", "small.net", "--average"]);
    assert!(scored.contains("evaluations a second"), "{scored}");
}
