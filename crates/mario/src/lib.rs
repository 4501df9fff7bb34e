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
mod board;
mod cell;
mod level;
mod pill;
mod rng;

// What a pill does, where it can go, and when.
mod place;
mod reach;
mod speed;

// A game, alone and against another player.
mod game;
mod points;
pub mod versus;

// Games as text, as pictures, as examples, and between programs.
mod example;
mod film;
pub mod protocol;
mod record;
mod symmetry;
mod text;

pub use board::{Board, HEIGHT, WIDTH, bit, cells_of};
pub use cell::{Cell, Color, Shape};
pub use example::{Example, ExampleError, StallCounts, chances};
pub use film::{FilmError, Scenery, film, still};
pub use game::{Ending, Game, IllegalPlacement, Rules};
pub use level::{LAST_LEVEL, board_only, console_level, virus_count};
pub use pill::{Content, Pill, PillList, Placement};
pub use place::{Outcome, PlaceError, Scene};
pub use points::points;
pub use reach::{Button, Resting, boxes, flood, presses, timed};
pub use record::{GameInput, Record, RecordEnd, RecordError, RecordMove};
pub use rng::{FIRST_SEED, POWER_ON_SEED, Rng};
pub use speed::{FRAMES_PER_SECOND, Speed};
pub use symmetry::COLOR_PERMUTATIONS;
pub use text::{Placed, TextError};
