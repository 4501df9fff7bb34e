//! The published module runs under Node and says what the network says.

use std::process::Command;

use go::{Board, BoardSize, Color, Point};
use net::{Activation, Dense, Head, Layer, Network, Output, Perspective, PlaneShape, Reading};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tsumego::{FeatureSet, Problem, SafetyNet, Side, compress, publish};

const WINDOW: usize = 11;
const BITS: u32 = 5;

/// The original's shape, narrow, with random weights.
fn random_network(planes: usize) -> Network {
    const WIDTH: usize = 16;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(planes as u64);
    let mut dense = |inputs: usize, outputs: usize, activation| {
        let mut layer = Dense::new(inputs, outputs, activation);
        let mut fill = |values: &mut [f32]| {
            for value in values {
                *value = rng.random_range(-0.4..0.4);
            }
        };
        fill(&mut layer.weights);
        fill(&mut layer.bias);
        Layer::Dense(layer)
    };
    let trunk = vec![
        dense(planes * WINDOW * WINDOW, WIDTH, Activation::Relu),
        Layer::Residual {
            body: vec![
                dense(WIDTH, WIDTH, Activation::Relu),
                dense(WIDTH, WIDTH, Activation::Identity),
            ],
            activation: Activation::Relu,
        },
    ];
    Network {
        input: PlaneShape {
            planes,
            height: WINDOW,
            width: WINDOW,
        },
        globals: 0,
        trunk,
        heads: vec![Head {
            layers: vec![dense(WIDTH, 1, Activation::Identity)],
            outputs: vec![Output {
                name: "safe".to_owned(),
                len: 1,
                reading: Reading::Sigmoid,
            }],
        }],
        perspective: Perspective::SideToMove,
    }
}

#[test]
fn the_module_agrees_with_the_network_under_node() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("skipped: no node");
        return;
    }
    let drawing = "\
        . . . . . . .\n\
        . . . O . . .\n\
        . . . . . . .\n\
        . . X . . . .\n\
        X X X X X . .\n\
        O O O O X . .\n\
        . . . O X . .";
    let board = Board::from_diagram(BoardSize::new(7).unwrap(), drawing).unwrap();
    let problem = Problem::new(board.clone(), &[Point::new(0, 1)]).unwrap();
    let rows: Vec<Vec<i32>> = (0..7)
        .rev()
        .map(|y| (0..7).map(|x| sign(&board, Point::new(x, y))).collect())
        .collect();
    for set in [
        FeatureSet::Original13,
        FeatureSet::Original14,
        FeatureSet::Original14First,
    ] {
        let mut network = random_network(set.planes());
        let folder = tempfile::tempdir().unwrap();
        let module = publish(&network, set, BITS).unwrap();
        std::fs::write(folder.path().join("safety.mjs"), module).unwrap();
        let script = format!(
            "import {{ evaldcnn }} from './safety.mjs';
             const rows = {rows:?};
             const board = {{ size: 7, get: (x, y) => rows[y][x] }};
             console.log(evaldcnn(board, [0, 5]), evaldcnn(board, [0, 5], 1));"
        );
        std::fs::write(folder.path().join("ask.mjs"), script).unwrap();
        let answer = Command::new("node")
            .arg("ask.mjs")
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8(answer.stdout).unwrap();
        let said: Vec<f32> = text
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        compress(&mut network, BITS);
        let net = SafetyNet::new(&network, Some(set)).unwrap();
        for (first, said) in Side::BOTH.into_iter().zip(said) {
            let expected = net.chance_of_life(&problem, first, false);
            assert!((said - expected).abs() < 1e-4, "{set}: {said} {expected}");
        }
    }
}

fn sign(board: &Board, point: Point) -> i32 {
    match board.stone(point) {
        Some(Color::Black) => 1,
        Some(Color::White) => -1,
        None => 0,
    }
}

#[test]
fn rounding_keeps_thirty_three_levels_at_five_bits() {
    let mut network = random_network(13);
    compress(&mut network, BITS);
    let Layer::Dense(first) = &network.trunk[0] else {
        panic!("the first layer is dense");
    };
    assert!(
        first
            .weights
            .iter()
            .all(|w| (w * 16.0).fract() == 0.0 && w.abs() <= 1.0)
    );
}
