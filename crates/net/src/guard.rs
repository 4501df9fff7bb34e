//! A device or library that was compared with our own code on the processor before it is used, and that the processor
//! stands in for when it fails.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::backend::OpenError;
use crate::bench::random_planes;
use crate::evaluator::{EvaluateError, Evaluator};
use crate::network::Network;
use crate::plan::Plan;
use crate::shape::IoShape;

/// Positions that both evaluate before the device is trusted.
const CHECKED_POSITIONS: usize = 3;
/// The share of numbers in them that are not zero, about as in a position.
const DENSITY: f64 = 0.15;
/// How far an output may be off, or its share of an output larger than one: where numbers have 32 bits, and where they
/// may have fewer.
pub(crate) const TOLERANCE_F32: f32 = 1e-3;
pub(crate) const TOLERANCE_F16: f32 = 1e-2;

/// The evaluator, with the processor to go on when it fails.
pub(crate) fn guard(first: impl Evaluator + 'static, network: &Network) -> Arc<dyn Evaluator> {
    Arc::new(Guarded::new(Box::new(first), network))
}

/// Fixed positions and what the processor makes of them.
pub(crate) struct Check {
    inputs: Vec<f32>,
    expected: Vec<f32>,
}

impl Check {
    pub fn new(network: &Network) -> Result<Self, OpenError> {
        let plan = Plan::new(network)?;
        let shape = plan.shape();
        let inputs = random_planes(CHECKED_POSITIONS * shape.input_len(), DENSITY, 1);
        let mut expected = vec![0.0; CHECKED_POSITIONS * shape.output_len()];
        let failed = |error: EvaluateError| OpenError::Failed(error.to_string());
        plan.evaluate(&inputs, &mut expected).map_err(failed)?;
        Ok(Self { inputs, expected })
    }

    /// Compares what `found` says with what the processor does; `name` is what an error calls it.
    pub fn compare(
        &self,
        found: &dyn Evaluator,
        name: &str,
        tolerance: f32,
    ) -> Result<(), OpenError> {
        let shape = found.shape();
        let mut rows = vec![f32::NAN; self.expected.len()];
        found
            .evaluate(&self.inputs, &mut rows)
            .map_err(|error| OpenError::Failed(error.to_string()))?;
        let wrong = rows.iter().zip(&self.expected).position(|(row, expected)| {
            let apart = (row - expected).abs();
            // Not a number is wrong as well.
            apart.is_nan() || apart > tolerance * expected.abs().max(1.0)
        });
        wrong.map_or(Ok(()), |at| {
            let place = at % shape.output_len();
            let output = shape
                .outputs
                .iter()
                .find(|output| output.range.contains(&place));
            Err(OpenError::Wrong {
                runner: name.to_owned(),
                output: output.map_or_else(String::new, |output| output.name.clone()),
                found: rows[at].to_string(),
                expected: self.expected[at].to_string(),
            })
        })
    }
}

/// The device until it fails, the processor from then on.
struct Guarded {
    shape: IoShape,
    batch: usize,
    in_flight: usize,
    /// Taken away, with its memory, once it has failed.
    first: Mutex<Option<Arc<dyn Evaluator>>>,
    network: Network,
    second: OnceLock<Result<Plan, OpenError>>,
}

impl Guarded {
    fn new(first: Box<dyn Evaluator>, network: &Network) -> Self {
        Self {
            shape: first.shape().clone(),
            batch: first.preferred_batch(),
            in_flight: first.in_flight(),
            first: Mutex::new(Some(first.into())),
            network: network.clone(),
            second: OnceLock::new(),
        }
    }

    fn on_processor(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        match self.second.get_or_init(|| Plan::new(&self.network)) {
            Ok(plan) => plan.evaluate(inputs, outputs),
            Err(error) => Err(EvaluateError::Backend(error.to_string())),
        }
    }
}

impl Evaluator for Guarded {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        self.batch
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        let first = self.first.lock();
        let first = first.unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(first) = first {
            let Err(error) = first.evaluate(inputs, outputs) else {
                return Ok(());
            };
            let lost = self.first.lock();
            let lost = lost.unwrap_or_else(PoisonError::into_inner).take();
            // Several threads see the same failure; one of them tells.
            if lost.is_some() {
                eprintln!("{error}; going on with the processor");
            }
        }
        self.on_processor(inputs, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::katago::{KataNetwork, RandomKind};

    fn network() -> Network {
        KataNetwork::random(RandomKind::Nested, 2, 8, 3).network(5, 5)
    }

    /// Answers so many times and then no more.
    struct Failing {
        plan: Plan,
        answers: Mutex<usize>,
    }

    impl Evaluator for Failing {
        fn shape(&self) -> &IoShape {
            self.plan.shape()
        }

        fn preferred_batch(&self) -> usize {
            7
        }

        fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
            let mut left = self.answers.lock().unwrap();
            if *left == 0 {
                outputs.fill(f32::NAN);
                return Err(EvaluateError::Backend("the device is gone".into()));
            }
            *left -= 1;
            self.plan.evaluate(inputs, outputs)
        }
    }

    /// Its value is off by so much.
    struct Off {
        plan: Plan,
        by: f32,
    }

    impl Evaluator for Off {
        fn shape(&self) -> &IoShape {
            self.plan.shape()
        }

        fn preferred_batch(&self) -> usize {
            1
        }

        fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
            self.plan.evaluate(inputs, outputs)?;
            let value = self.shape().output("value").unwrap();
            let len = self.shape().output_len();
            outputs[len..][value][1] += self.by;
            Ok(())
        }
    }

    #[test]
    fn what_computes_wrongly_is_refused_with_the_output_it_has_wrong() {
        let network = network();
        let check = Check::new(&network).unwrap();
        let compare = |by| {
            let plan = Plan::new(&network).unwrap();
            check.compare(&Off { plan, by }, "a card", TOLERANCE_F32)
        };
        assert_eq!(compare(0.0), Ok(()));
        assert_eq!(compare(1e-4), Ok(()));
        for by in [0.5, -0.5, f32::NAN, f32::INFINITY] {
            let refused = compare(by).unwrap_err().to_string();
            assert!(
                refused.starts_with("a card computes wrongly: output value is "),
                "{refused}"
            );
        }
    }

    #[test]
    fn the_processor_takes_over_when_the_device_fails() {
        let network = network();
        let plan = Plan::new(&network).unwrap();
        let len = plan.shape().input_len();
        let inputs = random_planes(2 * len, 0.3, 5);
        let mut expected = vec![0.0; 2 * plan.shape().output_len()];
        plan.evaluate(&inputs, &mut expected).unwrap();
        let failing = Failing {
            plan,
            answers: Mutex::new(1),
        };
        let guarded = Guarded::new(Box::new(failing), &network);
        assert_eq!(guarded.preferred_batch(), 7);
        for call in 0..3 {
            let mut outputs = vec![0.0; expected.len()];
            guarded.evaluate(&inputs, &mut outputs).unwrap();
            assert_eq!(outputs, expected, "call {call}");
            let on_processor = guarded.second.get().is_some();
            assert_eq!(on_processor, call > 0, "call {call}");
        }
    }
}
