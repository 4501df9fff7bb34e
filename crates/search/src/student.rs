//! Quantiles of Student's t distribution, for confidence bounds of means.
//!
//! The upper tail at `t` with `v` degrees of freedom is half the regularised
//! incomplete beta function `I_x(v/2, 1/2)` at `x = v / (v + t^2)`, which a
//! continued fraction gives to full precision. The quantile follows by
//! Newton's method on the logarithm of the tail over the logarithm of `t`:
//! that curve is concave and falls, so starting from the quantile for one
//! degree of freedom less (which is larger) the steps never overshoot.

use std::f64::consts::PI;

/// Degrees of freedom tabulated; the quantile is constant above.
const DEGREES: usize = 1000;

/// Relative change of `t` at which Newton's method has converged.
const TOLERANCE: f64 = 1e-14;

/// More steps than Newton's method ever needs here.
const MAX_STEPS: usize = 200;

/// Upper quantiles for one error probability.
#[derive(Debug)]
pub(crate) struct StudentTable {
    alpha: f64,
    quantiles: Vec<f64>,
}

impl StudentTable {
    /// Tabulates `t` such that a variate exceeds it with probability `alpha`,
    /// which must lie between 0 and one half.
    pub fn new(alpha: f64) -> Self {
        // One degree of freedom is Cauchy's distribution.
        let mut t = 1.0 / (PI * alpha).tan();
        let mut gamma_ratio = 1.0 / PI.sqrt();
        let mut quantiles = vec![t];
        for degrees in 2..=DEGREES {
            // Gamma((v+1)/2) / Gamma(v/2) from its value at v - 1.
            gamma_ratio = (degrees - 1) as f64 / 2.0 / gamma_ratio;
            t = quantile_below(t, degrees as f64, gamma_ratio, alpha);
            quantiles.push(t);
        }
        StudentTable { alpha, quantiles }
    }

    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The quantile for so many degrees of freedom (at least 1).
    pub fn quantile(&self, degrees: u32) -> f64 {
        let row = (degrees.max(1) as usize).min(DEGREES);
        self.quantiles[row - 1]
    }
}

/// Newton's method from a start at or above the quantile.
fn quantile_below(start: f64, degrees: f64, gamma_ratio: f64, alpha: f64) -> f64 {
    let mut t = start;
    for _ in 0..MAX_STEPS {
        let tail = upper_tail(t, degrees, gamma_ratio);
        let base = 1.0 + t * t / degrees;
        let density =
            gamma_ratio / (degrees * PI).sqrt() * (-(degrees + 1.0) / 2.0 * base.ln()).exp();
        let step = (tail / alpha).ln() / (density * t / tail);
        t *= step.exp();
        if step.abs() < TOLERANCE {
            break;
        }
    }
    t
}

fn upper_tail(t: f64, degrees: f64, gamma_ratio: f64) -> f64 {
    let x = degrees / (degrees + t * t);
    let a = degrees / 2.0;
    // x^a (1-x)^(1/2) / (a B(a, 1/2)), and 1/B(a, 1/2) = ratio / sqrt(pi).
    let front = (a * x.ln()).exp() * (1.0 - x).sqrt() * gamma_ratio / PI.sqrt() / a;
    0.5 * front / beta_fraction(x, a, 0.5)
}

/// The continued fraction of the incomplete beta function, from the back:
/// `1 + d1 / (1 + d2 / (1 + ...))`, Abramowitz and Stegun 26.5.8.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    // Terms fall geometrically for x below (a+1)/(a+b+2); this many are ample.
    const TERMS: usize = 120;
    let mut fraction = 1.0;
    for term in (1..=TERMS).rev() {
        let m = (term / 2) as f64;
        let numerator = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        fraction = 1.0 + numerator / fraction;
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_values_for_one_in_a_hundred_thousand() {
        let table = StudentTable::new(1e-5);
        let expected = [
            (1, 31830.99),
            (2, 223.6034),
            (3, 47.92773),
            (4, 23.33218),
            (5, 15.54685),
            (9, 8.102058),
            (10, 7.526954),
            (20, 5.542839),
            (50, 4.711008),
            (100, 4.478427),
            (500, 4.306159),
            (1000, 4.285438),
        ];
        for (degrees, t) in expected {
            let relative = (table.quantile(degrees) / t - 1.0).abs();
            assert!(
                relative < 1e-6,
                "v = {degrees}: {}",
                table.quantile(degrees)
            );
        }
        assert_eq!(table.quantile(1_000_000), table.quantile(1000));
    }

    #[test]
    fn quantiles_agree_with_the_textbook_at_other_errors() {
        // Any statistics book, one-sided 0.025 and 0.005.
        for (alpha, degrees, t) in [(0.025, 10, 2.2281), (0.005, 30, 2.7500), (0.025, 4, 2.7764)] {
            let table = StudentTable::new(alpha);
            assert!((table.quantile(degrees) - t).abs() < 5e-5);
        }
    }

    #[test]
    fn two_degrees_have_a_closed_form() {
        for alpha in [1e-9f64, 1e-5, 0.01, 0.3] {
            let closed = (1.0 - 2.0 * alpha) / (2.0 * alpha * (1.0 - alpha)).sqrt();
            let relative = StudentTable::new(alpha).quantile(2) / closed - 1.0;
            assert!(relative.abs() < 1e-10, "{alpha}: {relative}");
        }
    }
}
