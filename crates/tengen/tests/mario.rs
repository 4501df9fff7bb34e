//! The `tengen mario` commands as a user runs them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tengen(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .arg("mario")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_solved_game_is_recorded_drawn_and_made_into_examples() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let solved = tengen(
        &[
            "solve", "--level", "1", "--width", "50", "--record", "game.txt", "--json",
        ],
        at,
    );
    let solution: serde_json::Value = serde_json::from_slice(&solved.stdout).unwrap();
    let pills = solution["pills"].as_u64().unwrap();
    assert_eq!(solution["viruses"], 8);

    for picture in ["game.svg", "game.gif"] {
        let drawn = tengen(&["draw", "game.txt", picture], at);
        assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    }
    let svg = std::fs::read_to_string(at.join("game.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">8 viruses<") && svg.contains(">0 viruses<"));
    let gif = std::fs::read(at.join("game.gif")).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(&gif[..]).unwrap();
    let mut frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        frames += 1;
    }
    assert!(frames > 2 * pills, "{frames} frames for {pills} pills");

    let made = tengen(&["examples", "game.txt", "examples.json"], at);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let examples = std::fs::read_to_string(at.join("examples.json")).unwrap();
    let examples = mario::Example::read_all(&examples).unwrap();
    assert_eq!(examples.len() as u64, pills);
    assert!(examples.iter().all(|example| example.won == 1));
    assert_eq!(
        (examples[0].cleared, u64::from(examples[0].duration)),
        (8, pills)
    );
}

#[test]
fn eval_reports_every_game_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "eval", "--levels", "0..1", "--games", "3", "--player", "one-ply", "--json",
    ];
    let output = tengen(&arguments, folder.path());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let levels = report["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    for level in levels {
        let games = level["results"].as_array().unwrap();
        let cleared = games
            .iter()
            .filter(|game| game["ending"] == "cleared")
            .count();
        assert_eq!(games.len(), 3);
        assert_eq!(level["wins"], cleared);
        let rate = &level["win_rate"];
        assert!(rate["low"].as_f64() <= rate["value"].as_f64());
        assert!(rate["value"].as_f64() <= rate["high"].as_f64());
    }
}

/// Killed without warning and started again, self-play ends with the file an undisturbed run
/// writes.
#[test]
fn selfplay_survives_being_killed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let arguments = |file: &'static str| {
        let rest = [
            "--games",
            "40",
            "--levels",
            "0..3",
            "--player",
            "one-ply",
            "--explore",
        ];
        [&["selfplay", file][..], &rest[..]].concat()
    };
    let undisturbed = tengen(&arguments("undisturbed.txt"), at);
    assert!(
        undisturbed.status.success(),
        "{}",
        text(&undisturbed.stderr)
    );
    let expected = std::fs::read(at.join("undisturbed.txt")).unwrap();
    let killed = at.join("killed.txt");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .arg("mario")
        .args(arguments("killed.txt"))
        .current_dir(at)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while std::fs::metadata(&killed).map_or(0, |file| file.len()) == 0 {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = tengen(&arguments("killed.txt"), at);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(std::fs::read(&killed).unwrap(), expected);
}

#[test]
fn a_player_and_a_game_meet_over_tcp() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args([
            "mario",
            "serve",
            "--level",
            "0",
            "--patient",
            "--listen",
            "127.0.0.1:0",
        ])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(game.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .strip_prefix("listening at ")
        .unwrap()
        .to_owned();
    let arguments = [
        "serve",
        "--role",
        "player",
        "--connect",
        &address,
        "--player",
        "heuristic",
        "--delay",
        "1",
    ];
    let player = tengen(&arguments, folder.path());
    assert!(player.status.success(), "{}", text(&player.stderr));
    assert!(game.wait().unwrap().success());
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("broken.txt"), "ddd\nend\n").unwrap();
    for (arguments, complaint) in [
        (&["draw", "missing.txt", "a.svg"][..], "missing.txt"),
        (
            &["draw", "broken.txt", "a.svg"],
            "line 1: a board has 128 letters, this one has 3",
        ),
        (&["examples", "broken.txt", "a.json"], "game 1: line 1"),
        (&["eval", "--levels", "5..2"], "write the lower level first"),
        (&["eval", "--levels", "25"], "expected a level of 0 to 24"),
        (&["eval", "--player", "mario"], "expected one of round0"),
        (&["eval", "-w", "broken.txt"], "--player network only"),
        (&["solve", "--seed", "1"], "expected a seed of 2 to 65535"),
        (&["play"], "play needs a terminal"),
        (&["watch", "--times", "0"], "must be above 0"),
    ] {
        let output = tengen(arguments, at);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(complaint),
            "{}",
            text(&output.stderr)
        );
    }
    let left: Vec<_> = std::fs::read_dir(at)
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(left, ["broken.txt"]);
}

#[test]
fn watch_prints_positions_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let output = tengen(
        &["watch", "--level", "0", "--player", "heuristic"],
        folder.path(),
    );
    assert!(output.status.success());
    let text = text(&output.stdout);
    assert!(
        text.starts_with("heuristic\n") && text.contains("cleared with"),
        "{text}"
    );
}

/// A record of a whole game, for the tests that draw one; how many pills it has.
fn record_a_game(at: &Path) -> usize {
    let arguments = [
        "solve", "--level", "0", "--width", "20", "--record", "game.txt", "--json",
    ];
    let solved = tengen(&arguments, at);
    let solution: serde_json::Value = serde_json::from_slice(&solved.stdout).unwrap();
    solution["pills"].as_u64().unwrap() as usize
}

#[test]
fn a_still_picture_shows_the_next_pill_and_refuses_pills_that_were_never_placed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let pills = record_a_game(at);
    let still = |count: usize| {
        tengen(
            &["draw", "game.txt", "a.svg", "--still", &count.to_string()],
            at,
        )
    };
    for count in [0, pills - 1, pills] {
        let drawn = still(count);
        assert!(drawn.status.success(), "{}", text(&drawn.stderr));
        assert!(
            text(&drawn.stdout).contains("1 picture,"),
            "{}",
            text(&drawn.stdout)
        );
        let svg = std::fs::read_to_string(at.join("a.svg")).unwrap();
        // Two halves lie beside the bottle while a pill is to come, and nothing says "next" after the last.
        assert_eq!(svg.contains(">next<"), count < pills);
        assert!(!svg.contains("<animate"));
    }
    let refused = still(pills + 1);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(
        said.contains(&format!("--still {}", pills + 1))
            && said.contains(&format!("only {pills} pills")),
        "{said}"
    );
}

#[test]
fn selfplay_deals_from_a_list_of_levels_and_old_runs_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let play = |file: &str, levels: &str, games: &str| {
        let output = tengen(
            &[
                "selfplay", file, "--games", games, "--levels", levels, "--player", "one-ply",
            ],
            at,
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    play("list.txt", "2,0", "12");
    let records: Vec<_> = mario_player::read_records(&at.join("list.txt"))
        .unwrap()
        .map(|record| record.unwrap().board.viruses_left())
        .collect();
    // Level n starts with 4 (n + 1) viruses.
    assert_eq!(records.len(), 12);
    assert!(records.iter().all(|viruses| [4, 12].contains(viruses)));
    assert!(records.contains(&4) && records.contains(&12));
    // A run of a range notes what it always did, so that runs of an earlier version go on.
    play("range.txt", "0..1", "2");
    let note = std::fs::read_to_string(at.join("range.txt.settings.json")).unwrap();
    assert!(!note.contains("\"levels\""), "{note}");
    play("range.txt", "1,0", "3");
}

#[test]
fn options_that_a_player_cannot_use_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("w.json"), "{}").unwrap();
    for (arguments, named) in [
        (
            &["--player", "heuristic", "--playouts", "10"][..],
            "--playouts",
        ),
        (&["--player", "one-ply", "--seconds", "1"], "--seconds"),
        (&["--player", "round0", "--weights", "w.json"], "--weights"),
        (&["--player", "search", "--network", "w.json"], "--network"),
    ] {
        let arguments = [&["watch", "--level", "0"], arguments].concat();
        let output = tengen(&arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(named),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn the_strongest_player_is_the_default() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["watch", "serve"] {
        let help = text(&tengen(&[command, "--help"], folder.path()).stdout);
        // docs/dr-mario.md has the measurement.
        assert!(help.contains("[default: search]"), "{help}");
    }
}

/// A player that writes long after the game is over, and only then reads.
#[test]
fn a_slow_player_still_reads_who_has_lost() {
    use std::io::{Read, Write};

    let folder = tempfile::tempdir().unwrap();
    let mut game = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(["mario", "serve", "--level", "20", "--times", "100000"])
        .args(["--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(game.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening at ").unwrap();
    let mut player = std::net::TcpStream::connect(address).unwrap();
    player.write_all(b"version 1\n").unwrap();
    let mut heard = Vec::new();
    let mut part = [0; 4096];
    // Nothing is pressed, so the pills pile up. The last line is not read before more is written.
    while !String::from_utf8_lossy(&heard).contains("cleanup") {
        let count = player.read(&mut part).unwrap();
        heard.extend(&part[..count]);
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    for _ in 0..3 {
        player.write_all(&b"spare me\n".repeat(100)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    player.read_to_end(&mut heard).unwrap();
    let heard = String::from_utf8(heard).unwrap();
    assert!(heard.trim_end().ends_with("loser you"), "{heard}");
    drop(player);
    assert_eq!(game.wait().unwrap().code(), Some(1));
}
