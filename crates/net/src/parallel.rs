//! One large batch on several cores.

use std::sync::Arc;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::evaluator::{Evaluator, batch_of};
use crate::shape::IoShape;

/// Cuts every batch into parts and evaluates them on a fixed pool of threads, which sleep in between.
///
/// A search with a thread per core needs no such thing: each of its threads calls the evaluator itself.
pub struct Parallel<E> {
    inner: E,
    pool: Arc<ThreadPool>,
    positions_at_once: usize,
}

impl<E: Evaluator> Parallel<E> {
    /// `positions_at_once` is best what [`Plan::positions_at_once`](crate::plan::Plan::positions_at_once) says.
    pub fn new(
        inner: E,
        threads: usize,
        positions_at_once: usize,
    ) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("net-{index}"))
            .build()?;
        Ok(Self {
            inner,
            pool: Arc::new(pool),
            positions_at_once: positions_at_once.max(1),
        })
    }
}

impl<E: Evaluator> Evaluator for Parallel<E> {
    fn shape(&self) -> &IoShape {
        self.inner.shape()
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) {
        let shape = self.inner.shape();
        let batch = batch_of(shape, planes, outputs);
        // A batch smaller than a part for every thread is still shared out evenly.
        let share = batch.div_ceil(self.pool.current_num_threads()).max(1);
        let part = self.positions_at_once.min(share);
        self.pool.install(|| {
            let rows = outputs.par_chunks_mut(part * shape.output_len());
            let planes = planes.par_chunks(part * shape.input_len());
            planes
                .zip(rows)
                .for_each(|(planes, rows)| self.inner.evaluate(planes, rows));
        });
    }
}
