//! Networks run by ONNX Runtime, a library of the user's own with CUDA, TensorRT, CoreML and others in it.
//!
//! The library is opened when the first network is: the file that the environment variable `ORT_DYLIB_PATH` names, else
//! the one that the system finds. A network becomes an ONNX model ([`onnx`](crate::onnx)) in memory. Since the library
//! silently runs on the processor what a provider does not take, its own record of the first evaluation says which
//! provider really ran every layer; one that was asked for and did not is refused.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::session::Session;
use ort::value::TensorRef;
use thiserror::Error;

use crate::backend::{OnnxProvider, OpenError};
use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::guard::{Check, TOLERANCE_F16, TOLERANCE_F32, guard};
use crate::network::Network;
use crate::onnx::{self, GLOBALS, PLANES};
use crate::shape::IoShape;

/// The environment variable with the library's file.
pub const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// Positions of a call: few on the processor, which gains nothing by more, and always as many on a device, since some
/// providers compile a model anew for every size of batch.
const POSITIONS_ON_PROCESSOR: usize = 4;
const POSITIONS_ON_DEVICE: usize = 16;
/// One batch runs while the next is prepared.
const IN_FLIGHT: usize = 2;

/// Why ONNX Runtime does not run a network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OnnxError {
    #[error(
        "ONNX Runtime cannot be opened ({reason}): install it, and name its library in {LIBRARY_VARIABLE}"
    )]
    NoLibrary { reason: String },
    #[error("ONNX Runtime does not take the network: {reason}")]
    Session { reason: String },
    #[error("ONNX Runtime did not use {asked} but {ran}: {}", hint(.asked))]
    OtherProvider { asked: String, ran: String },
}

fn hint(asked: &str) -> String {
    format!("its library lacks {asked}, or a library that {asked} needs is missing")
}

/// Opens a network, compares it with our own code and stands ready to go on with that.
pub(crate) fn open(
    network: &Network,
    provider: OnnxProvider,
) -> Result<Arc<dyn Evaluator>, OpenError> {
    let check = Check::new(network)?;
    let runtime = OnnxRuntime::new(network, provider)?;
    let tolerance = match runtime.is_on_processor() {
        true => TOLERANCE_F32,
        false => TOLERANCE_F16,
    };
    check.compare(&runtime, &runtime.name(), tolerance)?;
    Ok(guard(runtime, network))
}

/// Runs a network in ONNX Runtime, without a check and without help when it fails:
/// [`Backend::open`](crate::Backend::open) gives an evaluator that has both.
pub struct OnnxRuntime {
    shape: IoShape,
    /// One call at a time: the library spreads each over its own threads, or puts it on the device.
    session: Mutex<Session>,
    /// The provider that ran most layers, by the library's name for it.
    provider: String,
}

impl OnnxRuntime {
    /// Makes a session of the network and finds out what runs it.
    pub fn new(network: &Network, provider: OnnxProvider) -> Result<Self, OpenError> {
        let model = onnx::export(network)?;
        let candidates = match provider {
            OnnxProvider::Auto => PROVIDERS.map(|(provider, _)| provider).to_vec(),
            provider => vec![provider],
        };
        let mut refusal = None;
        for candidate in candidates {
            match Self::on(network, &model, candidate) {
                Ok(runtime) => return Ok(runtime),
                // A library that is not there will not be there for the next one.
                Err(error @ OnnxError::NoLibrary { .. }) => return Err(error.into()),
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.expect("at least one provider was tried").into())
    }

    fn on(network: &Network, model: &[u8], provider: OnnxProvider) -> Result<Self, OnnxError> {
        let environment = environment()?;
        let record = record_file();
        let session = session(environment, model, provider, &record);
        let mut runtime = Self {
            shape: network.io_shape(),
            session: Mutex::new(session?),
            provider: String::new(),
        };
        let inputs = vec![0.0; runtime.shape.input_len()];
        let mut outputs = vec![0.0; runtime.shape.output_len()];
        let ran = runtime.run(&inputs, &mut outputs);
        let written = runtime.session().end_profiling();
        let text = written.as_ref().ok().and_then(|file| {
            let text = std::fs::read_to_string(file).ok();
            // It is ours, and of no use to anybody.
            let _ = std::fs::remove_file(file);
            text
        });
        ran.map_err(|reason| OnnxError::Session { reason })?;
        runtime.provider = busiest_provider(&text.unwrap_or_default());
        let asked = name_of(provider);
        if runtime.provider != asked {
            return Err(OnnxError::OtherProvider {
                asked: asked.to_owned(),
                ran: match runtime.provider.as_str() {
                    "" => "nothing that it names".to_owned(),
                    ran => ran.to_owned(),
                },
            });
        }
        Ok(runtime)
    }

    /// The provider that runs the network, by the library's name for it.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    fn name(&self) -> String {
        format!("ONNX Runtime with {}", self.provider)
    }

    fn is_on_processor(&self) -> bool {
        self.provider == name_of(OnnxProvider::Cpu)
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates positions in one call, before anything is put into batches.
    fn run(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), String> {
        let shape = &self.shape;
        let batch = inputs.len() / shape.input_len();
        let (planes_len, board) = (shape.input.len(), shape.input);
        let mut planes = Vec::with_capacity(batch * planes_len);
        let mut globals = Vec::with_capacity(batch * shape.globals);
        for row in inputs.chunks_exact(shape.input_len()) {
            planes.extend_from_slice(&row[..planes_len]);
            globals.extend_from_slice(&row[planes_len..]);
        }
        let sizes = [batch, board.planes, board.height, board.width].map(|size| size as i64);
        let failed = |error: ort::Error| error.to_string();
        let planes = TensorRef::from_array_view((sizes, planes.as_slice())).map_err(failed)?;
        let mut session = self.session();
        let results = if shape.globals > 0 {
            let sizes = [batch as i64, shape.globals as i64];
            let globals =
                TensorRef::from_array_view((sizes, globals.as_slice())).map_err(failed)?;
            session.run(ort::inputs![PLANES => planes, GLOBALS => globals])
        } else {
            session.run(ort::inputs![PLANES => planes])
        }
        .map_err(failed)?;
        for output in &shape.outputs {
            let (_, numbers) = results[output.name.as_str()]
                .try_extract_tensor::<f32>()
                .map_err(failed)?;
            let rows = outputs.chunks_exact_mut(shape.output_len());
            for (row, numbers) in rows.zip(numbers.chunks_exact(output.range.len())) {
                row[output.range.clone()].copy_from_slice(numbers);
            }
        }
        Ok(())
    }
}

impl Evaluator for OnnxRuntime {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        match self.is_on_processor() {
            true => POSITIONS_ON_PROCESSOR,
            false => POSITIONS_ON_DEVICE,
        }
    }

    fn in_flight(&self) -> usize {
        match self.is_on_processor() {
            true => 1,
            false => IN_FLIGHT,
        }
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        batch_of(&self.shape, inputs, outputs);
        let (input_len, output_len) = (self.shape.input_len(), self.shape.output_len());
        let most = self.preferred_batch();
        let failed = |reason| EvaluateError::Backend(format!("{}: {reason}", self.name()));
        let rows = outputs.chunks_mut(most * output_len);
        for (inputs, outputs) in inputs.chunks(most * input_len).zip(rows) {
            if self.is_on_processor() || inputs.len() == most * input_len {
                self.run(inputs, outputs).map_err(failed)?;
                continue;
            }
            let mut full = inputs.to_vec();
            full.resize(most * input_len, 0.0);
            let mut results = vec![0.0; most * output_len];
            self.run(&full, &mut results).map_err(failed)?;
            outputs.copy_from_slice(&results[..outputs.len()]);
        }
        Ok(())
    }
}

/// The library, opened once.
fn environment() -> Result<&'static Environment, OnnxError> {
    static OPENED: OnceLock<Result<Environment, OnnxError>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| {
        let failed = |reason: String| OnnxError::NoLibrary {
            reason: reason.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let builder = ort::init_from(library()).map_err(|error| failed(error.to_string()))?;
        let builder = builder.with_name("tengen").with_telemetry(false);
        builder.build().map_err(|error| failed(error.to_string()))
    });
    opened.as_ref().map_err(Clone::clone)
}

fn library() -> PathBuf {
    let named = std::env::var_os(LIBRARY_VARIABLE).filter(|name| !name.is_empty());
    named.map_or_else(
        || {
            let (start, end) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            format!("{start}onnxruntime{end}").into()
        },
        PathBuf::from,
    )
}

fn session(
    environment: &Environment,
    model: &[u8],
    provider: OnnxProvider,
    record: &PathBuf,
) -> Result<Session, OnnxError> {
    let failed = |reason: String| OnnxError::Session {
        reason: reason.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let builder = Session::builder(environment).map_err(|error| failed(error.to_string()))?;
    let builder = builder
        .with_profiling(record)
        .map_err(|error| failed(error.to_string()))?;
    let mut builder = match dispatch(provider) {
        Some(provider) => builder
            .with_execution_providers([provider.error_on_failure()])
            .map_err(|error| failed(error.to_string()))?,
        None => builder,
    };
    builder
        .commit_from_memory(model)
        .map_err(|error| failed(error.to_string()))
}

/// The providers in the order in which they are tried, and the library's names for them.
const PROVIDERS: [(OnnxProvider, &str); 7] = [
    (OnnxProvider::TensorRt, "TensorrtExecutionProvider"),
    (OnnxProvider::Cuda, "CUDAExecutionProvider"),
    (OnnxProvider::MiGraphX, "MIGraphXExecutionProvider"),
    (OnnxProvider::CoreMl, "CoreMLExecutionProvider"),
    (OnnxProvider::DirectMl, "DmlExecutionProvider"),
    (OnnxProvider::OpenVino, "OpenVINOExecutionProvider"),
    (OnnxProvider::Cpu, "CPUExecutionProvider"),
];

fn name_of(provider: OnnxProvider) -> &'static str {
    let known = PROVIDERS.iter().find(|(known, _)| *known == provider);
    known.map_or("any provider", |(_, name)| name)
}

/// What the library is asked to compute with; nothing for the processor, which it always has.
fn dispatch(provider: OnnxProvider) -> Option<ExecutionProviderDispatch> {
    Some(match provider {
        OnnxProvider::Auto | OnnxProvider::Cpu => return None,
        OnnxProvider::TensorRt => ep::TensorRT::default().build(),
        OnnxProvider::Cuda => ep::CUDA::default().build(),
        OnnxProvider::MiGraphX => ep::MIGraphX::default().build(),
        OnnxProvider::CoreMl => ep::CoreML::default().build(),
        OnnxProvider::DirectMl => ep::DirectML::default().build(),
        OnnxProvider::OpenVino => ep::OpenVINO::default().build(),
    })
}

/// Where the library records its first evaluation: it adds the time and an ending to the name.
fn record_file() -> PathBuf {
    std::env::temp_dir().join(format!("tengen-{}", std::process::id()))
}

/// The provider that most events of a record of the library name.
fn busiest_provider(record: &str) -> String {
    const KEY: &str = "\"provider\"";
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for part in record.split(KEY).skip(1) {
        // `"provider" : "CPUExecutionProvider"`
        if let Some(name) = part.split('"').nth(1) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let busiest = counts.into_iter().max_by_key(|(_, count)| *count);
    busiest.map_or_else(String::new, |(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_provider_of_most_layers() {
        let event =
            |name: &str| format!(r#"{{"args" : {{"op_name" : "Conv","provider" : "{name}"}}}},"#);
        let record = [
            event("CPUExecutionProvider"),
            event("CUDAExecutionProvider"),
            event("CUDAExecutionProvider"),
        ];
        assert_eq!(busiest_provider(&record.concat()), "CUDAExecutionProvider");
        assert_eq!(busiest_provider("[]"), "");
    }
}
