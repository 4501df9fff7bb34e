//! Positions that wait for a thread, and those that are being searched.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::query::Query;

/// One position of a query.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) query: Arc<Query>,
    pub(crate) turn: usize,
    /// Set when the client no longer wants it.
    pub(crate) stop: Arc<AtomicBool>,
}

/// The jobs of a server. Higher priorities go first, equal ones in the order they came.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<(Reverse<i64>, u64), Job>,
    running: HashMap<u64, Job>,
    next: u64,
    is_closed: bool,
    /// Nobody listens any more: jobs are neither taken up nor finished.
    is_abandoned: bool,
}

impl Queue {
    /// Adds every turn of a query.
    pub(crate) fn add(&self, query: Arc<Query>) {
        let mut state = self.lock();
        if state.is_abandoned {
            return;
        }
        for &(turn, priority) in &query.turns {
            let number = state.next;
            state.next += 1;
            let job = Job {
                query: query.clone(),
                turn,
                stop: Arc::default(),
            };
            state.waiting.insert((Reverse(priority), number), job);
        }
        self.changed.notify_all();
    }

    /// The next job, once there is one; nothing when the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<(u64, Job)> {
        let mut state = self.lock();
        loop {
            if let Some(((_, number), job)) = state.waiting.pop_first() {
                state.running.insert(number, job.clone());
                return Some((number, job));
            }
            if state.is_closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A job that was taken is finished.
    pub(crate) fn done(&self, number: u64) {
        self.lock().running.remove(&number);
    }

    /// Stops jobs that `is_meant`. Those that have not begun are returned: nothing will come of them.
    pub(crate) fn stop(&self, is_meant: impl Fn(&Job) -> bool) -> Vec<Job> {
        let mut state = self.lock();
        for job in state.running.values().filter(|job| is_meant(job)) {
            job.stop.store(true, Ordering::Relaxed);
        }
        let meant: Vec<_> = state
            .waiting
            .iter()
            .filter(|(_, job)| is_meant(job))
            .map(|(&key, _)| key)
            .collect();
        meant
            .into_iter()
            .filter_map(|key| state.waiting.remove(&key))
            .collect()
    }

    /// No more jobs will come.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Stops all jobs, those to come too.
    pub(crate) fn abandon(&self) {
        self.lock().is_abandoned = true;
        self.stop(|_| true);
        self.close();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
