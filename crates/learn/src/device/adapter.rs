//! The graphics adapter, found once.

use std::sync::OnceLock;

use burn_tensor::Device;

use super::DeviceError;

/// An adapter that can compute.
pub struct Adapter {
    pub device: Device,
    /// What it calls itself, and the way to it.
    pub name: String,
}

/// The best adapter there is. burn's runtime can be set up only once in a process, so the first answer stands.
pub fn find() -> Result<&'static Adapter, DeviceError> {
    static FOUND: OnceLock<Result<Adapter, DeviceError>> = OnceLock::new();
    FOUND.get_or_init(set_up).as_ref().map_err(Clone::clone)
}

fn set_up() -> Result<Adapter, DeviceError> {
    let (device, setup) = Device::wgpu_options().init_with_setup().map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default().to_owned();
        DeviceError::NoAdapter { reason }
    })?;
    let about = setup.adapter.get_info();
    Ok(Adapter {
        device,
        name: format!("{} ({})", about.name, about.backend),
    })
}
