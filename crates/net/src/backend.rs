//! Opening a network: which code runs it is chosen here and nowhere else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use crate::evaluator::Evaluator;
#[cfg(feature = "gpu")]
use crate::gpu::{self, GpuError, WeightStore};
use crate::kernels::Arithmetic;
use crate::network::{Network, ShapeError};
use crate::plan::{Plan, PlanOptions};
use crate::reference::Reference;

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
        "this program was built without graphics processors: build it with `--features net/gpu`"
    )]
    NoGpu,
    /// A 3x3 convolution on a strip.
    #[error("a board of {height}x{width}: convolutions need at least two rows and two columns")]
    BoardTooSmall {
        /// Rows of the board.
        height: usize,
        /// Columns of the board.
        width: usize,
    },
}

impl Backend {
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
        })
    }
}

/// Evaluators of one network, one for each board size that was asked for. They share weights.
pub struct BoardSizes {
    network: Network,
    backend: Backend,
    opened: Mutex<Opened>,
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
        Self {
            network,
            backend,
            opened: Mutex::default(),
        }
    }

    /// The network at the size it was given.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The evaluator for boards of `height` rows and `width` columns; opened once and kept.
    pub fn at(&self, height: usize, width: usize) -> Result<Arc<dyn Evaluator>, OpenError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluator) = opened.evaluators.get(&(height, width)) {
            return Ok(evaluator.clone());
        }
        let network = self.network.at_size(height, width)?;
        let evaluator: Arc<dyn Evaluator> = match self.backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(options) => gpu::open(&network, options, &opened.weights)?,
            #[cfg(not(feature = "gpu"))]
            Backend::Gpu(_) => self.backend.open(&network)?,
            Backend::Reference | Backend::CpuBf16 => self.backend.open(&network)?,
            Backend::Cpu => {
                let mut plans = opened.plans.iter();
                let donor = plans.find(|plan| plan.shares_points_with(height, width));
                let plan = Arc::new(match donor.or(opened.plans.first()) {
                    Some(donor) => donor.at_other_size(&network)?,
                    None => Plan::new(&network)?,
                });
                opened.plans.push(plan.clone());
                plan
            }
        };
        opened.evaluators.insert((height, width), evaluator.clone());
        Ok(evaluator)
    }
}
