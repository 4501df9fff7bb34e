//! Full batches from many small callers.
//!
//! Self-play runs many games at once, each asking for one position at a time. A [`Gather`] stands
//! between them and an evaluator: callers wait until enough positions have come together, or until
//! nobody is left who could bring another; then the last one to arrive evaluates for all. There are
//! no threads of its own and nobody spins. While one batch runs the next one fills, so two cores
//! have two batches.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::evaluator::{Evaluator, batch_of};
use crate::shape::IoShape;

/// An evaluator that puts the positions of several callers into one batch.
pub struct Gather<E> {
    inner: E,
    rows_wanted: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    callers: usize,
    /// Callers whose positions wait or are being evaluated.
    occupied: usize,
    pending: Vec<Arc<Ticket>>,
    pending_rows: usize,
    batches: u64,
    rows: u64,
}

/// One caller's positions and, once they are there, its outputs.
struct Ticket {
    planes: Vec<f32>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

enum Progress {
    Waiting,
    /// Nobody else will come: the caller has to evaluate what is pending.
    Lead,
    Done(Vec<f32>),
    /// The thread that evaluated the batch panicked.
    Abandoned,
}

/// Keeps a caller counted as one that may bring positions; see [`Gather::join`].
pub struct Seat<'a, E: Evaluator> {
    gather: &'a Gather<E>,
}

impl<E: Evaluator> Gather<E> {
    /// Gathers batches of `rows_wanted` positions for `inner`.
    pub fn new(inner: E, rows_wanted: usize) -> Self {
        Self {
            inner,
            rows_wanted: rows_wanted.max(1),
            state: Mutex::default(),
        }
    }

    /// Registers a caller. Batches wait for callers with a seat, so a thread that stops asking
    /// must let go of its seat; one without a seat is served, but never waited for.
    pub fn join(&self) -> Seat<'_, E> {
        lock(&self.state).callers += 1;
        Seat { gather: self }
    }

    /// Batches evaluated so far, and the positions in them.
    pub fn statistics(&self) -> (u64, u64) {
        let state = lock(&self.state);
        (state.batches, state.rows)
    }

    /// Evaluates a batch for all whose positions are in it.
    fn lead(&self, batch: Vec<Arc<Ticket>>) {
        let shape = self.inner.shape();
        let delivery = Delivery {
            state: &self.state,
            batch,
        };
        let planes: Vec<f32> = delivery
            .batch
            .iter()
            .flat_map(|ticket| &ticket.planes)
            .copied()
            .collect();
        let rows = planes.len() / shape.input_len();
        let mut outputs = vec![0.0; rows * shape.output_len()];
        self.inner.evaluate(&planes, &mut outputs);
        delivery.deliver(&outputs, shape);
    }
}

impl State {
    /// The pending positions, if it is time to evaluate them.
    fn take_if_due(&mut self, rows_wanted: usize) -> Option<Vec<Arc<Ticket>>> {
        let due = self.pending_rows >= rows_wanted || self.occupied >= self.callers;
        if !due || self.pending.is_empty() {
            return None;
        }
        self.pending_rows = 0;
        Some(std::mem::take(&mut self.pending))
    }
}

impl<E: Evaluator> Evaluator for Gather<E> {
    fn shape(&self) -> &IoShape {
        self.inner.shape()
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) {
        let rows = batch_of(self.shape(), planes, outputs);
        let ticket = Arc::new(Ticket {
            planes: planes.to_vec(),
            progress: Mutex::new(Progress::Waiting),
            changed: Condvar::new(),
        });
        let due = {
            let mut state = lock(&self.state);
            state.occupied += 1;
            state.pending_rows += rows;
            state.pending.push(ticket.clone());
            state.take_if_due(self.rows_wanted)
        };
        if let Some(batch) = due {
            self.lead(batch);
        }
        loop {
            match ticket.wait() {
                Progress::Done(result) => return outputs.copy_from_slice(&result),
                Progress::Abandoned => panic!("the evaluation of a shared batch failed"),
                Progress::Lead | Progress::Waiting => {
                    let batch = {
                        let mut state = lock(&self.state);
                        state.pending_rows = 0;
                        std::mem::take(&mut state.pending)
                    };
                    if !batch.is_empty() {
                        self.lead(batch);
                    }
                }
            }
        }
    }
}

impl Ticket {
    /// Sleeps until something happens; what it was is taken out.
    fn wait(&self) -> Progress {
        let mut progress = lock(&self.progress);
        while matches!(*progress, Progress::Waiting) {
            progress = self
                .changed
                .wait(progress)
                .unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::replace(&mut *progress, Progress::Waiting)
    }

    fn set(&self, new: Progress) {
        *lock(&self.progress) = new;
        self.changed.notify_one();
    }
}

/// The tickets of a batch until each has its outputs; those left when it is dropped are told so.
struct Delivery<'a> {
    state: &'a Mutex<State>,
    batch: Vec<Arc<Ticket>>,
}

impl Delivery<'_> {
    fn deliver(mut self, outputs: &[f32], shape: &IoShape) {
        let batch = std::mem::take(&mut self.batch);
        let rows = outputs.len() / shape.output_len();
        {
            let mut state = lock(self.state);
            state.batches += 1;
            state.rows += rows as u64;
            state.occupied -= batch.len();
        }
        let mut rest = outputs;
        for ticket in batch {
            let (own, others) =
                rest.split_at(ticket.planes.len() / shape.input_len() * shape.output_len());
            ticket.set(Progress::Done(own.to_vec()));
            rest = others;
        }
    }
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        lock(self.state).occupied -= self.batch.len();
        for ticket in &self.batch {
            ticket.set(Progress::Abandoned);
        }
    }
}

impl<E: Evaluator> Drop for Seat<'_, E> {
    fn drop(&mut self) {
        let mut state = lock(&self.gather.state);
        state.callers -= 1;
        // The others may have been waiting for this caller alone.
        if state.occupied >= state.callers
            && let Some(ticket) = state.pending.first()
        {
            ticket.set(Progress::Lead);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every critical section here leaves its state consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leela::{LeelaNetwork, LeelaShape, LeelaVersion};
    use crate::reference::Reference;

    const CALLERS: usize = 12;
    const CALLS: usize = 20;

    fn reference() -> Reference {
        let network = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(3, 1, 4), 7);
        Reference::new(network.to_network()).unwrap()
    }

    fn planes(seed: usize, length: usize) -> Vec<f32> {
        (0..length)
            .map(|i| ((seed * 31 + i * 7) % 13) as f32 / 13.0)
            .collect()
    }

    #[test]
    fn every_caller_gets_the_outputs_of_its_own_positions() {
        let alone = reference();
        let shape = alone.shape().clone();
        let gather = Gather::new(reference(), 8);
        std::thread::scope(|scope| {
            let seats: Vec<_> = (0..CALLERS).map(|_| gather.join()).collect();
            for (caller, seat) in seats.into_iter().enumerate() {
                let (gather, alone, shape) = (&gather, &alone, &shape);
                scope.spawn(move || {
                    let _seat = seat;
                    for call in 0..CALLS {
                        let rows = 1 + (caller + call) % 3;
                        let planes = planes(caller * CALLS + call, rows * shape.input_len());
                        let mut outputs = vec![0.0; rows * shape.output_len()];
                        let mut expected = outputs.clone();
                        gather.evaluate(&planes, &mut outputs);
                        alone.evaluate(&planes, &mut expected);
                        assert_eq!(outputs, expected);
                    }
                });
            }
        });
        let (batches, rows) = gather.statistics();
        assert_eq!(
            rows as usize,
            (0..CALLERS * CALLS)
                .map(|i| 1 + (i / CALLS + i % CALLS) % 3)
                .sum()
        );
        assert!(batches < (CALLERS * CALLS) as u64, "nothing was gathered");
    }

    #[test]
    fn a_single_caller_is_served_at_once() {
        let gather = Gather::new(reference(), 1000);
        let _seat = gather.join();
        let shape = gather.shape().clone();
        let mut outputs = vec![0.0; shape.output_len()];
        gather.evaluate(&planes(1, shape.input_len()), &mut outputs);
        assert_ne!(outputs, vec![0.0; shape.output_len()]);
    }

    #[test]
    fn the_rest_goes_on_when_a_caller_leaves() {
        let gather = Gather::new(reference(), 1000);
        let shape = gather.shape().clone();
        let leaving = gather.join();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let _seat = gather.join();
                let mut outputs = vec![0.0; shape.output_len()];
                gather.evaluate(&planes(2, shape.input_len()), &mut outputs);
                outputs
            });
            while lock(&gather.state).pending.is_empty() {
                std::thread::yield_now();
            }
            drop(leaving);
            assert_ne!(waiting.join().unwrap(), vec![0.0; shape.output_len()]);
        });
    }

    #[test]
    fn a_failed_batch_fails_all_its_callers_and_hangs_none() {
        struct Broken(IoShape);
        impl Evaluator for Broken {
            fn shape(&self) -> &IoShape {
                &self.0
            }
            fn evaluate(&self, _: &[f32], _: &mut [f32]) {
                panic!("broken on purpose");
            }
        }
        let gather = Gather::new(Broken(reference().shape().clone()), 4);
        let shape = gather.shape().clone();
        let failures = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut outputs = vec![0.0; shape.output_len()];
                        gather.evaluate(&planes(3, shape.input_len()), &mut outputs);
                    })
                })
                .collect();
            callers
                .into_iter()
                .map(|caller| caller.join())
                .filter(Result::is_err)
                .count()
        });
        assert_eq!(failures, 4);
    }
}
