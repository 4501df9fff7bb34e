//! How gradients move parameters.

use serde::{Deserialize, Serialize};

use crate::param::Param;

/// The rule, with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Stochastic gradient descent with Nesterov's momentum, or the classical one.
    Momentum {
        /// Share of the velocity kept.
        momentum: f32,
        /// Nesterov's look ahead.
        nesterov: bool,
    },
    /// Adam; weight decay is decoupled from the gradient (AdamW).
    Adam {
        /// Share of the mean gradient kept.
        beta1: f32,
        /// Share of the mean squared gradient kept.
        beta2: f32,
        /// Keeps the division harmless.
        epsilon: f32,
    },
}

impl Rule {
    /// Nesterov momentum 0.9, the rule of Leela Zero's trainer.
    pub const NESTEROV: Rule = Rule::Momentum {
        momentum: 0.9,
        nesterov: true,
    };
    /// Adam with the constants of its paper.
    pub const ADAM: Rule = Rule::Adam {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
    };

    /// Tensors of memory for each parameter.
    pub(crate) fn tensors(self) -> usize {
        match self {
            Rule::Momentum { .. } => 1,
            Rule::Adam { .. } => 2,
        }
    }
}

/// A rule with its memory.
#[derive(Clone, Debug)]
pub struct Optimiser {
    pub(crate) rule: Rule,
    /// Factor of the parameter that is added to its gradient (momentum) or taken off it (Adam).
    pub(crate) decay: f32,
    /// Largest length of the whole gradient; none for no limit.
    pub(crate) clip: Option<f32>,
    /// Velocity; or mean and mean square, alternating.
    pub(crate) memory: Vec<Vec<f32>>,
    pub(crate) steps: u64,
}

impl Optimiser {
    /// An optimiser that has seen nothing.
    pub fn new(rule: Rule, decay: f32, clip: Option<f32>) -> Self {
        Self {
            rule,
            decay,
            clip,
            memory: Vec::new(),
            steps: 0,
        }
    }

    /// Moves the parameters against their gradients. Returns the length of the whole gradient.
    pub fn step(&mut self, params: &mut [&mut Param], rate: f32) -> f64 {
        self.fit(params);
        self.steps += 1;
        let length = params
            .iter()
            .flat_map(|param| &param.gradient)
            .map(|&value| f64::from(value) * f64::from(value))
            .sum::<f64>()
            .sqrt();
        let scale = match self.clip {
            Some(limit) if length > f64::from(limit) => limit / length as f32,
            _ => 1.0,
        };
        let per_param = self.rule.tensors();
        for (param, memory) in params
            .iter_mut()
            .zip(self.memory.chunks_exact_mut(per_param))
        {
            let decay = if param.decays { self.decay } else { 0.0 };
            let numbers = param.values.iter_mut().zip(&param.gradient);
            match (self.rule, memory) {
                (Rule::Momentum { momentum, nesterov }, [velocity]) => {
                    for ((value, gradient), velocity) in numbers.zip(velocity) {
                        let gradient = scale * gradient + decay * *value;
                        *velocity = momentum * *velocity + gradient;
                        let direction = if nesterov {
                            gradient + momentum * *velocity
                        } else {
                            *velocity
                        };
                        *value -= rate * direction;
                    }
                }
                (
                    Rule::Adam {
                        beta1,
                        beta2,
                        epsilon,
                    },
                    [mean, square],
                ) => {
                    let mean_scale = unbiased(beta1, self.steps);
                    let square_scale = unbiased(beta2, self.steps);
                    for (((value, gradient), mean), square) in numbers.zip(mean).zip(square) {
                        let gradient = scale * gradient;
                        *mean = beta1 * *mean + (1.0 - beta1) * gradient;
                        *square = beta2 * *square + (1.0 - beta2) * gradient * gradient;
                        let direction =
                            *mean * mean_scale / ((*square * square_scale).sqrt() + epsilon);
                        *value -= rate * (direction + decay * *value);
                    }
                }
                _ => unreachable!("memory is made by `fit`"),
            }
        }
        length
    }

    /// Makes room for the memory of these parameters.
    pub(crate) fn fit(&mut self, params: &[&mut Param]) {
        if self.memory.is_empty() {
            let lengths = self.lengths(params).into_iter();
            self.memory = lengths.map(|length| vec![0.0; length]).collect();
        }
    }

    /// The lengths of the tensors that it remembers for these parameters.
    pub(crate) fn lengths(&self, params: &[&mut Param]) -> Vec<usize> {
        params
            .iter()
            .flat_map(|param| std::iter::repeat_n(param.values.len(), self.rule.tensors()))
            .collect()
    }
}

/// What a mean that keeps `share` of itself in each of `steps` steps is multiplied by, since it began at zero.
pub(crate) fn unbiased(share: f32, steps: u64) -> f32 {
    let steps = steps.min(i32::MAX as u64) as i32;
    1.0 / (1.0 - share.powi(steps))
}

/// Learning rate over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The highest rate.
    pub rate: f32,
    /// Steps over which the rate rises from nothing.
    #[serde(default)]
    pub warm_up: u64,
    /// What follows.
    #[serde(default)]
    pub then: Decay,
}

/// How a learning rate falls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decay {
    /// It does not.
    #[default]
    Constant,
    /// Half a cosine down to this share of the rate.
    Cosine {
        /// The share at the end.
        last: f32,
    },
    /// The full rate, then a straight line down to this share of it.
    Linear {
        /// Share of the training after which it falls.
        from: f64,
        /// The share at the end.
        last: f32,
    },
    /// Multiplied by a factor at given steps.
    Steps {
        /// Steps after which the rate drops.
        at: Vec<u64>,
        factor: f32,
    },
}

impl Schedule {
    /// The rate of step `step` (counted from 0) of `steps`.
    pub fn at(&self, step: u64, steps: u64) -> f32 {
        if step < self.warm_up {
            return self.rate * (step + 1) as f32 / self.warm_up as f32;
        }
        match &self.then {
            Decay::Constant => self.rate,
            Decay::Cosine { last } => {
                let length = steps.saturating_sub(self.warm_up).max(1);
                let done = ((step - self.warm_up) as f64 / length as f64).min(1.0);
                let height = (1.0 + (std::f64::consts::PI * done).cos()) / 2.0;
                self.rate * (last + (1.0 - last) * height as f32)
            }
            Decay::Linear { from, last } => {
                let first = from * steps as f64;
                let length = (steps as f64 - first).max(1.0);
                let done = ((step as f64 - first) / length).clamp(0.0, 1.0);
                self.rate * (1.0 - (1.0 - last) * done as f32)
            }
            Decay::Steps { at, factor } => {
                let passed = at.iter().filter(|&&drop| step >= drop).count();
                self.rate * factor.powi(passed as i32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bowl(rule: Rule, rate: f32) -> Vec<f32> {
        let mut param = Param::constant("x", &[2], 0.0, false);
        param.values = vec![3.0, -2.0];
        let mut optimiser = Optimiser::new(rule, 0.0, None);
        for _ in 0..400 {
            param.gradient = vec![2.0 * param.values[0], 20.0 * param.values[1]];
            optimiser.step(&mut [&mut param], rate);
        }
        param.values
    }

    #[test]
    fn every_rule_reaches_the_bottom_of_a_bowl() {
        let plain = Rule::Momentum {
            momentum: 0.9,
            nesterov: false,
        };
        for (rule, rate) in [(Rule::NESTEROV, 0.01), (plain, 0.01), (Rule::ADAM, 0.05)] {
            for value in bowl(rule, rate) {
                assert!(value.abs() < 1e-2, "{rule:?}: {value}");
            }
        }
    }

    #[test]
    fn nesterov_equals_its_definition_over_three_steps() {
        // x' = x - rate·(g + m·v'), v' = m·v + g, on the loss x²/2, worked out by hand.
        let mut param = Param::constant("x", &[1], 1.0, false);
        let mut optimiser = Optimiser::new(Rule::NESTEROV, 0.0, None);
        let expected = [0.81, 0.5751, 0.327_321];
        for value in expected {
            param.gradient = param.values.clone();
            optimiser.step(&mut [&mut param], 0.1);
            assert!(
                (param.values[0] - value).abs() < 1e-5,
                "{} {value}",
                param.values[0]
            );
        }
    }

    #[test]
    fn decay_spares_what_does_not_decay_and_clipping_bounds_the_step() {
        let mut weight = Param::constant("w", &[1], 2.0, true);
        let mut bias = Param::constant("b", &[1], 2.0, false);
        let mut optimiser = Optimiser::new(
            Rule::Momentum {
                momentum: 0.0,
                nesterov: false,
            },
            0.5,
            Some(1.0),
        );
        optimiser.step(&mut [&mut weight, &mut bias], 0.1);
        assert_eq!((weight.values[0], bias.values[0]), (1.9, 2.0));
        bias.gradient[0] = 100.0;
        let length = optimiser.step(&mut [&mut weight, &mut bias], 0.1);
        assert_eq!(length, 100.0);
        assert!((bias.values[0] - 1.9).abs() < 1e-6);
    }

    #[test]
    fn schedules_rise_then_fall() {
        let schedule = Schedule {
            rate: 1.0,
            warm_up: 10,
            then: Decay::Cosine { last: 0.1 },
        };
        assert_eq!(schedule.at(0, 110), 0.1);
        assert_eq!(schedule.at(9, 110), 1.0);
        assert_eq!(schedule.at(10, 110), 1.0);
        assert!((schedule.at(60, 110) - 0.55).abs() < 1e-6);
        assert!((schedule.at(110, 110) - 0.1).abs() < 1e-6);
        let line = Schedule {
            rate: 1.0,
            warm_up: 0,
            then: Decay::Linear {
                from: 0.5,
                last: 0.0,
            },
        };
        assert_eq!((line.at(0, 100), line.at(50, 100)), (1.0, 1.0));
        assert!((line.at(75, 100) - 0.5).abs() < 1e-6);
        assert!(line.at(100, 100).abs() < 1e-6);
        let steps = Schedule {
            rate: 1.0,
            warm_up: 0,
            then: Decay::Steps {
                at: vec![5, 8],
                factor: 0.1,
            },
        };
        assert_eq!((steps.at(4, 10), steps.at(5, 10)), (1.0, 0.1));
        assert!((steps.at(9, 10) - 0.01).abs() < 1e-7);
    }
}
