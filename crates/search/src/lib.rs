//! One tree search for both games.
//!
//! A game enters through [`Game`]: who is to move, play a move, is it over.
//! A judge enters through [`Evaluate`]: a batch of positions in, a value and
//! priors for each out. [`Search`] owns the tree between them: it walks down
//! by a [`Rule`], gathers leaves in batches under virtual loss, has them
//! judged with no lock held, and backs the values up. Limits are exact, the
//! tree survives moves and undos, and with one thread a seed fixes it all.
//!
//! A race to ten in which a player adds one or two, won by who says ten:
//!
//! ```
//! use search::{Evaluate, Game, Rollout, Search, Settings, Side, Task, Turn};
//!
//! #[derive(Clone)]
//! struct Race { said: Vec<u8> }
//!
//! impl Game for Race {
//!     type Move = u8;
//!     type Outlook = ();
//!
//!     fn turn(&self) -> Turn {
//!         let first_moves = self.said.len() % 2 == 0;
//!         if self.said.iter().sum::<u8>() >= 10 {
//!             // Whoever spoke last has won.
//!             return Turn::Over(if first_moves { 0.0 } else { 1.0 });
//!         }
//!         Turn::Player(if first_moves { Side::First } else { Side::Second })
//!     }
//!
//!     fn moves(&self, moves: &mut Vec<u8>) {
//!         moves.extend([1, 2]);
//!     }
//!
//!     fn play(&mut self, mv: u8) {
//!         self.said.push(mv);
//!     }
//!
//!     fn path_from(&self, earlier: &Self) -> Option<Vec<u8>> {
//!         self.said.strip_prefix(&earlier.said[..]).map(<[u8]>::to_vec)
//!     }
//! }
//!
//! let search = Search::new(42);
//! let start = Race { said: vec![] };
//! let report = search.run(&start, &Rollout, &Settings::default(), &Task::visits(400))?;
//! assert_eq!(report.visits, 400);
//! // One, four, seven, ten: these keep the opponent from ever saying ten.
//! assert_eq!(search.snapshot().best(), Some(1));
//! # Ok::<(), search::EvaluateError>(())
//! ```
//!
//! In reading order:
//!
//! - `game`, `evaluate`: the two doors; `outlook`: what else a network says.
//! - `settings`, `task`: what is constant, and what one run is told.
//! - `tree_search`: the public face; `worker`: one thread of it.
//! - `tree`, `node`, `root`, `run`: what the lock guards.
//! - `select`, `gumbel`, `utility`: the formulas; `books`: averages over
//!   weights; `rank`, `student`: the choice.
//!
//! One lock guards the whole tree. It is held for a walk down or a backup,
//! a few microseconds each, and never while a move is played or a position
//! evaluated; so it is free nearly always once an evaluation takes tens of
//! microseconds, and the code under it is plain and sequential.
#![forbid(unsafe_code)]

// The toy games of `tests/` are written as a user of the crate writes them.
#[cfg(test)]
extern crate self as search;

#[cfg(test)]
mod audit;
mod books;
mod evaluate;
mod game;
mod gumbel;
mod node;
mod outlook;
mod rank;
mod root;
mod run;
mod select;
mod settings;
mod simulation;
mod student;
mod task;
mod tree;
mod tree_search;
mod utility;
mod worker;

pub use evaluate::{
    Evaluate, EvaluateError, Evaluation, Evaluations, MeansOf, Rollout, SearchRng, Uniform,
    UtilityOf,
};
pub use game::{Game, Side, Turn};
pub use outlook::{Means, Outlook, Utility};
pub use rank::{RootMove, Snapshot, TreeShape, Weighed, draw_by_visits};
pub use settings::{
    ChanceLeaf, ChanceRule, Dirichlet, Fpu, FpuBase, Gumbel, Lcb, Puct, Rule, Settings, Sigma,
    UtilityPuct, Weighing, WithoutValue,
};
pub use task::{
    Control, EarlyStop, Poll, Progress, Restrict, SearchReport, StopMode, StopReason, Task,
};
pub use tree_search::Search;
