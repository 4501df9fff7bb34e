//! Is this group safe? An exact solver, a problem generator and its data pipeline.
//!
//! A group is *safe* if the attacker cannot capture it although he moves first and may retake any
//! ko. A [`Problem`] is a position, the blocks in question and the zone of the fight; a [`Solver`]
//! decides it and can write its [`Proof`] out, which [`verify`] checks by the rules alone.
//!
//! ```
//! use go::{Board, BoardSize, Point};
//! use tsumego::{Ko, Limits, Problem, Side, Solver, Verdict, verify};
//!
//! // Three in a row: whoever plays the middle decides.
//! let drawing = "
//!     . . . . . . .
//!     . . . . . . .
//!     . . . . . . .
//!     . . . . . . .
//!     X X X X X . .
//!     O O O O X . .
//!     . . . O X . .";
//! let board = Board::from_diagram(BoardSize::new(7).unwrap(), drawing)?;
//! let problem = Problem::new(board, &[Point::new(0, 1)])?;
//! let mut solver = Solver::new(&problem, Limits::default());
//!
//! let attacked = solver.solve(&problem, Side::Attacker, Ko::ATTACKER);
//! assert_eq!(attacked.verdict, Verdict::Unsafe);
//! assert_eq!(attacked.first_move, Some(Point::new(1, 0)));
//! assert_eq!(solver.solve(&problem, Side::Defender, Ko::ATTACKER).verdict, Verdict::Safe);
//!
//! let proof = solver.proof(&problem, Side::Attacker, Ko::ATTACKER, 1_000)?;
//! assert!(verify(&problem, &proof).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod bits;
pub mod brute;
mod canon;
mod collection;
pub mod crosscheck;
mod draw;
mod eyes;
mod features;
mod field;
mod frame;
mod generate;
mod judge;
mod ko;
mod life;
mod lines;
mod moves;
mod pack;
mod path;
mod position;
mod problem;
mod proof;
mod publish;
mod record;
mod relevance;
mod safety;
mod search;
mod sketch;
mod solver;
mod stats;
mod subproblems;
mod table;
pub mod tfrecord;
mod verify;
mod zone;

pub use canon::canonical_name;
pub use collection::{
    Collection, CollectionError, generate_collection, generate_problems, grow_collection,
};
pub use draw::to_svg;
pub use eyes::{can_be_eye, can_be_eye_simply, euler_number, eyes_in, is_sure_eye, nakade_centre};
pub use features::{FeatureSet, LARGEST_COUNT, Planes, TENGEN_PLANES, UnknownFeatureSet, features};
pub use frame::{Cell, ZONE_PLANE, middle, place_in_window};
pub use generate::{Generated, Recipe, generate};
pub use ko::{Ko, Threats, UnknownKo};
pub use lines::{Piece, Pieces, pieces};
pub use pack::{ATTACKER_OWNS, DEFENDER_OWNS, NOBODY_OWNS, Split, UnknownSplit, example};
pub use problem::{Goal, MAX_SIDE, MAX_TARGETS, Problem, ProblemError, Side};
pub use proof::{Plan, Proof, ProofError, ProofId};
pub use publish::{PublishError, publish};
pub use record::{
    LabelledPosition, ProblemRecord, RecordError, labelled_position, labelled_positions,
    labelled_tree, problem_of, problem_tree, proof_tree, read_problem,
};
pub use safety::{NetGuide, SafetyError, SafetyNet, compress, compress_rows, default_network};
pub use solver::{Guide, Limits, Solution, Solver, Status, Verdict};
pub use stats::{Counts, Score, StoneDifference, count_by_size};
pub use subproblems::{Reach, TreeError, check_label, expand_tree, grow_tree};
pub use verify::{Flaw, verify};
pub use zone::{find_zone, playable, wall_stones};
