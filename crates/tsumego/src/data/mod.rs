//! Where problems and labels come from: generated positions, the trees around them, collections
//! that can be stopped and resumed.

mod collection;
mod generate;
mod lines;
mod sketch;
mod stats;
mod subproblems;

pub use collection::{CollectionError, generate_collection, generate_problems, grow_collection};
pub use generate::{Generated, Recipe, generate};
pub use lines::{Piece, pieces};
pub use stats::{Counts, Score, StoneDifference, count_by_size};
pub use subproblems::{Reach, TreeError, check_label, expand_tree, grow_tree};
