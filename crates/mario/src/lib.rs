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

// The pieces, the bottle and how it is filled.
mod cell;
mod pill;

pub mod board;
pub mod level;
pub mod rng;

// What a pill does, where it can go, and when.
mod place;
pub mod reach;
pub mod speed;

pub mod points;
pub mod versus;

mod game;

// Games as text, as pictures, as examples, and between programs.
mod text;

pub mod example;
pub mod film;
pub mod protocol;
pub mod record;
pub mod symmetry;

pub use board::Board;
pub use cell::{Cell, Color, Shape};
pub use example::Example;
pub use game::{Ending, Game, IllegalPlacement, Rules};
pub use pill::{Content, Pill, PillList, Placement};
pub use place::{Outcome, PlaceError, Scene};
pub use reach::{Button, Resting, boxes, flood};
pub use record::Record;
pub use speed::Speed;
pub use text::{Placed, TextError};
