//! An engine of burn's tensors, on any of burn's devices.
//!
//! Every parameter is one flat tensor, whatever its dimensions, so that the optimiser need not know them; a training
//! pass records what burn's automatic differentiation needs. The gradient of the loss with respect to the rows comes from
//! outside, so what is differentiated is `Σ row·gradient`: its derivative by a parameter is the loss's.

use burn_tensor::{Device, ExecutionError, Tensor, TensorData, Transaction};

use super::graph::{Flow, Walk};
use super::{DeviceError, Engine, Numbers, update};
use crate::batch::{Batch, Shape};
use crate::layer::Mode;
use crate::layer::step::Plan;
use crate::optimiser::Optimiser;

pub struct BurnEngine {
    device: Device,
    plan: Plan,
    params: Vec<Tensor<1>>,
    statistics: Vec<Tensor<1>>,
    memory: Vec<Tensor<1>>,
    gradients: Vec<Tensor<1>>,
    pass: Option<Pass>,
    /// Batches averaged since the statistics were restarted; none while they run normally.
    averaged: Option<u32>,
}

/// What a training pass leaves for the way back.
struct Pass {
    /// The parameters as the graph knows them.
    leaves: Vec<Tensor<1>>,
    rows: Vec<Tensor<2>>,
}

impl BurnEngine {
    /// An engine without a model.
    pub fn new(device: Device) -> Self {
        Self {
            device,
            plan: Plan::default(),
            params: Vec::new(),
            statistics: Vec::new(),
            memory: Vec::new(),
            gradients: Vec::new(),
            pass: None,
            averaged: None,
        }
    }

    /// An engine on the processor, to compare with.
    pub fn on_processor() -> Self {
        Self::new(Device::flex())
    }

    fn flow(&self, input: &Batch) -> Flow {
        let (samples, values) = (input.samples(), input.all_plain());
        match input.shape {
            Shape::Planes { board, channels } => {
                let dimensions = [samples, channels, board.height, board.width];
                let numbers = TensorData::new(values, dimensions);
                Flow::Planes(Tensor::from_data(numbers, &self.device))
            }
            Shape::Row(length) => {
                let numbers = TensorData::new(values, [samples, length]);
                Flow::Row(Tensor::from_data(numbers, &self.device))
            }
        }
    }

    fn upload(&self, tensors: Vec<Vec<f32>>) -> Vec<Tensor<1>> {
        let upload = |values: Vec<f32>| {
            let length = values.len();
            Tensor::from_data(TensorData::new(values, [length]), &self.device)
        };
        tensors.into_iter().map(upload).collect()
    }
}

/// Reads tensors in one go.
fn download<const D: usize>(
    tensors: impl Iterator<Item = Tensor<D>>,
) -> Result<Vec<Vec<f32>>, DeviceError> {
    let reading = tensors.fold(Transaction::default(), |reading, tensor| {
        reading.register(tensor)
    });
    let read = reading.try_execute().map_err(failed)?;
    let numbers = |data: TensorData| data.try_into_vec::<f32>().expect("tensors of f32");
    Ok(read.into_iter().map(numbers).collect())
}

fn failed(error: ExecutionError) -> DeviceError {
    let text = error.to_string();
    let reason = text.lines().next().unwrap_or_default().to_owned();
    DeviceError::Failed { reason }
}

impl Engine for BurnEngine {
    fn start(&mut self, plan: Plan, numbers: Numbers) {
        self.plan = plan;
        self.averaged = None;
        self.set_numbers(numbers);
    }

    fn numbers(&self) -> Result<Numbers, DeviceError> {
        let tensors = self.params.iter().chain(&self.statistics);
        let mut read = download(tensors.chain(&self.memory).cloned())?.into_iter();
        Ok(Numbers {
            params: read.by_ref().take(self.params.len()).collect(),
            statistics: read.by_ref().take(self.statistics.len()).collect(),
            memory: read.collect(),
        })
    }

    fn set_numbers(&mut self, numbers: Numbers) {
        self.params = self.upload(numbers.params);
        self.statistics = self.upload(numbers.statistics);
        self.memory = self.upload(numbers.memory);
        self.gradients.clear();
        self.pass = None;
    }

    fn forward(&mut self, input: &Batch, mode: Mode) -> Result<Vec<Vec<f32>>, DeviceError> {
        // What an earlier pass recorded is memory that this one may need.
        self.pass = None;
        let training = mode != Mode::Evaluate;
        let leaves: Vec<Tensor<1>> = if training {
            self.averaged = self.averaged.map(|batches| batches + 1);
            let leaf = |param: Tensor<1>| param.autodiff().require_grad();
            self.params.iter().cloned().map(leaf).collect()
        } else {
            self.params.clone()
        };
        let input = self.flow(input);
        let mut walk = Walk::new(
            &self.plan.shapes,
            &leaves,
            &mut self.statistics,
            mode,
            self.averaged,
        );
        let trunk = walk.run(&self.plan.trunk, input);
        let heads = self.plan.heads.iter();
        let rows: Vec<Tensor<2>> = heads
            .map(|head| walk.run(head, trunk.clone()).into_row())
            .collect();
        let numbers = download(rows.iter().cloned().map(Tensor::inner))?;
        if training {
            self.pass = Some(Pass { leaves, rows });
        }
        Ok(numbers)
    }

    fn backward(&mut self, gradients: Vec<Vec<f32>>) {
        let Some(Pass { leaves, rows }) = self.pass.take() else {
            return;
        };
        let products = rows.into_iter().zip(gradients).map(|(row, gradient)| {
            let numbers = TensorData::new(gradient, row.dims());
            (row * Tensor::from_data(numbers, &self.device)).sum()
        });
        let Some(loss) = products.reduce(|sum, product| sum + product) else {
            return;
        };
        let mut found = loss.backward();
        let gradient = |leaf: &Tensor<1>| {
            // What has no part in the outputs has no gradient: a bias that batch norm cancels.
            let nothing = || Tensor::zeros(leaf.dims(), &self.device);
            leaf.grad_remove(&mut found).unwrap_or_else(nothing)
        };
        self.gradients = leaves.iter().map(gradient).collect();
    }

    fn gradients(&self) -> Result<Vec<Vec<f32>>, DeviceError> {
        download(self.gradients.iter().cloned())
    }

    fn step(&mut self, optimiser: &Optimiser, rate: f32) {
        update::step(
            optimiser,
            rate,
            &self.plan.decays,
            &mut self.params,
            std::mem::take(&mut self.gradients),
            &mut self.memory,
        );
    }

    fn restart_statistics(&mut self) {
        self.averaged = Some(0);
    }

    fn resume_statistics(&mut self) {
        self.averaged = None;
    }
}
