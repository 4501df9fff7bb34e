//! The compact format: what comes back, what it costs, and that nothing damaged is accepted.

use base::write_whole;
use net::{
    Activation, Conv, Group, Layer, Network, NetworkContent, NetworkFile, Plan,
    compact::{Precision, read, rounded, write, write_katago},
    compare,
    katago::{FloatStyle, KataNetwork, RandomKind},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    load,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

fn sample(seed: u64) -> Network {
    let shape = LeelaShape {
        policy_planes: 3,
        value_hidden: 20,
        ..LeelaShape::stock(5, 2, 24)
    };
    let mut network = LeelaNetwork::random(LeelaVersion::V2, shape, seed).to_network();
    let groups = vec![
        Group {
            inputs: 10,
            outputs: 4,
        },
        Group {
            inputs: 14,
            outputs: 20,
        },
    ];
    let grouped = Conv {
        weights: (0..9 * (10 * 4 + 14 * 20))
            .map(|index| (index % 17) as f32 / 100.0 - 0.08)
            .collect(),
        groups,
        ..Conv::new(3, 24, 24, Activation::LeakyRelu(0.25))
    };
    network.trunk.push(Layer::Conv(grouped));
    network
}

#[test]
fn full_precision_comes_back_exactly() {
    let network = sample(1);
    assert_eq!(rounded(&network, Precision::F32), network);
}

#[test]
fn rounding_twice_changes_nothing_more() {
    for precision in Precision::ALL {
        let once = rounded(&sample(2), precision);
        assert_eq!(
            write(&rounded(&once, precision), precision).len(),
            write(&once, precision).len()
        );
        let (first, second) = (
            Plan::new(&once).unwrap(),
            Plan::new(&rounded(&once, precision)).unwrap(),
        );
        for difference in compare(&first, &second, 8, 1).unwrap().unwrap() {
            assert!(difference.largest < 1e-6, "{precision:?}: {difference:?}");
        }
    }
}

#[test]
fn fewer_bits_cost_more_error_and_fewer_bytes() {
    let network = sample(3);
    let exact = Plan::new(&network).unwrap();
    let (mut last_error, mut last_bytes) = (0.0, usize::MAX);
    for precision in Precision::ALL {
        let bytes = write(&network, precision).len();
        let plan = Plan::new(&rounded(&network, precision)).unwrap();
        let differences = compare(&exact, &plan, 32, 1).unwrap().unwrap();
        let error = differences
            .iter()
            .fold(0.0, |error: f64, output| error.max(output.root_mean_square));
        assert!(
            error >= last_error && bytes < last_bytes,
            "{precision:?}: {error:e}, {bytes} bytes"
        );
        assert!(error < 0.1, "{precision:?}: {error:e}");
        (last_error, last_bytes) = (error, bytes);
    }
}

#[test]
fn a_leela_network_survives_the_way_through_the_compact_format() {
    let folder = tempfile::tempdir().unwrap();
    let leela = LeelaNetwork::random(LeelaVersion::V2, LeelaShape::stock(9, 2, 8), 7);
    let file = folder.path().join("small.net");
    write_whole(&file, &write(&leela.to_network(), Precision::F32)).unwrap();
    let back = LeelaNetwork::from_network(&load(&file).unwrap()).unwrap();
    assert_eq!(back.shape(), leela.shape());
    assert_eq!(back.version, leela.version);
    let (before, after) = (
        Plan::new(&leela.to_network()).unwrap(),
        Plan::new(&back.to_network()).unwrap(),
    );
    for difference in compare(&before, &after, 8, 2).unwrap().unwrap() {
        assert!(difference.largest < 1e-6, "{difference:?}");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no part of a file is left behind"
    );
    assert_eq!(
        NetworkFile::load(&file).unwrap().bytes,
        std::fs::metadata(&file).unwrap().len()
    );
}

/// The KataGo network of a file, whatever kind of file.
fn katago_of(file: &std::path::Path) -> KataNetwork {
    match NetworkFile::load(file).unwrap().content {
        NetworkContent::KataGo(kata) => *kata,
        other => panic!("not a KataGo network: {other:?}"),
    }
}

#[test]
fn a_katago_network_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kata.net");
    for kind in RandomKind::ALL {
        let kata = KataNetwork::random(kind, 3, 16, 7);
        write_whole(&file, &write_katago(&kata, Precision::F32)).unwrap();
        let back = katago_of(&file);
        for style in [FloatStyle::Binary, FloatStyle::Text] {
            assert_eq!(back.to_bytes(style), kata.to_bytes(style), "{kind:?}");
        }
    }
}

#[test]
fn a_rounded_katago_network_keeps_its_header_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kata.net");
    let kata = KataNetwork::random(RandomKind::Nested, 3, 32, 7);
    let exact = Plan::new(&kata.network(7, 7)).unwrap();
    let (mut last_error, mut last_bytes) = (0.0, usize::MAX);
    for precision in Precision::ALL {
        let bytes = write_katago(&kata, precision);
        write_whole(&file, &bytes).unwrap();
        let back = katago_of(&file);
        assert_eq!(back.header, kata.header);
        // Only numbers differ: as text both have as many words.
        let words = |kata: &KataNetwork| {
            let text = String::from_utf8(kata.to_bytes(FloatStyle::Text)).unwrap();
            let is_word = |word: &&str| word.parse::<f64>().is_err();
            let names: Vec<String> = text
                .split_whitespace()
                .filter(is_word)
                .map(str::to_owned)
                .collect();
            (names, text.split_whitespace().count())
        };
        assert_eq!(words(&back), words(&kata), "{precision:?}");
        let plan = Plan::new(&back.network(7, 7)).unwrap();
        let differences = compare(&exact, &plan, 16, 1).unwrap().unwrap();
        let error = differences
            .iter()
            .fold(0.0, |error: f64, output| error.max(output.root_mean_square));
        assert!(
            error >= last_error && bytes.len() < last_bytes,
            "{precision:?}: {error:e}, {} bytes",
            bytes.len()
        );
        (last_error, last_bytes) = (error, bytes.len());
    }
}

#[test]
fn a_network_of_other_layers_is_not_taken_for_leela_zero() {
    let error = LeelaNetwork::from_network(&sample(1))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expected the layers of a Leela Zero network"),
        "{error}"
    );
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let bytes = write(&sample(4), Precision::Int5);
    for at in (0..bytes.len()).step_by(41) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x20;
        assert!(read(&changed).is_err(), "byte {at}");
        assert!(read(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(read(&longer).is_err());
}

#[test]
fn a_damaged_file_is_named_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.net");
    let bytes = write(&sample(5), Precision::F16);
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = load(&file).unwrap_err().to_string();
    assert!(error.starts_with(file.to_str().unwrap()), "{error}");
    assert!(
        error.contains("byte ") && error.contains("found a checksum of other bytes"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Someone who wants us to crash gets the checksum right.
    #[test]
    fn a_forged_file_is_refused_or_is_a_network(changes in prop::collection::vec((10usize..400, any::<u8>()), 1..4)) {
        let mut bytes = write(&sample(8), Precision::Int8);
        let body = bytes.len() - 32;
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let checksum = Sha256::digest(&bytes[..body]);
        bytes[body..].copy_from_slice(&checksum);
        if let Ok(network) = read(&bytes) {
            prop_assert!(network.check().is_ok());
        }
    }

    #[test]
    fn a_forged_katago_file_is_refused_or_is_a_network(changes in prop::collection::vec((11usize..900, any::<u8>()), 1..4)) {
        let kata = KataNetwork::random(RandomKind::Transformer, 1, 8, 2);
        let mut bytes = write_katago(&kata, Precision::F16);
        let body = bytes.len() - 32;
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let checksum = Sha256::digest(&bytes[..body]);
        bytes[body..].copy_from_slice(&checksum);
        if let Ok(network) = read(&bytes) {
            prop_assert!(network.check().is_ok());
        }
    }
}
