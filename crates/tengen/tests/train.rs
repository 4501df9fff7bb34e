//! Trainings as a user runs them: from data to a network, interrupted at any moment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn tengen(arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tengen"));
    command.args(arguments);
    command
}

/// A game that fills a 5x5 board from one corner, turned by its number.
fn write_games(folder: &Path) {
    for number in 0..8 {
        let mut text = String::from("(;GM[1]FF[4]SZ[5]RE[B+R]");
        for index in 0..14 {
            let color = if index % 2 == 0 { 'B' } else { 'W' };
            let cell = (index * 3 + number) % 25;
            let letter = |value: usize| char::from(b'a' + value as u8);
            text.push_str(&format!(
                ";{color}[{}{}]",
                letter(cell % 5),
                letter(cell / 5)
            ));
        }
        text.push(')');
        fs::write(folder.join(format!("{number}.sgf")), text).unwrap();
    }
}

fn arguments<'a>(games: &'a str, out: &'a str, settings: &'a str) -> Vec<&'a str> {
    vec![
        "train",
        "go",
        "--games",
        games,
        "--out",
        out,
        "--settings",
        settings,
        "--json",
    ]
}

/// Settings that write a checkpoint after every step.
fn write_settings(folder: &Path, steps: u64) -> String {
    let path = folder.join("start.toml");
    let text = format!(
        "[network]\nsize = 5\nblocks = 1\nfilters = 8\n[data]\ntest_share = 0.0\n[training]\nsteps = {steps}\nbatch = 8\n\
         threads = 1\ncheckpoint_seconds = 0\nreport_every = 5\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn expect_success(output: &Output) {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_training_killed_again_and_again_ends_where_an_undisturbed_one_does() {
    const STEPS: u64 = 120;
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    fs::create_dir(&games).unwrap();
    write_games(&games);
    let settings = write_settings(folder.path(), STEPS);
    let games = games.to_str().unwrap();
    let (calm, stormy) = (folder.path().join("calm"), folder.path().join("stormy"));
    expect_success(
        &tengen(&arguments(games, calm.to_str().unwrap(), &settings))
            .output()
            .unwrap(),
    );

    let stormy_arguments = arguments(games, stormy.to_str().unwrap(), &settings);
    for round in 0..4 {
        let mut run = tengen(&stormy_arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Killed at some moment after its first checkpoint, wherever that finds it.
        let began = Instant::now();
        while !stormy.join("checkpoint.bin").exists() && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(7 + 23 * round));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    let last = tengen(&stormy_arguments).output().unwrap();
    expect_success(&last);
    let said = String::from_utf8(last.stdout).unwrap();
    assert!(!said.contains("\"resumed_at\":0}"), "{said}");
    for name in ["network.txt.gz", "network-averaged.txt.gz", "history.csv"] {
        assert_eq!(
            fs::read(calm.join(name)).unwrap(),
            fs::read(stormy.join(name)).unwrap(),
            "{name}"
        );
    }
}

/// Arguments of a training of one step in the folder `run` beside its games.
fn short_training(folder: &Path) -> (Vec<String>, PathBuf) {
    let (games, out) = (folder.join("games"), folder.join("run"));
    fs::create_dir(&games).unwrap();
    write_games(&games);
    let settings = write_settings(folder, 1);
    let arguments = arguments(games.to_str().unwrap(), out.to_str().unwrap(), &settings);
    (arguments.iter().map(ToString::to_string).collect(), out)
}

/// With checkpoints an eternity apart, only Ctrl-C can have written the one that the training resumes from.
#[cfg(unix)]
#[test]
fn ctrl_c_writes_a_checkpoint_that_the_same_command_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut arguments, out) = short_training(folder.path());
    arguments.extend(["--steps", "1000000", "--checkpoint-seconds", "1000000"].map(str::to_owned));
    let mut child = tengen(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first line of progress.
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    assert!(line.contains("\"step\":5"), "{line}");
    assert!(!out.join("checkpoint.bin").exists());
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(out.join("checkpoint.bin").exists());

    let stopped_at: u64 = fs::read_to_string(out.join("history.csv"))
        .unwrap()
        .lines()
        .count() as u64;
    assert!(stopped_at > 1);
    arguments.extend(["--steps", "1"].map(str::to_owned));
    arguments.retain(|argument| argument != "1000000" && argument != "--checkpoint-seconds");
    let position = arguments
        .iter()
        .position(|argument| argument == "--steps")
        .unwrap();
    arguments.remove(position);
    let again = tengen(&arguments).output().unwrap();
    expect_success(&again);
    let said = String::from_utf8(again.stdout).unwrap();
    assert!(
        said.contains("resumed_at") && !said.contains("\"resumed_at\":0}"),
        "{said}"
    );
}

#[test]
fn two_trainings_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (arguments, out) = short_training(folder.path());
    let first = base::LockedFolder::take(&out).unwrap();
    let refused = tengen(&arguments).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("in use by another process"), "{said}");
    assert!(!out.join("settings.toml").exists());
    drop(first);
    expect_success(&tengen(&arguments).output().unwrap());
}

#[test]
fn a_refused_option_leaves_the_settings_of_the_folder_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (arguments, out) = short_training(folder.path());
    expect_success(&tengen(&arguments).output().unwrap());
    let place = out.to_str().unwrap();
    let saved = out.join("settings.toml");
    let before = fs::read_to_string(&saved).unwrap();
    let other = folder.path().join("adam.toml");
    let adam = "rule = \"adam\"\nbeta1 = 0.9\nbeta2 = 0.999\nepsilon = 1e-8";
    let start = before.find("[training.optimiser]").unwrap();
    let end = start + before[start..].find("\n\n").unwrap();
    let text = format!(
        "{}[training.optimiser]\n{adam}{}",
        &before[..start],
        &before[end..]
    );
    fs::write(&other, text).unwrap();
    for (more, named) in [
        (["--filters", "7"], "another training"),
        (
            ["--settings", other.to_str().unwrap()],
            "the memory of another optimiser",
        ),
    ] {
        let refused = tengen(&[&["train", "go", "--out", place], &more[..]].concat())
            .output()
            .unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(named), "{said}");
        assert_eq!(fs::read_to_string(&saved).unwrap(), before);
    }
    expect_success(&tengen(&["train", "go", "--out", place]).output().unwrap());
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_graphics_card_is_asked_for_in_vain_without_the_feature() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    fs::create_dir(&games).unwrap();
    write_games(&games);
    let (games, out) = (games.to_str().unwrap(), folder.path().join("run"));
    let place = out.to_str().unwrap();
    for kind in [["go", "--games"], ["mario", "--data"], ["safety", "--data"]] {
        let [what, option] = kind;
        let arguments = [
            "train", what, option, games, "--out", place, "--device", "gpu",
        ];
        let output = tengen(&arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("`--features train-gpu`"), "{said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
    }
    assert!(!out.exists());
}

#[test]
fn bad_input_is_one_sentence_and_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["train", "go", "--out", place], "nothing to learn from"),
        (
            &["train", "go", "--out", place, "--games", place],
            "no games to learn from in",
        ),
        (
            &[
                "train", "go", "--out", place, "--games", place, "--preset", "huge",
            ],
            "there is no preset huge",
        ),
        (
            &[
                "train",
                "go",
                "--out",
                place,
                "--games",
                place,
                "--count-from",
                "9",
            ],
            "--count-from counts what --owner-weight teaches",
        ),
        (
            &["train", "mario", "--out", place, "--data", place],
            "no examples to learn from in",
        ),
        (
            &[
                "train",
                "safety",
                "--out",
                place,
                "--data",
                "missing.tfrecords",
            ],
            "cannot read",
        ),
    ];
    for (arguments, expected) in cases {
        let output = tengen(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(expected) && said.trim().lines().count() == 1,
            "{said}"
        );
    }
    assert!(!folder.path().join("settings.toml").exists());
}
