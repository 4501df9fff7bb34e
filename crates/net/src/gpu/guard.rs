//! An evaluator that was compared with the processor before it is used, and that goes on with the processor when the
//! device fails.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::device::{Device, GpuError};
use super::run::{Gpu, WeightStore};
use super::step::Storage;
use crate::backend::{GpuOptions, GpuPrecision, OpenError};
use crate::bench::random_planes;
use crate::evaluator::{EvaluateError, Evaluator};
use crate::network::Network;
use crate::plan::Plan;
use crate::shape::IoShape;

/// Positions that both evaluate before the device is trusted.
const CHECKED_POSITIONS: usize = 3;
/// The share of numbers in them that are not zero, about as in a position.
const DENSITY: f64 = 0.15;
/// How far an output may be off, or its share of an output larger than one.
const TOLERANCE_F32: f32 = 1e-3;
const TOLERANCE_F16: f32 = 1e-2;

/// Opens a network on a graphics processor. With [`GpuPrecision::Auto`] numbers are stored in f16 where the device can
/// and the check passes, else in f32.
pub(crate) fn open(
    network: &Network,
    options: GpuOptions,
    store: &WeightStore,
) -> Result<Arc<dyn Evaluator>, OpenError> {
    let device = Device::open(options.adapter)?;
    let has_f16 = device.about.has_f16;
    let check = Check::new(network)?;
    let open_with = |storage| {
        let gpu = Gpu::on(device.clone(), network, storage, store)?;
        check.compare(&gpu, storage)?;
        Ok(gpu)
    };
    let gpu = match options.precision {
        GpuPrecision::F32 => open_with(Storage::F32),
        GpuPrecision::F16 => open_with(Storage::F16),
        GpuPrecision::Auto if has_f16 => {
            open_with(Storage::F16).or_else(|_: OpenError| open_with(Storage::F32))
        }
        GpuPrecision::Auto => open_with(Storage::F32),
    }?;
    Ok(Arc::new(Guarded::new(Box::new(gpu), network)))
}

/// Fixed positions and what the processor makes of them.
struct Check {
    inputs: Vec<f32>,
    expected: Vec<f32>,
}

impl Check {
    fn new(network: &Network) -> Result<Self, OpenError> {
        let plan = Plan::new(network)?;
        let shape = plan.shape();
        let inputs = random_planes(CHECKED_POSITIONS * shape.input_len(), DENSITY, 1);
        let mut expected = vec![0.0; CHECKED_POSITIONS * shape.output_len()];
        plan.evaluate(&inputs, &mut expected)
            .map_err(|error| GpuError::Device {
                adapter: "the processor".into(),
                reason: error.to_string(),
            })?;
        Ok(Self { inputs, expected })
    }

    fn compare(&self, gpu: &Gpu, storage: Storage) -> Result<(), GpuError> {
        let tolerance = match storage {
            Storage::F32 => TOLERANCE_F32,
            Storage::F16 => TOLERANCE_F16,
        };
        let mut found = vec![f32::NAN; self.expected.len()];
        gpu.evaluate(&self.inputs, &mut found)
            .map_err(|error| GpuError::Device {
                adapter: gpu.adapter(),
                reason: error.to_string(),
            })?;
        let shape = gpu.shape();
        let wrong = found
            .iter()
            .zip(&self.expected)
            .position(|(found, expected)| {
                let apart = (found - expected).abs();
                // Not a number is wrong as well.
                apart.is_nan() || apart > tolerance * expected.abs().max(1.0)
            });
        wrong.map_or(Ok(()), |at| {
            let place = at % shape.output_len();
            let output = shape
                .outputs
                .iter()
                .find(|output| output.range.contains(&place));
            Err(GpuError::Wrong {
                adapter: gpu.adapter(),
                output: output.map_or_else(String::new, |output| output.name.clone()),
                found: found[at].to_string(),
                expected: self.expected[at].to_string(),
            })
        })
    }
}

/// The device until it fails, the processor from then on.
struct Guarded {
    shape: IoShape,
    batch: usize,
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
