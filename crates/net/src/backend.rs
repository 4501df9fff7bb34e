//! Opening a network: which code runs it is chosen here and nowhere else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use thiserror::Error;

use crate::evaluator::Evaluator;
#[cfg(feature = "gpu")]
use crate::gpu::{self, GpuError, WeightStore};
use crate::kernels::Arithmetic;
use crate::network::{Network, ShapeError};
#[cfg(feature = "ort")]
use crate::onnx_runtime::{self, OnnxError};
use crate::plan::{Plan, PlanOptions};
use crate::reference::Reference;
use crate::shape::PlaneShape;

/// What runs a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Direct loops in f64: slow and obviously right. Every other backend is compared with it.
    Reference,
    /// The fast code for this processor.
    #[default]
    Cpu,
    /// The same with 3x3 convolutions in bf16, for many evaluations that need not be exact; only where the processor
    /// multiplies bf16 itself.
    CpuBf16,
    /// A graphics processor, compared with the processor first; needs the cargo feature `gpu`.
    Gpu(GpuOptions),
    /// ONNX Runtime, whose library the user brings, compared with our own code first; needs the cargo feature `ort`.
    Onnx(OnnxProvider),
}

/// Which graphics processor, and how numbers are stored on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GpuOptions {
    /// Counted from 0 in the order of `net::gpu::adapters`; without, the first that the processor does not emulate.
    pub adapter: Option<usize>,
    pub precision: GpuPrecision,
}

/// How a graphics processor stores weights and what flows between layers. It adds up in f32 in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GpuPrecision {
    /// f16 where the device can and the result is right, else f32.
    #[default]
    Auto,
    F32,
    F16,
}

/// What ONNX Runtime computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnnxProvider {
    /// The first of the others that the library has and that runs every layer, the processor last.
    #[default]
    Auto,
    TensorRt,
    Cuda,
    MiGraphX,
    CoreMl,
    DirectMl,
    OpenVino,
    Cpu,
}

/// Why a network cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// Its layers do not fit one another.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Reduced precision that would only be slower.
    #[error("bf16 needs a processor with AVX512_BF16, which this one lacks: evaluate in f32")]
    NoBf16,
    /// The graphics processor is missing or wrong.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[cfg(not(feature = "gpu"))]
    #[error(
        "this program was built without graphics processors: build it with `--features gpu`, or leave --backend and --gpu out"
    )]
    NoGpu,
    /// ONNX Runtime is missing or does not take the network.
    #[cfg(feature = "ort")]
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[cfg(not(feature = "ort"))]
    #[error(
        "this program was built without ONNX Runtime: build it with `--features ort`, or choose another backend"
    )]
    NoOnnx,
    /// It runs, and its results are not those of our own code.
    #[error(
        "{runner} computes wrongly: output {output} is {found} where the processor has {expected}"
    )]
    Wrong {
        runner: String,
        output: String,
        found: String,
        expected: String,
    },
    /// It failed on the positions that it is compared by.
    #[error("{0}")]
    Failed(String),
    /// A 3x3 convolution on a strip.
    #[error("a board of {height}x{width}: convolutions need at least two rows and two columns")]
    BoardTooSmall {
        /// Rows of the board.
        height: usize,
        /// Columns of the board.
        width: usize,
    },
}

/// What [`Backend::chosen`] returns.
static CHOSEN: RwLock<Backend> = RwLock::new(Backend::Cpu);

impl Backend {
    /// Makes it what runs every network of this process whose caller does not say otherwise.
    pub fn choose(self) {
        *CHOSEN.write().unwrap_or_else(PoisonError::into_inner) = self;
    }

    /// What [`choose`](Self::choose) was given last; the fast code for this processor without.
    pub fn chosen() -> Self {
        *CHOSEN.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the network and prepares it to run.
    pub fn open(self, network: &Network) -> Result<Arc<dyn Evaluator>, OpenError> {
        Ok(match self {
            Self::Reference => Arc::new(Reference::new(network.clone())?),
            Self::Cpu => Arc::new(Plan::new(network)?),
            Self::CpuBf16 => {
                let options = PlanOptions {
                    precision: Arithmetic::Bf16,
                    ..PlanOptions::default()
                };
                if !options.precision.is_fast(options.isa) {
                    return Err(OpenError::NoBf16);
                }
                Arc::new(Plan::with_options(network, options)?)
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(options) => gpu::open(network, options, &WeightStore::default())?,
            #[cfg(not(feature = "gpu"))]
            Self::Gpu(_) => return Err(OpenError::NoGpu),
            #[cfg(feature = "ort")]
            Self::Onnx(provider) => onnx_runtime::open(network, provider)?,
            #[cfg(not(feature = "ort"))]
            Self::Onnx(_) => return Err(OpenError::NoOnnx),
        })
    }
}

/// Evaluators of one network, one for each board size that was asked for. They share weights.
pub struct BoardSizes {
    source: Source,
    backend: Backend,
    opened: Mutex<Opened>,
}

/// Where the network of another size comes from.
enum Source {
    Kept(Network),
    /// The first size takes the network, and others have it read anew.
    ReadAgain {
        first: Mutex<Option<Network>>,
        read: Box<dyn Fn() -> Result<Network, OpenError> + Send + Sync>,
    },
}

#[derive(Default)]
struct Opened {
    evaluators: HashMap<(usize, usize), Arc<dyn Evaluator>>,
    /// Those of the fast backend once more: plans for other sizes share their weights.
    plans: Vec<Arc<Plan>>,
    /// Those on a graphics processor, shared by all sizes.
    #[cfg(feature = "gpu")]
    weights: WeightStore,
}

impl BoardSizes {
    /// Opens nothing yet.
    pub fn new(network: Network, backend: Backend) -> Self {
        Self::with_source(Source::Kept(network), backend)
    }

    /// The same without keeping the network beside what is made of it, which takes less memory: `read` gives it again for
    /// every board size but the first.
    pub fn read_again(
        network: Network,
        backend: Backend,
        read: impl Fn() -> Result<Network, OpenError> + Send + Sync + 'static,
    ) -> Self {
        let source = Source::ReadAgain {
            first: Mutex::new(Some(network)),
            read: Box::new(read),
        };
        Self::with_source(source, backend)
    }

    fn with_source(source: Source, backend: Backend) -> Self {
        Self {
            source,
            backend,
            opened: Mutex::default(),
        }
    }

    /// The network at the size it was given.
    pub fn network(&self) -> Result<Network, OpenError> {
        match &self.source {
            Source::Kept(network) => Ok(network.clone()),
            Source::ReadAgain { first, read } => {
                let first = first.lock().unwrap_or_else(PoisonError::into_inner);
                first.clone().map_or_else(read, Ok)
            }
        }
    }

    /// The network for somebody who uses it up.
    fn take_network(&self) -> Result<Network, OpenError> {
        match &self.source {
            Source::Kept(network) => Ok(network.clone()),
            Source::ReadAgain { first, read } => {
                let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                first.take().map_or_else(read, Ok)
            }
        }
    }

    /// The evaluator for boards of `height` rows and `width` columns; opened once and kept.
    pub fn at(&self, height: usize, width: usize) -> Result<Arc<dyn Evaluator>, OpenError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluator) = opened.evaluators.get(&(height, width)) {
            return Ok(evaluator.clone());
        }
        let network = self.take_network()?.at_size(height, width)?;
        let evaluator: Arc<dyn Evaluator> = match self.backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(options) => match gpu::open(&network, options, &opened.weights) {
                // A device that ran this network before and is gone: whoever plays on another board now goes on.
                Err(OpenError::Gpu(error)) if !opened.evaluators.is_empty() => {
                    eprintln!("{error}; going on with the processor");
                    opened.plan(network)?
                }
                result => result?,
            },
            Backend::Cpu => opened.plan(network)?,
            _ => self.backend.open(&network)?,
        };
        opened.evaluators.insert((height, width), evaluator.clone());
        Ok(evaluator)
    }
}

impl Opened {
    /// A plan that shares weights with those made before.
    fn plan(&mut self, network: Network) -> Result<Arc<Plan>, OpenError> {
        let PlaneShape { height, width, .. } = network.input;
        let mut plans = self.plans.iter();
        let donor = plans.find(|plan| plan.shares_points_with(height, width));
        let plan = Arc::new(match donor.or(self.plans.first()) {
            Some(donor) => donor.at_other_size(network)?,
            None => Plan::of(network)?,
        });
        self.plans.push(plan.clone());
        Ok(plan)
    }
}
