//! Networks as data: weight files, planes in, policy and value out, fast on a CPU.
//!
//! The crate knows no game. It sees planes, which are grids of numbers, and outputs, which are rows of numbers with
//! names. A [`Network`](network::Network) is plain data: layers and weights. It comes from a Leela Zero weights file
//! ([`leela`]), from our own compact format, or is built by hand. Evaluators run it: the fast one is a [`plan`], the
//! obviously right one the [`reference`](mod@reference). They stand behind one small trait,
//! [`Evaluator`](evaluator::Evaluator).
//!
//! ```
//! use net::evaluator::Evaluator;
//! use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion, POLICY, VALUE};
//! use net::plan::Plan;
//!
//! let leela = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 8), 42);
//! let evaluator = Plan::new(&leela.to_network())?;
//! let shape = evaluator.shape().clone();
//!
//! let batch = 2;
//! let planes = vec![0.0; batch * shape.input_len()];
//! let mut outputs = vec![0.0; batch * shape.output_len()];
//! evaluator.evaluate(&planes, &mut outputs);
//!
//! let first = &outputs[..shape.output_len()];
//! let policy = &first[shape.output(POLICY).unwrap()];
//! let winrate = first[shape.output(VALUE).unwrap().start];
//! assert_eq!(policy.len(), 9 * 9 + 1);
//! assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
//! assert!((0.0..=1.0).contains(&winrate));
//! # Ok::<(), net::plan::PlanError>(())
//! ```

pub mod shape;

pub mod evaluator;

pub mod network;

pub mod leela;

pub mod compact;

pub mod file;

pub mod reference;

pub mod plan;

pub mod kernels;

pub mod cache;

pub mod gather;

pub mod training;

pub mod parallel;

pub mod bench;

pub mod compare;

pub mod soak;
