//! Called `leelaz`, the program takes that program's options and returns its exit codes.
#![cfg(unix)]

mod support {
    pub mod converse;
    pub mod network;
}

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use support::{
    converse::{converse, text},
    network::write_small_network,
};

struct Leelaz {
    folder: tempfile::TempDir,
}

impl Leelaz {
    fn new() -> Leelaz {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tengen"), folder.path().join("leelaz"))
            .unwrap();
        let leelaz = Leelaz { folder };
        write_small_network(&leelaz.weights());
        leelaz
    }

    fn weights(&self) -> PathBuf {
        self.folder.path().join("net.txt")
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut program = Command::new(self.folder.path().join("leelaz"));
        program.args(arguments).env("HOME", self.folder.path());
        converse(&mut program, input)
    }

    fn play(&self, arguments: &[&str], input: &str) -> Output {
        let weights = self.weights();
        let weights: &Path = &weights;
        let mut all = vec!["-w", weights.to_str().unwrap()];
        all.extend(arguments);
        self.run(&all, input)
    }
}

#[test]
fn it_says_what_leela_zero_says_about_wrong_options() {
    let leelaz = Leelaz::new();
    for (arguments, expected) in [
        (&["stray"][..], "Unrecognized argument: stray"),
        (&["--bogus"][..], "ERROR: unrecognised option '--bogus'"),
        (
            &["-v", "abc"][..],
            "ERROR: the argument ('abc') for option '--visits' is invalid",
        ),
        (
            &["-w"][..],
            "ERROR: the required argument for option '--weights' is missing",
        ),
        (
            &["-w", "/no/such/file"][..],
            "Could not open weights file: /no/such/file",
        ),
        (&["-p", "10"][..], "Nonsensical options"),
    ] {
        let output = leelaz.run(arguments, "");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(expected),
            "{}",
            text(&output.stderr)
        );
    }
    let silent = leelaz.run(&["-q", "-w", "/no/such/file"], "");
    assert_eq!((silent.status.code(), silent.stderr.len()), (Some(1), 0));
    let none = leelaz.run(&["-g"], "");
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stdout).contains("A network weights file is required"));
    let help = leelaz.run(&["--help"], "");
    assert_eq!(help.status.code(), Some(0));
    for option in [
        "--playouts",
        "--lagbuffer",
        "--resignpct",
        "--timemanage",
        "--randomtemp",
    ] {
        assert!(text(&help.stdout).contains(option), "{option}");
    }
}

#[test]
fn it_plays_with_the_options_clients_give() {
    let leelaz = Leelaz::new();
    // The words of the self-play client and of the match tool.
    for options in [
        "-g -q -v 8 --noponder -t 1 -d -r 5 -n -m 30 -s 123 --batchsize=5 --gpu=0",
        "--gtp --quiet --playouts=5 --noponder --threads 2 --resignpct 0 --timemanage off --cpu-only",
        "-g -q -v8 --noponder -t1 -b 50 --randomvisits 2 --randomtemp 0.9 --precision single",
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let output = leelaz.play(
            &words,
            "name\nversion\ntime_settings 0 1 0\ngenmove b\nquit\n",
        );
        assert!(
            output.status.success(),
            "{options}: {}",
            text(&output.stderr)
        );
        let answers = text(&output.stdout);
        assert!(
            answers.starts_with("= Leela Zero\n\n= 0.17\n\n= \n\n= "),
            "{answers}"
        );
        assert_eq!(answers.matches("\n\n").count(), 5, "{answers}");
        assert_eq!(text(&output.stderr), "", "{options}");
    }
}

#[test]
fn without_gtp_it_shows_a_board_and_a_prompt() {
    let leelaz = Leelaz::new();
    let output = leelaz.play(&["-v", "5", "--noponder"], "play b e5\n");
    assert!(output.status.success());
    let answers = text(&output.stdout);
    assert_eq!(answers.matches("Leela: ").count(), 2, "{answers}");
    let remarks = text(&output.stderr);
    assert!(remarks.contains("Detecting residual layers...v1...4 channels...1 blocks."));
    assert!(remarks.contains("Black (X) to move") && remarks.contains("White (O) to move"));
}

#[test]
fn the_log_holds_both_sides() {
    let leelaz = Leelaz::new();
    let log = leelaz.folder.path().join("log.txt");
    let output = leelaz.play(&["-g", "-q", "-l", log.to_str().unwrap()], "name\nquit\n");
    assert!(output.status.success());
    let logged = fs::read_to_string(log).unwrap();
    assert!(
        logged.contains(">>name\n= Leela Zero\n\n>>quit\n= \n\n"),
        "{logged}"
    );
}
