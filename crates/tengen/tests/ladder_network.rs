//! `tengen ladder build`, `test` and `show`, and `tengen net graft`, run as a user runs them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use net::{
    NetworkContent, NetworkFile,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle},
};
use serde_json::Value;

/// White's D4 can be chased across the empty board, from E4.
const LADDER: &str = "(;SZ[19]AW[dp]AB[cp][dq][eq][co]PL[B])";
/// The same, and White extends in it: a run in a lost ladder.
const PLAYED: &str = "(;SZ[19]AW[dp]AB[cp][dq][eq][co];B[ep];W[do])";

fn tengen(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn run(arguments: &[&str], folder: &Path) -> String {
    let output = tengen(arguments, folder);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    stdout(&output)
}

/// Bad input: exit code 2, nothing on stdout, and a first line that says what is wrong.
fn assert_refused(arguments: &[&str], folder: &Path, words: &[&str]) {
    let output = tengen(arguments, folder);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    let sentence = stderr.lines().next().unwrap_or_default();
    for word in words {
        assert!(sentence.contains(word), "{word} is not in: {stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn leela(file: &Path) -> LeelaNetwork {
    match NetworkFile::load(file).unwrap().content {
        NetworkContent::Leela(leela, _) => *leela,
        _ => panic!("a Leela Zero file was expected"),
    }
}

fn write_base(folder: &Path, side: usize) {
    let base = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(side, 1, 4), 3);
    let text = base.to_exact_text(TextStyle::default());
    fs::write(folder.join("base.txt"), text).unwrap();
}

fn build_ladder(folder: &Path, options: &str) {
    let words: Vec<&str> = options.split(' ').collect();
    run(&[&["ladder", "build"][..], &words].concat(), folder);
}

#[test]
fn a_built_network_is_the_same_on_stdout_and_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let printed = run(&["ladder", "build", "--steps", "4", "--size", "9"], folder);
    build_ladder(folder, "--steps 4 --size 9 -o ladder.txt");
    assert_eq!(
        fs::read_to_string(folder.join("ladder.txt")).unwrap(),
        printed
    );
    let network = leela(&folder.join("ladder.txt"));
    assert_eq!((network.version, network.size), (LeelaVersion::V1, 9));
    // Stock heads: that is what every Leela Zero program reads.
    let shape = network.shape();
    assert_eq!((shape.policy_planes, shape.value_planes), (2, 1));
    build_ladder(folder, "--original -o original.txt");
    let shape = leela(&folder.join("original.txt")).shape();
    assert_eq!((shape.blocks, shape.filters), (24, 64));
}

#[test]
fn what_cannot_be_built_is_refused_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (arguments, words) in [
        (&["--steps", "0"][..], &["--steps", "0"][..]),
        (&["--steps", "65"], &["65"]),
        (&["--steps", "many"], &["many"]),
        (&["--size", "1"], &["2 to 25", "1"]),
        (&["--size", "26"], &["26"]),
        (&["--original", "--size", "9"], &["--original", "--size"]),
        (&["--original", "--steps", "4"], &["--steps"]),
        (&["stray"], &["stray"]),
    ] {
        let all = [&["ladder", "build", "-o", "out.txt"][..], arguments].concat();
        assert_refused(&all, folder, words);
    }
    let nowhere = ["ladder", "build", "-o", "no/such/out.txt"];
    assert_refused(&nowhere, folder, &["no/such/out.txt", "cannot write"]);
    assert_eq!(names(folder), [""; 0]);
}

#[test]
fn an_examination_names_its_sets_and_its_figures_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let few = [
        "ladder", "test", "--boards", "8", "--steps", "4", "--only", "sparse",
    ];
    let table = run(&few, folder);
    assert!(
        table.starts_with("escape, sparse\n  ours     escape    asked      8  coverage"),
        "{table}"
    );
    assert!(!table.contains("NaN"), "{table}");
    assert!(
        table.contains("chase, sparse") && table.contains("original"),
        "{table}"
    );
    let json = run(&[&few[..], &["--ours-only", "--json"]].concat(), folder);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["seed"], 1);
    let sets = report["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 2);
    for set in sets {
        let networks = set["networks"].as_array().unwrap();
        assert_eq!(networks.len(), 1);
        assert_eq!(
            networks[0]["marks"]["positions"], 16,
            "both sides move on 8 boards"
        );
        assert_eq!(networks[0]["marks"]["false_alarms"], 0);
        let kind = set["set"].as_str().unwrap().split(',').next().unwrap();
        let score = networks[0]["marks"][kind].as_object().unwrap();
        let counted: u64 = score.values().filter_map(Value::as_u64).sum();
        assert!(counted >= 8, "every planted ladder is asked about: {set}");
    }
}

#[test]
fn moves_of_played_games_are_counted_for_each_side() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("games.sgf"), format!("{PLAYED}{LADDER}")).unwrap();
    let lines = run(&["ladder", "test", "--played", "games.sgf"], folder);
    let games: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(games.len(), 2);
    assert_eq!(games[0]["black"]["good_chases"], 1);
    assert_eq!(games[0]["white"]["bad_escapes"], 1);
    assert_eq!(games[1]["game"], 2);
    assert_eq!(games[1]["black"]["good_chases"], 0);
}

#[test]
fn gains_are_fitted_on_games_and_told_by_kind_and_size() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_base(folder, 9);
    let game = "(;SZ[9]RE[B+R];B[cc];W[cd];B[dd];W[bc];B[cb];W[bb];B[db])";
    fs::write(folder.join("game.sgf"), game).unwrap();
    fs::write(folder.join("large.sgf"), PLAYED).unwrap();
    let fit = ["ladder", "fit", "base.txt", "game.sgf", "--every", "1"];
    let text = run(&fit, folder);
    assert!(text.starts_with("7 positions of 1 game\n"), "{text}");
    let report = run(&[&fit[..], &["--json"]].concat(), folder);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["policy"].as_array().unwrap().len(), 12);
    assert_eq!(report["policy"][3]["sort"], "escapes that fail, one stone");
    for (arguments, words) in [
        (&["base.txt", "missing.sgf"][..], &["missing.sgf"][..]),
        (&["missing.txt", "game.sgf"], &["missing.txt"]),
        (&["base.txt", "large.sgf"], &["9x9", "base.txt"]),
        (&["base.txt", "game.sgf", "--every", "0"], &["--every"]),
        (&["base.txt"], &["required"]),
    ] {
        let all = [&["ladder", "fit"][..], arguments].concat();
        assert_refused(&all, folder, words);
    }
}

#[test]
fn an_examination_refuses_what_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("broken.sgf"), "(;SZ[19];B[dd").unwrap();
    for (arguments, words) in [
        (
            &["--games", "missing.sgf"][..],
            &["cannot read missing.sgf"][..],
        ),
        (&["--games", "broken.sgf"], &["broken.sgf", "damaged"]),
        (&["--played", "missing.sgf"], &["cannot read missing.sgf"]),
        (&["--played", "broken.sgf"], &["broken.sgf", "damaged"]),
        (
            &["--played", "broken.sgf", "--games", "broken.sgf"],
            &["--games"],
        ),
        (
            &["--only", "nothing of the kind"],
            &["nothing of the kind", "random play"],
        ),
        (&["--boards", "-3"], &["-3"]),
        (&["--steps", "0"], &["--steps"]),
    ] {
        assert_refused(
            &[&["ladder", "test"][..], arguments].concat(),
            folder,
            words,
        );
    }
}

#[test]
fn a_ladder_is_shown_in_words_steps_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("game.sgf"), LADDER).unwrap();
    let text = run(
        &["ladder", "show", "game.sgf", "--at", "E4", "-o", "way.svg"],
        folder,
    );
    assert!(
        text.contains("Black gives atari to D4 at E4: captures\n"),
        "{text}"
    );
    assert!(text.contains("\nafter block "), "{text}");
    let svg = fs::read_to_string(folder.join("way.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    run(&["ladder", "show", "game.sgf", "-o", "way.png"], folder);
    assert!(
        fs::read(folder.join("way.png"))
            .unwrap()
            .starts_with(b"\x89PNG\r\n\x1a\n")
    );
    fs::write(folder.join("empty.sgf"), "(;SZ[9])").unwrap();
    let text = run(&["ladder", "show", "empty.sgf"], folder);
    assert!(
        text.ends_with("There is no ladder on this board.\n"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_shown_is_refused_and_leaves_no_picture() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("game.sgf"), LADDER).unwrap();
    fs::write(folder.join("empty.sgf"), "(;SZ[9])").unwrap();
    fs::write(folder.join("broken.sgf"), "(;SZ[19];B[dd").unwrap();
    for (arguments, words) in [
        (&["missing.sgf"][..], &["cannot read missing.sgf"][..]),
        (&["broken.sgf"], &["broken.sgf", "damaged"]),
        (
            &["game.sgf", "--move", "7"],
            &["game.sgf", "fewer than 7 moves"],
        ),
        (&["game.sgf", "--at", "Z99"], &["Z99"]),
        (&["game.sgf", "--at", "K10"], &["K10", "E4"]),
        (&["game.sgf", "-o", "way.gif"], &["way.gif", ".svg", ".png"]),
        (&["game.sgf", "-o", "no/such/way.svg"], &["no/such/way.svg"]),
        (&["empty.sgf", "-o", "way.svg"], &["no ladder"]),
        (&["empty.sgf", "--at", "C3"], &["no ladder"]),
    ] {
        assert_refused(
            &[&["ladder", "show"][..], arguments].concat(),
            folder,
            words,
        );
    }
    assert_eq!(names(folder), ["broken.sgf", "empty.sgf", "game.sgf"]);
}

#[test]
fn a_graft_stands_beside_its_base_and_plays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_base(folder, 9);
    build_ladder(folder, "--steps 4 --size 9 -o ladder.txt");
    let ladder = leela(&folder.join("ladder.txt")).shape();
    for gains in [&[][..], &["--escape-fails", "-2", "--value-gain", "0.2"]] {
        let graft = ["net", "graft", "base.txt", "ladder.txt", "-o", "both.txt"];
        assert_eq!(run(&[&graft[..], gains].concat(), folder), "");
        let both = leela(&folder.join("both.txt")).shape();
        assert_eq!(both.filters, 4 + ladder.filters);
        assert_eq!(both.blocks, ladder.blocks);
        assert_eq!(both.policy_planes, 2 + 4);
    }
    run(&["doctor", "-w", "both.txt"], folder);
}

#[test]
fn two_networks_are_measured_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_base(folder, 9);
    build_ladder(folder, "--steps 1 --size 9 -o ladder.txt");
    let bench = |other: &[&'static str]| {
        let bench = ["net", "bench", "ladder.txt", "--seconds", "0.05"];
        [&bench[..], &["--batch", "1", "--json"], other].concat()
    };
    let ratio = |other: &[&'static str]| {
        let report: Value = serde_json::from_str(&run(&bench(other), folder)).unwrap();
        report["times_the_other"].as_f64()
    };
    assert!(ratio(&["--against", "base.txt"]).is_some_and(|ratio| ratio > 0.0));
    assert_eq!(ratio(&[]), None);
    assert_refused(&bench(&["--against", "none.txt"]), folder, &["none.txt"]);
}

#[test]
fn what_cannot_be_grafted_is_refused_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_base(folder, 9);
    build_ladder(folder, "--steps 2 --size 9 -o ladder.txt");
    build_ladder(folder, "--steps 2 --size 7 -o small.txt");
    fs::write(folder.join("broken.txt"), "1\n0.5 0.5\n").unwrap();
    let before = names(folder);
    for (arguments, words) in [
        (&["missing.txt", "ladder.txt"][..], &["missing.txt"][..]),
        (&["base.txt", "missing.txt"], &["missing.txt"]),
        (&["broken.txt", "ladder.txt"], &["broken.txt"]),
        (&["base.txt", "broken.txt"], &["broken.txt"]),
        (&["base.txt", "small.txt"], &["9x9", "7x7", "--size 9"]),
        (
            &["base.txt", "base.txt"],
            &["no ladder network", "tengen ladder build"],
        ),
        (
            &["base.txt", "ladder.txt", "--escape-works", "nan"],
            &["finite number"],
        ),
        (
            &["base.txt", "ladder.txt", "--value-gain", "inf"],
            &["finite number"],
        ),
        (
            &["base.txt", "ladder.txt", "--escape-works", "much"],
            &["much"],
        ),
        (&["base.txt"], &["required"]),
    ] {
        let all = [&["net", "graft", "-o", "both.txt"][..], arguments].concat();
        assert_refused(&all, folder, words);
    }
    let nowhere = [
        "net",
        "graft",
        "base.txt",
        "ladder.txt",
        "-o",
        "no/such/both.txt",
    ];
    assert_refused(&nowhere, folder, &["no/such/both.txt", "cannot write"]);
    assert_eq!(names(folder), before);
}

#[test]
fn a_failed_graft_keeps_the_file_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_base(folder, 9);
    fs::write(folder.join("both.txt"), "what was there").unwrap();
    let graft = ["net", "graft", "base.txt", "base.txt", "-o", "both.txt"];
    assert_refused(&graft, folder, &["no ladder network"]);
    assert_eq!(
        fs::read_to_string(folder.join("both.txt")).unwrap(),
        "what was there"
    );
}
