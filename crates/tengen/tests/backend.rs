//! What runs the network is chosen on the command line, and refused with a sentence where it is not there.

mod support {
    pub mod converse;
    pub mod network;
}

use std::{path::Path, process::Command};

use support::{
    converse::{converse, text},
    network::write_small_network,
};

fn tengen(words: &[&str], weights: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tengen"));
    program.args(words).arg("-w").arg(weights);
    program
}

/// The policy that `heatmap` prints, in thousandths, with the network run by a backend.
fn policy(weights: &Path, backend: &str) -> Vec<String> {
    let mut program = tengen(&["gtp", "--backend", backend], weights);
    let output = converse(&mut program, "boardsize 9\nheatmap\nquit\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let rows = said.lines().filter(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = words.strip_prefix(&["pass:"]).unwrap_or(&words);
        !numbers.is_empty() && numbers.iter().all(|word| is_number(word))
    });
    rows.map(str::to_owned).collect()
}

#[test]
fn the_reference_says_what_the_processor_says() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("net.txt");
    write_small_network(&weights);
    let by_processor = policy(&weights, "cpu");
    assert_eq!(by_processor.len(), 9 + 1, "{by_processor:?}");
    assert_eq!(by_processor, policy(&weights, "reference"));
}

/// What only a program built with a feature has is refused by every command, before it begins anything.
#[test]
fn a_backend_that_is_not_built_in_is_one_sentence_and_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("net.txt");
    write_small_network(&weights);
    let games = folder.path().join("games");
    let games = games.to_str().unwrap();
    let commands: [&[&str]; 5] = [
        &["gtp"],
        &["analyze"],
        &["analysis"],
        &["bench"],
        &["selfplay", "--dir", games],
    ];
    let cases = [
        (cfg!(feature = "gpu"), "gpu", "`--features gpu`"),
        (cfg!(feature = "ort"), "onnx", "`--features ort`"),
    ];
    for (is_built_in, backend, advice) in cases {
        if is_built_in {
            continue;
        }
        for words in commands {
            let mut program = tengen(words, &weights);
            program.args(["--backend", backend]);
            program.current_dir(folder.path());
            let output = converse(&mut program, "");
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.contains(advice), "{words:?}: {said}");
        }
    }
    assert!(!Path::new(games).exists());
}

#[test]
fn leelaz_plays_on_with_the_processor_where_a_named_card_cannot_be_used() {
    if cfg!(feature = "gpu") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("net.txt");
    write_small_network(&weights);
    let mut program = tengen(
        &["gtp", "--as", "leelaz", "--gpu", "0", "--gpu", "1"],
        &weights,
    );
    program.args(["--precision", "half", "--noponder", "-v", "2"]);
    let output = converse(&mut program, "boardsize 9\ngenmove b\nquit\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("using the processor"));
    assert_eq!(text(&output.stdout).matches('=').count(), 3);
}
