//! Files that version 0.1.0 wrote: run folders, trainings, chunks, networks and records still open.
//!
//! `old_files.tar.gz` was made by a build of that version (commit 12b2c4e) with a handful of tiny commands (`zero go` for
//! a round, `zero mario` interrupted in its first games, `net new`, `net convert`, `selfplay`, `train go`,
//! `mario selfplay`), and is never made anew.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const OLD_FILES: &[u8] = include_bytes!("old_files.tar.gz");

fn unpacked() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(OLD_FILES))
        .unpack(folder.path())
        .unwrap();
    folder
}

fn tengen(line: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .unwrap()
}

fn succeed(line: &str, folder: &Path) -> String {
    let output = tengen(line, folder);
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn state(run: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(run.join("state.json")).unwrap()).unwrap()
}

/// One more round is played, trained and decided; nothing of what was there is lost or done again.
fn continue_run(game: &str, rounds: u64) {
    let folder = unpacked();
    let run = folder.path().join(game);
    let games = || fs::read(run.join("games.log")).unwrap();
    let (before, games_before) = (state(&run), games());
    assert_eq!(before["rounds"], rounds);
    if game == "mario" {
        // Rating came later, and would take most of the time.
        let settings = run.join("settings.toml");
        let old = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, old + "[rating]\ndeals = 0\n").unwrap();
    }
    let line = format!("zero {game} --dir {game} --rounds {}", rounds + 1);
    succeed(&line, folder.path());
    let after = state(&run);
    assert_eq!(after["rounds"], rounds + 1);
    for list in ["trainings", "matches"] {
        let lines = |state: &serde_json::Value| state[list].as_array().unwrap().clone();
        let (old, new) = (lines(&before), lines(&after));
        assert_eq!(new.len(), rounds as usize + 1, "{list}");
        for (old, new) in old.iter().zip(&new) {
            assert_eq!(old["network"], new["network"], "{list}");
            assert_eq!(old["round"], new["round"], "{list}");
        }
    }
    assert!(games().starts_with(&games_before) && games().len() > games_before.len());
}

#[test]
fn an_old_run_of_go_goes_on() {
    continue_run("go", 1);
}

#[test]
fn an_old_run_of_dr_mario_goes_on() {
    continue_run("mario", 0);
}

#[test]
fn an_old_training_resumes_from_its_checkpoint_and_reads_old_chunks() {
    let folder = unpacked();
    let history = || fs::read_to_string(folder.path().join("training/history.csv")).unwrap();
    let before = history();
    let train = "train go --chunks chunks --size 3 --blocks 1 --filters 2 --batch 4 --threads 1";
    succeed(&format!("{train} --steps 6 --out training"), folder.path());
    // Four steps are done; only the two that are new are measured.
    let after = history();
    let new = after
        .strip_prefix(&before)
        .unwrap_or_else(|| panic!("{after}"));
    assert!(
        new.lines().count() > 0 && new.lines().all(|line| line.starts_with("6,")),
        "{after}"
    );
}

#[test]
fn old_networks_play_and_are_the_same_in_both_formats() {
    let folder = unpacked();
    let info = succeed("net info network.net", folder.path());
    assert!(info.contains("3x3"), "{info}");
    succeed(
        "net compare network.txt network.net --positions 20 --tolerance 0.01",
        folder.path(),
    );
}

#[test]
fn old_records_of_dr_mario_become_examples() {
    let folder = unpacked();
    succeed("mario examples pills.txt examples.json", folder.path());
    let examples = fs::read_to_string(folder.path().join("examples.json")).unwrap();
    assert!(examples.len() > 1000, "{}", examples.len());
    // The file is continued, too: its two games are found.
    let said = succeed(
        "mario selfplay pills.txt --games 3 --levels 0 --player one-ply",
        folder.path(),
    );
    assert!(said.contains("2 of them found there"), "{said}");
}
