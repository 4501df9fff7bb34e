//! KataGo's files: what is written comes back, and nothing damaged is accepted.

use std::fs;
use std::path::{Path, PathBuf};

use net::{
    Backend, LoadError, NetworkContent, NetworkFile, gzip,
    katago::{FloatStyle, KataDamage, KataNetwork, RandomKind},
};
use proptest::prelude::*;

fn sample(kind: RandomKind) -> KataNetwork {
    KataNetwork::random(kind, 3, 8, 5)
}

#[test]
fn every_kind_of_network_comes_back_in_both_styles() {
    for kind in RandomKind::ALL {
        let network = sample(kind);
        for style in [FloatStyle::Binary, FloatStyle::Text] {
            let bytes = network.to_bytes(style);
            let back = KataNetwork::read(&bytes[..]).unwrap();
            assert_eq!(back, network, "{kind:?} {style:?}");
            assert_eq!(back.to_bytes(style), bytes, "{kind:?} {style:?}");
        }
    }
}

#[test]
fn files_are_known_by_their_content_whatever_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let network = sample(RandomKind::Nested);
    let (binary, text) = (
        network.to_bytes(FloatStyle::Binary),
        network.to_bytes(FloatStyle::Text),
    );
    let files = [
        ("a.bin", binary.clone()),
        ("a.txt", text.clone()),
        ("a.bin.gz", gzip(&binary)),
        ("a.txt.gz", gzip(&text)),
        ("binary.gz", gzip(&binary)),
        ("text.gz", gzip(&text)),
    ];
    for (name, bytes) in files {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        match NetworkFile::load(&file).unwrap().content {
            NetworkContent::KataGo(found) => assert_eq!(*found, network, "{name}"),
            _ => panic!("{name} is a KataGo network"),
        }
    }
}

#[test]
fn every_network_holds_together_at_every_board_size() {
    for kind in RandomKind::ALL {
        let network = sample(kind).network(19, 19);
        network.check().unwrap();
        for (height, width) in [(2, 2), (9, 9), (13, 7), (25, 25)] {
            let resized = network.at_size(height, width).unwrap();
            let outputs = resized.io_shape();
            assert_eq!(outputs.output("policy").unwrap().len(), height * width + 1);
            assert_eq!(outputs.output("ownership").unwrap().len(), height * width);
            assert_eq!(outputs.output("value").unwrap().len(), 3);
            let back = resized.at_size(19, 19).unwrap();
            assert_eq!(back, network);
        }
    }
}

/// The damage a cut or changed file is reported with.
fn damage(bytes: &[u8]) -> Option<(String, String, String)> {
    match KataNetwork::read(bytes) {
        Ok(_) => None,
        Err(KataDamage::Layer {
            layer,
            found,
            expected,
        }) => Some((layer, found, expected)),
        Err(KataDamage::Unreadable(reason)) => panic!("memory can always be read: {reason}"),
    }
}

#[test]
fn damage_is_told_with_the_layer_and_what_was_expected() {
    let good = sample(RandomKind::Plain).to_bytes(FloatStyle::Text);
    let good = String::from_utf8(good).unwrap();
    let changed = |from: &str, to: &str| damage(good.replacen(from, to, 1).as_bytes()).unwrap();
    let (_, found, expected) = changed("\n8\n22\n", "\n7\n22\n");
    assert_eq!((&*found, &*expected), ("version 7", "8 to 17"));
    let (_, found, expected) = changed("\n8\n22\n19\n", "\n8\n22\n18\n");
    assert_eq!((&*found, &*expected), ("input globals 18", "19"));
    let (layer, found, expected) = changed("\n5\n5\n22\n8\n", "\n5\n5\n22\n9\n");
    assert!(layer.starts_with("`conv"), "{layer}");
    assert_eq!((&*found, &*expected), ("output channels 9", "8"));
    let (_, found, _) = changed("ordinary_block", "extraordinary_block");
    assert_eq!(found, "block kind `extraordinary_block`");
    let (_, found, expected) = damage(format!("{good}7\n").as_bytes()).unwrap();
    assert_eq!((&*found, &*expected), ("more bytes", "the end of the file"));
}

#[test]
fn a_number_that_is_not_finite_is_refused_with_its_layer() {
    let network = sample(RandomKind::Plain);
    let mut bytes = network.to_bytes(FloatStyle::Binary);
    let start = bytes.windows(5).position(|part| part == b"@BIN@").unwrap() + 5;
    bytes[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let (layer, found, expected) = damage(&bytes).unwrap();
    assert!(layer.starts_with("`conv"), "{layer}");
    assert_eq!(
        (&*found, &*expected),
        ("NaN among its weights", "finite numbers")
    );
}

#[test]
fn a_cut_gzip_file_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let packed = gzip(&sample(RandomKind::Nested).to_bytes(FloatStyle::Binary));
    let file = folder.path().join("cut.bin.gz");
    fs::write(&file, &packed[..packed.len() / 2]).unwrap();
    let error = NetworkFile::load(&file).unwrap_err();
    assert!(matches!(error, LoadError::KataGo { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("cut.bin.gz, layer `"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_file_is_never_a_network(
        kind in 0..RandomKind::ALL.len(), text in any::<bool>(), share in 0.0..1.0f64,
    ) {
        let style = if text { FloatStyle::Text } else { FloatStyle::Binary };
        let bytes = sample(RandomKind::ALL[kind]).to_bytes(style);
        // White space at the very end may go; anything else may not. A cut decimal may still be a decimal.
        let cut = (bytes.len() as f64 * share) as usize;
        let missing = bytes[cut..].iter().filter(|byte| !byte.is_ascii_whitespace()).count();
        prop_assume!(missing > 16);
        prop_assert!(damage(&bytes[..cut]).is_some());
    }

    #[test]
    fn a_changed_file_is_refused_or_is_a_network_that_holds_together(
        kind in 0..RandomKind::ALL.len(), at in 0.0..1.0f64, byte in any::<u8>(), text in any::<bool>(),
    ) {
        let style = if text { FloatStyle::Text } else { FloatStyle::Binary };
        let mut bytes = sample(RandomKind::ALL[kind]).to_bytes(style);
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] = byte;
        if let Ok(network) = KataNetwork::read(&bytes[..]) {
            network.network(9, 9).check().unwrap();
        }
    }
}

/// The real networks, in the folder that `TENGEN_KATAGO_NETS` names.
fn real_files() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("TENGEN_KATAGO_NETS") else {
        println!("skipped: no data (TENGEN_KATAGO_NETS is not set)");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.to_string_lossy().ends_with(".bin.gz"))
        .collect();
    files.sort();
    files
}

fn unpacked(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut unpack = flate2::read::MultiGzDecoder::new(fs::File::open(file).unwrap());
    std::io::Read::read_to_end(&mut unpack, &mut bytes).unwrap();
    bytes
}

#[test]
fn the_real_files_come_back_byte_for_byte() {
    for file in real_files() {
        let network = KataNetwork::load(&file).unwrap();
        assert!(
            network.to_bytes(FloatStyle::Binary) == unpacked(&file),
            "{} changed",
            file.display()
        );
        network.network(19, 19).check().unwrap();
    }
}

#[test]
fn a_random_network_of_every_kind_runs() {
    for kind in RandomKind::ALL {
        let network = sample(kind).network(5, 6);
        let evaluator = Backend::Cpu.open(&network).unwrap();
        let shape = evaluator.shape().clone();
        let inputs = net::bench::random_planes(shape.input_len(), 0.3, 1);
        let mut outputs = vec![f32::NAN; shape.output_len()];
        evaluator.evaluate(&inputs, &mut outputs).unwrap();
        assert!(outputs.iter().all(|number| number.is_finite()), "{kind:?}");
    }
}

#[test]
fn every_kind_of_layer_comes_back_from_a_compact_file() {
    use net::compact::{Precision, read, write};
    for kind in RandomKind::ALL {
        let network = sample(kind).network(9, 9);
        let bytes = write(&network, Precision::F32);
        assert_eq!(bytes[8], 2, "the newer layers need format version 2");
        assert_eq!(read(&bytes).unwrap(), network, "{kind:?}");
    }
    let old = net::bench::safety_network(1);
    let bytes = write(&old, Precision::F32);
    assert_eq!(bytes[8], 1, "older programs read networks without them");
    assert_eq!(read(&bytes).unwrap(), old);
}
