//! The rules of Go, and nothing else: boards of any size from 2x2 to 25x25, with
//! blocks, liberties and position hashes kept up to date move by move.
//!
//! ```
//! use go::{Board, BoardSize, Color, Point};
//!
//! let mut board = Board::new(BoardSize::new(9).unwrap());
//! let corner = Point::new(0, 0);
//! board.play(corner, Color::White);
//! board.play(Point::new(1, 0), Color::Black);
//! assert_eq!(board.liberty_count(corner), 1);
//! let capture = board.play(Point::new(0, 1), Color::Black);
//! assert_eq!(board.stone(corner), None);
//! board.undo(capture);
//! assert_eq!(board.stone(corner), Some(Color::White));
//! ```
#![forbid(unsafe_code)]

mod area;
mod benson;
mod board;
mod color;
mod counting;
mod dame;
mod diagram;
mod game;
mod geta;
mod handicap;
mod ladder;
mod ladder_marks;
mod moves;
mod point;
mod points;
mod rules;
mod score;
mod seki;
pub mod sgf;
mod stones;
mod symmetry;
mod unconditional;
mod undo;
mod zobrist;

pub use benson::{Benson, Life};
pub use board::Board;
pub use color::Color;
pub use counting::Count;
pub use diagram::{Diagram, DiagramError};
pub use game::{Game, HISTORY, situation};
pub use geta::{GetaReader, GetaReading};
pub use handicap::{fixed_handicap, max_fixed_handicap, star_points};
pub use ladder::{
    DEFAULT_NODES as DEFAULT_LADDER_NODES, First, LadderReader, LadderVerdict, Reading,
};
pub use ladder_marks::LadderMarks;
pub use moves::{Illegal, Move, VertexError, column_letter};
pub use point::{BoardSize, Point};
pub use points::PointSet;
pub use rules::{HandicapBonus, KoRule, Rules, RulesError, Scoring, Tax};
pub use score::{Komi, Score};
pub use stones::{SetupError, Stones};
pub use symmetry::Symmetry;
pub use unconditional::{Fate, Fates};
pub use undo::Undo;
