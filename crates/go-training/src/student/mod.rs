//! A small network for every board that learns from a teacher's [labels](crate::label).
//!
//! | file | noun |
//! | --- | --- |
//! | `sample` | a labelled position, packed for training |
//! | `samples` | all of them, split into those to learn from and those kept out |
//! | `loss` | what is wrong with an answer |
//! | `task` | the training that [`learn::trainer::train`] runs |
//! | `exam` | any network beside the teacher's labels |

mod exam;
mod loss;
mod sample;
mod samples;
mod task;
#[cfg(test)]
mod tests;

pub use exam::{Exam, Mark, examine};
pub use sample::Sample;
pub use samples::{SizeShare, StudentData};
pub use task::{StudentSettings, StudentShape, StudentTask};

pub(crate) use loss::{POLICY, WIN};
pub(crate) use sample::Truth;
pub(crate) use task::file_of;
