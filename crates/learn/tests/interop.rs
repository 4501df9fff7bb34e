//! Other programs read what we write: TensorBoard our event files. (ONNX Runtime our models: tests of `net`.)
//!
//! `TENGEN_PYTHON` names the Python to ask (else `python3`); `scripts/interop-python` makes one with both packages, and
//! `scripts/test` uses it. Without them the tests say so and pass.

use std::path::Path;
use std::process::Command;

use learn::EventFile;

fn python(package: &str) -> Option<Command> {
    let program = std::env::var("TENGEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&program)
        .args(["-c", &format!("import {package}")])
        .output();
    if !known.is_ok_and(|output| output.status.success()) {
        println!("skipped: {program} has no {package}");
        return None;
    }
    Some(Command::new(program))
}

fn run(mut command: Command, script: &str, arguments: &[&Path]) -> String {
    let output = command
        .arg("-c")
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tensorboard_reads_the_event_files_and_drops_what_a_crash_left() {
    let Some(python) = python("tensorboard") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut first = EventFile::create(folder.path(), 0).unwrap();
    for step in [10, 20, 30] {
        first
            .scalars(step, &[("train/loss", 1.0 / step as f64)])
            .unwrap();
    }
    // Resumed from step 20: what was written about step 30 is void. TensorBoard orders files by the second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let mut second = EventFile::create(folder.path(), 21).unwrap();
    second.scalars(30, &[("train/loss", 0.5)]).unwrap();
    let script = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]).Reload()
for event in events.Scalars('train/loss'):
    print(event.step, round(event.value, 6))
";
    let said = run(python, script, &[folder.path()]);
    assert_eq!(said, "10 0.1\n20 0.05\n30 0.5\n");
}
