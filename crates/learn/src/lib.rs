//! Training: layers with gradients, optimisers, the loop, checkpoints and curves. It knows no game.
//!
//! A [`Task`](trainer::Task) is a network with the data to train it on; [`train`](trainer::train) runs it in a folder until
//! it is done, and resumes from the last checkpoint when it was interrupted. Gradients are written by hand: the
//! convolutions run on `net`'s Winograd kernels in both directions, see [`Tower`]. With the feature `gpu`, a graphics
//! card computes instead, see [`device`].
//!
//! ```
//! use learn::{Batch, Shape, Mode, Dense, DenseStart, Chain, Model, loss::{Squash, squared}, optimiser::{Optimiser, Rule}};
//! use rand::SeedableRng;
//!
//! // One neuron learns the sign of its input.
//! let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//! let dense = |name, sizes| Box::new(Dense::new(name, sizes, 1.0, DenseStart::gentle(1), &mut random.clone()));
//! let (trunk, head) = (Chain::new(vec![dense("trunk", [1, 1])]), Chain::new(vec![dense("head", [1, 1])]));
//! let mut model = Model::new(Shape::Row(1), trunk, vec![head], 1);
//! let mut optimiser = Optimiser::new(Rule::ADAM, 0.0, None);
//! let mut input = Batch::zeros(Shape::Row(1), 2);
//! input.set_plain(0, &[1.0]);
//! input.set_plain(1, &[-1.0]);
//! for step in 0..200 {
//!     model.forward(&input, Mode::Train { seed: step });
//!     let (output, gradient) = model.output_and_gradient(0);
//!     squared(output, Squash::Tanh, &[1.0, -1.0], 0.0, 1.0, gradient);
//!     model.backward(&input);
//!     model.step(&mut optimiser, 0.05);
//! }
//! assert!(model.output(0).plain(0)[0] > 1.0 && model.output(0).plain(1)[0] < -1.0);
//! ```
#![forbid(unsafe_code)]

// What flows, and what is learnt.
mod batch;
mod param;

// Steps with gradients, and models of them.
mod layer;
mod model;
pub mod size_free;

// What is wrong with an answer, and how weights move.
mod average;
pub mod loss;
pub mod optimiser;

// Somewhere else to compute.
pub mod device;

// What tasks need to read their data.
mod data;
mod shuffle;

// The loop, and what it keeps.
pub mod checkpoint;
mod curves;
mod events;
mod history;
mod settings;
mod trainable;
pub mod trainer;

// Networks from networks.
pub mod surgery;

pub use batch::{Batch, Shape};
pub use data::{DataError, LoadReport};
pub use events::EventFile;
pub use history::Part;
pub use layer::{
    Conv, Dense, DenseBlock, DenseStart, Dropout, Flatten, GlobalPool, Layer, MaxPool, Mode,
    NORM_EPSILON, NormStyle, Pixel, Tower, TowerShape,
};
pub use model::{Chain, Model};
pub use settings::{AverageSettings, SettingsError, TrainSettings, read_settings, write_settings};
pub use shuffle::Shuffle;
pub use trainable::Trainable;
