//! What a new user tries first, and once found broken.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn tengen(line: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tengen"))
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .unwrap()
}

fn succeed(line: &str, folder: &Path) -> String {
    let output = tengen(line, folder);
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(line: &str, folder: &Path) -> String {
    let output = tengen(line, folder);
    assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
    assert!(output.stdout.is_empty(), "{line}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_network_is_converted_to_what_the_ending_says_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed("net new go.txt --size 5 --blocks 1 --filters 2", folder);
    let format = |file: &str| {
        let info = succeed(&format!("net info {file}"), folder);
        let line = info.lines().find(|line| line.starts_with("format"));
        line.unwrap_or_else(|| panic!("{info}")).to_owned()
    };
    succeed("net convert go.txt -o go.net", folder);
    assert!(format("go.net").contains("compact"));
    succeed("net convert go.net -o back.txt.gz", folder);
    assert!(!format("back.txt.gz").contains("compact"));
    let said = refused("net convert go.txt -o go.weights", folder);
    assert!(
        said.contains("go.weights") && said.contains("--to"),
        "{said}"
    );
    assert!(!folder.join("go.weights").exists());
    succeed("net convert go.txt -o go.weights --to f16", folder);
    assert!(format("go.weights").contains("compact"));
}

/// Two problems, as trees of a depth and as single positions.
fn positions(folder: &Path, depth: u32) -> usize {
    succeed(
        "tsumego generate problems.sgf --count 2 --board 7 --largest 7",
        folder,
    );
    succeed(
        &format!("tsumego tree problems.sgf --depth {depth} --out trees.sgf"),
        folder,
    );
    succeed("tsumego expand trees.sgf --out positions.sgf", folder);
    let text = fs::read_to_string(folder.join("positions.sgf")).unwrap();
    text.matches("(;").count()
}

#[test]
fn a_tree_of_its_root_alone_is_expanded_to_both_questions() {
    let folder = tempfile::tempdir().unwrap();
    // Attacker first and defender first, of two problems.
    assert_eq!(positions(folder.path(), 0), 4);
}

#[test]
fn the_dense_design_names_its_planes_and_writes_its_averaged_network() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(positions(folder, 1) > 4);
    let train = |data: &str| {
        format!("train safety --data {data} --design dense --steps 1 --batch 2 --out {data}-run")
    };
    succeed("tsumego pack positions.sgf --out ours", folder);
    let said = refused(&train("ours"), folder);
    assert!(said.contains("tsumego pack --planes 13"), "{said}");
    succeed("tsumego pack positions.sgf --planes 13 --out dense", folder);
    succeed(&train("dense"), folder);
    assert!(folder.join("dense-run/network-averaged.net").exists());
}

#[test]
fn a_picture_without_a_judged_stone_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let game = "(;FF[4]GM[1]SZ[9];B[ee];W[de];B[dd];W[ce])";
    fs::write(folder.join("game.sgf"), game).unwrap();
    let said = refused("tsumego show game.sgf", folder);
    assert!(
        said.contains("game.sgf") && said.contains("--moves"),
        "{said}"
    );
    assert!(!folder.join("game.svg").exists());
    let said = succeed("tsumego show game.sgf --moves 4", folder);
    assert!(said.contains("no block is enclosed"), "{said}");
    assert!(said.contains("--exact"), "{said}");
}
