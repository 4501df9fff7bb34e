//! `tengen sgf check` and `tengen ladder read`, run as a user runs them.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

/// White's D4 can be chased across the board.
const LADDER: &str = "(;SZ[19]AW[dp]AB[cp][dq][eq][co]PL[B])";

fn tengen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(args)
        .output()
        .unwrap()
}

fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Bad input: exit code 2, nothing on stdout, one line that says what is wrong.
fn assert_refused(output: &Output, words: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(stdout(output), "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word} is not in: {stderr}");
    }
}

#[test]
fn sound_files_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    file(
        &folder,
        "a.sgf",
        "(;SZ[9];B[ee];W[cc](;B[gg])(;B[gc]))(;SZ[9])",
    );
    file(&folder, "b.SGF", LADDER);
    file(&folder, "note.txt", "not a game");
    let output = tengen(&["sgf", "check", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stdout(&output),
        "2 files, 3 games, 7 nodes, 3 moves, 1 variation: 0 files unsound, 0 errors, 0 notes\n"
    );
}

#[test]
fn problems_are_named_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = file(&folder, "damaged.sgf", "(;SZ[9];B[ee];W[ee])");
    let cut = file(&folder, "cut.sgf", "(;SZ[9];B[ee");
    let suicide = file(
        &folder,
        "suicide.sgf",
        "(;SZ[5];B[cc];W[ab];B[dd];W[ba];B[aa])",
    );
    let output = tengen(&["sgf", "check", &damaged, &cut, &suicide]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.contains("damaged.sgf: error: game 1, node 3, property W: the point is occupied"),
        "{text}"
    );
    assert!(
        text.contains("cut.sgf: error: game 1, node 2, property B (line 1): the value has no end"),
        "{text}"
    );
    assert!(
        text.contains("suicide.sgf: note: game 1, node 6, property B or W: the move is suicide"),
        "{text}"
    );
    let json: Value =
        serde_json::from_str(&stdout(&tengen(&["sgf", "check", "--json", &damaged]))).unwrap();
    assert_eq!(json["files"][0]["sound"], false);
    assert_eq!(json["files"][0]["findings"][0]["node"], 3);
}

#[test]
fn a_missing_file_is_refused_in_one_sentence() {
    assert_refused(
        &tengen(&["sgf", "check", "no-such-file.sgf"]),
        &["cannot read no-such-file.sgf"],
    );
    assert_refused(
        &tengen(&["ladder", "read", "no-such-file.sgf"]),
        &["cannot read no-such-file.sgf"],
    );
}

#[test]
fn a_ladder_is_read_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = file(&folder, "ladder.sgf", LADDER);
    let output = tengen(&["ladder", "read", &ladder, "--at", "D4"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(
        text.contains("white at D4 (2 liberties), attacker first: is captured with E4 or D5"),
        "{text}"
    );
    assert!(text.contains("black plays "), "{text}");
    // Two boards, each with the letters of the columns above and below.
    assert_eq!(
        text.matches("A B C D E F G H J K L M N O P Q R S T")
            .count(),
        4,
        "{text}"
    );
}

#[test]
fn a_ladder_reads_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = file(
        &folder,
        "ladder.sgf",
        &LADDER.replace("AW[dp]", "AW[dp][pd]"),
    );
    let output = tengen(&["ladder", "read", &ladder, "--at", "d4", "--nets", "--json"]);
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["size"], 19);
    assert_eq!(json["readings"][0]["verdict"], "escapes");
    assert_eq!(json["readings"][0]["first"], "attacker");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = file(&folder, "ladder.sgf", LADDER);
    let read = |extra: &[&str]| tengen(&[&["ladder", "read", ladder.as_str()], extra].concat());
    assert_refused(&read(&["--at", "K10"]), &["there is no stone at K10"]);
    assert_refused(&read(&["--at", "Z25"]), &["Z25 is not on the 19x19 board"]);
    assert_refused(&read(&["--game", "2"]), &["has no game 2"]);
    assert_refused(&read(&["--move", "7"]), &["fewer than 7 moves"]);
    let damaged = file(&folder, "damaged.sgf", "(;SZ[9];B[ee");
    assert_refused(
        &tengen(&["ladder", "read", &damaged]),
        &["damaged.sgf is damaged", "game 1, node 2, property B"],
    );
    let flag = tengen(&["ladder", "read", &ladder, "--at", "I5"]);
    assert_eq!(flag.status.code(), Some(2));
}
