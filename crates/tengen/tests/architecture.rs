//! The walks of `docs/architecture.md` lead through files and functions that exist.

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
