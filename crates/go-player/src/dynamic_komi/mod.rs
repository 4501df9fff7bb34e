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
//! | `settings` | the options and their defaults in each mode |
//! | `turn_komi` | the komi the network is told on Black's and on White's turn |
//! | `validity` | which of a network's answers can be trusted, and the test that finds out |
//! | `collection` | positions that the search met while komi was wrong |
//! | `sample` | those of them that an adjustment rests on |
//! | `curve` | winrate as a function of komi, evaluated in batches |
//! | `seek` | the komi at which a curve meets a winrate |
//! | `look` | positions looked at again with another komi |
//! | `adjust` | the decision table: from curves to a new komi |
//! | `controller` | what all this keeps beside a plain player |
//! | `leaves` | positions of a search, collected, and values that do not count withheld |
//! | `lead` | whether komi is against a leader, and what it may risk |
//! | `watch` | a search that is watched for all this |
//! | `network_test` | whether a network can be told another komi |
//! | [`verdicts`] | what tests of networks found, remembered |

pub(crate) mod adjust;
pub(crate) mod collection;
mod controller;
pub(crate) mod curve;
mod lead;
mod leaves;
mod look;
pub(crate) mod network_test;
pub(crate) mod sample;
mod seek;
pub(crate) mod settings;
pub(crate) mod turn_komi;
pub(crate) mod validity;
pub mod verdicts;
pub(crate) mod watch;

pub use adjust::{Adjustment, adjust, is_out_of_range};
pub use collection::{Collector, SavedPosition};
pub(crate) use controller::Controller;
pub use curve::{Curves, Request};
pub(crate) use lead::{is_against, is_as_safe};
pub(crate) use leaves::KomiLeaves;
pub use look::{Look, winrates};
pub use network_test::{Assessment, Refusal};
pub use sample::Sample;
pub use settings::{Mode, Settings, SettingsError};
pub use turn_komi::TurnKomi;
pub use validity::{KomiVerdict, Scores, Trust, VerdictTest};
pub use watch::Purpose;
