//! The adapters of this machine, and one of them opened with its compiled kernels.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use thiserror::Error;

use super::step::{Kernel, Storage};

/// Why a network cannot be run on a graphics processor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuError {
    #[error("there is no graphics processor here")]
    None,
    #[error(
        "the only graphics processors here are emulated by the processor; \
         name one of them with --gpu N to use it all the same"
    )]
    OnlyEmulated,
    #[error("there is no graphics processor {index}; this machine has {count}, counted from 0")]
    NoSuch { index: usize, count: usize },
    #[error("{adapter} cannot be used: {reason}")]
    Device { adapter: String, reason: String },
    #[error("{adapter} does not compute in f16")]
    NoF16 { adapter: String },
    #[error("{adapter} binds at most {limit} bytes at once, and the network needs {needed}")]
    TooLarge {
        adapter: String,
        needed: u64,
        limit: u64,
    },
    #[error(
        "a board of {cells} cells: attention runs on at most {most} cells on a graphics processor"
    )]
    BoardTooLarge { cells: usize, most: usize },
}

/// A graphics processor, or something that poses as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its place in [`adapters`].
    pub index: usize,
    pub name: String,
    /// The interface it is reached by, such as `Vulkan`.
    pub interface: String,
    /// The driver and its version, as it names itself.
    pub driver: String,
    /// Emulated by the processor: for tests, not for speed.
    pub is_emulated: bool,
    pub has_f16: bool,
}

impl fmt::Display for Adapter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ({}, {})", self.name, self.interface, self.driver)?;
        if self.has_f16 {
            write!(to, ", f16")?;
        }
        if self.is_emulated {
            write!(to, ", emulated by the processor")?;
        }
        Ok(())
    }
}

/// The graphics processors of this machine, in the order that [`GpuOptions`](crate::GpuOptions) counts them from 0.
pub fn adapters() -> Vec<Adapter> {
    let found = found_adapters();
    found.iter().enumerate().map(describe).collect()
}

fn found_adapters() -> Vec<wgpu::Adapter> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = backends;
    description.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(description);
    wait(instance.enumerate_adapters(backends))
}

fn describe((index, adapter): (usize, &wgpu::Adapter)) -> Adapter {
    let about = adapter.get_info();
    Adapter {
        index,
        interface: format!("{:?}", about.backend),
        driver: format!("{} {}", about.driver, about.driver_info)
            .trim()
            .to_owned(),
        is_emulated: about.device_type == wgpu::DeviceType::Cpu,
        has_f16: adapter.features().contains(wgpu::Features::SHADER_F16),
        name: about.name,
    }
}

/// One opened adapter, shared by all networks that run on it.
pub(crate) struct Device {
    /// Unlike that of every other device of this process: one that is opened again after a loss has another.
    pub id: u64,
    pub about: Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub layout: wgpu::BindGroupLayout,
    pipeline_layout: wgpu::PipelineLayout,
    pipelines: Mutex<HashMap<(Kernel, Storage, Storage), wgpu::ComputePipeline>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl Device {
    /// Opens the adapter `index`, or the first that is no emulation. A device that is open and well is used again.
    pub fn open(index: Option<usize>) -> Result<Arc<Self>, GpuError> {
        static OPENED: OnceLock<Mutex<HashMap<Option<usize>, Weak<Device>>>> = OnceLock::new();
        let opened = OPENED.get_or_init(Mutex::default);
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.get(&index).and_then(Weak::upgrade);
        if let Some(device) = known.filter(|device| device.failure().is_none()) {
            return Ok(device);
        }
        let device = Arc::new(Self::open_anew(index)?);
        opened.insert(index, Arc::downgrade(&device));
        Ok(device)
    }

    fn open_anew(index: Option<usize>) -> Result<Self, GpuError> {
        let mut found = found_adapters();
        let count = found.len();
        let index = match index {
            Some(index) if index < count => index,
            Some(index) => return Err(GpuError::NoSuch { index, count }),
            None if count == 0 => return Err(GpuError::None),
            None => found
                .iter()
                .position(|adapter| adapter.get_info().device_type != wgpu::DeviceType::Cpu)
                .ok_or(GpuError::OnlyEmulated)?,
        };
        let adapter = found.swap_remove(index);
        let about = describe((index, &adapter));
        let asked = wgpu::DeviceDescriptor {
            required_features: adapter.features() & wgpu::Features::SHADER_F16,
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            wait(adapter.request_device(&asked)).map_err(|error| GpuError::Device {
                adapter: about.to_string(),
                reason: error.to_string(),
            })?;
        let failure = Arc::new(Mutex::new(None));
        watch(&device, &failure);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &layout_entries(),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&layout)],
            ..wgpu::PipelineLayoutDescriptor::default()
        });
        static OPENED: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            id: OPENED.fetch_add(1, Ordering::Relaxed),
            about,
            device,
            queue,
            layout,
            pipeline_layout,
            pipelines: Mutex::default(),
            failure,
        })
    }

    /// What went wrong with the device, if anything has.
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the device for failed from now on.
    pub fn fail(&self, reason: &str) {
        let failure = self.failure.lock();
        let mut failure = failure.unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| reason.to_owned());
    }

    /// The failure as an error.
    pub fn check(&self) -> Result<(), GpuError> {
        self.failure().map_or(Ok(()), |reason| {
            Err(GpuError::Device {
                adapter: self.about.to_string(),
                reason,
            })
        })
    }

    /// A kernel that reads and writes numbers stored so; compiled once.
    pub fn pipeline(&self, kernel: Kernel, from: Storage, to: Storage) -> wgpu::ComputePipeline {
        let pipelines = self.pipelines.lock();
        let mut pipelines = pipelines.unwrap_or_else(PoisonError::into_inner);
        let made = pipelines.entry((kernel, from, to)).or_insert_with(|| {
            let module = self
                .device
                .create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(kernel.name()),
                    source: wgpu::ShaderSource::Wgsl(kernel.source(from, to).into()),
                });
            self.device
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(kernel.name()),
                    layout: Some(&self.pipeline_layout),
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                })
        });
        made.clone()
    }

    /// Memory of the device, checked against what it can bind.
    pub fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let limits = self.device.limits();
        let limit = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        if bytes > limit {
            return Err(GpuError::TooLarge {
                adapter: self.about.to_string(),
                needed: bytes,
                limit,
            });
        }
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage,
            mapped_at_creation: false,
        }))
    }
}

/// The parameters, three stretches to read, numbers in f32, and what is written.
const BINDINGS: [wgpu::BufferBindingType; 6] = [
    wgpu::BufferBindingType::Uniform,
    wgpu::BufferBindingType::Storage { read_only: true },
    wgpu::BufferBindingType::Storage { read_only: true },
    wgpu::BufferBindingType::Storage { read_only: true },
    wgpu::BufferBindingType::Storage { read_only: true },
    wgpu::BufferBindingType::Storage { read_only: false },
];

fn layout_entries() -> Vec<wgpu::BindGroupLayoutEntry> {
    let entry = |(place, kind): (u32, wgpu::BufferBindingType)| wgpu::BindGroupLayoutEntry {
        binding: place,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: kind,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    (0..).zip(BINDINGS).map(entry).collect()
}

/// Keeps the first thing that goes wrong, instead of the panic that `wgpu` has by default.
fn watch(device: &wgpu::Device, failure: &Arc<Mutex<Option<String>>>) {
    let keep = |failure: Arc<Mutex<Option<String>>>| {
        move |what: String| {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(what);
        }
    };
    let lost = keep(failure.clone());
    device.set_device_lost_callback(move |reason, message| {
        lost(
            format!("the device is lost ({reason:?}) {message}")
                .trim_end()
                .to_owned(),
        );
    });
    let wrong = keep(failure.clone());
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let sentence = error.to_string();
        wrong(sentence.split_whitespace().collect::<Vec<_>>().join(" "));
    }));
}

/// The result of one of `wgpu`'s futures. On every system but the browser they are ready at once.
fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
        std::thread::yield_now();
    }
}
