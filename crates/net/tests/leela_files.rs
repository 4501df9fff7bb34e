//! Weights files: what is accepted, what is refused and with which words, and official files byte for byte.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use net::{
    leela::{LeelaNetwork, LeelaShape, LeelaVersion, TextStyle},
    sha256_of_bytes,
};

/// A small network's text, one line per entry.
fn sample_lines() -> Vec<String> {
    let network = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 4), 1);
    let text = String::from_utf8(network.to_text(TextStyle::default())).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn refusal(text: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.txt");
    std::fs::write(&file, text).unwrap();
    let error = LeelaNetwork::load(&file)
        .expect_err("the file is damaged")
        .to_string();
    assert!(
        error.starts_with(file.to_str().unwrap()),
        "the error names the file: {error}"
    );
    error[file.to_str().unwrap().len()..].to_owned()
}

fn refusal_of_lines(lines: &[String]) -> String {
    refusal(lines.join("\n").as_bytes())
}

#[test]
fn any_shape_of_heads_tower_and_board_reads_back_exactly() {
    for (size, blocks, filters, policy_planes, value_planes, value_hidden) in [
        (2, 0, 1, 1, 1, 1),
        (9, 2, 7, 4, 3, 20),
        (19, 1, 8, 2, 1, 256),
        (25, 1, 3, 3, 2, 5),
    ] {
        let shape = LeelaShape {
            size,
            blocks,
            filters,
            policy_planes,
            value_planes,
            value_hidden,
        };
        let network = LeelaNetwork::random(LeelaVersion::V2, shape, 3);
        for carriage_returns in [false, true] {
            for final_newline in [false, true] {
                let style = TextStyle {
                    carriage_returns,
                    final_newline,
                };
                let text = network.to_exact_text(style);
                assert_eq!(TextStyle::of(&text), style);
                assert_eq!(LeelaNetwork::parse(Path::new("x"), &text).unwrap(), network);
            }
        }
        assert_eq!(network.shape(), shape);
    }
}

#[test]
fn official_spelling_is_a_fixed_point() {
    let network = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 2, 5), 8);
    let text = network.to_text(TextStyle::default());
    let again = LeelaNetwork::parse(Path::new("x"), &text)
        .unwrap()
        .to_text(TextStyle::default());
    assert_eq!(text, again);
}

#[test]
fn gzip_is_unpacked_whatever_the_name_says() {
    let text = sample_lines().join("\n");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.txt");
    std::fs::write(&file, &gzip).unwrap();
    let plain = LeelaNetwork::parse(Path::new("x"), text.as_bytes()).unwrap();
    assert_eq!(LeelaNetwork::load(&file).unwrap(), plain);

    let error = refusal(&gzip[..gzip.len() / 2]);
    assert!(
        error.contains(": found the end of what can be unpacked"),
        "{error}"
    );
    assert!(error.contains("expected a whole gzip stream"), "{error}");
    let mut broken = gzip.clone();
    let middle = broken.len() / 2;
    broken[middle..middle + 40].fill(0x55);
    assert!(refusal(&broken).contains("expected a whole gzip stream"));
}

#[test]
fn a_missing_file_is_named() {
    let error = LeelaNetwork::load(Path::new("no/such/network.gz"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("no/such/network.gz: cannot be read: "),
        "{error}"
    );
}

#[test]
fn things_that_are_no_network_are_refused() {
    let expected_version = "expected the version, 1 or 2, of a Leela Zero network";
    assert_eq!(
        refusal(b""),
        ", line 1: found an empty file, expected a Leela Zero network"
    );
    assert_eq!(
        refusal(b"3\n1 2\n"),
        format!(", line 1: found `3`, {expected_version}")
    );
    assert_eq!(
        refusal(b"\n"),
        format!(", line 1: found ``, {expected_version}")
    );
    assert_eq!(
        refusal(b"PK\x03\x04rest"),
        ", line 1: found a zip archive, expected text or gzip (unpack the archive first)"
    );
    let lines = "expected 19 lines and 8 more for each residual block";
    assert_eq!(
        refusal(b"1\n1 2\n3 4\n"),
        format!(", line 3: found a file of 3 lines, {lines}")
    );
    assert_eq!(
        refusal(b"1"),
        format!(", line 1: found a file of 1 line, {lines}")
    );
    let binary: Vec<u8> = (0..=255).collect();
    assert!(refusal(&binary).contains(expected_version));
}

#[test]
fn a_line_too_few_or_too_many_is_refused() {
    let mut lines = sample_lines();
    lines.pop();
    assert!(refusal_of_lines(&lines).starts_with(", line 26: found a file of 26 lines"));
    let mut lines = sample_lines();
    lines.extend([String::new(), String::new()]);
    assert!(refusal_of_lines(&lines).starts_with(", line 28: found a file of 28 lines"));
}

#[test]
fn every_row_with_a_number_too_few_or_too_many_is_refused() {
    let lines = sample_lines();
    for line in 2..=lines.len() {
        for extra in [true, false] {
            let mut damaged = lines.clone();
            let row = &mut damaged[line - 1];
            if extra {
                row.push_str(" 0.5");
            } else {
                let cut = row.rfind(' ').unwrap_or(0);
                row.truncate(cut);
            }
            // A bias row says how long the others are, so that any of them may be the one that is named.
            let error = refusal_of_lines(&damaged);
            assert!(
                error.contains("found ") && error.contains("expected "),
                "line {line}: {error}"
            );
        }
    }
    let mut damaged = lines.clone();
    damaged[5].push_str(" 1");
    assert_eq!(
        refusal_of_lines(&damaged),
        ", line 6: found 145 numbers, expected 144 (block 1 convolution 1 weights)"
    );
    let mut damaged = lines;
    damaged[18].push_str(" 1");
    assert_eq!(
        refusal_of_lines(&damaged),
        ", line 19: found 27 numbers, expected size x size + 1 (policy dense layer bias) for a board size of 2 to 25"
    );
}

#[test]
fn every_line_with_something_else_than_a_finite_number_is_refused() {
    let lines = sample_lines();
    for line in 2..=lines.len() {
        for (bad, wanted) in [
            ("nan", "finite"),
            ("-inf", "finite"),
            ("1e99", "finite"),
            ("a0", "number"),
            ("1.2.3", "number"),
        ] {
            let mut damaged = lines.clone();
            let row = &mut damaged[line - 1];
            let cut = row.find(' ').unwrap_or(row.len());
            row.replace_range(..cut, bad);
            let error = refusal_of_lines(&damaged);
            assert!(
                error.starts_with(&format!(", line {line}: found `{bad}`, expected a ")),
                "{error}"
            );
            assert!(error.contains(wanted), "{error}");
        }
    }
    let mut damaged = lines;
    damaged[4] = "0.5 -0.5 1 1".into();
    assert_eq!(
        refusal_of_lines(&damaged),
        ", line 5: found `-0.5`, expected a variance of 0 or more (input convolution variance)"
    );
}

#[test]
fn writer_reproduces_the_official_sha256() {
    let Some(folder) = data_folder() else {
        println!("skipped: no data");
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.join("weights")).unwrap() {
        let file = entry.unwrap().path();
        let mut text = Vec::new();
        let gzip = std::fs::read(&file).unwrap();
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&gzip[..]), &mut text)
            .unwrap();
        let written = LeelaNetwork::load(&file)
            .unwrap()
            .to_text(TextStyle::of(&text));
        let hash = sha256_of_bytes(&written);
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.contains(&hash[..8]), "{name} was written as {hash}");
        seen += 1;
    }
    assert!(seen > 0);
}

/// Where downloaded networks may lie.
fn data_folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENGEN_DATA").map_or(beside, PathBuf::from);
    folder.join("weights").is_dir().then_some(folder)
}
