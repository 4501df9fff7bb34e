//! Notes the commit that the program is built from, for `tengen --version`. A copy without git has none.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=TENGEN_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    // Changes with every commit and checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    if std::env::var_os("TENGEN_COMMIT").is_none()
        && let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"])
    {
        println!("cargo::rustc-env=TENGEN_COMMIT={commit}");
    }
}

/// What git prints, if there is a git and this is a checkout of it.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
