//! A compiled network on a device: its weights, its slots, and a batch on its way through one.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use half::f16;

use super::compile::{Program, compile};
use super::device::{Device, GpuError};
use super::step::{Dispatch, Grid, Place, Storage};
use super::winograd;
use crate::backend::{GpuPrecision, OpenError};
use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::network::{Conv, Network, Reading};
use crate::plan::read;
use crate::shape::IoShape;
use crate::weights::Weights;

/// Positions that run at once.
const POSITIONS: usize = 16;
/// Batches in flight: one runs while another is prepared or read.
const SLOTS: usize = 2;
/// A device that has not answered by then is taken for lost.
const PATIENCE: Duration = Duration::from_secs(60);
/// Buffers are copied in multiples of this many bytes.
const ALIGNMENT: usize = 4;

/// Weights on a device, shared by the same network at several board sizes.
#[derive(Default)]
pub(crate) struct WeightStore {
    uploaded: Mutex<HashMap<StoreKey, (Weights, wgpu::Buffer)>>,
    transformed: Mutex<HashMap<usize, (Weights, Weights)>>,
}

impl WeightStore {
    /// The weights of a 3x3 convolution for Winograd's method, made once for all board sizes.
    fn transformed(&self, conv: &Conv) -> Weights {
        let made = self.transformed.lock();
        let mut made = made.unwrap_or_else(PoisonError::into_inner);
        let entry = made.entry(conv.weights.as_ptr().addr());
        // The numbers are kept as well, so that their address stays theirs.
        let (_, transformed) =
            entry.or_insert_with(|| (conv.weights.clone(), winograd::transform(conv)));
        transformed.clone()
    }
}

/// The device, the address of the numbers, and how they are stored.
type StoreKey = (u64, usize, Storage);

/// Runs a network on a graphics processor, without a check and without help when the device fails:
/// [`Backend::open`](crate::Backend::open) gives an evaluator that has both.
pub struct Gpu {
    device: Arc<Device>,
    shape: IoShape,
    readings: Vec<(Reading, usize)>,
    storage: Storage,
    steps: Vec<Ready>,
    slots: Mutex<Vec<Slot>>,
    slot_is_free: Condvar,
}

/// A step whose kernel is compiled.
struct Ready {
    pipeline: wgpu::ComputePipeline,
    grid: Grid,
}

/// The memory of one batch in flight.
struct Slot {
    input: wgpu::Buffer,
    output: wgpu::Buffer,
    readable: wgpu::Buffer,
    bindings: Vec<wgpu::BindGroup>,
}

/// What all slots of a step share.
struct Constants {
    params: wgpu::Buffer,
    weights: Option<wgpu::Buffer>,
    numbers: Option<wgpu::Buffer>,
}

impl Gpu {
    /// Checks the network and puts it on the device `adapter`, or on the first that is no emulation. `F16` is refused
    /// where the device lacks it; `Auto` is f32 here.
    pub fn new(
        network: &Network,
        adapter: Option<usize>,
        precision: GpuPrecision,
    ) -> Result<Self, OpenError> {
        let storage = match precision {
            GpuPrecision::F16 => Storage::F16,
            GpuPrecision::F32 | GpuPrecision::Auto => Storage::F32,
        };
        let device = Device::open(adapter)?;
        Self::on(device, network, storage, &WeightStore::default())
    }

    pub(super) fn on(
        device: Arc<Device>,
        network: &Network,
        storage: Storage,
        store: &WeightStore,
    ) -> Result<Self, OpenError> {
        network.check()?;
        if storage == Storage::F16 && !device.about.has_f16 {
            let adapter = device.about.to_string();
            return Err(GpuError::NoF16 { adapter }.into());
        }
        let program = compile(network, POSITIONS, storage, &|conv| store.transformed(conv))?;
        let shape = network.io_shape();
        let outputs = network.heads.iter().flat_map(|head| &head.outputs);
        let maker = Maker {
            device: &device,
            storage,
            store,
        };
        let constants = program.steps.iter().map(|step| maker.constants(step));
        let constants = constants.collect::<Result<Vec<_>, _>>()?;
        let slots = (0..SLOTS).map(|_| maker.slot(&program, &constants, &shape));
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        let steps = program.steps.iter().map(|step| maker.ready(step)).collect();
        device.check()?;
        Ok(Self {
            readings: outputs.map(|output| (output.reading, output.len)).collect(),
            device,
            shape,
            storage,
            steps,
            slots: Mutex::new(slots),
            slot_is_free: Condvar::new(),
        })
    }

    /// The device, as it names itself.
    pub fn adapter(&self) -> String {
        self.device.about.to_string()
    }

    /// Whether numbers are stored in f16.
    pub fn is_f16(&self) -> bool {
        self.storage == Storage::F16
    }

    /// Gives the device up as if it had been unplugged, for tests of what follows. Other networks on it lose it too.
    pub fn lose_device(&self) {
        self.device.device.destroy();
    }

    fn take_slot(&self) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(slot) = slots.pop() {
                return slot;
            }
            let woken = self.slot_is_free.wait(slots);
            slots = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give_back(&self, slot: Slot) {
        let slots = self.slots.lock();
        slots.unwrap_or_else(PoisonError::into_inner).push(slot);
        self.slot_is_free.notify_one();
    }

    /// Evaluates at most [`POSITIONS`].
    fn run(&self, slot: &Slot, inputs: &[f32], outputs: &mut [f32]) -> Result<(), String> {
        let Device { device, queue, .. } = &*self.device;
        let positions = inputs.len() / self.shape.input_len();
        queue.write_buffer(&slot.input, 0, &bytes_of_f32(inputs));
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for (step, bindings) in self.steps.iter().zip(&slot.bindings) {
                let [x, y, z] = step.grid.workgroups(positions);
                pass.set_pipeline(&step.pipeline);
                pass.set_bind_group(0, bindings, &[]);
                pass.dispatch_workgroups(x, y, z);
            }
        }
        let bytes = size_of_val(outputs) as u64;
        encoder.copy_buffer_to_buffer(&slot.output, 0, &slot.readable, 0, bytes);
        let submission = queue.submit([encoder.finish()]);
        let (answer, answered) = mpsc::channel();
        slot.readable
            .map_async(wgpu::MapMode::Read, 0..bytes, move |result| {
                // Nobody waits any more once the device has failed.
                let _ = answer.send(result);
            });
        let waited = device.poll(wgpu::PollType::Wait {
            submission_index: Some(submission),
            timeout: Some(PATIENCE),
        });
        if let Some(failure) = self.device.failure() {
            return Err(failure);
        }
        waited.map_err(|error| error.to_string())?;
        // Another thread that waits for the device may be the one that hands the answer over.
        let mapped = answered.recv_timeout(PATIENCE);
        mapped
            .map_err(|_| "the device did not answer".to_owned())?
            .map_err(|error| error.to_string())?;
        let view = slot.readable.get_mapped_range(0..bytes);
        let view = view.map_err(|error| error.to_string())?;
        for (number, bytes) in outputs.iter_mut().zip(view.as_chunks::<4>().0) {
            *number = f32::from_le_bytes(*bytes);
        }
        drop(view);
        slot.readable.unmap();
        Ok(())
    }
}

impl Evaluator for Gpu {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        POSITIONS
    }

    fn in_flight(&self) -> usize {
        SLOTS
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        batch_of(&self.shape, inputs, outputs);
        let batches = inputs.chunks(POSITIONS * self.shape.input_len());
        let rows = outputs.chunks_mut(POSITIONS * self.shape.output_len());
        for (inputs, outputs) in batches.zip(rows) {
            let slot = self.take_slot();
            let result = self.run(&slot, inputs, outputs);
            self.give_back(slot);
            result.map_err(|reason| {
                // Whoever opens a network next gets a fresh device.
                self.device.fail(&reason);
                EvaluateError::Backend(format!("{}: {reason}", self.device.about))
            })?;
        }
        for mut row in outputs.chunks_exact_mut(self.shape.output_len()) {
            for &(reading, len) in &self.readings {
                let (stretch, rest) = row.split_at_mut(len);
                read(reading, stretch);
                row = rest;
            }
        }
        Ok(())
    }
}

/// Puts a program on a device.
struct Maker<'a> {
    device: &'a Device,
    storage: Storage,
    store: &'a WeightStore,
}

impl Maker<'_> {
    fn ready(&self, step: &Dispatch) -> Ready {
        let stored = |place: &Place| match place {
            Place::Value(_) => self.storage,
            Place::Input | Place::Output => Storage::F32,
        };
        let from = stored(&step.sources[0]);
        Ready {
            pipeline: self
                .device
                .pipeline(step.kernel, from, stored(&step.target)),
            grid: step.grid,
        }
    }

    fn constants(&self, step: &Dispatch) -> Result<Constants, GpuError> {
        let mut params = step.params.clone();
        // A uniform block is a multiple of 16 bytes on some devices.
        params.resize(params.len().next_multiple_of(4), 0);
        let bytes: Vec<u8> = params.iter().flat_map(|word| word.to_le_bytes()).collect();
        let weights = step.weights.as_ref();
        Ok(Constants {
            params: self.upload(&bytes, wgpu::BufferUsages::UNIFORM)?,
            weights: weights.map(|weights| self.weights(weights)).transpose()?,
            numbers: match step.numbers.as_slice() {
                [] => None,
                numbers => Some(self.upload(&bytes_of_f32(numbers), wgpu::BufferUsages::STORAGE)?),
            },
        })
    }

    /// The weights on the device, uploaded if they are not there.
    fn weights(&self, weights: &Weights) -> Result<wgpu::Buffer, GpuError> {
        let key = (self.device.id, weights.as_ptr().addr(), self.storage);
        let uploaded = self.store.uploaded.lock();
        let mut uploaded = uploaded.unwrap_or_else(PoisonError::into_inner);
        if let Some((_, buffer)) = uploaded.get(&key) {
            return Ok(buffer.clone());
        }
        let mut bytes = match self.storage {
            Storage::F32 => bytes_of_f32(weights),
            Storage::F16 => {
                let rounded = weights.iter().map(|&weight| f16::from_f32(weight));
                rounded.flat_map(f16::to_le_bytes).collect()
            }
        };
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let buffer = self.upload(&bytes, wgpu::BufferUsages::STORAGE)?;
        // The numbers are kept as well, so that their address stays theirs.
        uploaded.insert(key, (weights.clone(), buffer.clone()));
        Ok(buffer)
    }

    fn upload(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        let buffer = self.device.buffer(bytes.len() as u64, usage)?;
        self.device.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    fn slot(
        &self,
        program: &Program,
        constants: &[Constants],
        shape: &IoShape,
    ) -> Result<Slot, GpuError> {
        let storage = wgpu::BufferUsages::STORAGE;
        let make = |numbers: usize, of: Storage, usage| {
            let bytes = (POSITIONS * numbers * of.bytes()).next_multiple_of(ALIGNMENT);
            self.device.buffer(bytes as u64, usage)
        };
        let of_f32 = |numbers, usage| make(numbers, Storage::F32, usage);
        let input = of_f32(shape.input_len(), storage | wgpu::BufferUsages::COPY_DST)?;
        let output = of_f32(shape.output_len(), storage | wgpu::BufferUsages::COPY_SRC)?;
        let readable = of_f32(
            shape.output_len(),
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        )?;
        let (homes, sizes) = share_memory(program);
        let values = sizes.iter().map(|&len| make(len, self.storage, storage));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let nothing = self.device.buffer(ALIGNMENT as u64, storage)?;
        let buffer_of = |place: &Place| match place {
            Place::Input => &input,
            Place::Output => &output,
            Place::Value(value) => &values[homes[*value]],
        };
        let steps = program.steps.iter().zip(constants);
        let bindings = steps.map(|(step, constants)| {
            let source = |index| step.sources.get(index).map_or(&nothing, buffer_of);
            let second = constants.weights.as_ref().unwrap_or_else(|| source(1));
            self.bind([
                &constants.params,
                source(0),
                second,
                source(2),
                constants.numbers.as_ref().unwrap_or(&nothing),
                buffer_of(&step.target),
            ])
        });
        let bindings = bindings.collect();
        Ok(Slot {
            input,
            output,
            readable,
            bindings,
        })
    }

    fn bind(&self, buffers: [&wgpu::Buffer; 6]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        self.device
            .device
            .create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.device.layout,
                entries: &entries,
            })
    }
}

/// Gives every value a buffer, so that values which are never needed at the same time share one. Returns the buffer of
/// each value and the numbers of one position in each buffer.
fn share_memory(program: &Program) -> (Vec<usize>, Vec<usize>) {
    let mut last_use = vec![0; program.values.len()];
    for (index, step) in program.steps.iter().enumerate() {
        for place in step.sources.iter().chain([&step.target]) {
            if let Place::Value(value) = place {
                last_use[*value] = index;
            }
        }
    }
    const UNPLACED: usize = usize::MAX;
    let mut homes = vec![UNPLACED; program.values.len()];
    let mut sizes: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    for (index, step) in program.steps.iter().enumerate() {
        if let Place::Value(value) = step.target
            && homes[value] == UNPLACED
        {
            let len = program.values[value];
            // The one whose size is nearest.
            let best = (0..free.len()).min_by_key(|&at| sizes[free[at]].abs_diff(len));
            let home = best.map_or_else(
                || {
                    sizes.push(0);
                    sizes.len() - 1
                },
                |at| free.swap_remove(at),
            );
            sizes[home] = sizes[home].max(len);
            homes[value] = home;
        }
        let mut places = step.sources.clone();
        places.push(step.target);
        places.dedup();
        for place in places {
            if let Place::Value(value) = place
                && last_use[value] == index
                && !free.contains(&homes[value])
            {
                free.push(homes[value]);
            }
        }
    }
    (homes, sizes)
}

fn bytes_of_f32(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}
