//! Full batches from many small callers.
//!
//! Several games played at once, or several threads of one search, each ask for a few positions at a time, while an
//! evaluator wants many. A [`Gather`] stands between them. It has no threads of its own: one of the callers evaluates
//! for all whose positions wait, and the others sleep meanwhile.
//!
//! There are two ways to say when a batch is due. [`Gather::new`] waits until enough positions have come together or
//! until every caller with a [`Participant`] has asked: right for self-play, where each game asks, waits, and asks again.
//! [`Gather::while_busy`] never waits for anybody: a position is evaluated at once unless as many batches are running
//! as should be, and then it joins those that wait for the next one. That is right for the threads of one search,
//! which may have to wait for each other and so must not be waited for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::shape::IoShape;

/// An evaluator that puts the positions of several callers into one batch.
pub struct Gather<E> {
    inner: E,
    rows_wanted: usize,
    /// No smaller batch is started while so many run.
    running_limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Callers that have joined.
    callers: usize,
    /// Callers whose positions wait or are being evaluated.
    occupied: usize,
    pending: Vec<Arc<Ticket>>,
    pending_rows: usize,
    /// Batches being evaluated.
    running: usize,
    batches: u64,
    rows: u64,
}

/// One caller's positions and, once they are there, its outputs.
struct Ticket {
    inputs: Vec<f32>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

enum Progress {
    Waiting,
    /// Nobody else will come: the caller has to evaluate what is pending.
    Lead,
    Done(Result<Vec<f32>, EvaluateError>),
}

/// Keeps a caller counted as one that may bring positions; see [`Gather::join`].
pub struct Participant<'a, E: Evaluator> {
    gather: &'a Gather<E>,
}

impl<E: Evaluator> Gather<E> {
    /// Gathers batches of `rows_wanted` positions, or as many as the callers that have joined bring.
    pub fn new(inner: E, rows_wanted: usize) -> Self {
        Self {
            inner,
            rows_wanted: rows_wanted.max(1),
            running_limit: usize::MAX,
            state: Mutex::default(),
        }
    }

    /// Evaluates up to `running_limit` batches at once, on the threads of the callers, and gathers while they run:
    /// one for a backend that does the work elsewhere, as many as there are cores for one that does it here.
    pub fn while_busy(inner: E, running_limit: usize) -> Self {
        Self {
            rows_wanted: usize::MAX,
            inner,
            running_limit: running_limit.max(1),
            state: Mutex::default(),
        }
    }

    /// Registers a caller. Batches wait for callers that have joined, so a thread that stops asking
    /// must drop this; a caller that has not joined is served, but never waited for.
    pub fn join(&self) -> Participant<'_, E> {
        lock(&self.state).callers += 1;
        Participant { gather: self }
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
            gather: self,
            batch,
        };
        let inputs: Vec<f32> = delivery
            .batch
            .iter()
            .flat_map(|ticket| &ticket.inputs)
            .copied()
            .collect();
        let rows = inputs.len() / shape.input_len();
        let mut outputs = vec![0.0; rows * shape.output_len()];
        let result = self.inner.evaluate(&inputs, &mut outputs);
        delivery.deliver(result.map(|()| outputs));
    }

    /// The pending positions, if it is time to evaluate them; the batch counts as running from then on.
    fn take_if_due(&self, state: &mut State) -> Option<Vec<Arc<Ticket>>> {
        self.is_due(state).then(|| take(state))
    }

    fn is_due(&self, state: &State) -> bool {
        let nobody_else = state.occupied >= state.callers && state.running < self.running_limit;
        !state.pending.is_empty() && (state.pending_rows >= self.rows_wanted || nobody_else)
    }

    /// Tells one of those who wait to evaluate, if it is time.
    fn appoint(&self, state: &State) {
        if self.is_due(state)
            && let Some(ticket) = state.pending.first()
        {
            ticket.set(Progress::Lead);
        }
    }
}

fn take(state: &mut State) -> Vec<Arc<Ticket>> {
    state.pending_rows = 0;
    state.running += 1;
    std::mem::take(&mut state.pending)
}

impl<E: Evaluator> Evaluator for Gather<E> {
    fn shape(&self) -> &IoShape {
        self.inner.shape()
    }

    fn preferred_batch(&self) -> usize {
        self.inner.preferred_batch()
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        let rows = batch_of(self.shape(), inputs, outputs);
        let ticket = Arc::new(Ticket {
            inputs: inputs.to_vec(),
            progress: Mutex::new(Progress::Waiting),
            changed: Condvar::new(),
        });
        let due = {
            let mut state = lock(&self.state);
            state.occupied += 1;
            state.pending_rows += rows;
            state.pending.push(ticket.clone());
            self.take_if_due(&mut state)
        };
        if let Some(batch) = due {
            self.lead(batch);
        }
        loop {
            match ticket.wait() {
                Progress::Done(result) => {
                    outputs.copy_from_slice(&result?);
                    return Ok(());
                }
                Progress::Lead | Progress::Waiting => {
                    let batch = {
                        let mut state = lock(&self.state);
                        // Somebody who came meanwhile may have taken these positions along.
                        (!state.pending.is_empty()).then(|| take(&mut state))
                    };
                    if let Some(batch) = batch {
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
struct Delivery<'a, E: Evaluator> {
    gather: &'a Gather<E>,
    batch: Vec<Arc<Ticket>>,
}

impl<E: Evaluator> Delivery<'_, E> {
    fn deliver(mut self, result: Result<Vec<f32>, EvaluateError>) {
        let batch = std::mem::take(&mut self.batch);
        let shape = self.gather.inner.shape();
        self.finish(&batch);
        let mut start = 0;
        for ticket in batch {
            let len = ticket.inputs.len() / shape.input_len() * shape.output_len();
            let own = match &result {
                Ok(outputs) => Ok(outputs[start..start + len].to_vec()),
                Err(error) => Err(error.clone()),
            };
            ticket.set(Progress::Done(own));
            start += len;
        }
    }

    /// Makes room for the next batch.
    fn finish(&self, batch: &[Arc<Ticket>]) {
        let mut state = lock(&self.gather.state);
        let input_len = self.gather.inner.shape().input_len();
        let rows = batch.iter().map(|ticket| ticket.inputs.len() / input_len);
        state.batches += 1;
        state.rows += rows.sum::<usize>() as u64;
        state.occupied -= batch.len();
        state.running -= 1;
        self.gather.appoint(&state);
    }
}

impl<E: Evaluator> Drop for Delivery<'_, E> {
    fn drop(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        self.finish(&self.batch);
        for ticket in &self.batch {
            ticket.set(Progress::Done(Err(EvaluateError::Abandoned)));
        }
    }
}

impl<E: Evaluator> Drop for Participant<'_, E> {
    fn drop(&mut self) {
        let mut state = lock(&self.gather.state);
        state.callers -= 1;
        // The others may have been waiting for this caller alone.
        self.gather.appoint(&state);
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
            let joined: Vec<_> = (0..CALLERS).map(|_| gather.join()).collect();
            for (caller, participant) in joined.into_iter().enumerate() {
                let (gather, alone, shape) = (&gather, &alone, &shape);
                scope.spawn(move || {
                    let _participant = participant;
                    for call in 0..CALLS {
                        let rows = 1 + (caller + call) % 3;
                        let planes = planes(caller * CALLS + call, rows * shape.input_len());
                        let mut outputs = vec![0.0; rows * shape.output_len()];
                        let mut expected = outputs.clone();
                        gather.evaluate(&planes, &mut outputs).unwrap();
                        alone.evaluate(&planes, &mut expected).unwrap();
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
        let _participant = gather.join();
        let shape = gather.shape().clone();
        let mut outputs = vec![0.0; shape.output_len()];
        gather
            .evaluate(&planes(1, shape.input_len()), &mut outputs)
            .unwrap();
        assert_ne!(outputs, vec![0.0; shape.output_len()]);
    }

    #[test]
    fn the_rest_goes_on_when_a_caller_leaves() {
        let gather = Gather::new(reference(), 1000);
        let shape = gather.shape().clone();
        let leaving = gather.join();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let _participant = gather.join();
                let mut outputs = vec![0.0; shape.output_len()];
                gather
                    .evaluate(&planes(2, shape.input_len()), &mut outputs)
                    .unwrap();
                outputs
            });
            while lock(&gather.state).pending.is_empty() {
                std::thread::yield_now();
            }
            drop(leaving);
            assert_ne!(waiting.join().unwrap(), vec![0.0; shape.output_len()]);
        });
    }

    /// Holds every evaluation until the gate is opened.
    struct Gated {
        inner: Reference,
        open: Mutex<bool>,
        opened: Condvar,
    }

    impl Evaluator for Gated {
        fn shape(&self) -> &IoShape {
            self.inner.shape()
        }
        fn preferred_batch(&self) -> usize {
            8
        }
        fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
            let mut open = lock(&self.open);
            while !*open {
                open = self.opened.wait(open).unwrap();
            }
            self.inner.evaluate(inputs, outputs)
        }
    }

    #[test]
    fn threads_of_a_search_join_into_one_batch_while_another_runs() {
        let gated = Gated {
            inner: reference(),
            open: Mutex::new(false),
            opened: Condvar::new(),
        };
        let gather = Gather::while_busy(gated, 1);
        let alone = reference();
        let shape = alone.shape().clone();
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                let (gather, alone, shape) = (&gather, &alone, &shape);
                scope.spawn(move || {
                    let planes = planes(caller, shape.input_len());
                    let mut outputs = vec![0.0; shape.output_len()];
                    let mut expected = outputs.clone();
                    gather.evaluate(&planes, &mut outputs).unwrap();
                    alone.evaluate(&planes, &mut expected).unwrap();
                    assert_eq!(outputs, expected);
                });
            }
            // The first to come is at the gate, all others wait behind it.
            while lock(&gather.state).pending.len() < CALLERS - 1 {
                std::thread::yield_now();
            }
            *lock(&gather.inner.open) = true;
            gather.inner.opened.notify_all();
        });
        assert_eq!(gather.statistics(), (2, CALLERS as u64));
    }

    #[test]
    fn a_lone_thread_of_a_search_never_waits() {
        let gather = Gather::while_busy(reference(), 1);
        let shape = gather.shape().clone();
        let mut outputs = vec![0.0; shape.output_len()];
        for call in 0..CALLS {
            gather
                .evaluate(&planes(call, shape.input_len()), &mut outputs)
                .unwrap();
        }
        assert_eq!(gather.statistics(), (CALLS as u64, CALLS as u64));
    }

    #[test]
    fn threads_that_come_and_go_all_get_their_own_outputs() {
        let alone = reference();
        let shape = alone.shape().clone();
        for running_limit in [1, 2, 3] {
            let gather = Gather::while_busy(reference(), running_limit);
            std::thread::scope(|scope| {
                for caller in 0..CALLERS {
                    let (gather, alone, shape) = (&gather, &alone, &shape);
                    scope.spawn(move || {
                        // Each stops at another time.
                        for call in 0..caller * 3 {
                            let rows = 1 + call % 2;
                            let planes = planes(caller * 97 + call, rows * shape.input_len());
                            let mut outputs = vec![0.0; rows * shape.output_len()];
                            let mut expected = outputs.clone();
                            gather.evaluate(&planes, &mut outputs).unwrap();
                            alone.evaluate(&planes, &mut expected).unwrap();
                            assert_eq!(outputs, expected);
                        }
                    });
                }
            });
        }
    }

    /// Calls a broken evaluator from four threads; how many of them got an error, and how many panicked.
    fn failures(broken: impl Evaluator) -> (usize, usize) {
        let gather = Gather::new(broken, 4);
        let shape = gather.shape().clone();
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut outputs = vec![0.0; shape.output_len()];
                        gather.evaluate(&planes(3, shape.input_len()), &mut outputs)
                    })
                })
                .collect();
            let ends: Vec<_> = callers.into_iter().map(|caller| caller.join()).collect();
            let failed = ends.iter().filter(|end| matches!(end, Ok(Err(_))));
            (
                failed.count(),
                ends.iter().filter(|end| end.is_err()).count(),
            )
        })
    }

    struct Broken {
        shape: IoShape,
        panics: bool,
    }

    impl Evaluator for Broken {
        fn shape(&self) -> &IoShape {
            &self.shape
        }
        fn preferred_batch(&self) -> usize {
            1
        }
        fn evaluate(&self, _: &[f32], _: &mut [f32]) -> Result<(), EvaluateError> {
            assert!(!self.panics, "broken on purpose");
            Err(EvaluateError::Backend("the device is gone".into()))
        }
    }

    #[test]
    fn a_failed_batch_fails_all_its_callers_and_hangs_none() {
        let shape = reference().shape().clone();
        let (failed, panicked) = failures(Broken {
            shape: shape.clone(),
            panics: false,
        });
        assert_eq!((failed, panicked), (4, 0));
        let (failed, panicked) = failures(Broken {
            shape,
            panics: true,
        });
        assert_eq!(failed + panicked, 4);
        assert!(panicked >= 1);
    }
}
