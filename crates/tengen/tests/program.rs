//! What people expect of any program: its version, completions, manual pages.

use std::fs;
use std::process::Command;

fn tengen(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_version_names_release_commit_and_instructions() {
    let version = tengen(&["--version"]);
    let release = format!("tengen {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&release), "{version}");
    assert!(version.trim_end().ends_with(" instructions)"), "{version}");
    // A copy without git has no commit.
    let is_checkout = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output()
        .is_ok_and(|output| output.status.success());
    assert_eq!(version.contains("commit "), is_checkout, "{version}");
}

#[test]
fn every_shell_learns_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = tengen(&["completions", shell]);
        for word in ["gtp", "tsumego", "export-onnx", "completions", "still"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    tengen(&["man", pages.to_str().unwrap()]);
    let page = fs::read_to_string(pages.join("tengen-mario-watch.1")).unwrap();
    assert!(
        page.contains(".TH tengen") && page.contains("\\-\\-player"),
        "{page}"
    );
    for name in ["tengen", "tengen-gtp", "tengen-net-convert", "tengen-man"] {
        assert!(pages.join(format!("{name}.1")).is_file(), "{name}");
    }
}
