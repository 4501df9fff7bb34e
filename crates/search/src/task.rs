//! One run of the search: its limits, its watchers and its report.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::game::Side;

/// How far a running search has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Playouts finished in this run.
    pub playouts: u64,
    /// Visits of the root, earlier runs included.
    pub visits: u64,
    /// The root's mean value for [`Side::First`].
    pub value: f64,
}

/// A watcher's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Stop now; leaves not yet evaluated are dropped.
    Stop,
    /// Go on; how many more playouts the watcher expects there is time for
    /// (`u64::MAX` if it cannot tell). Early stopping relies on it.
    Continue {
        /// The estimate.
        playouts_left: u64,
    },
}

/// Watches a run: deadlines, pondering, komi adjustment.
pub trait Control: Sync {
    /// Called by every worker after each batch, no lock held.
    fn poll(&self, progress: &Progress) -> Poll;
}

impl<F: Fn(&Progress) -> Poll + Sync> Control for F {
    fn poll(&self, progress: &Progress) -> Poll {
        self(progress)
    }
}

/// Forbids moves near the root. It filters at selection, so it also holds on
/// a tree that was grown without it; forbidden moves count for nothing.
pub trait Restrict<M>: Sync {
    /// Number of plies from the root to which it applies; 1 is the root alone.
    fn plies(&self) -> usize;

    /// May `side` play `mv` at this distance from the root? Called while the
    /// tree is locked: answer quickly.
    fn allows(&self, ply: usize, side: Side, mv: M) -> bool;
}

/// What to do about root moves that can no longer become the best.
///
/// A move is out of contention if its visits cannot reach the most visited
/// move's with the playouts left, unless its mean is still at least the best
/// lower confidence bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyStop {
    /// Spend no more playouts on such moves.
    pub prune: bool,
    /// Stop when only one move is left in contention.
    pub stop: bool,
}

/// Leela Zero's names for the ways to stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// `NoPruning` if noise is wanted, `On` otherwise.
    Auto,
    /// Prune, and stop if time can be saved for later moves.
    On,
    /// Neither prune nor stop.
    Off,
    /// Prune and stop even if no time is saved.
    Fast,
    /// Stop if time can be saved, but keep the visits as they fall.
    NoPruning,
}

impl StopMode {
    /// What the mode means for a run. Time cannot be saved in a Japanese
    /// period, with one Canadian stone left, or under a playout limit.
    pub fn resolve(self, noise: bool, time_can_be_saved: bool) -> EarlyStop {
        let (prune, stop) = match self {
            StopMode::Auto if noise => (false, time_can_be_saved),
            StopMode::Auto | StopMode::On => (true, time_can_be_saved),
            StopMode::Off => (false, false),
            StopMode::Fast => (true, true),
            StopMode::NoPruning => (false, time_can_be_saved),
        };
        EarlyStop { prune, stop }
    }
}

/// Orders for one run. Without any limit it runs until stopped.
#[derive(Clone, Copy)]
pub struct Task<'a, M> {
    /// Most playouts of this run (the root's own evaluation is none).
    pub playouts: Option<u64>,
    /// Most visits of the root, earlier runs and its own evaluation included.
    pub visits: Option<u64>,
    /// Stops the run when set.
    pub stop: Option<&'a AtomicBool>,
    /// Watches the run.
    pub control: Option<&'a dyn Control>,
    /// Forbids moves.
    pub restrict: Option<&'a dyn Restrict<M>>,
    /// Gives up on moves that cannot win any more.
    pub early_stop: EarlyStop,
    /// Sorts the root's moves into two kinds; each kind gets a playout once the root has two visits.
    pub both_kinds: Option<&'a (dyn Fn(M) -> bool + Sync)>,
}

impl<M> Default for Task<'_, M> {
    fn default() -> Self {
        Task {
            playouts: None,
            visits: None,
            stop: None,
            control: None,
            restrict: None,
            early_stop: EarlyStop::default(),
            both_kinds: None,
        }
    }
}

impl<'a, M> Task<'a, M> {
    /// A run up to so many visits of the root.
    pub fn visits(visits: u64) -> Self {
        Task {
            visits: Some(visits),
            ..Task::default()
        }
    }

    /// A run of so many playouts.
    pub fn playouts(playouts: u64) -> Self {
        Task {
            playouts: Some(playouts),
            ..Task::default()
        }
    }

    /// The same, stopped when `flag` is set.
    pub fn stopped_by(self, flag: &'a AtomicBool) -> Self {
        Task {
            stop: Some(flag),
            ..self
        }
    }

    /// The same, watched.
    pub fn watched_by(self, control: &'a dyn Control) -> Self {
        Task {
            control: Some(control),
            ..self
        }
    }

    /// The same, with moves forbidden.
    pub fn restricted_by(self, restrict: &'a dyn Restrict<M>) -> Self {
        Task {
            restrict: Some(restrict),
            ..self
        }
    }

    /// The same, giving up early.
    pub fn stopping_early(self, early_stop: EarlyStop) -> Self {
        Task { early_stop, ..self }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The limit on playouts or visits is reached, exactly.
    Limit,
    /// The stop flag was set.
    Flag,
    /// The watcher said so.
    Control,
    /// Only one move was still in contention.
    Decided,
    /// The tree has no room left.
    Memory,
    /// The root has no move to search: a finished game, or all forbidden.
    NoMoves,
}

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchReport {
    /// Why it ended.
    pub reason: StopReason,
    /// Playouts counted.
    pub playouts: u64,
    /// Visits of the root now.
    pub visits: u64,
    /// Visits of the root found in memory at the start.
    pub visits_reused: u64,
    /// Positions given to the evaluator.
    pub evaluations: u64,
    /// Calls of the evaluator.
    pub batches: u64,
    /// Simulations dropped because they met a forbidden position.
    pub discarded: u64,
    /// Sum of the depths of all playouts.
    pub depth_sum: u64,
    /// Depth of the deepest playout.
    pub depth_max: usize,
    /// Nodes in memory.
    pub nodes: usize,
    /// Bytes the tree takes.
    pub memory_bytes: usize,
    /// Wall time of the run.
    pub elapsed: Duration,
}

impl SearchReport {
    /// Mean depth of the run's playouts.
    pub fn average_depth(&self) -> f64 {
        self.depth_sum as f64 / self.playouts.max(1) as f64
    }
}
