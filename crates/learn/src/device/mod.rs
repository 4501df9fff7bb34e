//! Where a model's arithmetic happens: in its layers on the processor, or in an [`Engine`] elsewhere.
//!
//! The layers are the fast way on a processor. A graphics card is reached through burn, behind the cargo feature `gpu`;
//! the feature `burn` alone builds the same engine on burn's own processor backend, which is slow, but a second opinion
//! on every gradient. An engine follows the plan of a model, so there is no second description of any network. Weights,
//! statistics and the optimiser's memory stay with the engine between steps; only samples go in and the heads' outputs
//! come out, a few thousand numbers, from which the losses are computed here as for any other training.

#[cfg(feature = "gpu")]
mod adapter;
#[cfg(feature = "burn")]
pub mod agreement;
#[cfg(feature = "burn")]
mod burn;
#[cfg(feature = "burn")]
mod graph;
#[cfg(feature = "burn")]
mod update;

#[cfg(feature = "burn")]
pub use self::burn::BurnEngine;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::batch::Batch;
use crate::layer::Mode;
use crate::layer::step::Plan;
use crate::optimiser::Optimiser;

/// What to train on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The processor, with the layers of this crate.
    #[default]
    Cpu,
    /// A graphics card, with burn.
    Gpu,
}

/// Why a device cannot be trained on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The program was built without it.
    #[error(
        "this program was built to train on the processor only: build it with `--features train-gpu`, or train on the device cpu"
    )]
    NotBuilt,
    /// The network has no plan that an engine could follow.
    #[error("this network trains on the processor only: train on the device cpu")]
    OnlyProcessor,
    /// There is nothing that could compute.
    #[error(
        "no graphics adapter can be used ({reason}): install the driver of one, or train on the device cpu"
    )]
    NoAdapter {
        /// What the graphics library said.
        reason: String,
    },
    /// It gave up in the middle.
    #[error(
        "the graphics adapter failed ({reason}): go on from the last checkpoint, with a smaller batch if memory was short"
    )]
    Failed {
        /// What the graphics library said.
        reason: String,
    },
}

impl Device {
    /// What computes in place of the layers; nothing for the processor.
    pub fn engine(self) -> Result<Option<Box<dyn Engine>>, DeviceError> {
        match self {
            Device::Cpu => Ok(None),
            #[cfg(feature = "gpu")]
            Device::Gpu => {
                let adapter = adapter::find()?;
                Ok(Some(Box::new(BurnEngine::new(adapter.device.clone()))))
            }
            #[cfg(not(feature = "gpu"))]
            Device::Gpu => Err(DeviceError::NotBuilt),
        }
    }

    /// What the device calls itself.
    pub fn name(self) -> Result<String, DeviceError> {
        match self {
            Device::Cpu => Ok("processor".to_owned()),
            #[cfg(feature = "gpu")]
            Device::Gpu => Ok(adapter::find()?.name.clone()),
            #[cfg(not(feature = "gpu"))]
            Device::Gpu => Err(DeviceError::NotBuilt),
        }
    }
}

/// All that training changes, in the order of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// The parameters.
    pub params: Vec<Vec<f32>>,
    /// The running statistics.
    pub statistics: Vec<Vec<f32>>,
    /// What the optimiser remembers.
    pub memory: Vec<Vec<f32>>,
}

/// Computes a model in place of its layers.
pub trait Engine: Send {
    /// Takes over a model.
    fn start(&mut self, plan: Plan, numbers: Numbers);

    /// The numbers as they stand.
    fn numbers(&self) -> Result<Numbers, DeviceError>;

    /// Puts other numbers in the place of those it has.
    fn set_numbers(&mut self, numbers: Numbers);

    /// Runs a batch; returns the rows of each head, sample after sample.
    fn forward(&mut self, input: &Batch, mode: Mode) -> Result<Vec<Vec<f32>>, DeviceError>;

    /// Finds the parameters' gradients from those of the rows of the last training pass.
    fn backward(&mut self, gradients: Vec<Vec<f32>>);

    /// The gradients of the last backward pass, in the order of the parameters.
    fn gradients(&self) -> Result<Vec<Vec<f32>>, DeviceError>;

    /// Moves the parameters against their gradients, as [`Optimiser::step`] does.
    fn step(&mut self, optimiser: &Optimiser, rate: f32);

    /// Lets the following training passes average the running statistics anew.
    fn restart_statistics(&mut self);

    /// Lets the running statistics move again as they did before [`Self::restart_statistics`].
    fn resume_statistics(&mut self);
}
