//! Losses: each reads a head's output and the truth, sets the gradient, and returns what it found.
//!
//! All are means over the batch, so that learning rates do not depend on its size.

use serde::{Deserialize, Serialize};

use crate::batch::Batch;

/// A sum over samples, and how many samples it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub sum: f64,
    pub count: f64,
}

impl Tally {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: Tally) {
        self.sum += other.sum;
        self.count += other.count;
    }

    /// The mean; nothing without samples.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

/// `−Σ t·log softmax(z)` over the first `target.shape.len()` logits, weighted; targets that are all zero are left out.
///
/// Returns the loss and how often the largest logit was the largest target.
pub fn cross_entropy(
    logits: &Batch,
    target: &Batch,
    weight: f32,
    gradient: &mut Batch,
) -> [Tally; 2] {
    masked_cross_entropy(logits, target, None, weight, gradient)
}

/// [`cross_entropy`] over the choices whose `mask` is not zero: the others get probability zero and no gradient.
pub fn masked_cross_entropy(
    logits: &Batch,
    target: &Batch,
    mask: Option<&Batch>,
    weight: f32,
    gradient: &mut Batch,
) -> [Tally; 2] {
    let choices = target.shape.len();
    let share = weight / logits.samples().max(1) as f32;
    let mut tallies = [Tally::default(); 2];
    for index in 0..logits.samples() {
        let row = &logits.sample(index)[..choices];
        let truth = &target.sample(index)[..choices];
        let slope = gradient.sample_mut(index);
        slope.fill(0.0);
        let total: f32 = truth.iter().sum();
        let allowed = |choice: usize| mask.is_none_or(|mask| mask.sample(index)[choice] != 0.0);
        let largest = (0..choices)
            .filter(|&choice| allowed(choice))
            .map(|choice| row[choice])
            .fold(f32::NEG_INFINITY, f32::max);
        if total <= 0.0 || largest == f32::NEG_INFINITY {
            continue;
        }
        let mut sum = 0.0_f64;
        for choice in (0..choices).filter(|&choice| allowed(choice)) {
            let power = (row[choice] - largest).exp();
            slope[choice] = power;
            sum += f64::from(power);
        }
        let log_sum = sum.ln();
        let mut loss = 0.0;
        for choice in (0..choices).filter(|&choice| allowed(choice)) {
            let probability = (f64::from(slope[choice]) / sum) as f32;
            slope[choice] = share * (total * probability - truth[choice]);
            if truth[choice] > 0.0 {
                loss -= f64::from(truth[choice]) * (f64::from(row[choice] - largest) - log_sum);
            }
        }
        tallies[0].add(loss);
        let best = best_of(row, &allowed);
        tallies[1].add(f64::from(u8::from(best == best_of(truth, &allowed))));
    }
    tallies
}

/// The first largest number among those allowed.
fn best_of(row: &[f32], allowed: &impl Fn(usize) -> bool) -> Option<usize> {
    (0..row.len())
        .filter(|&index| allowed(index))
        .fold(None, |best: Option<usize>, index| match best {
            Some(best) if row[best] >= row[index] => Some(best),
            _ => Some(index),
        })
}

/// A last function of one number, with its derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squash {
    /// `tanh(x)`.
    Tanh,
    /// `1 / (1 + exp(−x))`.
    Sigmoid,
    /// `ln(1 + exp(x))`, and `x` itself above 5, as the seed's library computes it.
    Softplus,
}

/// Above this, softplus is the identity.
const SOFTPLUS_THRESHOLD: f32 = 5.0;

impl Squash {
    /// The value and the derivative at `x`.
    pub fn at(self, x: f32) -> (f32, f32) {
        match self {
            Squash::Tanh => {
                let value = x.tanh();
                (value, 1.0 - value * value)
            }
            Squash::Sigmoid => {
                let value = 1.0 / (1.0 + (-x).exp());
                (value, value * (1.0 - value))
            }
            Squash::Softplus if x > SOFTPLUS_THRESHOLD => (x, 1.0),
            Squash::Softplus => (x.exp().ln_1p(), 1.0 / (1.0 + (-x).exp())),
        }
    }
}

/// `weight·(squash(x) − t)²` for one number a sample; a target that is not a number is left out.
///
/// Returns the loss without its weight, and how often prediction and truth lie on the same side of `middle`.
pub fn squared(
    outputs: &Batch,
    squash: Squash,
    targets: &[f32],
    middle: f32,
    weight: f32,
    gradient: &mut Batch,
) -> [Tally; 2] {
    let share = weight / outputs.samples().max(1) as f32;
    let mut tallies = [Tally::default(); 2];
    for (index, &target) in targets.iter().enumerate() {
        let slope = gradient.sample_mut(index);
        slope.fill(0.0);
        if target.is_nan() {
            continue;
        }
        let (value, derivative) = squash.at(outputs.sample(index)[0]);
        let error = value - target;
        slope[0] = 2.0 * share * error * derivative;
        tallies[0].add(f64::from(error * error));
        tallies[1].add(f64::from(u8::from(
            (value - middle) * (target - middle) > 0.0,
        )));
    }
    tallies
}

/// `−t·ln p − (1−t)·ln(1−p)` with `p = sigmoid(x)`, number by number; targets that are not numbers are left out.
///
/// Returns the loss per number and how often `p` and `t` lie on the same side of one half.
pub fn logistic(outputs: &Batch, targets: &Batch, weight: f32, gradient: &mut Batch) -> [Tally; 2] {
    let share = weight / outputs.samples().max(1) as f32;
    let length = targets.shape.len();
    let mut tallies = [Tally::default(); 2];
    for index in 0..outputs.samples() {
        let slope = gradient.sample_mut(index);
        slope.fill(0.0);
        let truth = &targets.sample(index)[..length];
        let known = truth.iter().filter(|value| !value.is_nan()).count();
        let share = share / known.max(1) as f32;
        for ((slope, &x), &target) in slope.iter_mut().zip(outputs.sample(index)).zip(truth) {
            if target.is_nan() {
                continue;
            }
            let probability = 1.0 / (1.0 + (-x).exp());
            *slope = share * (probability - target);
            let loss = x.max(0.0) - x * target + (-x.abs()).exp().ln_1p();
            tallies[0].add(f64::from(loss));
            tallies[1].add(f64::from(u8::from((x > 0.0) == (target > 0.5))));
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Shape;

    /// Compares `gradient` with finite differences of `loss` in f64.
    fn check(name: &str, outputs: &Batch, gradient: &Batch, loss: impl Fn(&[f64]) -> f64) {
        const STEP: f64 = 1e-6;
        let length = outputs.shape.len();
        let base: Vec<f64> = (0..outputs.samples())
            .flat_map(|index| outputs.plain(index))
            .map(f64::from)
            .collect();
        for index in 0..base.len() {
            let mut moved = base.clone();
            moved[index] += STEP;
            let above = loss(&moved);
            moved[index] -= 2.0 * STEP;
            let exact = (above - loss(&moved)) / (2.0 * STEP);
            let got = f64::from(gradient.sample(index / length)[index % length]);
            assert!(
                (got - exact).abs() < 1e-5,
                "{name} [{index}]: {got} instead of {exact}"
            );
        }
    }

    fn batch(length: usize, rows: &[&[f32]]) -> Batch {
        let mut batch = Batch::zeros(Shape::Row(length), rows.len());
        for (index, row) in rows.iter().enumerate() {
            batch.set_plain(index, row);
        }
        batch
    }

    #[test]
    fn masked_cross_entropy_gradient_equals_finite_differences() {
        let logits = batch(
            4,
            &[
                &[0.3, -1.0, 2.0, 0.1],
                &[1.0, 1.5, -0.5, 0.0],
                &[0.0, 0.0, 9.0, 0.0],
            ],
        );
        let target = batch(
            4,
            &[&[0.5, 0.0, 0.25, 0.25], &[0.0, 1.0, 0.0, 0.0], &[0.0; 4]],
        );
        let mask = batch(4, &[&[1.0; 4], &[1.0, 1.0, 0.0, 1.0], &[1.0; 4]]);
        let exact = |z: &[f64]| {
            let mut sum = 0.0;
            for (index, row) in z.chunks_exact(4).enumerate() {
                let allowed = |choice: &usize| mask.sample(index)[*choice] != 0.0;
                let total: f64 = (0..4).filter(allowed).map(|choice| row[choice].exp()).sum();
                for choice in (0..4).filter(allowed) {
                    sum -= f64::from(target.sample(index)[choice]) * (row[choice] - total.ln());
                }
            }
            0.7 * sum / 3.0
        };
        let mut gradient = Batch::zeros(logits.shape, 3);
        let [loss, right] = masked_cross_entropy(&logits, &target, Some(&mask), 0.7, &mut gradient);
        check("cross-entropy", &logits, &gradient, exact);
        assert_eq!(loss.count, 2.0);
        assert_eq!(right.sum, 1.0);
    }

    #[test]
    fn squared_loss_gradient_equals_finite_differences_for_every_squash() {
        let outputs = batch(1, &[&[0.4], &[-2.0], &[6.0], &[1.0]]);
        let targets = [1.0, -1.0, 3.0, f32::NAN];
        for squash in [Squash::Tanh, Squash::Sigmoid, Squash::Softplus] {
            let mut gradient = Batch::zeros(outputs.shape, 4);
            let [loss, _] = squared(&outputs, squash, &targets, 0.0, 0.5, &mut gradient);
            assert_eq!(loss.count, 3.0);
            let exact = |x: &[f64]| {
                let value = |x: f64| match squash {
                    Squash::Tanh => x.tanh(),
                    Squash::Sigmoid => 1.0 / (1.0 + (-x).exp()),
                    Squash::Softplus if x > 5.0 => x,
                    Squash::Softplus => x.exp().ln_1p(),
                };
                (0..3)
                    .map(|index| (value(x[index]) - f64::from(targets[index])).powi(2))
                    .sum::<f64>()
                    * 0.5
                    / 4.0
            };
            check("squared", &outputs, &gradient, exact);
        }
    }

    #[test]
    fn logistic_loss_gradient_equals_finite_differences() {
        let outputs = batch(3, &[&[0.4, -3.0, 8.0], &[0.1, 0.2, -0.3]]);
        let targets = batch(3, &[&[1.0, 0.0, f32::NAN], &[0.0, 1.0, 0.5]]);
        let mut gradient = Batch::zeros(outputs.shape, 2);
        logistic(&outputs, &targets, 1.3, &mut gradient);
        check("logistic", &outputs, &gradient, |x| {
            let term = |index: usize, t: f64| {
                let p = 1.0 / (1.0 + (-x[index]).exp());
                -t * p.ln() - (1.0 - t) * (1.0 - p).ln()
            };
            1.3 / 2.0
                * ((term(0, 1.0) + term(1, 0.0)) / 2.0
                    + (term(3, 0.0) + term(4, 1.0) + term(5, 0.5)) / 3.0)
        });
    }
}
