//! `docs/architecture.md` is true: its walks lead through files and functions that exist, its table and its picture have
//! every crate, and no crate uses one that stands beside or above it.

use std::fs;
use std::path::Path;

#[test]
fn every_hop_of_the_walks_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let mut hops = 0;
    for line in page
        .lines()
        .filter(|line| line.contains("`crates/") && line.starts_with('|'))
    {
        let named: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let at = named
            .iter()
            .position(|name| name.starts_with("crates/"))
            .unwrap();
        let file = named[at];
        let source = fs::read_to_string(root.join(file))
            .unwrap_or_else(|_| panic!("docs/architecture.md names {file}, which is not there"));
        assert!(named.len() > at + 1, "no function in: {line}");
        for function in &named[at + 1..] {
            let is_there = ["(", "<"]
                .iter()
                .any(|end| source.contains(&format!("fn {function}{end}")));
            assert!(
                is_there,
                "docs/architecture.md: {file} has no function {function}"
            );
            hops += 1;
        }
    }
    assert!(hops > 40, "only {hops} hops");
}

/// The crates named at the start of the table's lines, with the line they stand in, from the top.
fn rooms(page: &str) -> Vec<(usize, String)> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let lines = lines.filter(|line| !line.contains("`crates/"));
    let cells = lines.filter_map(|line| line.split('|').next()).enumerate();
    cells
        .flat_map(|(floor, cell)| {
            let names = cell.split(['`', ',', ' ']).filter(|name| !name.is_empty());
            names.map(move |name| (floor, name.to_owned()))
        })
        .collect()
}

#[test]
fn every_crate_is_on_its_floor_and_uses_only_what_is_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let rooms = rooms(&read("docs/architecture.md"));
    let floor_of = |name: &str| rooms.iter().find(|room| room.1 == name).map(|room| room.0);
    let (picture, guide) = (read("docs/pictures/rooms.svg"), read("CONTRIBUTING.md"));
    let mut crates = 0;
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let floor = floor_of(&name)
            .unwrap_or_else(|| panic!("docs/architecture.md has no room for {name}"));
        assert!(
            picture.contains(&format!(">{name}<")),
            "{name}: no room in the picture"
        );
        assert!(guide.contains(&name), "{name} is not in CONTRIBUTING.md");
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let used = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let used = used.split("\n[").next().unwrap_or_default();
        for line in used.lines() {
            let other = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if let Some(below) = floor_of(other) {
                assert!(below > floor, "{name} uses {other}, which is not below it");
            }
        }
        crates += 1;
    }
    assert_eq!(crates, rooms.len(), "a room without a crate");
}
