//! What to place in a Dr. Mario position, and the examples to learn from.
//!
//! All players stand behind one small trait, [`Player`](player::Player):
//!
//! ```
//! use mario::{Ending, Game, Rules};
//! use mario_player::heuristic::{Heuristic, Weights};
//! use mario_player::player::{Player, View};
//!
//! let mut game = Game::console(0x8988, 0, Rules { most_pills: Some(400), ..Rules::default() });
//! let mut player = Heuristic::two_plies(Weights::default());
//! while game.ending().is_none() {
//!     let decision = player.decide(&View::of(&game)).expect("the throat is free");
//!     game.play(decision.placement)?;
//! }
//! assert_eq!(game.ending(), Some(Ending::Cleared));
//! # Ok::<(), mario::IllegalPlacement>(())
//! ```
//!
//! In reading order: the interface, the heuristic, the clock, the tree search's two doors and the players
//! that use it, the network, the choice of players by name, and what is done with them.
#![forbid(unsafe_code)]

pub mod player;

pub mod features;
pub mod heuristic;

pub mod clock;
mod judges;
mod position;
pub mod tree;

pub mod network;
pub mod planes;

pub mod net_judge;
pub mod net_tree;

pub mod lineup;

pub mod evaluate;
pub mod results;
pub mod selfplay;
pub mod solve;
