//! Reduced precision: close to the reference, the same on every instruction set, and rounded indeed.

use net::{
    Arithmetic, Evaluator, Isa, Network, Plan, PlanOptions, Reference,
    bench::random_planes,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};

/// Probabilities and winrates may be this far off, as the design of reduced precision allows.
const TOLERANCE: f64 = 2e-2;
/// Instruction sets differ in the order and rounding of sums only.
const BETWEEN_SETS: f64 = 5e-3;
/// What f32 never reaches on these networks: a larger error shows that numbers were rounded.
const LEAST: f64 = 1e-6;

fn outputs(network: &Network, planes: &[f32], isa: Isa) -> Vec<f32> {
    let options = PlanOptions {
        isa,
        precision: Arithmetic::Bf16,
        positions_at_once: Some(2),
    };
    let plan = Plan::with_options(network, options).unwrap();
    let positions = planes.len() / plan.shape().input_len();
    let mut rows = vec![f32::NAN; positions * plan.shape().output_len()];
    plan.evaluate(planes, &mut rows).unwrap();
    rows
}

#[test]
fn bf16_stays_close_to_the_reference_on_every_instruction_set() {
    let mut largest: f64 = 0.0;
    for (size, blocks, filters) in [
        (19, 2, 64),
        (9, 3, 48),
        (13, 1, 24),
        (7, 2, 40),
        (5, 2, 8),
        (2, 1, 16),
    ] {
        let shape = LeelaShape::stock(size, blocks, filters);
        let network = LeelaNetwork::random(LeelaVersion::V1, shape, size as u64).to_network();
        let reference = Reference::new(network.clone()).unwrap();
        let len = network.io_shape().input_len();
        let planes = random_planes(3 * len, 0.15, 7);
        let expected: Vec<f64> = planes
            .chunks_exact(len)
            .flat_map(|position| reference.evaluate_one(position))
            .collect();
        let first = outputs(&network, &planes, Isa::Portable);
        for isa in Isa::available() {
            let found = outputs(&network, &planes, isa);
            for ((&found, &expected), &first) in found.iter().zip(&expected).zip(&first) {
                let error = (f64::from(found) - expected).abs();
                assert!(
                    error < TOLERANCE,
                    "{isa}, {size}x{size}: {found} for {expected}"
                );
                largest = largest.max(error);
                let apart = f64::from((found - first).abs());
                assert!(
                    apart < BETWEEN_SETS,
                    "{isa}, {size}x{size}: {found}, portable {first}"
                );
            }
            let fast = Arithmetic::Bf16.is_fast(isa);
            println!("bf16 on {isa}, {size}x{size}: multiplied by the processor: {fast}");
        }
    }
    println!("largest error {largest:.1e}");
    assert!(
        largest > LEAST,
        "nothing was rounded: largest error {largest:e}"
    );
}
