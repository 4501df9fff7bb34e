//! Komi that follows the game, so that a network that knows only one komi plays handicap games
//! with fight and won games without slack.
//!
//! The two constant planes of a Leela Zero network say who is to move. A value between their
//! usual 0 and 1, or beyond, acts on a trained network as another komi: the winrate of White
//! grows with it. While White's winrate is out of the wanted range, positions met by the search
//! are collected; then a komi is sought, for each colour's turn, at which the network finds
//! those positions neither won nor lost, and the search starts again with it.
//!
//! | file | noun |
//! | --- | --- |
//! | [`settings`] | the options and their defaults in each mode |
//! | [`turn_komi`] | the komi the network is told on Black's and on White's turn |
//! | [`validity`] | which of a network's answers can be trusted, and the test that finds out |
//! | [`curve`] | winrate as a function of komi, evaluated in batches |
//! | [`mod@adjust`] | the decision table: from curves to a new komi |

pub mod adjust;
pub mod curve;
pub mod settings;
pub mod turn_komi;
pub mod validity;

pub use adjust::{Adjustment, adjust, is_out_of_range};
pub use curve::{Curves, Request};
pub use settings::{Mode, Settings};
pub use turn_komi::TurnKomi;
pub use validity::{Trust, Verdict, VerdictTest};
