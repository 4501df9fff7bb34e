//! A network made by a formula, with outputs computed elsewhere by two independent programs.

use std::path::Path;

use net::{
    Evaluator, Plan, Reference,
    leela::{LeelaNetwork, LeelaShape, POLICY, VALUE, VALUE_LOGIT},
    sha256_of_bytes,
};

const SIZE: usize = 19;
const AREA: usize = SIZE * SIZE;

/// The text of the network: every number follows from its row and its place in it.
fn golden_text(version: u8) -> String {
    let mut text = format!("{version}\n");
    for (index, row) in LeelaShape::stock(SIZE, 1, 4).rows().iter().enumerate() {
        let numbers: Vec<String> = (0..row.len)
            .map(|k| {
                let u = ((7919 * k + 104_729 * (index + 1)) % 2003) as f64;
                let number = match row.what.rsplit(' ').next() {
                    Some("weights") => (u - 1001.0) / 5000.0,
                    Some("variance") => 0.5 + u / 2003.0,
                    _ => (u - 1001.0) / 10_000.0,
                };
                format!("{number:.4}")
            })
            .collect();
        text += &numbers.join(" ");
        text += "\n";
    }
    text
}

fn golden_network(version: u8) -> LeelaNetwork {
    LeelaNetwork::parse(Path::new("golden"), golden_text(version).as_bytes()).unwrap()
}

fn cell(vertex: &str) -> usize {
    let column = "ABCDEFGHJKLMNOPQRST".find(&vertex[..1]).unwrap();
    let row: usize = vertex[1..].parse().unwrap();
    (row - 1) * SIZE + column
}

/// Planes of a position reached by alternating black and white stones, none captured, seen through `symmetry`.
fn planes(stones: &[&str], symmetry: usize) -> Vec<f32> {
    let mut planes = vec![0.0; 18 * AREA];
    let black_to_move = stones.len().is_multiple_of(2);
    for age in 0..=stones.len().min(7) {
        for (index, stone) in stones[..stones.len() - age].iter().enumerate() {
            let own = (index % 2 == 0) == black_to_move;
            planes[(age + if own { 0 } else { 8 }) * AREA + cell(stone)] = 1.0;
        }
    }
    planes[if black_to_move { 16 } else { 17 } * AREA..][..AREA].fill(1.0);
    let mut seen = Vec::with_capacity(planes.len());
    for plane in planes.chunks(AREA) {
        seen.extend((0..AREA).map(|index| plane[transform(index, symmetry)]));
    }
    seen
}

fn transform(index: usize, symmetry: usize) -> usize {
    let (mut x, mut y) = (index % SIZE, index / SIZE);
    if symmetry & 4 != 0 {
        std::mem::swap(&mut x, &mut y);
    }
    if symmetry & 2 != 0 {
        x = SIZE - 1 - x;
    }
    if symmetry & 1 != 0 {
        y = SIZE - 1 - y;
    }
    y * SIZE + x
}

fn check(evaluator: &dyn Evaluator) {
    let shape = evaluator.shape();
    let row_of = |planes: &[f32]| {
        let mut row = vec![0.0; shape.output_len()];
        evaluator.evaluate(planes, &mut row).unwrap();
        row
    };
    let close = |found: f32, expected: f32| {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}")
    };
    let value_at = shape.output(VALUE).unwrap().start;
    let logit_at = shape.output(VALUE_LOGIT).unwrap().start;
    let policy_at = shape.output(POLICY).unwrap();
    for (stones, winrate, logit, pass, best) in [
        (
            &[][..],
            0.259_196,
            -0.525_076,
            0.002_658,
            [("E18", 0.003_336), ("G19", 0.003_326), ("A16", 0.003_319)],
        ),
        (
            &["Q16", "D4"],
            0.265_810,
            -0.507_994,
            0.002_730,
            [("G19", 0.003_377), ("E18", 0.003_367), ("J19", 0.003_328)],
        ),
        (
            &["Q16", "D4", "C16"],
            0.287_107,
            -0.454_738,
            0.002_705,
            [("G19", 0.003_299), ("E18", 0.003_286), ("J19", 0.003_245)],
        ),
    ] {
        let row = row_of(&planes(stones, 0));
        let policy = &row[policy_at.clone()];
        close(row[value_at], winrate);
        close(row[logit_at], logit);
        close(policy[AREA], pass);
        let mut order: Vec<usize> = (0..AREA).collect();
        order.sort_by(|&a, &b| policy[b].total_cmp(&policy[a]));
        for (place, (vertex, prior)) in best.into_iter().enumerate() {
            assert_eq!(order[place], cell(vertex));
            close(policy[order[place]], prior);
        }
    }
    let winrates = [
        0.287_107, 0.300_499, 0.292_141, 0.262_278, 0.294_374, 0.291_450, 0.302_462, 0.262_466,
    ];
    for (symmetry, winrate) in winrates.into_iter().enumerate() {
        close(
            row_of(&planes(&["Q16", "D4", "C16"], symmetry))[value_at],
            winrate,
        );
    }
}

#[test]
fn the_generated_file_is_the_published_one() {
    assert_eq!(
        sha256_of_bytes(golden_text(1).as_bytes()),
        "f244e897a978517147363cb3e956040aa06369281a8ee690548ebf1e79cea528"
    );
    assert_eq!(
        sha256_of_bytes(golden_text(2).as_bytes()),
        "972c8c50755c515371a5b12ff01f186844bf8d5e7f6274dadc44c97d06b49e4b"
    );
}

#[test]
fn the_reference_reproduces_six_decimals() {
    check(&Reference::new(golden_network(1).to_network()).unwrap());
}

#[test]
fn the_fast_evaluator_reproduces_six_decimals() {
    check(&Plan::new(&golden_network(1).to_network()).unwrap());
}
