//! Dynamic komi on the command line: what is refused, with which words and which exit code.

mod support {
    pub mod converse;
    pub mod network;
}

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use support::{
    converse::{converse, text},
    network::write_small_network,
};

struct Engine {
    folder: tempfile::TempDir,
}

impl Engine {
    fn new() -> Engine {
        let engine = Engine {
            folder: tempfile::tempdir().unwrap(),
        };
        write_small_network(&engine.weights());
        engine
    }

    fn weights(&self) -> PathBuf {
        self.folder.path().join("net.txt")
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
        program
            .args(["gtp", "-t", "1", "-v", "30", "--noponder", "-w"])
            .arg(self.weights())
            .args(arguments)
            .env("XDG_CACHE_HOME", self.folder.path());
        converse(&mut program, input)
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_a_sentence_and_exit_code_2() {
    let engine = Engine::new();
    for (arguments, sentence) in [
        (
            &["--handicap"][..],
            "this network cannot be told another komi",
        ),
        (
            &["--nonslack"][..],
            "this network cannot be told another komi",
        ),
        (&["--pos", "--neg"][..], "leave no winrate to trust"),
        (&["--max-wr", "1.5"][..], "must lie between 0 and 1"),
        (
            &["--handicap", "--min-wr", "0.5"][..],
            "must not be above max-wr",
        ),
        (&["--max-komi", "0"][..], "target-komi must lie between"),
        (&["--adj-pct", "0"][..], "adj-pct must be a number above 0"),
    ] {
        let output = engine.run(arguments, "name\n");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(sentence), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_verdict_on_a_network_is_kept_in_the_users_cache() {
    let engine = Engine::new();
    engine.run(&["--handicap"], "");
    let file = engine.folder.path().join("tengen/komi-verdicts.txt");
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), 1);
    engine.run(&["--handicap"], "");
    assert_eq!(fs::read_to_string(&file).unwrap(), kept, "tested once");
}

#[test]
fn every_option_is_taken_and_a_move_is_found() {
    let engine = Engine::new();
    let options = [
        "--nonslack --tg-auto-pn --max-wr 0.8 --min-wr 0.2 --wr-margin 0.1 --target-komi -3.5",
        "--handicap --nonslack --tg-auto-pn --adj-positions 1 --adj-pct 150 --num-adj 3 --pos",
        "--handicap --tg-auto-pn --neg --fixed-symmetry 9 --tg-sure-backup --tg-orig-policy",
        "--nonslack --tg-auto-pn --tg-no-guard",
        "--handicap --tg-auto-pn --tg-dyn-fpu --max-komi 50 --min-komi -50 --fixed-symmetry 2",
    ];
    for options in options {
        let words: Vec<&str> = options.split_whitespace().collect();
        let output = engine.run(&words, "play b e5\ngenmove w\nlz-setoption\n");
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{options}: {stderr}");
        assert!(!stdout.contains('?'), "{options}: {stdout}");
        assert!(stderr.contains("\nkomi="), "{options}: {stderr}");
        assert!(stderr.contains("\nopp_komi="), "{options}: {stderr}");
    }
    let output = engine.run(
        &["--handicap", "--tg-auto-pn", "--adj-positions", "1"],
        "lz-setoption\n",
    );
    let listed = text(&output.stdout);
    for line in [
        "option name handicap type check default false value true",
        "option name adj-positions type spin default 200 min 8 max 100000 value 8",
        "option name Resign Percentage type spin default -1 min -1 max 30 value 0",
    ] {
        assert!(listed.contains(line), "{listed}");
    }
}
