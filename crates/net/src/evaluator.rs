//! The one door through which everything else reaches a network.

use std::sync::Arc;

use thiserror::Error;

use crate::shape::IoShape;

/// Turns batches of input rows into batches of output rows.
///
/// Implementations are shared between threads and called concurrently; each call borrows its scratch memory from a
/// pool, so that nothing is allocated once as many calls have run as run at the same time.
pub trait Evaluator: Send + Sync {
    /// The shape of one input row and one output row.
    fn shape(&self) -> &IoShape;

    /// The number of positions in one call that it works on most efficiently; a caller with a choice asks for multiples
    /// of it.
    fn preferred_batch(&self) -> usize;

    /// Calls that are worth making at the same time, whatever the number of cores: more than one for a device that is
    /// given the next batch while it works on another. 1 means that a core that makes a call is busy with it.
    fn in_flight(&self) -> usize {
        1
    }

    /// Evaluates `inputs.len() / shape().input_len()` positions; `outputs` receives one row for each.
    ///
    /// When it fails, the content of `outputs` is unspecified.
    ///
    /// # Panics
    ///
    /// When the two lengths do not describe the same number of whole rows: see [`batch_of`].
    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError>;
}

/// Why positions could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvaluateError {
    /// The device or library under the evaluator failed.
    #[error("the network could not be evaluated: {0}")]
    Backend(String),
    /// The positions were part of a batch that another thread evaluated, and that thread panicked.
    #[error("the network could not be evaluated: the thread that ran the shared batch stopped")]
    Abandoned,
}

impl<E: Evaluator + ?Sized> Evaluator for Arc<E> {
    fn shape(&self) -> &IoShape {
        (**self).shape()
    }

    fn preferred_batch(&self) -> usize {
        (**self).preferred_batch()
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        (**self).evaluate(inputs, outputs)
    }
}

impl<E: Evaluator + ?Sized> Evaluator for &E {
    fn shape(&self) -> &IoShape {
        (**self).shape()
    }

    fn preferred_batch(&self) -> usize {
        (**self).preferred_batch()
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        (**self).evaluate(inputs, outputs)
    }
}

/// The number of positions that `inputs` and `outputs` both hold.
///
/// # Panics
///
/// When either is not a whole number of rows, or they disagree.
pub fn batch_of(shape: &IoShape, inputs: &[f32], outputs: &[f32]) -> usize {
    let batch = inputs.len() / shape.input_len();
    assert_eq!(
        inputs.len(),
        batch * shape.input_len(),
        "the inputs are not a whole number of positions"
    );
    assert_eq!(
        outputs.len(),
        batch * shape.output_len(),
        "the outputs do not match {batch} positions"
    );
    batch
}
