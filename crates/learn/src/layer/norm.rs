//! Batch norm: the parameters, the statistics and the algebra that the fused kernels need.
//!
//! Forward, a channel is `y = γ·x̂ + β` with `x̂ = (z − mean)·r` and `r = 1/√(variance + ε)`. Backward, with `g = dL/dy`,
//! `dβ = Σg`, `dγ = Σg·x̂` and `dz = γ·r·(g − dβ/n − x̂·dγ/n)`, which is a straight line in `g` and `z`.

use net::training::conv::{Affine, Sums, padded};

use crate::param::Param;

/// Added to the variance; the value of Leela Zero and of most libraries.
pub const EPSILON: f64 = 1e-5;

/// The ways in which batch norms differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormStyle {
    /// Whether the convolution has a bias of its own.
    pub biased: bool,
    /// Whether there is a scale.
    pub scaled: bool,
    /// Whether the parameters decay like weights.
    pub decays: bool,
    /// Share of the old running statistics kept in each step.
    pub keep: f32,
}

/// Batch norm of one convolution's channels.
#[derive(Clone, Debug)]
pub struct Norm {
    channels: usize,
    /// The convolution's own bias, which acts before the norm and which batch statistics cancel: it only decays.
    pub bias: Option<Param>,
    /// Scale; absent in Leela Zero's networks, where it would be redundant.
    pub gamma: Option<Param>,
    /// Shift.
    pub beta: Param,
    /// Running mean.
    pub mean: Vec<f32>,
    /// Running variance.
    pub variance: Vec<f32>,
    /// Share of the old running statistics kept in each step.
    pub keep: f32,
    /// `scale·z + shift` is the normalised output.
    pub line: Affine,
    /// `scale·z + shift` is `x̂`.
    pub standard: Affine,
    /// Batches averaged since the statistics were restarted; none while they run normally.
    averaged: Option<u32>,
    /// What is measured of the input while the norm plays; none in training.
    measured: Option<Measured>,
}

/// Sums over the input of a norm, by channel.
#[derive(Clone, Debug)]
struct Measured {
    count: f64,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Norm {
    /// A norm that starts as the identity on standardised channels.
    pub fn new(name: &str, channels: usize, style: NormStyle) -> Self {
        let NormStyle {
            biased,
            scaled,
            decays,
            keep,
        } = style;
        let wide = padded(channels);
        Self {
            channels,
            bias: biased.then(|| Param::constant(format!("{name}/bias"), &[channels], 0.0, decays)),
            gamma: scaled
                .then(|| Param::constant(format!("{name}/gamma"), &[channels], 1.0, decays)),
            beta: Param::constant(format!("{name}/beta"), &[channels], 0.0, decays),
            mean: vec![0.0; channels],
            variance: vec![1.0; channels],
            keep,
            line: Affine {
                scale: vec![0.0; wide],
                shift: vec![0.0; wide],
            },
            standard: Affine {
                scale: vec![0.0; wide],
                shift: vec![0.0; wide],
            },
            averaged: None,
            measured: None,
        }
    }

    /// What it was made with.
    pub fn style(&self) -> NormStyle {
        NormStyle {
            biased: self.bias.is_some(),
            scaled: self.gamma.is_some(),
            decays: self.beta.decays,
            keep: self.keep,
        }
    }

    fn gamma(&self, channel: usize) -> f64 {
        self.gamma
            .as_ref()
            .map_or(1.0, |gamma| f64::from(gamma.values[channel]))
    }

    /// Sets the line from the statistics of a batch (`Σz`, `Σz²` over `count` numbers) and moves the running ones.
    pub fn train(&mut self, sums: &Sums, count: usize) {
        let count = count.max(1) as f64;
        let unbiased = count / (count - 1.0).max(1.0);
        let keep = match &mut self.averaged {
            Some(batches) => {
                *batches += 1;
                1.0 - 1.0 / *batches as f32
            }
            None => self.keep,
        };
        for channel in 0..self.channels {
            let mean = sums.first[channel] / count;
            let variance = (sums.second[channel] / count - mean * mean).max(0.0);
            self.set_line(channel, mean, variance);
            let (old_mean, old_variance) = (&mut self.mean[channel], &mut self.variance[channel]);
            let biased_mean = (mean + bias_of(&self.bias, channel)) as f32;
            *old_mean = keep * *old_mean + (1.0 - keep) * biased_mean;
            *old_variance = keep * *old_variance + (1.0 - keep) * (variance * unbiased) as f32;
        }
    }

    /// Sets the line from the running statistics.
    pub fn evaluate(&mut self) {
        for channel in 0..self.channels {
            self.set_line(
                channel,
                f64::from(self.mean[channel]) - bias_of(&self.bias, channel),
                f64::from(self.variance[channel]),
            );
        }
    }

    fn set_line(&mut self, channel: usize, mean: f64, variance: f64) {
        let inverse = 1.0 / (variance + EPSILON).sqrt();
        let scale = self.gamma(channel) * inverse;
        self.standard.scale[channel] = inverse as f32;
        self.standard.shift[channel] = (-mean * inverse) as f32;
        self.line.scale[channel] = scale as f32;
        self.line.shift[channel] = (f64::from(self.beta.values[channel]) - mean * scale) as f32;
    }

    /// Adds the parameters' gradients from `Σg` and `Σg·x̂` and returns the line of `dz`: factors of `g`, constants,
    /// and factors of `z`.
    pub fn backward(&mut self, sums: &Sums, count: usize) -> (Affine, Vec<f32>) {
        let wide = padded(self.channels);
        let count = count.max(1) as f64;
        let mut line = Affine {
            scale: vec![0.0; wide],
            shift: vec![0.0; wide],
        };
        let mut by_output = vec![0.0; wide];
        for (channel, by_output) in by_output.iter_mut().enumerate().take(self.channels) {
            let (sum, product) = (sums.first[channel], sums.second[channel]);
            self.beta.gradient[channel] += sum as f32;
            if let Some(gamma) = &mut self.gamma {
                gamma.gradient[channel] += product as f32;
            }
            let scale = f64::from(self.line.scale[channel]);
            let (inverse, offset) = (
                f64::from(self.standard.scale[channel]),
                f64::from(self.standard.shift[channel]),
            );
            line.scale[channel] = scale as f32;
            *by_output = (-scale * inverse * product / count) as f32;
            line.shift[channel] = (-scale * (sum + offset * product) / count) as f32;
        }
        (line, by_output)
    }

    /// Starts averaging the statistics of the following batches from nothing.
    pub fn restart(&mut self) {
        self.averaged = Some(0);
    }

    /// Ends that averaging: statistics move as before.
    pub fn resume(&mut self) {
        self.averaged = None;
    }

    /// Sets factor and addend of every channel as [`Self::folded`] returns them, for an input of mean 0 and variance 1.
    pub fn set_folded(&mut self, lines: impl Iterator<Item = (f32, f32)>) {
        self.mean.fill(0.0);
        self.variance.fill((1.0 - EPSILON) as f32);
        for (channel, (scale, shift)) in lines.enumerate() {
            if let Some(gamma) = &mut self.gamma {
                gamma.values[channel] = scale;
            }
            self.beta.values[channel] = shift;
        }
    }

    /// Lets the following passes measure the input until [`Self::adopt_measured`].
    pub fn start_measuring(&mut self) {
        self.measured = Some(Measured {
            count: 0.0,
            first: vec![0.0; self.channels],
            second: vec![0.0; self.channels],
        });
    }

    /// Adds an input (`Σz`, `Σz²` over `count` numbers) to what is measured, if anything is.
    pub fn measure(&mut self, sums: &Sums, count: usize) {
        let Some(measured) = &mut self.measured else {
            return;
        };
        measured.count += count as f64;
        for channel in 0..self.channels {
            measured.first[channel] += sums.first[channel];
            measured.second[channel] += sums.second[channel];
        }
    }

    /// Takes the measured mean and variance as the running ones, and changes the parameters so that [`Self::folded`]
    /// stays the same. Does nothing if nothing was measured.
    pub fn adopt_measured(&mut self) {
        let Some(measured) = self.measured.take().filter(|it| it.count > 0.0) else {
            return;
        };
        for channel in 0..self.channels {
            let (scale, shift) = self.folded(channel);
            let mean = measured.first[channel] / measured.count;
            let variance = (measured.second[channel] / measured.count - mean * mean).max(0.0);
            if let Some(gamma) = &mut self.gamma {
                gamma.values[channel] = (scale * (variance + EPSILON).sqrt()) as f32;
            }
            self.beta.values[channel] = (shift + mean * scale) as f32;
            self.mean[channel] = (mean + bias_of(&self.bias, channel)) as f32;
            self.variance[channel] = variance as f32;
        }
    }

    /// The parameters, in order.
    pub fn params_mut(&mut self) -> impl Iterator<Item = &mut Param> {
        self.bias
            .iter_mut()
            .chain(&mut self.gamma)
            .chain(std::iter::once(&mut self.beta))
    }

    /// Factor and addend of a channel when playing, in f64.
    pub fn folded(&self, channel: usize) -> (f64, f64) {
        let scale = self.gamma(channel) / (f64::from(self.variance[channel]) + EPSILON).sqrt();
        let mean = f64::from(self.mean[channel]) - bias_of(&self.bias, channel);
        (scale, f64::from(self.beta.values[channel]) - mean * scale)
    }

    /// The norm of a batch in f64, plain order `[sample][channel][point]`.
    #[cfg(any(test, feature = "exact"))]
    pub fn exact(&self, z: &[f64], points: usize) -> Vec<f64> {
        let channel_of = |index: usize| index / points % self.channels;
        let count = (z.len() / self.channels) as f64;
        let mut mean = vec![0.0; self.channels];
        let mut variance = vec![0.0; self.channels];
        for (index, value) in z.iter().enumerate() {
            mean[channel_of(index)] += value / count;
        }
        for (index, value) in z.iter().enumerate() {
            variance[channel_of(index)] += (value - mean[channel_of(index)]).powi(2) / count;
        }
        z.iter()
            .enumerate()
            .map(|(index, value)| {
                let channel = channel_of(index);
                let standard = (value - mean[channel]) / (variance[channel] + EPSILON).sqrt();
                self.gamma(channel) * standard + f64::from(self.beta.values[channel])
            })
            .collect()
    }
}

fn bias_of(bias: &Option<Param>, channel: usize) -> f64 {
    bias.as_ref()
        .map_or(0.0, |bias| f64::from(bias.values[channel]))
}
