//! What `tengen analyze` refuses, and that it does so before the work.

mod support {
    pub mod converse;
}

use std::{fs, path::Path, process::Command};

use support::converse::{converse, text};

const GAME: &str = "(;GM[1]FF[4]SZ[9]KM[7];B[ee];W[ec];B[cc])";

/// Runs the command in `home` and returns its exit code and what it wrote to stderr.
fn analyze(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
    program
        .arg("analyze")
        .args(arguments)
        .args(["--visits", "2"]);
    program.current_dir(home).env("HOME", home);
    let output = converse(&mut program, "");
    (output.status.code(), text(&output.stderr))
}

#[test]
fn places_that_cannot_be_written_to_are_found_before_the_work() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("g.sgf"), GAME).unwrap();
    fs::write(home.path().join("file"), "not a folder").unwrap();
    for place in ["missing/out.sgf", "file/out.sgf", "/proc/out.sgf"] {
        let (code, error) = analyze(home.path(), &["g.sgf", "-o", place]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(place), "{error}");
    }
    let left: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "nothing was written: {left:?}");
}

#[test]
fn two_results_do_not_share_a_file_and_pictures_do_not_replace_the_game() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("g.sgf"), GAME).unwrap();
    let (code, error) = analyze(home.path(), &["g.sgf", "-o", "x", "--graph", "x"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot write two results to x"), "{error}");
    let (code, error) = analyze(home.path(), &["g.sgf", "--graph", "g.sgf"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("that is the game record"), "{error}");
    assert_eq!(fs::read_to_string(home.path().join("g.sgf")).unwrap(), GAME);
    assert!(!home.path().join("x").exists());
}

#[test]
fn a_damaged_record_is_named() {
    let home = tempfile::tempdir().unwrap();
    for (name, record) in [
        ("cut.sgf", "(;GM[1]SZ[9];B[ee"),
        ("twice.sgf", "(;GM[1]SZ[9];B[ee];W[ee])"),
    ] {
        fs::write(home.path().join(name), record).unwrap();
        let (code, error) = analyze(home.path(), &[name]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(name), "{error}");
    }
}
