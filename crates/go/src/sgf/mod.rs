//! SGF: reading what other programs wrote, however damaged, and writing what they read.
//!
//! Parsing rests on the `sgf-parse` crate. Around it this module decodes the bytes, cuts a
//! file into games, says where a file is damaged (game, node, property, line), turns a path of
//! nodes into a [`Game`](crate::Game), and writes trees back.
//!
//! ```
//! use go::sgf;
//!
//! let collection = sgf::read(b"(;FF[4]GM[1]SZ[9]KM[7];B[ee](;W[ce])(;W[ge]C[or here]))")?;
//! let tree = &collection.games[0];
//! let main_line = tree.main_line();
//! let game = tree.game_at(*main_line.last().unwrap())?;
//! assert_eq!(game.last_move().unwrap().1.to_string(), "C5");
//!
//! let mut tree = sgf::Tree::from_game(&game);
//! let last = *tree.main_line().last().unwrap();
//! tree.set_text(last, "C", "a quiet move [really]");
//! assert!(tree.to_string().contains("C[a quiet move [really\\]]"));
//! # Ok::<(), sgf::SgfError>(())
//! ```

mod check;
mod decode;
mod error;
mod info;
mod read;
mod replay;
mod scan;
mod tree;
mod write;

pub use check::{Finding, Report, Severity, check};
pub use error::{Place, Problem, SgfError};
pub use info::{GameResult, Overtime, TimeLimits, WinBy};
pub use read::{Collection, read, read_text};
pub use replay::Replay;
pub use tree::{NodeId, Property, Tree};
