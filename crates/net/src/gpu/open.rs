//! Opening a network on a graphics processor that computes rightly.

use std::sync::Arc;

use super::device::Device;
use super::run::{Gpu, WeightStore};
use super::step::Storage;
use crate::backend::{GpuOptions, GpuPrecision, OpenError};
use crate::evaluator::Evaluator;
use crate::guard::{Check, TOLERANCE_F16, TOLERANCE_F32, guard};
use crate::network::Network;

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
        let tolerance = match storage {
            Storage::F32 => TOLERANCE_F32,
            Storage::F16 => TOLERANCE_F16,
        };
        check.compare(&gpu, &gpu.adapter(), tolerance)?;
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
    Ok(guard(gpu, network))
}
