//! The loss of the original Dr. Mario design, term by term.
//!
//! `(won − t)² + ((cleared − t)/max(t,1))² + ((duration − t)/max(t,1))² − Σ t·ln moves`, summed over the batch. The design
//! divides by the truth itself, which is zero for positions after the last virus: hence the guard. Its fifth term, the
//! squared length of all parameters, is weight decay and lives in the optimiser.

use learn::{
    Batch,
    loss::{Squash, Tally},
};

/// Numbers of the head: won, cleared, duration, then the moves.
pub const SCALARS: usize = 3;

/// The truth about a position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Truth {
    /// 1 or −1.
    pub won: f32,
    /// Viruses still cleared.
    pub cleared: f32,
    /// Pills still placed.
    pub duration: f32,
}

impl Truth {
    /// The scalar terms: what squashes the number, the truth, and what divides their difference.
    pub(crate) fn terms(self) -> [(Squash, f32, f32); SCALARS] {
        [
            (Squash::Tanh, self.won, 1.0),
            (Squash::Softplus, self.cleared, self.cleared.max(1.0)),
            (Squash::Softplus, self.duration, self.duration.max(1.0)),
        ]
    }
}

/// The four terms over a batch; `share` multiplies the gradient (1 for the design's sum, 1/batch for a mean).
pub fn design(
    outputs: &Batch,
    truths: &[Truth],
    moves: &Batch,
    share: f32,
    gradient: &mut Batch,
) -> [Tally; 4] {
    let mut tallies = [Tally::default(); 4];
    for (index, truth) in truths.iter().enumerate() {
        let row = outputs.sample(index);
        let slope = gradient.sample_mut(index);
        slope.fill(0.0);
        for (term, (squash, target, divisor)) in truth.terms().into_iter().enumerate() {
            let (value, derivative) = squash.at(row[term]);
            let error = (value - target) / divisor;
            slope[term] = share * 2.0 * error / divisor * derivative;
            tallies[term].add(f64::from(error * error));
        }
        let targets = &moves.sample(index)[..moves.shape.len()];
        let logits = &row[SCALARS..SCALARS + targets.len()];
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let total: f64 = logits.iter().map(|&x| f64::from(sigmoid(x))).sum();
        let weight: f32 = targets.iter().sum();
        let mut loss = 0.0;
        for ((&x, &target), slope) in logits.iter().zip(targets).zip(&mut slope[SCALARS..]) {
            let value = sigmoid(x);
            let pull = f64::from(value * (1.0 - value)) / total.max(f64::MIN_POSITIVE);
            *slope = share * (weight * pull as f32 - target * (1.0 - value));
            if target > 0.0 {
                // ln sigmoid(x) without underflow.
                let log = x.min(0.0) - (-x.abs()).exp().ln_1p();
                loss -= f64::from(target) * (f64::from(log) - total.ln());
            }
        }
        tallies[SCALARS].add(loss);
    }
    tallies
}
