//! Activations and the exponential function, several numbers at a time.
//!
//! The exponential is 2 to a whole power times a polynomial on ±ln(2)/2 (Cody and Waite): within two units of the last
//! place of f32. Mish and SiLU are written so that neither end of the number line loses digits: with `e = exp(x)`,
//! `tanh(ln(1 + e)) = n / (n + 2)` for `n = e (e + 2)`, which has no difference of near numbers anywhere.

use super::lanes::Lanes;
use crate::network::Activation;

/// What a layer does to its numbers last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// `max(x, slope * x)`: identity, ReLU and leaky ReLU.
    Slope(f32),
    /// `x * tanh(ln(1 + exp(x)))`.
    Mish,
    /// `x / (1 + exp(-x))`.
    Silu,
}

impl Act {
    pub(crate) const IDENTITY: Self = Self::Slope(1.0);

    /// No number below zero comes out.
    pub(crate) fn never_negative(self) -> bool {
        self == Self::Slope(0.0)
    }

    #[inline(always)]
    pub(crate) fn apply<L: Lanes>(self, x: L) -> L {
        match self {
            Self::Slope(slope) => x.max(x.mul(L::splat(slope))),
            Self::Mish => {
                // Beyond this the factor is 1 in f32; it keeps the square finite.
                let e = exp(x.min(L::splat(MISH_IS_X)));
                let n = e.mul(e.add(L::splat(2.0)));
                x.mul(n.div(n.add(L::splat(2.0))))
            }
            Self::Silu => x.div(L::splat(1.0).add(exp(L::zero().sub(x)))),
        }
    }
}

impl From<Activation> for Act {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Identity => Self::IDENTITY,
            Activation::Relu => Self::Slope(0.0),
            Activation::LeakyRelu(slope) => Self::Slope(slope),
            Activation::Mish => Self::Mish,
            Activation::Silu => Self::Silu,
        }
    }
}

/// From here on `mish(x) = x` in f32.
const MISH_IS_X: f32 = 20.0;

/// The range in which the power of two is a normal number.
const LEAST: f32 = -87.0;
const MOST: f32 = 88.0;

/// Adding and subtracting it rounds to a whole number: 1.5 * 2^23.
const ROUND: f32 = 12_582_912.0;

/// ln(2) in two parts: the first has few digits, so that its product with a whole number is exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// `exp(x)`; below -87 and above 88 it stays what it is there.
#[inline(always)]
pub(crate) fn exp<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(LEAST)).min(L::splat(MOST));
    let power = x
        .mul_add(L::splat(std::f32::consts::LOG2_E), L::splat(ROUND))
        .sub(L::splat(ROUND));
    let rest = power.mul_add(L::splat(-LN2_HIGH), x);
    let rest = power.mul_add(L::splat(-LN2_LOW), rest);
    // 1 + r + r²/2 + ... + r⁶/720.
    let mut sum = L::splat(1.0 / 720.0);
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum.mul_add(rest, L::splat(factor));
    }
    sum.mul(power.two_to())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::kernels::lanes::Job;

    struct Apply<'a> {
        act: Option<Act>,
        numbers: &'a mut [f32],
    }

    impl Job for Apply<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self) {
            for numbers in self.numbers.chunks_exact_mut(L::WIDTH) {
                let x = L::read(numbers);
                let y = match self.act {
                    Some(act) => act.apply(x),
                    None => exp(x),
                };
                y.write(numbers);
            }
        }
    }

    fn samples() -> Vec<f32> {
        (-16_000..16_000)
            .map(|step| step as f32 / 160.0)
            .chain([0.0, -0.0, 1e-20, -1e-20, 1e30, -1e30, 87.5, -87.5].repeat(4))
            .collect()
    }

    fn check(act: Option<Act>, expected: impl Fn(f64) -> f64) {
        for isa in Isa::available() {
            let samples = samples();
            let mut numbers = samples.clone();
            isa.run(Apply {
                act,
                numbers: &mut numbers,
            });
            for (&x, &found) in samples.iter().zip(&numbers) {
                let expected = expected(f64::from(x)) as f32;
                let allowed = 4e-7 * expected.abs() + 1e-37;
                assert!(
                    (found - expected).abs() <= allowed,
                    "{isa:?} {act:?}({x}) = {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn exp_agrees_with_f64_on_its_range() {
        check(None, |x| x.clamp(f64::from(LEAST), f64::from(MOST)).exp());
    }

    #[test]
    fn mish_agrees_with_f64_from_end_to_end() {
        let bound = f64::from(LEAST);
        check(Some(Act::Mish), |x| x * x.max(bound).exp().ln_1p().tanh());
    }

    #[test]
    fn silu_agrees_with_f64_from_end_to_end() {
        check(Some(Act::Silu), |x| {
            x / (1.0 + (-x).min(f64::from(MOST)).exp())
        });
    }
}
