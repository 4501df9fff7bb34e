//! What is wrong with a student's answer, sample by sample.

use learn::loss::{Squash, Tally};

/// Cross entropy of the policy.
pub(crate) const POLICY: &str = "policy";
/// Error of the winning chance.
pub(crate) const WIN: &str = "win";

/// What is measured, the loss that training lowers first. Those of single sizes follow from [`OF_SIZE`] on.
pub(super) const MEASURES: [&str; 14] = [
    "loss",
    POLICY,
    "KL",
    "top-1",
    WIN,
    "lead",
    "spread",
    "ownership",
    "KL 9x9",
    "top-1 9x9",
    "KL 13x13",
    "top-1 13x13",
    "KL 19x19",
    "top-1 19x19",
];
const OF_SIZE: usize = 8;
const SIZES: [usize; 3] = [9, 13, 19];

/// Weights of the errors beside that of the policy and of winning.
const LEAD: f32 = 0.5;
const SPREAD: f32 = 0.25;
const OWNERSHIP: f32 = 0.5;

/// The standard deviation of a normal distribution by its mean absolute deviation.
const DEVIATION: f32 = 1.253_314;

/// The errors of a batch.
pub(super) struct Errors {
    tallies: [Tally; MEASURES.len()],
    /// One over the samples of the batch: gradients are those of the mean.
    share: f32,
}

impl Errors {
    pub fn new(samples: usize) -> Errors {
        Errors {
            tallies: [Tally::default(); MEASURES.len()],
            share: 1.0 / samples.max(1) as f32,
        }
    }

    /// Cross entropy of the policy; returns it.
    pub fn policy(
        &mut self,
        side: usize,
        logits: &[f32],
        truth: &[f32],
        entropy: f64,
        slope: &mut [f32],
    ) -> f64 {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0_f64;
        for (slope, logit) in slope.iter_mut().zip(logits) {
            *slope = (logit - largest).exp();
            sum += f64::from(*slope);
        }
        let log_sum = sum.ln();
        let mut loss = 0.0;
        for ((slope, logit), &truth) in slope.iter_mut().zip(logits).zip(truth) {
            let chance = (f64::from(*slope) / sum) as f32;
            *slope = self.share * (chance - truth);
            if truth > 0.0 {
                loss -= f64::from(truth) * (f64::from(logit - largest) - log_sum);
            }
        }
        let (divergence, right) = (loss - entropy, f64::from(best(logits) == best(truth)));
        self.tallies[1].add(loss);
        self.tallies[2].add(divergence);
        self.tallies[3].add(right);
        if let Some(place) = SIZES.iter().position(|&known| known == side) {
            self.tallies[OF_SIZE + 2 * place].add(divergence);
            self.tallies[OF_SIZE + 2 * place + 1].add(right);
        }
        loss
    }

    /// Logistic error of winning; returns it.
    pub fn win(&mut self, x: f32, truth: f32, slope: &mut f32) -> f64 {
        let chance = 1.0 / (1.0 + (-x).exp());
        *slope = self.share * (chance - truth);
        self.tallies[4].add(f64::from((chance - truth).abs()));
        f64::from(x.max(0.0) - x * truth + (-x.abs()).exp().ln_1p())
    }

    /// Huber's error of the lead; returns it with its weight. Both are in units of `points`.
    pub fn lead(&mut self, x: f32, truth: f32, points: f32, slope: &mut f32) -> f64 {
        let (loss, steep) = huber(x - truth);
        *slope = self.share * LEAD * steep;
        self.tallies[5].add(f64::from(points * (x - truth).abs()));
        f64::from(LEAD * loss)
    }

    /// The same of the spread, which is a softplus. Where nobody knows it, it is learned from how far the score was from
    /// the lead.
    pub fn spread(
        &mut self,
        x: f32,
        truth: Option<f32>,
        off: f32,
        points: f32,
        slope: &mut f32,
    ) -> f64 {
        let truth = truth.unwrap_or(DEVIATION * off.abs());
        let (value, derivative) = Squash::Softplus.at(x);
        let (loss, steep) = huber(value - truth);
        *slope = self.share * SPREAD * steep * derivative;
        self.tallies[6].add(f64::from(points * (value - truth).abs()));
        f64::from(SPREAD * loss)
    }

    /// Squared error of the ownership, which is a tanh; returns it with its weight.
    pub fn ownership(&mut self, raw: &[f32], truth: &[f32], slope: &mut [f32]) -> f64 {
        let each = 1.0 / raw.len().max(1) as f32;
        let (mut squares, mut absolute) = (0.0, 0.0);
        for ((slope, &x), &truth) in slope.iter_mut().zip(raw).zip(truth) {
            let (value, derivative) = Squash::Tanh.at(x);
            let error = value - truth;
            *slope = self.share * OWNERSHIP * each * 2.0 * error * derivative;
            squares += f64::from(error * error);
            absolute += f64::from(error.abs());
        }
        self.tallies[7].add(absolute * f64::from(each));
        f64::from(OWNERSHIP * each) * squares
    }

    /// Counts the whole loss of a sample.
    pub fn total(&mut self, loss: f64) {
        self.tallies[0].add(loss);
    }

    pub fn into_tallies(self) -> Vec<Tally> {
        self.tallies.to_vec()
    }
}

/// Huber's function and its slope: squared below one, straight above.
fn huber(x: f32) -> (f32, f32) {
    if x.abs() < 1.0 {
        (0.5 * x * x, x)
    } else {
        (x.abs() - 0.5, x.signum())
    }
}

/// The first largest number.
fn best(row: &[f32]) -> usize {
    let places = row.iter().enumerate();
    let better = |best: (usize, f32), (place, &value): (usize, &f32)| {
        if value > best.1 { (place, value) } else { best }
    };
    places.fold((0, f32::NEG_INFINITY), better).0
}
