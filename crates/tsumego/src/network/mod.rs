//! A network that guesses what the solver proves: its planes, its window, its records, its files.

mod eyes;
mod features;
mod frame;
mod pack;
mod publish;
mod safety;
pub mod tfrecord;

pub use features::{FeatureSet, LARGEST_COUNT, Planes, TENGEN_PLANES, UnknownFeatureSet, features};
pub use frame::{Cell, ZONE_PLANE, middle, place_in_window};
pub use pack::{ATTACKER_OWNS, DEFENDER_OWNS, Split, UnknownSplit, example};
pub use publish::{PublishError, publish};
pub use safety::{NetGuide, SafetyError, SafetyNet, compress, compress_rows};
