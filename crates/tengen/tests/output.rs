//! Every command when nobody reads its output (`| head -1`) or the device is full: it ends without a panic.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// White has three in a row in the corner.
const PROBLEM: &str =
    "(;FF[4]SZ[7]PL[B]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]MA[af])";
/// A short game with a ladder in it.
const GAME: &str = "(;FF[4]GM[1]SZ[9]KM[7];B[ee];W[de];B[dd];W[ce];B[cd];W[be];B[df];W[cf])";

/// What a run prints to standard output.
#[derive(Clone, Copy, PartialEq)]
enum Prints {
    /// Something, so that a full device is an error.
    Text,
    /// Nothing, or only sometimes: nothing can go wrong.
    Little,
}
use Prints::{Little, Text};

/// A short run of every command, in a folder that [`prepare`] has filled.
const RUNS: &[(&str, &str, Prints)] = &[
    ("gtp", "gtp -w go.txt --visits 1 --noponder", Text),
    (
        "analyze",
        "analyze small.sgf -w go.txt --visits 2 -o out.sgf --graph out.svg",
        Text,
    ),
    ("analysis", "analysis -w go.txt", Little),
    ("bench", "bench -w go.txt --visits 8 --seconds 0.1", Text),
    ("doctor", "doctor -w go.txt", Text),
    ("ladder read", "ladder read game.sgf --json", Text),
    ("ladder build", "ladder build --steps 1 --size 5", Text),
    (
        "ladder test",
        "ladder test --steps 1 --boards 2 --ours-only",
        Text,
    ),
    ("ladder fit", "ladder fit go.txt small.sgf --every 1", Text),
    ("ladder show", "ladder show game.sgf", Text),
    ("mario play", "mario play", Little),
    (
        "mario watch",
        "mario watch --level 0 --player one-ply",
        Text,
    ),
    (
        "mario eval",
        "mario eval --levels 0 --games 2 --player one-ply",
        Text,
    ),
    (
        "mario selfplay",
        "mario selfplay more.txt --games 1 --levels 0 --player one-ply",
        Text,
    ),
    (
        "mario examples",
        "mario examples pills.txt examples.json",
        Text,
    ),
    // A conversation: a player that leaves is an error of its own.
    ("mario serve", "mario serve --level 0", Little),
    ("mario solve", "mario solve --level 0 --width 10", Text),
    ("mario draw", "mario draw pills.txt pills.svg", Text),
    (
        "match",
        "match go.txt go.txt --games 2 --visits 1 --size 5 --max-moves 4 --scorer none",
        Text,
    ),
    ("sgf check", "sgf check game.sgf --json", Text),
    (
        "selfplay",
        "selfplay -w go.txt --games 1 --simulations 1 --quick-simulations 1 --dir games",
        Text,
    ),
    ("studio", "studio --no-open --port 0", Text),
    (
        "label",
        "label more.log --teacher {go.net} --sizes 3 --labels 3",
        Text,
    ),
    (
        "train go",
        "train go --chunks chunks --size 5 --blocks 1 --filters 2 --steps 1 --batch 2 --out go-run",
        Text,
    ),
    (
        "train mario",
        "train mario --data pills.txt --blocks 0 --filters 2 --steps 2 --batch 4 --out run",
        Text,
    ),
    (
        "train safety",
        "train safety --data packed --blocks 1 --filters 2 --steps 1 --batch 2 --out safety-run",
        Text,
    ),
    (
        "train student",
        "train student --labels labels.log --blocks 1 --channels 8 --steps 1 --batch 2 --out student",
        Text,
    ),
    ("zero go", "zero go --dir zero-go --rounds 1", Text),
    ("zero mario", "zero mario --dir zero-mario --rounds 1", Text),
    ("zero scored-go", "zero scored-go --help", Little),
    ("work", "work {server} --dir spool --games 1", Text),
    // These four wait for a NATS server, and have nothing to print before.
    ("fleet ledger", "fleet ledger --help", Little),
    ("fleet trainer", "fleet trainer --help", Little),
    ("fleet gateway", "fleet gateway --help", Little),
    ("fleet check", "fleet check --help", Little),
    ("fleet status", "fleet status --dir served", Text),
    ("fleet token", "fleet token ann --dir served", Text),
    ("fleet ban", "fleet ban eve --dir served", Text),
    ("fleet release", "fleet release eve --dir served", Text),
    ("fleet pause", "fleet pause --dir served", Text),
    ("fleet resume", "fleet resume --dir served", Text),
    ("fleet tidy", "fleet tidy --dir served", Text),
    (
        "fleet export",
        "fleet export --dir served --out games.jsonl",
        Text,
    ),
    ("fleet backup", "fleet backup --dir served --out copy", Text),
    ("net info", "net info go.txt", Text),
    (
        "net new",
        "net new new.txt --size 5 --blocks 1 --filters 2",
        Text,
    ),
    ("net convert", "net convert go.txt go.net --to f16", Little),
    (
        "net graft",
        "net graft go.txt ladder.txt -o both.txt",
        Little,
    ),
    ("net exam", "net exam {go.net} --labels labels.log", Text),
    ("net compare", "net compare go.txt go.txt", Text),
    ("net bench", "net bench go.txt --seconds 0.1", Text),
    ("net soak", "net soak --minutes 0.002 --threads 1", Text),
    (
        "net average",
        "net average go.txt go.txt --out average.txt",
        Little,
    ),
    (
        "net widen",
        "net widen go.txt --filters 3 --out wide.txt",
        Little,
    ),
    (
        "net resize",
        "net resize go.txt --size 7 --out seven.txt",
        Little,
    ),
    (
        "net quantize",
        "net quantize go.txt --digits 3 --out rounded.txt",
        Little,
    ),
    (
        "net export-onnx",
        "net export-onnx go.txt --out go.onnx",
        Little,
    ),
    ("tsumego solve", "tsumego solve problem.sgf --json", Text),
    (
        "tsumego generate",
        "tsumego generate made.sgf --count 1 --board 7 --largest 7",
        Little,
    ),
    (
        "tsumego tree",
        "tsumego tree problem.sgf --out more-trees.sgf",
        Text,
    ),
    (
        "tsumego expand",
        "tsumego expand trees.sgf --out expanded.sgf",
        Text,
    ),
    ("tsumego stats", "tsumego stats labelled.sgf", Text),
    (
        "tsumego validate",
        "tsumego validate labelled.sgf --count 2",
        Text,
    ),
    (
        "tsumego features",
        "tsumego features labelled.sgf --out planes.txt",
        Little,
    ),
    (
        "tsumego pack",
        "tsumego pack labelled.sgf --out packed-again",
        Text,
    ),
    ("tsumego eval", "tsumego eval labelled.sgf", Text),
    ("tsumego compress", "tsumego compress go.txt", Little),
    (
        "tsumego publish",
        "tsumego publish go.txt --out published",
        Little,
    ),
    (
        "tsumego show",
        "tsumego show problem.sgf --out shown.svg",
        Text,
    ),
    ("completions", "completions bash", Text),
    ("man", "man pages", Text),
];

/// Commands whose first words go to a client, which are read from standard input.
const INPUT: &str = "name\nlist_commands\nquit\n";

fn tengen(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tengen"));
    command.args(arguments).current_dir(folder);
    command
}

/// The network inside the program, as a file: it says score and ownership, as a teacher must.
const GO_NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../nets/go.net");

/// A run of the loop that ends in a moment.
const TINY_GO: &str = "size = 5
blocks = 1
filters = 4
[selfplay]
at_once = 2
first_games = 2
games = 1
play = { simulations = 2, quick_simulations = 1 }
[training]
window = 50
batch = 4
threads = 1
[gate]
simulations = 1
min_games = 1
max_games = 2
[rating]
games = 0
anchors = []
";
const TINY_MARIO: &str = "levels = [0, 0]
blocks = 0
filters = 2
[round0]
player = \"one-ply\"
games = 2
passes = 1.0
[training]
window = 50
batch = 4
threads = 1
[rating]
deals = 0
anchors = []
";

/// A served run in the folder `served`, with a worker called eve; it ends when this is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let arguments = "zero go --dir served --serve 127.0.0.1:0 --open --local-games 0";
        let words: Vec<&str> = arguments.split(' ').collect();
        let log = folder.join("served.log");
        let output = File::create(&log).unwrap();
        let errors = output.try_clone().unwrap();
        let mut command = tengen(&words, folder);
        let mut process = command.stdout(output).stderr(errors).spawn().unwrap();
        loop {
            let said = fs::read_to_string(&log).unwrap();
            let address = said
                .lines()
                .find_map(|line| line.strip_prefix("serving ")?.split_once(';'));
            if let Some((address, _)) = address {
                let address = address.to_owned();
                return Server { process, address };
            }
            let ended = process.try_wait().unwrap();
            assert!(ended.is_none(), "the server ended: {said}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn prepare(folder: &Path) -> Server {
    fs::write(folder.join("game.sgf"), GAME).unwrap();
    fs::write(
        folder.join("small.sgf"),
        GAME.replace("SZ[9]", "SZ[5]")
            .replace("[df]", "[db]")
            .replace("[cf]", "[cb]")
            .replace("[be]", "[bb]"),
    )
    .unwrap();
    fs::write(folder.join("problem.sgf"), PROBLEM).unwrap();
    fs::write(folder.join("input"), INPUT).unwrap();
    let make = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = tengen(&words, folder).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    };
    make("net new go.txt --size 5 --blocks 1 --filters 2");
    make("ladder build --steps 1 --size 5 -o ladder.txt");
    make("tsumego generate problems.sgf --count 2 --board 7 --largest 7");
    make("tsumego tree problems.sgf --depth 1 --out trees.sgf");
    make("tsumego expand trees.sgf --out labelled.sgf");
    make("mario selfplay pills.txt --games 2 --levels 0 --player one-ply");
    make("tsumego pack labelled.sgf --out packed");
    make("selfplay -w go.txt --games 1 --simulations 1 --quick-simulations 1 --dir chunks");
    make(&format!(
        "label labels.log --teacher {GO_NET} --sizes 3 --labels 900"
    ));
    for (run, settings) in [
        ("zero-go", TINY_GO),
        ("zero-mario", TINY_MARIO),
        ("served", TINY_GO),
    ] {
        fs::create_dir(folder.join(run)).unwrap();
        fs::write(folder.join(run).join("settings.toml"), settings).unwrap();
    }
    let server = Server::start(folder);
    make("fleet token eve --dir served");
    server
}

/// The commands that `--help` lists, down to the last level.
fn listed(path: &[&str], folder: &Path) -> Vec<String> {
    let help = tengen(&[path, &["--help"]].concat(), folder)
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let below: Vec<&str> = lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    if below.is_empty() {
        return vec![path.join(" ")];
    }
    let below = below.into_iter();
    below
        .flat_map(|name| listed(&[path, &[name]].concat(), folder))
        .collect()
}

fn run(line: &str, server: &Server, folder: &Path, output: Stdio) -> Output {
    let line = line
        .replace("{server}", &server.address)
        .replace("{go.net}", GO_NET);
    let words: Vec<&str> = line.split(' ').collect();
    tengen(&words, folder)
        .stdin(File::open(folder.join("input")).unwrap())
        .stdout(output)
        .output()
        .unwrap()
}

fn expect_no_panic(line: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{line}: {said}");
    // 101 is a panic; without a code a signal ended the program.
    assert!(
        output.status.code().is_some_and(|code| code != 101),
        "{line}: {output:?}"
    );
    said
}

#[test]
fn every_command_has_a_run_here() {
    let folder = tempfile::tempdir().unwrap();
    let known: BTreeSet<&str> = RUNS.iter().map(|run| run.0).collect();
    for command in listed(&[], folder.path()) {
        assert!(
            known.contains(&command[..]),
            "add a short run of `tengen {command}` to RUNS"
        );
    }
}

#[test]
fn a_reader_that_leaves_ends_a_command_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let server = prepare(folder.path());
    for &(_, line, prints) in RUNS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(line, &server, folder.path(), writer.into());
        let said = expect_no_panic(line, &output);
        if prints == Text {
            assert!(!said.contains("Broken pipe"), "{line}: {said}");
            assert_eq!(output.status.code(), Some(0), "{line}: {said}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_a_sentence_and_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let server = prepare(folder.path());
    for &(_, line, prints) in RUNS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = run(line, &server, folder.path(), full.into());
        let said = expect_no_panic(line, &output);
        if prints == Text {
            assert!(said.contains("No space left"), "{line}: {said}");
            assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        }
    }
}

/// Errors are for people: a program does not stop because nobody can read them.
#[cfg(target_os = "linux")]
#[test]
fn errors_that_nobody_can_read_are_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let status = tengen(&["sgf", "check", "missing.sgf"], folder.path())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
