//! A fully connected layer on the rows of all samples.

use rand::Rng;

use crate::param::Param;

/// `rows·weightsᵀ + bias`, and a rectifier if wanted.
pub(super) struct Rows {
    pub(super) weights: Param,
    pub(super) bias: Param,
    inputs: usize,
    outputs: usize,
    rectified: bool,
}

impl Rows {
    pub(super) fn new(
        name: &str,
        [inputs, outputs]: [usize; 2],
        rectified: bool,
        deviation: f32,
        random: &mut impl Rng,
    ) -> Self {
        Self {
            weights: Param::normal(
                format!("{name}/weights"),
                &[outputs, inputs],
                deviation,
                random,
            ),
            bias: Param::constant(format!("{name}/bias"), &[outputs], 0.0, false),
            inputs,
            outputs,
            rectified,
        }
    }

    pub(super) fn forward(&self, rows: &[f32]) -> Vec<f32> {
        let mut out = Vec::with_capacity(rows.len() / self.inputs * self.outputs);
        for row in rows.chunks_exact(self.inputs) {
            for (weights, bias) in self
                .weights
                .values
                .chunks_exact(self.inputs)
                .zip(&self.bias.values)
            {
                let sum: f32 = weights.iter().zip(row).map(|(weight, x)| weight * x).sum();
                let value = sum + bias;
                out.push(if self.rectified {
                    value.max(0.0)
                } else {
                    value
                });
            }
        }
        out
    }

    /// Adds the parameters' gradients and returns that of the rows. `out` is what the forward pass returned.
    pub(super) fn backward(&mut self, rows: &[f32], out: &[f32], gradient: &[f32]) -> Vec<f32> {
        let mut wanted = vec![0.0; rows.len()];
        let samples = rows
            .chunks_exact(self.inputs)
            .zip(wanted.chunks_exact_mut(self.inputs));
        let gradients = out
            .chunks_exact(self.outputs)
            .zip(gradient.chunks_exact(self.outputs));
        for ((row, wanted), (out, gradient)) in samples.zip(gradients) {
            for output in 0..self.outputs {
                if self.rectified && out[output] <= 0.0 {
                    continue;
                }
                let slope = gradient[output];
                let range = output * self.inputs..(output + 1) * self.inputs;
                self.bias.gradient[output] += slope;
                for (sum, x) in self.weights.gradient[range.clone()].iter_mut().zip(row) {
                    *sum += slope * x;
                }
                for (wanted, weight) in wanted.iter_mut().zip(&self.weights.values[range]) {
                    *wanted += slope * weight;
                }
            }
        }
        wanted
    }

    pub(super) fn params_mut(&mut self) -> [&mut Param; 2] {
        [&mut self.weights, &mut self.bias]
    }
}
