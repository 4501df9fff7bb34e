//! Networks constructed by hand that read ladders, and their graft into trained networks.
//!
//! A ladder is decided by what its runner meets on a diagonal, and a residual network can carry that news one point
//! per convolution. So a network that reads ladders need not be trained: it can be written down. Here it is written
//! in a small language of named planes and ReLU [formulas](formula), collected in a [`circuit`], and
//! [compiled](mod@compile) to the rows of a Leela Zero file. An [`emulation`] in whole numbers evaluates the same
//! formulas without any convolution, and an [examination](exam) puts the result beside the exact reader of [`go`].
//!
//! ```
//! use go::{Board, BoardSize, Color, Point};
//! use ladder::probe::Probe;
//! use ladder::standalone::LadderNetwork;
//!
//! // A black stone in atari; its extension runs into the open, where the ladder catches it.
//! let mut board = Board::new(BoardSize::NINE);
//! board.play(Point::new(2, 2), Color::Black);
//! for (x, y) in [(1, 2), (2, 1), (3, 2), (1, 3)] {
//!     board.play(Point::new(x, y), Color::White);
//! }
//! let network = LadderNetwork::new(9, 8);
//! let verdicts = [network.reader.escape_ok, network.reader.escape_bad];
//! let probe = Probe::new(&network.compiled, &verdicts)?;
//! let seen = &probe.read(&[(&board, Color::Black)])[0];
//! let extension = Point::new(2, 3);
//! assert!(seen.at(network.reader.escape_bad, board.size(), extension) > 0.5);
//! assert!(seen.at(network.reader.escape_ok, board.size(), extension) < 0.5);
//! # Ok::<(), net::backend::OpenError>(())
//! ```
#![forbid(unsafe_code)]

pub mod frame;

pub mod formula;

pub mod circuit;

pub mod emulation;

pub mod compile;

pub mod reader;

pub mod heads;

pub mod standalone;

pub mod original;

pub mod probe;

pub mod positions;

pub mod score;

pub mod exam;

pub mod played;

pub mod journey;

pub mod picture;

pub mod graft;
