//! The loop from nothing to a player, killed again and again.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// A game to learn, and a run of it so small that a round takes about a second.
struct Course {
    game: &'static str,
    settings: &'static str,
    network_ending: &'static str,
}

const GO: Course = Course {
    game: "go",
    settings: r#"
size = 5
blocks = 1
filters = 8
[selfplay]
at_once = 8
first_games = 24
games = 12
[selfplay.play]
simulations = 8
quick_simulations = 4
full_share = 0.5
considered = 4
[training]
window = 400
batch = 16
threads = 1
[gate]
simulations = 4
at_once = 8
min_games = 4
max_games = 12
[rating]
games = 2
anchors = ["random"]
"#,
    network_ending: "txt.gz",
};

const MARIO: Course = Course {
    game: "mario",
    settings: r#"
levels = [0, 2]
blocks = 1
filters = 8
[round0]
player = "round0"
playouts = 40
games = 12
passes = 1.0
[selfplay]
at_once = 8
games = 8
simulations = 8
quick_simulations = 4
considered = 4
[training]
window = 400
passes = 2.0
batch = 16
threads = 1
[gate]
simulations = 4
at_once = 8
min_deals = 4
max_deals = 12
[rating]
deals = 2
anchors = ["random"]
"#,
    network_ending: "net",
};

const KILLS: u64 = 10;

fn zero(course: &Course, dir: &Path, rounds: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tengen"));
    command
        .args(["zero", course.game, "--dir"])
        .arg(dir)
        .args(["--rounds", &rounds.to_string()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn state(dir: &Path) -> serde_json::Value {
    let bytes = fs::read(dir.join("state.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn rounds(dir: &Path) -> u64 {
    state(dir)["rounds"].as_u64().unwrap()
}

/// The games in the log: length, checksum and bytes each; a torn last one is not counted.
fn whole_records(log: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(log).unwrap_or_default();
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while rest.len() >= 8 {
        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        if rest.len() < 8 + length {
            break;
        }
        records.push(rest[8..8 + length].to_vec());
        rest = &rest[8 + length..];
    }
    records
}

#[test]
fn nothing_finished_is_lost_when_go_is_killed_at_ten_moments() {
    kill_at_ten_moments(&GO);
}

#[test]
fn nothing_finished_is_lost_when_dr_mario_is_killed_at_ten_moments() {
    kill_at_ten_moments(&MARIO);
}

fn kill_at_ten_moments(course: &Course) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("settings.toml"), course.settings).unwrap();
    let logs = [dir.join("games.log"), dir.join("matches.log")];
    let mut before = [Vec::new(), Vec::new()];
    for kill in 0..KILLS {
        let mut child = zero(course, dir, 1000).spawn().unwrap();
        // Moments spread over start, self-play, training and matches, by no pattern of the loop's own.
        thread::sleep(Duration::from_millis(60 + (kill * 7919) % 900));
        child.kill().unwrap();
        child.wait().unwrap();
        for (log, before) in logs.iter().zip(&mut before) {
            let after = whole_records(log);
            assert!(
                after.starts_with(before),
                "kill {kill}: {} lost records",
                log.display()
            );
            *before = after;
        }
    }
    // Left alone, it finishes whatever the last kill interrupted, and one round more.
    let rounds = rounds(dir) + 2;
    let finished = zero(course, dir, rounds).output().unwrap();
    assert!(
        finished.status.success(),
        "{}",
        String::from_utf8_lossy(&finished.stderr)
    );
    for (log, before) in logs.iter().zip(&before) {
        assert!(whole_records(log).starts_with(before));
    }
    let state = state(dir);
    assert_eq!(state["rounds"].as_u64(), Some(rounds));
    let best = state["best"].as_str().unwrap();
    let file = format!("{best}.{}", course.network_ending);
    assert!(dir.join("networks").join(file).exists());
    assert!(
        fs::read_to_string(dir.join("report.html"))
            .unwrap()
            .contains("Recent games")
    );
    let leftovers: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("training-"))
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[test]
fn wrong_settings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("settings.toml"), "sise = 9\n").unwrap();
    for course in [GO, MARIO] {
        let output = zero(&course, folder.path(), 1).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.contains("settings.toml") && error.contains("sise"),
            "{error}"
        );
    }
}

#[test]
fn a_run_may_begin_with_a_given_network() {
    let folder = tempfile::tempdir().unwrap();
    let (given, dir) = (folder.path().join("given.txt"), folder.path().join("run"));
    let shape = net::leela::LeelaShape::stock(5, 1, 8);
    let network = net::leela::LeelaNetwork::random(net::leela::LeelaVersion::V1, shape, 3);
    fs::write(&given, network.to_text(net::leela::TextStyle::default())).unwrap();
    let begin = |dir: &Path| {
        let mut command = zero(&GO, dir, 0);
        command.arg("--from").arg(&given).output().unwrap()
    };

    let output = begin(&dir);
    assert!(output.status.success(), "{output:?}");
    let state = state(&dir);
    assert_eq!(state["begun_from"].as_str(), given.to_str());
    let best = state["best"].as_str().unwrap();
    let best = dir.join(format!("networks/{best}.txt.gz"));
    let load = |file: &Path| net::leela::LeelaNetwork::load(file).unwrap();
    assert!(load(&best) == load(&given), "it plays first");
    let settings = fs::read_to_string(dir.join("settings.toml")).unwrap();
    for line in ["size = 5 ", "blocks = 1 ", "filters = 8 "] {
        assert!(settings.contains(line), "{line} in {settings}");
    }

    let refused = |dir: &Path, why: &str| {
        let output = begin(dir);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    };
    refused(&dir, "leave --from out");
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("settings.toml"), "size = 7\n").unwrap();
    refused(&other, "has size = 5, blocks = 1, filters = 8");
    fs::write(&given, "no network\n").unwrap();
    refused(&folder.path().join("third"), "given.txt");
}

#[test]
fn a_bad_option_of_a_new_run_leaves_no_settings_behind() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let begin = |size: &str| {
        let mut command = zero(&GO, &dir, 0);
        command.args(["--size", size]).output().unwrap()
    };
    let refused = begin("40");
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(
        error.contains("size is 40: it must be from 2 to 25"),
        "{error}"
    );
    let begun = begin("5");
    assert!(begun.status.success(), "{begun:?}");
    let settings = fs::read_to_string(dir.join("settings.toml")).unwrap();
    assert!(settings.contains("size = 5 "), "{settings}");
    let other = begin("7");
    assert_eq!(other.status.code(), Some(2));
    let error = String::from_utf8(other.stderr).unwrap();
    assert!(error.contains("has size = 5"), "{error}");
}
