//! The status of a run, published in its store while something is going on, for pages that show it.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Phase, Status, Store};

/// How often it is published. Readers take a status for stale that is much older.
const PUBLISH_EVERY: Duration = Duration::from_secs(2);

/// Keeps the latest status and publishes it.
pub(crate) struct Publisher {
    store: Arc<dyn Store>,
    latest: Mutex<Status>,
}

impl Publisher {
    pub fn new(store: Arc<dyn Store>, status: Status) -> Publisher {
        Publisher {
            store,
            latest: Mutex::new(status),
        }
    }

    /// Takes a newer status.
    pub fn note(&self, status: &Status) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = status.clone();
    }

    /// Publishes before, during and after `work`.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.publish();
        let result = thread::scope(|scope| {
            let (working, ended) = mpsc::channel::<()>();
            scope.spawn(move || {
                while ended.recv_timeout(PUBLISH_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                    self.publish();
                }
            });
            let result = work();
            drop(working);
            result
        });
        self.publish();
        result
    }

    fn publish(&self) {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let text = to_json(&latest).to_string();
        drop(latest);
        // A run does not stop because nobody can look at it.
        let _ = self.store.write_status(&text);
    }
}

/// Every field is written in every phase; what a phase does not know is null.
fn to_json(status: &Status) -> Value {
    let phase = match status.phase {
        Phase::SelfPlay => "selfplay",
        Phase::Training => "training",
        Phase::Match => "match",
        Phase::Rating => "rating",
    };
    let score = status
        .last_match
        .filter(|_| matches!(status.phase, Phase::Match | Phase::Rating));
    json!({
        "phase": phase,
        "round": status.round,
        "games": status.games,
        "games_wanted": status.games_wanted,
        "games_per_hour": status.games_per_hour,
        "positions": status.positions,
        "best": status.best,
        "elo": status.elo,
        "elo_error": status.elo_error,
        "match": score.map(|score| json!({ "won": score.wins, "lost": score.losses })),
        "steps": status.steps.map(|(done, due)| json!({ "done": done, "due": due })),
    })
}
