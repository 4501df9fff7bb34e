//! What is asked: a position, the blocks in question, the zone of the fight, the ko rule; and how
//! all that is written down.

mod canon;
mod infer;
mod ko;
mod question;
mod record;
mod stakes;
mod ways_out;
pub(crate) mod zone;

pub use canon::canonical_name;
pub use infer::{Hints, InferError, Inferred, infer};
pub use ko::{Ko, Threats, UnknownKo};
pub use question::{Goal, MAX_SIDE, Problem, ProblemError, Side};
pub(crate) use record::{ATTACKER_STARTS, DEFENDER_STARTS};
pub use record::{
    LabelledPosition, ProblemRecord, RecordError, labelled_positions, labelled_tree, problem_of,
    problem_tree, proof_tree, read_problem, setup_board,
};
