//! The books of one run: what is allowed, under way and done.

use crate::evaluate::EvaluateError;
use crate::task::StopReason;

/// Limits and counters of a run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Playouts this run may make.
    pub budget: u64,
    /// Playouts begun, those cancelled taken off again.
    pub started: u64,
    /// Playouts counted.
    pub finished: u64,
    pub discarded: u64,
    pub evaluations: u64,
    pub batches: u64,
    pub depth_sum: u64,
    pub depth_max: usize,
    /// Why workers should stop.
    pub stopped: Option<StopReason>,
    /// Why evaluations failed, if they did.
    pub failure: Option<EvaluateError>,
    /// Playouts at which contention is next looked at.
    pub next_check: u64,
}

/// Answer to a worker that wants to start a playout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Go ahead.
    Granted,
    /// All playouts are taken, but one under way may still be cancelled.
    Wait,
    /// The run is over.
    Stop,
}

impl Run {
    /// Asks for a playout. Asking before walking down is what makes limits
    /// exact.
    pub fn reserve(&mut self) -> Permit {
        if self.stopped.is_some() {
            return Permit::Stop;
        }
        if self.started < self.budget {
            self.started += 1;
            return Permit::Granted;
        }
        if self.started > self.finished {
            return Permit::Wait;
        }
        self.stop(StopReason::Limit);
        Permit::Stop
    }

    pub fn finish(&mut self, playouts: u64, depth: usize) {
        self.finished += playouts;
        self.depth_sum += playouts * depth as u64;
        self.depth_max = self.depth_max.max(depth);
    }

    pub fn release(&mut self, playouts: u64) {
        self.started -= playouts;
    }

    /// Ends the run because positions could not be evaluated.
    pub fn fail(&mut self, error: EvaluateError) {
        self.failure.get_or_insert(error);
        self.stop(StopReason::Flag);
    }

    /// Ends the run; the first reason stands.
    pub fn stop(&mut self, reason: StopReason) {
        self.stopped.get_or_insert(reason);
    }
}
