//! Networks constructed by hand that read ladders, and their graft into trained networks.
//!
//! A ladder is decided by what its runner meets on a diagonal, and a residual network can carry that news one point
//! per convolution. So a network that reads ladders need not be trained: it can be written down. Here it is written
//! in a small language of named planes and ReLU formulas, collected in a circuit, and
//! compiled to the rows of a Leela Zero file. An emulation in whole numbers evaluates the same
//! formulas without any convolution, and an [examination](examine) puts the result beside the exact reader of [`go`].
//!
//! ```
//! use go::{Board, BoardSize, Color, Point};
//! use ladder::{LadderNetwork, Probe};
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
//! # Ok::<(), net::OpenError>(())
//! ```
#![forbid(unsafe_code)]

// The language that a network is written in.
mod circuit;
mod formula;
mod frame;

// Two ways to run what is written.
mod compile;
mod emulation;

// What is written: the reader and its parts, its outputs, whole networks.
mod events;
mod heads;
mod original;
mod reader;
mod readout;
mod standalone;
mod strings;

// Asking a network, and marking its answers.
mod exam;
mod fit;
mod moves;
mod played;
mod positions;
mod probe;
mod score;

// What is shown, and what else a network gets.
mod graft;
mod journey;
mod picture;

pub use compile::{Compiled, LARGEST_VALUE};
pub use emulation::{Snapshot, emulate};
pub use exam::{Candidate, Marks, TestSet, boards_of, examine, kind_of, sets};
pub use fit::{Fit, FitSample, fit};
pub use formula::Plane;
pub use graft::{Gains, GraftError, graft};
pub use journey::{Journey, News, journey};
pub use moves::{
    LadderMove, MOVE_SORTS, STRING_SORTS, decided_strings, ladder_moves, sort_name,
    string_sort_name,
};
pub use original::Original;
pub use picture::picture;
pub use played::played;
pub use positions::{
    Boards, Kind, Question, Recipe, Start, from_record, landing, questions, questions_for, runs_on,
    truth,
};
pub use probe::{Probe, input_row, input_values, planes_of};
pub use reader::{DEFAULT_STEPS, reader};
pub use score::LadderScore;
pub use standalone::LadderNetwork;
