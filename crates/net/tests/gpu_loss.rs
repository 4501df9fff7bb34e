//! A device that is lost between two batches. It has a process of its own, since all networks of a process share the
//! device.
#![cfg(feature = "gpu")]

use net::{
    Backend, Evaluator, GpuOptions, GpuPrecision, Plan,
    bench::random_planes,
    gpu::{Gpu, adapters},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};

/// Between the device and the processor.
const TOLERANCE: f32 = 1e-3;

#[test]
fn a_lost_device_is_an_error_and_the_processor_goes_on() {
    let Some(adapter) = adapters().first().map(|adapter| adapter.index) else {
        println!("skipped: there is no Vulkan, Metal or Direct3D adapter here");
        return;
    };
    let shape = LeelaShape::stock(7, 2, 16);
    let network = LeelaNetwork::random(LeelaVersion::V1, shape, 1).to_network();
    let options = GpuOptions {
        adapter: Some(adapter),
        precision: GpuPrecision::F32,
    };
    let alone = Gpu::new(&network, options.adapter, options.precision).unwrap();
    let guarded = Backend::Gpu(options).open(&network).unwrap();
    let plan = Plan::new(&network).unwrap();
    let inputs = random_planes(3 * plan.shape().input_len(), 0.2, 8);
    let mut expected = vec![0.0; 3 * plan.shape().output_len()];
    plan.evaluate(&inputs, &mut expected).unwrap();
    let mut outputs = vec![0.0; expected.len()];

    guarded.evaluate(&inputs, &mut outputs).unwrap();
    for (found, expected) in outputs.iter().zip(&expected) {
        assert!((found - expected).abs() <= TOLERANCE);
    }

    alone.lose_device();
    let error = alone.evaluate(&inputs, &mut outputs).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains(&alone.adapter()), "{error}");

    // The same call of the evaluator that players use has its answer from the processor, to the last bit.
    for _ in 0..2 {
        outputs.fill(f32::NAN);
        guarded.evaluate(&inputs, &mut outputs).unwrap();
        assert_eq!(outputs, expected);
    }

    // What is opened next gets a fresh device.
    let again = Gpu::new(&network, options.adapter, options.precision).unwrap();
    again.evaluate(&inputs, &mut outputs).unwrap();
    for (found, expected) in outputs.iter().zip(&expected) {
        assert!((found - expected).abs() <= TOLERANCE);
    }
}
