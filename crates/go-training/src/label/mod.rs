//! Labels: positions with all that a teacher network says about them, for a smaller network to learn.
//!
//! [`generate`] plays games with the teacher's own policy, [`from_records`] takes positions from game records. Both
//! hand out [`LabelledGame`]s: a game, and at some of its turns a [`Label`]. A [`LabelFile`] keeps them on disk; it can
//! be appended to after a crash, and a game that is in it is not made again.

mod bytes;
mod file;
mod generate;
mod plan;
mod record;
mod records;
mod teacher;

pub use file::{LabelError, LabelFile, read_labels};
pub use generate::{Progress, generate};
pub use plan::PlaySettings;
pub use record::{Label, LabelledGame};
#[cfg(test)]
pub(crate) use records::FIRST_NUMBER;
pub(crate) use records::is_from_record;
pub use records::{RecordSettings, from_records};
pub use teacher::Teacher;

#[cfg(test)]
pub(crate) mod tests;
