//! Called `katago`, the program takes that program's command line; KaTrain's own engine class plays through it.
#![cfg(unix)]

mod support {
    pub mod converse;
}

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use net::katago::{FloatStyle, KataNetwork, RandomKind};
use serde_json::Value;
use support::converse::{converse, text};

struct Katago {
    folder: tempfile::TempDir,
}

impl Katago {
    fn new() -> Katago {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tengen"), folder.path().join("katago"))
            .unwrap();
        let katago = Katago { folder };
        let network = KataNetwork::random(RandomKind::Plain, 1, 8, 5);
        fs::write(katago.model(), network.to_bytes(FloatStyle::Binary)).unwrap();
        fs::write(
            katago.folder.path().join("analysis.cfg"),
            "# As shipped with clients.\nnumAnalysisThreads = 2\nmaxVisits = 40\nlogToStderr=true\n",
        )
        .unwrap();
        katago
    }

    fn model(&self) -> PathBuf {
        self.folder.path().join("random.bin")
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("analysis.cfg")
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("katago")
    }

    /// What a script says, with KaTrain's modules at hand.
    fn run_python(&self, python: &Path, script: &str, arguments: &[PathBuf]) -> String {
        let file = self.folder.path().join("script.py");
        fs::write(&file, script).unwrap();
        let stand_in = self.folder.path().join("katrain_without_window.py");
        fs::write(stand_in, include_str!("support/katrain_without_window.py")).unwrap();
        let output = Command::new(python)
            .arg(&file)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let heard = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{heard}");
        text(&output.stdout)
    }

    fn analysis(&self, overrides: &str, input: &str) -> Output {
        let mut program = Command::new(self.program());
        program.arg("analysis").arg("-model").arg(self.model());
        program.arg("-config").arg(self.config());
        program.args(["-override-config", overrides]);
        converse(&mut program, input)
    }
}

const QUERY: &str = r#"{"id":"a","rules":"japanese","komi":6.5,"boardXSize":7,"boardYSize":7,"moves":[["B","C3"]]}"#;

#[test]
fn the_json_engine_takes_a_configuration_and_what_overrides_it() {
    let katago = Katago::new();
    let output = katago.analysis("homeDataDir=/tmp/x", &format!("{QUERY}\n"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(answer["rootInfo"]["visits"], 40);
    let black = answer["rootInfo"]["rawLead"].as_f64().unwrap();

    let output = katago.analysis(
        "maxVisits=9,reportAnalysisWinratesAs=WHITE",
        &format!("{QUERY}\n"),
    );
    let answer: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(answer["rootInfo"]["visits"], 9);
    let white = answer["rootInfo"]["rawLead"].as_f64().unwrap();
    // Another symmetry may be drawn, but not another sign: the network favours one side by far more.
    assert!(black * white < 0.0, "{black} {white}");
}

#[test]
fn a_wrong_configuration_is_one_sentence_and_code_two() {
    let katago = Katago::new();
    for (overrides, expected) in [
        ("maxVisits=many", "maxVisits = many"),
        (
            "reportAnalysisWinratesAs=GREEN",
            "expected BLACK, WHITE or SIDETOMOVE",
        ),
        ("visits", "expected KEY=VALUE"),
    ] {
        let output = katago.analysis(overrides, "");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains(expected), "{said}");
    }
}

/// A game of KaTrain's: its engine class starts the program, asks about every position and reads what it shows.
#[test]
fn katrains_own_engine_plays_a_game() {
    let Some(python) = python_with_katrain() else {
        println!("skipped: no Python with KaTrain (scripts/interop-python makes one)");
        return;
    };
    let katago = Katago::new();
    let human = katago.folder.path().join("human.bin");
    let network = KataNetwork::random(RandomKind::Human, 1, 8, 5);
    fs::write(&human, network.to_bytes(FloatStyle::Binary)).unwrap();
    let arguments = [katago.program(), katago.model(), katago.config(), human];
    let said = katago.run_python(&python, SESSION, &arguments);
    assert!(said.trim().ends_with("all well"), "{said}");
}

/// KaTrain shows an analysis that a record carries: its own class of game nodes reads it.
#[test]
fn katrain_reads_a_reviewed_record() {
    let Some(python) = python_with_katrain() else {
        println!("skipped: no Python with KaTrain (scripts/interop-python makes one)");
        return;
    };
    const GAME: &str = "(;GM[1]FF[4]SZ[7]KM[6.5]RU[Japanese];B[dd];W[cc];B[ec];W[ce];B[];W[])";
    let katago = Katago::new();
    let folder = katago.folder.path();
    fs::write(folder.join("g.sgf"), GAME).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
    program.args(["analyze", "g.sgf", "--visits", "12", "--katrain", "-t", "1"]);
    program.arg("-w").arg(katago.model());
    program.current_dir(folder).env("HOME", folder);
    let output = converse(&mut program, "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let record = folder.join("g.analyzed.sgf");
    let said = katago.run_python(&python, RECORD, &[record, "12".into()]);
    assert!(said.starts_with("7 "), "{said}");
}

/// The Python that `TENGEN_PYTHON` names, or the one that `scripts/interop-python` has made, if it has the package.
fn python_with_katrain() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop-python/bin/python");
    let python = std::env::var_os("TENGEN_PYTHON").map_or(made, PathBuf::from);
    let known = Command::new(&python)
        .args([
            "-c",
            "import pysgf, importlib.util as u; assert u.find_spec('katrain')",
        ])
        .stderr(Stdio::null())
        .status();
    known.is_ok_and(|status| status.success()).then_some(python)
}

/// KaTrain's window is left out: three small modules stand in for its toolkit.
const SESSION: &str = include_str!("support/katrain_session.py");
const RECORD: &str = include_str!("support/katrain_record.py");
