//! A running search, watched for a winrate out of range.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use search::Progress;

use super::{Collector, Settings, TurnKomi, is_out_of_range};

/// A search that is in range after this many times the positions of an adjustment stays as it is.
const SETTLED_AFTER: u64 = 3;

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A move, within a time and a number of playouts.
    Move,
    /// An analysis without an end.
    Analysis,
    /// A warmer tree, and positions for the next adjustment; komi stays.
    Pondering,
}

/// Watches a search: opens and closes the collection, and says when to adjust.
pub struct Watch<'a> {
    settings: &'a Settings,
    komi: TurnKomi,
    purpose: Purpose,
    collector: &'a Collector,
    /// Positions of each colour an adjustment wants.
    wanted: usize,
    adjustments_left: u32,
    playouts_before: u64,
    playouts_limit: Option<u64>,
    time_limit: Option<Duration>,
    triggered: AtomicBool,
    settled: AtomicBool,
}

/// What a watched search has to keep within.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// Playouts made before, for the same purpose.
    pub playouts_before: u64,
    /// Most playouts in all.
    pub playouts: Option<u64>,
    /// Most time in all.
    pub time: Option<Duration>,
    /// Adjustments that may still be made.
    pub adjustments: u32,
}

impl<'a> Watch<'a> {
    /// Watches for an adjustment of `komi` that wants `wanted` positions of each colour.
    pub fn new(
        settings: &'a Settings,
        komi: TurnKomi,
        purpose: Purpose,
        collector: &'a Collector,
        wanted: usize,
        budget: Budget,
    ) -> Watch<'a> {
        Watch {
            settings,
            komi,
            purpose,
            collector,
            wanted,
            adjustments_left: budget.adjustments,
            playouts_before: budget.playouts_before,
            playouts_limit: budget.playouts,
            time_limit: budget.time,
            triggered: AtomicBool::new(false),
            settled: AtomicBool::new(false),
        }
    }

    /// Looks at a search; true if it should stop for an adjustment.
    pub fn look(&self, progress: &Progress, elapsed: Duration) -> bool {
        if progress.visits == 0 {
            return false;
        }
        let is_out = is_out_of_range(self.settings, self.komi, 1.0 - progress.value);
        self.collector.set_open(is_out);
        let playouts = self.playouts_before + progress.playouts;
        if !is_out {
            let enough = SETTLED_AFTER * self.wanted as u64;
            if self.purpose == Purpose::Move && playouts > enough {
                self.settled.store(true, Ordering::Relaxed);
            }
            return false;
        }
        let triggers = self.may_adjust(playouts, elapsed) && self.collector.is_full();
        if triggers {
            self.triggered.store(true, Ordering::Relaxed);
        }
        triggers
    }

    /// Whether the search was stopped for an adjustment.
    pub fn is_triggered(&self) -> bool {
        self.triggered.load(Ordering::Relaxed)
    }

    /// An adjustment starts the search again: for a move, its second half is too late for that.
    fn may_adjust(&self, playouts: u64, elapsed: Duration) -> bool {
        let in_first_half = || {
            self.time_limit.is_none_or(|limit| 2 * elapsed < limit)
                && self.playouts_limit.is_none_or(|limit| 2 * playouts < limit)
        };
        self.adjustments_left > 0
            && match self.purpose {
                Purpose::Move => !self.settled.load(Ordering::Relaxed) && in_first_half(),
                Purpose::Analysis => true,
                Purpose::Pondering => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic_komi::Mode;

    fn progress(playouts: u64, white_winrate: f64) -> Progress {
        Progress {
            playouts,
            visits: playouts + 1,
            value: 1.0 - white_winrate,
        }
    }

    const NO_TIME: Duration = Duration::ZERO;
    const LOST: f64 = 0.01;
    const FINE: f64 = 0.08;

    /// A watch with a collector that has all it wants, so that only the other conditions count.
    fn watch(purpose: Purpose, budget: Budget, test: impl FnOnce(&Watch<'_>, &Collector)) {
        let settings = Settings::for_mode(Some(Mode::Handicap));
        let collector = Collector::default();
        let komi = TurnKomi::TRAINED;
        let watch = Watch::new(&settings, komi, purpose, &collector, 10, budget);
        test(&watch, &collector);
    }

    fn one() -> Budget {
        Budget {
            adjustments: 1,
            ..Budget::default()
        }
    }

    #[test]
    fn the_collection_is_open_while_the_winrate_is_out_of_range() {
        watch(Purpose::Pondering, one(), |watch, collector| {
            watch.look(&progress(5, LOST), NO_TIME);
            assert!(collector.is_open());
            watch.look(&progress(6, FINE), NO_TIME);
            assert!(!collector.is_open());
        });
    }

    #[test]
    fn it_waits_for_the_positions() {
        watch(Purpose::Move, one(), |watch, collector| {
            collector.want([10, 10]);
            assert!(!watch.look(&progress(5, LOST), NO_TIME));
            collector.want([0, 0]);
            assert!(watch.look(&progress(6, LOST), NO_TIME));
            assert!(watch.is_triggered());
        });
    }

    #[test]
    fn a_move_is_not_started_again_in_its_second_half() {
        let budget = Budget {
            playouts: Some(100),
            time: Some(Duration::from_secs(10)),
            ..one()
        };
        watch(Purpose::Move, budget, |watch, _| {
            assert!(!watch.look(&progress(50, LOST), NO_TIME));
            assert!(!watch.look(&progress(49, LOST), Duration::from_secs(5)));
            assert!(watch.look(&progress(49, LOST), Duration::from_secs(4)));
        });
        let later = Budget {
            playouts_before: 30,
            ..budget
        };
        watch(Purpose::Move, later, |watch, _| {
            assert!(!watch.look(&progress(20, LOST), NO_TIME));
        });
        watch(Purpose::Analysis, budget, |watch, _| {
            assert!(watch.look(&progress(99, LOST), Duration::from_secs(9)));
        });
    }

    #[test]
    fn adjustments_are_counted_and_pondering_makes_none() {
        watch(Purpose::Move, Budget::default(), |watch, _| {
            assert!(!watch.look(&progress(5, LOST), NO_TIME));
        });
        watch(Purpose::Pondering, one(), |watch, _| {
            assert!(!watch.look(&progress(5, LOST), NO_TIME));
        });
    }

    #[test]
    fn a_move_that_was_in_range_for_long_is_left_alone() {
        watch(Purpose::Move, one(), |watch, _| {
            watch.look(&progress(30, FINE), NO_TIME);
            assert!(watch.look(&progress(31, LOST), NO_TIME), "not for long");
        });
        watch(Purpose::Move, one(), |watch, _| {
            watch.look(&progress(31, FINE), NO_TIME);
            assert!(!watch.look(&progress(32, LOST), NO_TIME));
        });
        watch(Purpose::Analysis, one(), |watch, _| {
            watch.look(&progress(31, FINE), NO_TIME);
            assert!(watch.look(&progress(32, LOST), NO_TIME));
        });
    }
}
