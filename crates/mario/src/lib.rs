//! The rules of Dr. Mario, exactly as the console plays them.
//!
//! ```
//! use mario::{Game, Rules, flood};
//!
//! // The game the console deals after power-on, level 3, played with the first legal placement.
//! let mut game = Game::console(0x8988, 3, Rules::default());
//! while game.ending().is_none() {
//!     let pill = game.pill();
//!     let placement = flood(game.board()).placements(pill).next().expect("the throat is free");
//!     game.play(placement)?;
//! }
//! assert!(game.board().viruses_left() <= 16);
//! # Ok::<(), mario::IllegalPlacement>(())
//! ```
#![forbid(unsafe_code)]

pub mod cell;
pub mod rng;

pub mod pill;

pub mod board;
pub mod level;

pub mod place;

pub mod reach;

pub mod speed;

pub mod game;

pub mod text;

pub mod record;

pub mod film;

pub mod protocol;

pub mod symmetry;

pub mod example;

pub use board::Board;
pub use cell::{Cell, Color, Shape};
pub use example::Example;
pub use game::{Ending, Game, IllegalPlacement, Rules};
pub use pill::{Content, Pill, PillList, Placement};
pub use place::Outcome;
pub use reach::{Button, Resting, boxes, flood};
pub use record::Record;
pub use speed::Speed;
pub use text::Placed;
