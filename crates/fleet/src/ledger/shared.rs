//! What the loop and the ledger have in common.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use super::lock;
use crate::{Game, Status, desk::Desk};

/// What the loop and the ledger have in common: the desk, games that came in, and where the run stands.
pub(crate) struct Shared<G: Game> {
    pub(crate) desk: Desk,
    arrivals: Mutex<Vec<G::Record>>,
    status: Mutex<Option<Status>>,
    /// Somebody's games were taken back: what was counted must be counted again.
    is_revoked: AtomicBool,
}

impl<G: Game> Shared<G> {
    pub(crate) fn new(desk: Desk) -> Shared<G> {
        Shared {
            desk,
            arrivals: Mutex::default(),
            status: Mutex::default(),
            is_revoked: AtomicBool::new(false),
        }
    }

    /// The games that came in since the last call.
    pub(crate) fn arrivals(&self) -> Vec<G::Record> {
        std::mem::take(&mut *lock(&self.arrivals))
    }

    /// A game that is in the log and waits to be counted.
    pub(super) fn arrived(&self, record: G::Record) {
        lock(&self.arrivals).push(record);
    }

    pub(crate) fn set_status(&self, status: Status) {
        *lock(&self.status) = Some(status);
    }

    pub(super) fn status(&self) -> Option<Status> {
        lock(&self.status).clone()
    }

    pub(super) fn revoke(&self) {
        self.is_revoked.store(true, Ordering::Relaxed);
    }

    /// Whether games were taken back since the last call.
    pub(crate) fn take_revoked(&self) -> bool {
        self.is_revoked.swap(false, Ordering::Relaxed)
    }
}
