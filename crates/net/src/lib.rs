//! Networks as data: weight files, planes in, policy and value out, fast on a CPU.
//!
//! The crate knows no game. An input row is planes, which are grids of numbers, and then numbers about the whole
//! position; an output row is stretches of numbers with names. A [`Network`] is plain data: layers and weights. It comes
//! from a Leela Zero ([`leela`]) or KataGo ([`katago`]) file, from our own compact format ([`compact`]), or is built by hand. A
//! [`Backend`] opens it and gives an [`Evaluator`], behind which nobody sees which code runs: the fast one for this
//! processor, or the [`Reference`], which is slow and obviously right.
//!
//! ```
//! use net::{Backend, Evaluator, leela::{LeelaNetwork, LeelaShape, LeelaVersion, POLICY, VALUE}};
//!
//! let leela = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 8), 42);
//! let evaluator = Backend::Cpu.open(&leela.to_network())?;
//! let shape = evaluator.shape().clone();
//!
//! let batch = 2;
//! let inputs = vec![0.0; batch * shape.input_len()];
//! let mut outputs = vec![0.0; batch * shape.output_len()];
//! evaluator.evaluate(&inputs, &mut outputs)?;
//!
//! let first = &outputs[..shape.output_len()];
//! let policy = &first[shape.output(POLICY).unwrap()];
//! let winrate = first[shape.output(VALUE).unwrap().start];
//! assert_eq!(policy.len(), 9 * 9 + 1);
//! assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
//! assert!((0.0..=1.0).contains(&winrate));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

// What a network is.
mod network;
mod shape;
mod weights;

// Running one.
mod backend;
mod cache;
mod evaluator;
mod gather;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(any(feature = "gpu", feature = "ort"))]
mod guard;
#[cfg(feature = "ort")]
pub mod onnx_runtime;
mod plan;
mod reference;

// Its files.
pub mod compact;
mod file;
pub mod katago;
pub mod leela;
pub mod onnx;

// Speed, and proof of it.
pub mod bench;
mod compare;
#[allow(unsafe_code)]
mod kernels;
mod soak;
pub mod training;

pub use backend::{Backend, BoardSizes, GpuOptions, GpuPrecision, OnnxProvider, OpenError};
pub use cache::{Cache, CacheKey, CacheStatistics};
pub use compare::{LayerStatistics, OutputDifference, compare, statistics};
pub use evaluator::{EvaluateError, Evaluator, batch_of};
pub use file::{LoadError, NetworkContent, NetworkFile, gzip, load, sha256, sha256_of_bytes};
pub use gather::Gather;
pub use kernels::{Arithmetic, INSTRUCTIONS_VARIABLE, Isa, IsaError};
pub use network::{
    Activation, Attention, Conv, Dense, Gated, Group, Head, Layer, Network, NormOver, Output,
    Pooling, Reading, RmsNorm, Scale, ShapeError,
};
pub use plan::{Plan, PlanOptions};
pub use reference::Reference;
pub use shape::{IoShape, OutputShape, Perspective, PlaneShape};
pub use soak::{SoakOptions, SoakReport, soak};
pub use weights::Weights;
