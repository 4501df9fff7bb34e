//! Pictures for every part of the program: Go boards, Dr. Mario's bottles, charts and trees of proofs.
//!
//! Everything here takes plain data and knows no game's rules, so that a trainer can draw a chart without knowing a
//! game. Pictures are lists of shapes on a [`Canvas`], which becomes SVG (for pages) or PNG (for everything else).
//! Colours and sizes of letters are in [`style`] and nowhere else.
//!
//! ```
//! use draw::{GoBoard, Stone};
//!
//! // White at the corner (column 0, row 0 from the bottom), Black beside it.
//! let stone = |x: usize, y: usize| match (x, y) {
//!     (0, 0) => Some(Stone::White),
//!     (1, 0) => Some(Stone::Black),
//!     _ => None,
//! };
//! let picture = GoBoard::new(9, stone).letter(0, 1, "1").canvas();
//! assert!(picture.to_svg().starts_with("<svg"));
//! assert!(picture.to_png().starts_with(b"\x89PNG"));
//! ```

#![forbid(unsafe_code)]

pub mod style;

mod canvas;
mod font;
mod raster;
mod svg;

mod board;
pub mod bottle;

pub mod axis;
mod chart;
mod tree;

pub use board::{GoBoard, Stone};
pub use canvas::{Anchor, Canvas, Rgb};
pub use chart::{Chart, Join, Line};
pub use svg::escape;
pub use tree::{Node, Tree};
