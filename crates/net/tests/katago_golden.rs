//! KataGo's own numbers for twenty positions: every backend gives the same.
//!
//! The networks are in the folder that `TENGEN_KATAGO_NETS` names, the recorded inputs and outputs in `katago` below the
//! data folder; without both, nothing is compared.

use std::fs;
use std::path::{Path, PathBuf};

use net::katago::{KataNetwork, OWNERSHIP, POLICY, POLICY_OPTIMISTIC, SCORE, VALUE};
use net::{Backend, BoardSizes, Evaluator};
use serde_json::Value;

/// Two programs that compute in f32 differ by about 2e-4.
const TOLERANCE: f64 = 1e-3;

/// Files of recorded outputs, and what the names of their networks start with.
const NETWORKS: [(&str, &str); 4] = [
    ("outputs-g170e-b15c192.json", "g170e-b15c192"),
    ("outputs-b18c384nbt-s9996.json", "kata1-b18c384nbt-s9996"),
    ("outputs-b18c384nbt-s6582.json", "kata1-b18c384nbt-s6582"),
    ("outputs-b10c384h6.json", "b10c384h6"),
];

fn networks() -> Option<PathBuf> {
    let folder = std::env::var_os("TENGEN_KATAGO_NETS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: no data (TENGEN_KATAGO_NETS is not set)");
    }
    folder
}

fn recorded() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TENGEN_DATA").map_or(beside, PathBuf::from);
    let folder = folder.join("katago");
    if !folder.is_dir() {
        println!("skipped: no data ({} is missing)", folder.display());
        return None;
    }
    Some(folder)
}

fn lines(file: PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(&file).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

struct Position {
    name: String,
    size: usize,
    input: Vec<f32>,
}

impl Position {
    fn read(value: &Value) -> Self {
        let size = value["size"].as_u64().unwrap() as usize;
        let area = size * size;
        let mut input = Vec::new();
        for plane in value["planes"].as_array().unwrap() {
            let digits = plane.as_str().unwrap();
            let bits: Vec<bool> = digits
                .chars()
                .flat_map(|digit| {
                    let digit = digit.to_digit(16).unwrap();
                    (0..4).rev().map(move |bit| digit >> bit & 1 == 1)
                })
                .collect();
            // Leading zeros are dropped, and a first digit may have more bits than the plane.
            let start = bits.len().saturating_sub(area);
            let missing = area.saturating_sub(bits.len());
            input.extend(std::iter::repeat_n(0.0, missing));
            input.extend(bits[start..].iter().map(|&bit| f32::from(u8::from(bit))));
        }
        input.extend(
            numbers(&value["globals"])
                .iter()
                .map(|&number| number as f32),
        );
        Self {
            name: value["name"].as_str().unwrap().to_owned(),
            size,
            input,
        }
    }
}

fn compare(evaluator: &dyn Evaluator, position: &Position, expected: &Value) -> f64 {
    let shape = evaluator.shape();
    let mut row = vec![0.0; shape.output_len()];
    evaluator.evaluate(&position.input, &mut row).unwrap();
    let outputs = [
        (POLICY, "policyLogits"),
        (POLICY_OPTIMISTIC, "policyLogitsOptimistic"),
        (VALUE, "valueLogits"),
        (SCORE, "scoreRaw"),
        (OWNERSHIP, "ownershipPreTanh"),
    ];
    let mut largest = 0.0f64;
    for (output, recorded) in outputs {
        let Some(range) = shape.output(output) else {
            assert!(expected[recorded].is_null(), "{output} is missing");
            continue;
        };
        let recorded = numbers(&expected[recorded]);
        assert_eq!(range.len(), recorded.len(), "{output}");
        for (found, recorded) in row[range].iter().zip(recorded) {
            let apart = (f64::from(*found) - recorded).abs();
            assert!(
                apart < TOLERANCE,
                "{}: {output} is {found}, expected {recorded}",
                position.name
            );
            largest = largest.max(apart);
        }
    }
    largest
}

/// Compares a backend with what was recorded on boards up to `largest_size`.
fn check(backend: Backend, largest_size: usize) {
    let (Some(networks), Some(data)) = (networks(), recorded()) else {
        return;
    };
    let positions = lines(data.join("positions.json"));
    let positions: Vec<Position> = positions.iter().map(Position::read).collect();
    for (outputs, name) in NETWORKS {
        let mut files = fs::read_dir(&networks).unwrap().map(|entry| entry.unwrap());
        let file = files.find(|entry| entry.file_name().to_string_lossy().starts_with(name));
        let Some(file) = file else {
            println!("skipped: no data (no network {name})");
            continue;
        };
        let network = KataNetwork::load(&file.path()).unwrap();
        let sizes = BoardSizes::new(network.network(19, 19), backend);
        drop(network);
        let mut largest = 0.0f64;
        let mut compared = 0;
        for expected in lines(data.join(outputs)) {
            let named = positions
                .iter()
                .find(|position| expected["name"] == *position.name);
            let position = named.expect("every output belongs to a position");
            if position.size <= largest_size {
                let evaluator = sizes.at(position.size, position.size).unwrap();
                largest = largest.max(compare(&*evaluator, position, &expected));
                compared += 1;
            }
        }
        assert!(compared > 0);
        println!("{name}: {compared} positions on {backend:?}, largest difference {largest:.1e}");
    }
}

#[test]
fn the_reference_gives_katagos_numbers_on_small_boards() {
    check(Backend::Reference, 7);
}

#[test]
fn the_fast_code_gives_katagos_numbers_on_every_board() {
    check(Backend::Cpu, 19);
}
