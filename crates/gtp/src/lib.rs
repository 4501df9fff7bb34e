//! The text protocol: parse a line, call the player, print the answer.
//!
//! GTP version 2, with the commands of Leela Zero and of the tools people use with it.
//!
//! ```
//! use go_player::{LoadedNetwork, Options, Player};
//! use gtp::{Engine, Input, Outputs, Personality};
//! use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};
//!
//! let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(9, 1, 4), 1);
//! let network = LoadedNetwork::from_leela(&random, "random".as_ref())?;
//! let player = Player::new(network, Options::default())?;
//! let input = Input::from_text("1 play black E5\n2 last_move\nquit\n");
//! let outputs = Outputs {
//!     answers: Box::new(std::io::stdout()),
//!     remarks: Box::new(std::io::sink()),
//!     log: None,
//! };
//! let mut engine = Engine::new(player, input, outputs, Personality::Tengen, String::new());
//! engine.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod commands;
mod engine;
mod input;
pub mod kata_report;
pub mod komi_report;
pub mod line;
pub mod report;
mod solver;
pub mod tags;

pub use engine::{Engine, Flow, Outputs, Personality};
pub use input::Input;
pub use solver::SolverReader;
