//! `tengen match` in a folder: stopped, continued, and kept apart from other matches.
#![cfg(unix)]

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

const EXIT_BAD_INPUT: i32 = 2;
const EXIT_INTERRUPTED: i32 = 130;
/// How often something that must happen is looked for, and how long in all: a minute.
const POLL: Duration = Duration::from_millis(20);
const POLLS: usize = 3000;

/// A program that passes, after a while; it notes when it is started and when it goes. It survives a
/// closed output, so that only the end of its input makes it go.
fn slow_player(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(name);
    let script = format!(
        "#!/bin/sh
trap '' PIPE
echo started >> {0}.notes
while read word rest; do
  case $word in
    quit) break;;
    genmove) echo thinking >> {0}.notes; sleep 1; echo '= pass';;
    *) echo '=';;
  esac
  echo
done
echo gone >> {0}.notes
",
        file.display()
    );
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn notes(player: &Path, word: &str) -> usize {
    let notes = fs::read_to_string(format!("{}.notes", player.display())).unwrap_or_default();
    notes.lines().filter(|line| *line == word).count()
}

/// A match in a process group of its own, as a shell starts it.
fn play(dir: &Path, players: [&Path; 2], games: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tengen"));
    command.arg("match").args(players).arg("--dir").arg(dir);
    command.args(["--size", "9", "--scorer", "none", "--games"]);
    command.arg(games.to_string()).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..POLLS {
        if is_so() {
            return;
        }
        thread::sleep(POLL);
    }
    panic!("{what} does not happen");
}

/// Ctrl-C: the signal goes to the whole group.
fn press_control_c(child: &Child) {
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.unwrap().success());
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Two players in a folder and a match between them that thinks about its first move.
fn thinking_match(folder: &Path) -> ([PathBuf; 2], PathBuf, Child) {
    let players = ["first", "second"].map(|name| slow_player(folder, name));
    let dir = folder.join("match");
    let [first, second] = &players;
    let child = play(&dir, [first, second], 2).spawn().unwrap();
    wait_until("a move", || notes(first, "thinking") > 0);
    (players, dir, child)
}

fn expect_interruption(child: Child) {
    let output = child.wait_with_output().unwrap();
    let code = output.status.code();
    assert_eq!(code, Some(EXIT_INTERRUPTED), "{}", text(&output));
}

#[test]
fn control_c_lets_the_game_under_way_end_and_the_match_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let ([first, second], dir, child) = thinking_match(folder.path());
    press_control_c(&child);
    expect_interruption(child);
    let log = || fs::read_to_string(dir.join("match.jsonl")).unwrap();
    assert_eq!(log().lines().count(), 1);
    assert_eq!(
        (notes(&first, "started"), notes(&second, "started")),
        (1, 1)
    );

    // A kill between the log and the game's file leaves a game without one.
    fs::remove_file(dir.join("0000.sgf")).unwrap();
    let output = play(&dir, [&first, &second], 2).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(log().lines().count(), 2);
    for file in ["0000.sgf", "0001.sgf"] {
        assert!(
            fs::read_to_string(dir.join(file))
                .unwrap()
                .contains("RE[W+7.5]")
        );
    }

    let output = play(&dir, [&second, &first], 2).output().unwrap();
    assert_eq!(output.status.code(), Some(EXIT_BAD_INPUT));
    assert!(
        text(&output).contains("choose another folder"),
        "{}",
        text(&output)
    );
    assert_eq!(log().lines().count(), 2);
}

#[test]
fn the_second_control_c_leaves_no_player_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (players, dir, child) = thinking_match(folder.path());
    press_control_c(&child);
    // Two signals at the same moment may count as one.
    thread::sleep(Duration::from_millis(200));
    press_control_c(&child);
    expect_interruption(child);
    assert!(
        fs::read_to_string(dir.join("match.jsonl"))
            .unwrap()
            .is_empty()
    );
    for player in &players {
        wait_until("the end of a player", || notes(player, "gone") == 1);
    }
}

#[test]
fn a_player_is_told_by_what_is_in_its_file_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let tengen = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tengen"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let made = tengen(&[
        "net",
        "new",
        "net.txt",
        "--size",
        "5",
        "--blocks",
        "1",
        "--filters",
        "2",
    ]);
    assert!(made.status.success());
    fs::set_permissions(at("net.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let short = [
        "--games",
        "2",
        "--visits",
        "1",
        "--size",
        "5",
        "--max-moves",
        "4",
        "--scorer",
        "none",
    ];
    let played = tengen(&[&["match", "net.txt", "net.txt"][..], &short].concat());
    assert!(played.status.success(), "{}", stderr(&played));

    for missing in ["nett.txt", "no/such/net.gz", "best.txt.gz --visits 3"] {
        let refused = tengen(&[&["match", "net.txt", missing][..], &short].concat());
        assert_eq!(refused.status.code(), Some(EXIT_BAD_INPUT));
        let said = stderr(&refused);
        assert!(
            said.contains(missing) && said.contains("network file"),
            "{said}"
        );
        assert!(!said.contains("PATH"), "{said}");
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
