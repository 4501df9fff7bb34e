//! Networks on a graphics processor, by compute shaders of our own through `wgpu` (Vulkan, Metal, Direct3D 12).
//!
//! A network is compiled to a list of [steps](step), each one kernel on whole batches. Convolutions of every size and
//! dense layers are one tiled matrix product whose right side is gathered on the fly; in f32, 3x3 convolutions of many planes
//! go by way of Winograd's [tiles](winograd). Weights are uploaded once and shared
//! by all board sizes; activations live in buffers of a *slot*, and two slots let one batch be prepared or read while
//! another runs. Only the last function of each output is applied by the processor. [`open`] compares the result with
//! the processor's before anybody relies on it, and goes on with the processor when the device is lost.

mod compile;
mod device;
mod open;
mod run;
mod step;
mod winograd;

pub use device::{Adapter, GpuError, adapters};
pub(crate) use open::open;
pub use run::Gpu;
pub(crate) use run::WeightStore;
