//! What to place in a Dr. Mario position, and the examples to learn from.
//!
//! All players stand behind one small trait, [`Player`]:
//!
//! ```
//! use mario::{Ending, Game, Rules};
//! use mario_player::{Heuristic, Player, View, Weights};
//!
//! let mut game = Game::console(0x8988, 0, Rules { most_pills: Some(400), ..Rules::default() });
//! let mut player = Heuristic::two_plies(Weights::default());
//! while game.ending().is_none() {
//!     let decision = player.decide(&View::of(&game))?.expect("the throat is free");
//!     game.play(decision.placement)?;
//! }
//! assert_eq!(game.ending(), Some(Ending::Cleared));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order: the interface, the heuristic, the clock, the tree search's two doors and the players
//! that use it, the network, the choice of players by name, and what is done with them.
#![forbid(unsafe_code)]

// What a player is asked and answers.
mod player;

// Players that look at the bottle.
mod features;
mod heuristic;

// Players that search.
mod clock;
mod judges;
mod position;
mod tree;

// What the network sees and says, and players that ask it.
pub mod network;
pub mod planes;

mod net_judge;
mod net_tree;

// Players by name.
mod lineup;

// What is done with them.
mod evaluate;
mod results;
mod selfplay;
mod solve;

pub use clock::Clock;
pub use evaluate::{
    Estimate, EvaluationError, Finish, GameResult, LevelResult, Series, evaluate, evaluation_seed,
    play_game,
};
pub use features::{FEATURE_NAMES, FEATURES};
pub use heuristic::{Heuristic, Weights, scored, scored_with_next};
pub use lineup::{HALF_SECOND_OF_SEARCH, Kind, Lineup, load_evaluator, shipped_network};
pub use net_judge::NetJudge;
pub use net_tree::{CappedTree, NetSettings, NetTree};
pub use player::{Decision, Player, View};
pub use results::Results;
pub use search::EvaluateError;
pub use selfplay::{read_records, record_game, training_seed};
pub use solve::{SolveSettings, solve};
pub use tree::{Budget, HeuristicTree, RoundZero, SharpRoundZero, TreeSettings};
