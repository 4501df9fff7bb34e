//! A tensor that training changes, with its gradient.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Numbers to be learnt.
#[derive(Clone, Debug)]
pub struct Param {
    /// What it is, such as `tower/3/conv`.
    pub name: String,
    /// Its dimensions, slowest first.
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
    /// The gradient of the loss, set by the backward pass.
    pub gradient: Vec<f32>,
    /// Whether weight decay applies.
    pub decays: bool,
}

impl Param {
    /// A tensor of one number repeated.
    pub fn constant(name: impl Into<String>, shape: &[usize], value: f32, decays: bool) -> Self {
        let length = shape.iter().product();
        Self {
            name: name.into(),
            shape: shape.to_vec(),
            values: vec![value; length],
            gradient: vec![0.0; length],
            decays,
        }
    }

    /// A tensor of normal numbers cut at two deviations, as most of the original trainers start.
    pub fn normal(
        name: impl Into<String>,
        shape: &[usize],
        deviation: f32,
        random: &mut impl Rng,
    ) -> Self {
        /// Where the normal distribution is cut.
        const CUT: f32 = 2.0;
        let mut param = Self::constant(name, shape, 0.0, true);
        for value in &mut param.values {
            *value = loop {
                let draw: f32 = StandardNormal.sample(random);
                if draw.abs() <= CUT {
                    break draw * deviation;
                }
            };
        }
        param
    }

    /// Forgets the gradient.
    pub fn clear(&mut self) {
        self.gradient.fill(0.0);
    }
}
