//! Training: data sets, models, losses, loops, checkpoints and curves.
//!
//! A [`Task`](trainer::Task) is a network with the data to train it on; [`train`](trainer::train) runs it in a folder until
//! it is done, and goes on from the last checkpoint when it was interrupted. Gradients are written by hand: the
//! convolutions run on `net`'s Winograd kernels in both directions, see [`layer::tower`]. With the feature `gpu`, a graphics
//! card computes instead, see [`device`].
//!
//! ```
//! use learn::go_task::model::GoShape;
//! use learn::go_task::{GoSettings, GoTask};
//! use learn::trainer::train;
//!
//! let folder = tempfile::tempdir()?;
//! let game = "(;GM[1]SZ[5]RE[B+R];B[cc];W[cb];B[bb];W[db];B[dc];W[bc];B[cd];W[ec];B[ba];W[bd];B[ab];W[eb])";
//! std::fs::write(folder.path().join("game.sgf"), game)?;
//!
//! let mut settings = GoSettings { network: GoShape { size: 5, blocks: 1, filters: 8 }, ..GoSettings::default() };
//! settings.data.games = vec![folder.path().to_owned()];
//! settings.data.test_share = 0.0;
//! settings.training.steps = 3;
//! settings.training.batch = 4;
//! let mut task = GoTask::new(settings.clone())?;
//! let outcome = train(&mut task, &settings.training, folder.path(), &mut |report| {
//!     println!("{} of {}", report.step, report.steps);
//!     true
//! })?;
//! assert!(outcome.network.ends_with("network.txt.gz"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// What flows, and what is learnt.
pub mod batch;
pub mod param;

// Steps with gradients, and models of them.
pub mod layer;
pub mod model;

// What is wrong with an answer, and how weights move.
pub mod loss;
pub mod optimiser;

pub mod average;

// Somewhere else to compute.
pub mod device;

// The loop, and what it keeps.
pub mod checkpoint;
pub mod history;
pub mod lock;
pub mod settings;
pub mod trainer;

pub mod axis;
pub mod curves;
pub mod events;

// The three trainings.
pub mod go_task;
pub mod mario_task;
pub mod safety_task;
pub mod shuffle;

// Networks from networks.
pub mod onnx;
pub mod surgery;
