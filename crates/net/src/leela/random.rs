//! Fresh networks to start training from, and to measure with.

use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{ConvRows, DenseRows, LeelaNetwork, LeelaShape, LeelaVersion};

impl LeelaNetwork {
    /// A network of random weights: the same for the same seed on every machine.
    ///
    /// Weights are normal with the variance that keeps the size of what flows through (He 2015); the second
    /// convolution of a block is smaller by the root of the number of blocks, so that deep towers stay in range, too.
    pub fn random(version: LeelaVersion, shape: LeelaShape, seed: u64) -> Self {
        let mut network = Self::zeros(version, shape);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut fill = |weights: &mut [f32], deviation: f32| {
            let normal = Normal::new(0.0, deviation).expect("the deviation is a positive number");
            weights
                .iter_mut()
                .for_each(|weight| *weight = normal.sample(&mut rng));
        };
        let blocks = shape.blocks as f32;
        fill_conv(&mut network.input, 1.0, &mut fill);
        for [first, second] in &mut network.blocks {
            fill_conv(first, 1.0, &mut fill);
            fill_conv(second, blocks.sqrt().recip(), &mut fill);
        }
        fill_conv(&mut network.policy_conv, 1.0, &mut fill);
        fill_dense(&mut network.policy_dense, 1.0, &mut fill);
        fill_conv(&mut network.value_conv, 1.0, &mut fill);
        fill_dense(&mut network.value_hidden, 2.0, &mut fill);
        fill_dense(&mut network.value_output, 1.0, &mut fill);
        network
    }
}

fn fill_conv(rows: &mut ConvRows, factor: f32, fill: &mut impl FnMut(&mut [f32], f32)) {
    let inputs = rows.weights.len() / rows.bias.len();
    fill(&mut rows.weights, factor * (2.0 / inputs as f32).sqrt());
}

fn fill_dense(rows: &mut DenseRows, gain: f32, fill: &mut impl FnMut(&mut [f32], f32)) {
    let inputs = rows.weights.len() / rows.bias.len();
    fill(&mut rows.weights, (gain / inputs as f32).sqrt());
}
