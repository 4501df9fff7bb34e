//! The tiny network of the golden vectors, whose parameters follow from a formula. The expected
//! numbers are not part of this repository: without them the test is skipped.

use std::path::PathBuf;

use mario::Example;
use mario_player::{
    network::{CLEARED, DURATION, DesignNetwork, LEAK, MOVES, WON},
    planes::{AREA, INPUT_LEN, write_planes},
};
use net::Reference;
use serde_json::Value;

fn golden() -> Option<Value> {
    let root = std::env::var_os("TENGEN_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("dr-mario/net_tiny.json")) else {
        println!("skipped: no data (net_tiny.json)");
        return None;
    };
    Some(serde_json::from_str(&text).expect("golden files are JSON"))
}

/// Parameter i is 0.1 sin(0.7 i + 0.3), and one more for the scales of normalisations.
fn tiny() -> DesignNetwork {
    let mut index = 0;
    let tensors = DesignNetwork::parameter_order(2, 1)
        .into_iter()
        .map(|(name, len)| {
            let one_more = if name.ends_with(".g") { 1.0 } else { 0.0 };
            let values = (index..index + len)
                .map(|i| (0.1 * (0.7 * i as f64 + 0.3).sin() + one_more) as f32)
                .collect();
            index += len;
            (name, values)
        })
        .collect();
    assert_eq!(index, 132_769);
    DesignNetwork {
        filters: 2,
        residual_blocks: 1,
        leakage: LEAK,
        tensors,
    }
}

#[test]
fn the_tiny_network_answers_as_published() {
    let Some(golden) = golden() else { return };
    let network = tiny().to_network().unwrap();
    let shape = network.io_shape();
    let reference = Reference::new(network).unwrap();
    let expected = &golden["eval_mode_running_mean0_var1"];
    for (index, value) in golden["examples"].as_array().unwrap().iter().enumerate() {
        let example = Example::from_json(value, index + 1).unwrap();
        let mut planes = vec![0.0; INPUT_LEN];
        write_planes(&example.board, example.pill, &mut planes);
        // The golden list leaves the pill's six planes out.
        let ones = (0..12 * AREA)
            .filter(|&cell| planes[cell] == 1.0)
            .map(Value::from);
        assert_eq!(
            ones.collect::<Vec<_>>(),
            *golden["input_ones"][index].as_array().unwrap()
        );
        let output = reference.evaluate_one(&planes);
        for (name, key) in [(WON, "won"), (CLEARED, "cleared"), (DURATION, "duration")] {
            let found = output[shape.output(name).unwrap().start];
            close(found, expected[key][index].as_f64().unwrap());
        }
        let moves = &output[shape.output(MOVES).unwrap()];
        close(moves.iter().sum(), 1.0);
        for (y, chance) in expected["moves_first8_rot0_x0"][index]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            close(moves[y], chance.as_f64().unwrap());
        }
    }
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-4,
        "{found} instead of {expected}"
    );
}

#[test]
fn a_network_survives_its_text() {
    let network = tiny();
    let text = serde_json::to_string(&network).unwrap();
    assert_eq!(DesignNetwork::from_json(&text).unwrap(), network);
    let mut broken = network.clone();
    broken.tensors.get_mut("head.b").unwrap().pop();
    let error = DesignNetwork::from_json(&serde_json::to_string(&broken).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor \"head.b\" has 514 numbers, expected 515"
    );
    broken.tensors.remove("r0.n1.g");
    let error = broken.to_network().unwrap_err();
    assert_eq!(error.to_string(), "tensor \"r0.n1.g\" is missing");
}
