//! The documentation has the table of options.

use std::{fs, path::PathBuf};

use go_player::{OPTION_GROUPS, options_markdown};

#[test]
fn the_documentation_has_the_table() {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (page, group) in ["gtp.md", "dynamic-komi.md"].iter().zip(OPTION_GROUPS) {
        let file = docs.join(page);
        let text = fs::read_to_string(&file).unwrap();
        let (before, rest) = text.split_once("<!-- options: ").unwrap();
        let (source, rest) = rest.split_once("-->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end of options -->").unwrap();
        let table = options_markdown(group);
        let expected =
            format!("{before}<!-- options: {source}-->\n{table}<!-- end of options -->{after}");
        if std::env::var_os("TENGEN_WRITE_DOCS").is_some() {
            fs::write(&file, &expected).unwrap();
        } else {
            assert!(
                text == expected,
                "docs/{page} does not agree with the table of options: run this test with TENGEN_WRITE_DOCS=1"
            );
        }
    }
}
