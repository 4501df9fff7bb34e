//! Where problems and labels come from: generated positions, the trees around them, collections
//! that can be stopped and resumed.

mod collection;
mod files;
mod generate;
mod lines;
mod sketch;
mod stats;
mod subproblems;

pub use collection::{CollectionError, generate_collection, generate_problems, grow_collection};
pub use files::{FoundGame, NoGames, Unreadable, for_each_games, for_each_positions, sgf_files};
pub use generate::{Generated, Recipe, generate};
pub use stats::{Accuracy, Counts, StoneDifference, count_by_size};
pub use subproblems::{Reach, TreeError, check_label, expand_tree, grow_tree};
