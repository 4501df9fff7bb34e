//! The one door through which everything else reaches a network.

use std::sync::Arc;

use crate::shape::IoShape;

/// Turns batches of planes into batches of outputs.
///
/// Implementations are shared between threads and called concurrently; each call borrows its scratch memory from a
/// pool, so that nothing is allocated once as many calls have run as run at the same time.
pub trait Evaluator: Send + Sync {
    /// The shape of one input row and one output row.
    fn shape(&self) -> &IoShape;

    /// Evaluates `planes.len() / shape().input_len()` positions; `outputs` receives one row for each.
    ///
    /// # Panics
    ///
    /// When the two lengths do not describe the same number of whole rows: see [`batch_of`].
    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]);
}

impl<E: Evaluator + ?Sized> Evaluator for Arc<E> {
    fn shape(&self) -> &IoShape {
        (**self).shape()
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) {
        (**self).evaluate(planes, outputs);
    }
}

impl<E: Evaluator + ?Sized> Evaluator for &E {
    fn shape(&self) -> &IoShape {
        (**self).shape()
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) {
        (**self).evaluate(planes, outputs);
    }
}

/// The number of positions that `planes` and `outputs` both hold.
///
/// # Panics
///
/// When either is not a whole number of rows, or they disagree.
pub fn batch_of(shape: &IoShape, planes: &[f32], outputs: &[f32]) -> usize {
    let batch = planes.len() / shape.input_len();
    assert_eq!(
        planes.len(),
        batch * shape.input_len(),
        "the planes are not a whole number of positions"
    );
    assert_eq!(
        outputs.len(),
        batch * shape.output_len(),
        "the outputs do not match {batch} positions"
    );
    batch
}
