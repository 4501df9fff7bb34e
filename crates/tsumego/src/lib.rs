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

// Read in this order: what is asked, how it is searched, what comes out, what a network makes of it,
// where data comes from, and the slow solver that checks the fast one.
#[cfg(any(test, feature = "check"))]
pub mod check;
mod data;
mod draw;
mod network;
mod problem;
mod search;
mod solver;

pub use self::draw::{answer_picture, picture, to_svg};
pub use data::{
    Accuracy, CollectionError, Counts, FoundGame, Generated, NoGames, Reach, Recipe,
    StoneDifference, TreeError, Unreadable, check_label, count_by_size, expand_tree,
    for_each_games, for_each_positions, generate, generate_collection, generate_problems,
    grow_collection, grow_tree, sgf_files,
};
pub use network::{
    ATTACKER_OWNS, Cell, DEFENDER_OWNS, FeatureSet, LARGEST_COUNT, NetGuide, Planes, PublishError,
    SafetyError, SafetyNet, Split, TENGEN_PLANES, UnknownFeatureSet, UnknownSplit, ZONE_PLANE,
    compress, compress_rows, example, features, middle, place_in_window, publish, tfrecord,
};
pub use problem::{
    Goal, Hints, InferError, Inferred, Ko, LabelledPosition, MAX_SIDE, Problem, ProblemError,
    ProblemRecord, RecordError, Side, Threats, UnknownKo, canonical_name, infer,
    labelled_positions, labelled_tree, problem_of, problem_tree, proof_tree, read_problem,
    setup_board,
};
pub use solver::{
    Certainty, Difficulty, Explanation, Fate, Flaw, GroupFate, Guide, Limits, MOST_THREATS,
    MapSettings, Plan, Proof, ProofError, Refutation, Solution, Solver, Status, Verdict, explain,
    explanation_tree, map, thread_time, verify,
};
