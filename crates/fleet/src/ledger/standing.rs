//! How a worker stands: what it has in hand, what it sent, and whether it must slow down.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use super::{Refusal, RefusalKind};
use crate::wire::Acceptance;

/// Tasks a worker may have in hand.
pub(super) const MOST_IN_HAND: usize = 64;
/// A task that is out for longer is not counted any more.
pub(super) const TASK_SECONDS: u64 = 3600;
/// So many refused games within [`FAILURE_TIME`] pause a worker.
const MOST_FAILURES: usize = 5;
const FAILURE_TIME: Duration = Duration::from_secs(3600);
/// Bytes a worker may send a minute.
const MOST_BYTES: u64 = 50 << 20;
const MINUTE: Duration = Duration::from_secs(60);

/// How a worker stands since the server started.
#[derive(Default)]
pub(super) struct Standing {
    in_hand: BTreeMap<String, Instant>,
    failures: VecDeque<Instant>,
    bytes: Option<(Instant, u64)>,
    pub(super) counts: Counts,
    pub(super) last_seen_unix: u64,
    pub(super) client: String,
}

/// What became of a worker's games since the server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    pub(super) accepted: u64,
    pub(super) duplicate: u64,
    pub(super) refused: u64,
    pub(super) stale: u64,
    pub(super) quarantined: u64,
    pub(super) audits_passed: u64,
    pub(super) audits_failed: u64,
}

impl Standing {
    /// How many more tasks it may have.
    pub(super) fn room(&mut self) -> usize {
        let most = Duration::from_secs(TASK_SECONDS);
        self.in_hand.retain(|_, since| since.elapsed() < most);
        MOST_IN_HAND - self.in_hand.len().min(MOST_IN_HAND)
    }

    pub(super) fn take(&mut self, task: String) {
        self.in_hand.insert(task, Instant::now());
    }

    pub(super) fn put_back(&mut self, task: &str) {
        self.in_hand.remove(task);
    }

    pub(super) fn in_hand(&self) -> usize {
        self.in_hand.len()
    }

    /// Refuses a worker that sent too many bad games.
    pub(super) fn check_failures(&mut self) -> Result<(), Refusal> {
        self.failures.retain(|at| at.elapsed() < FAILURE_TIME);
        match self.failures.front() {
            Some(first) if self.failures.len() >= MOST_FAILURES => {
                let seconds = (FAILURE_TIME.saturating_sub(first.elapsed())).as_secs() + 1;
                let why = format!(
                    "{MOST_FAILURES} games of this worker were refused within an hour; it may go on in {seconds} s. \
                     The reasons are in its receipts."
                );
                Err(Refusal::new(RefusalKind::TooMuch(seconds), why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a worker that sends too many bytes.
    pub(super) fn check_bytes(&mut self, more: usize) -> Result<(), Refusal> {
        let (since, sent) = self
            .bytes
            .filter(|(since, _)| since.elapsed() < MINUTE)
            .unwrap_or((Instant::now(), 0));
        let sent = sent + more as u64;
        self.bytes = Some((since, sent));
        if sent <= MOST_BYTES {
            return Ok(());
        }
        let seconds = MINUTE.saturating_sub(since.elapsed()).as_secs() + 1;
        let why = format!(
            "more than {} MB within a minute; wait {seconds} s",
            MOST_BYTES >> 20
        );
        Err(Refusal::new(RefusalKind::TooMuch(seconds), why))
    }

    pub(super) fn count(&mut self, verdict: Acceptance) {
        let counts = &mut self.counts;
        match verdict {
            Acceptance::Accepted => counts.accepted += 1,
            Acceptance::Duplicate => counts.duplicate += 1,
            Acceptance::Stale => counts.stale += 1,
            Acceptance::Quarantined => counts.quarantined += 1,
            Acceptance::Refused => {
                counts.refused += 1;
                self.failures.push_back(Instant::now());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_refused_games_pause_a_worker_with_a_sentence() {
        let mut standing = Standing::default();
        for _ in 0..MOST_FAILURES {
            assert!(standing.check_failures().is_ok());
            standing.count(Acceptance::Refused);
        }
        let refusal = standing.check_failures().unwrap_err();
        assert!(matches!(refusal.kind, RefusalKind::TooMuch(3599..=3601)));
    }

    #[test]
    fn bytes_and_tasks_have_a_limit() {
        let mut standing = Standing::default();
        assert!(standing.check_bytes(MOST_BYTES as usize).is_ok());
        assert!(standing.check_bytes(1).is_err());
        for task in 0..MOST_IN_HAND {
            assert_eq!(standing.room(), MOST_IN_HAND - task);
            standing.take(task.to_string());
        }
        assert_eq!(standing.room(), 0);
        standing.put_back("3");
        assert_eq!(standing.room(), 1);
    }
}
