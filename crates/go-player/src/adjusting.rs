//! A search around which komi follows the game: prepared, watched, and started again after an adjustment.

use std::time::Instant;

use search::{Control, EvaluateError, Poll, Progress, SearchReport};

use crate::{
    dynamic_komi::watch::{Budget, Watch},
    player::Player,
    position::Position,
    think::{Deadline, Growth, Observer, Orders},
};

impl Player {
    /// Searches the current position, again from the start if komi had to be adjusted on the way.
    pub(crate) fn run_adjusting(
        &mut self,
        orders: &Orders<'_>,
        start: Instant,
        observer: &mut dyn Observer,
    ) -> Result<(Position, SearchReport), EvaluateError> {
        let mut adjustments = 0;
        let mut spent: Option<SearchReport> = None;
        loop {
            let prepared = self.prepare(orders.purpose, adjustments > 0, |player| {
                player.position_for(orders)
            })?;
            observer.prepared(&prepared.preparation);
            let playouts_before = spent.map_or(0, |report| report.playouts);
            let visits_left = self.options.visits;
            let visits_left = visits_left.map(|most| most.saturating_sub(prepared.visits));
            let most_playouts = self.options.playouts;
            let budget = Budget {
                playouts_before,
                playouts: least(
                    most_playouts,
                    visits_left.map(|visits| playouts_before + visits),
                ),
                time: orders.time,
                adjustments: self
                    .controller
                    .settings
                    .adjustments_per_search
                    .saturating_sub(adjustments),
            };
            let watch = Watch::new(
                &self.controller.settings,
                self.controller.komi,
                orders.purpose,
                &self.controller.collector,
                self.positions_for_adjustment(),
                budget,
            );
            let control = Watched {
                deadline: Deadline::new(start, orders.time),
                watch: &watch,
            };
            let playouts_left = most_playouts.map(|most| most.saturating_sub(playouts_before));
            let growth = Growth {
                position: &prepared.position,
                control: &control,
                playouts: playouts_left,
                start,
            };
            let leaves = self.controller.leaves(self.leaves());
            let mut report = self.grow(&growth, &leaves, orders, observer)?;
            report.evaluations += prepared.evaluations;
            let report = spent.map_or(report, |before| together(&before, &report));
            self.controller.collector.set_open(false);
            if !watch.is_triggered() {
                return Ok((prepared.position, report));
            }
            spent = Some(report);
            adjustments += 1;
        }
    }
}

/// The smaller of two limits, where none is no limit.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Two runs for one purpose: what they cost adds up, the tree is the later one's.
fn together(before: &SearchReport, after: &SearchReport) -> SearchReport {
    SearchReport {
        playouts: before.playouts + after.playouts,
        evaluations: before.evaluations + after.evaluations,
        batches: before.batches + after.batches,
        discarded: before.discarded + after.discarded,
        depth_sum: before.depth_sum + after.depth_sum,
        depth_max: before.depth_max.max(after.depth_max),
        elapsed: before.elapsed + after.elapsed,
        ..*after
    }
}

/// A deadline, and a winrate that is watched.
struct Watched<'a> {
    deadline: Deadline,
    watch: &'a Watch<'a>,
}

impl Control for Watched<'_> {
    fn poll(&self, progress: &Progress) -> Poll {
        if self.watch.look(progress, self.deadline.start.elapsed()) {
            return Poll::Stop;
        }
        self.deadline.poll(progress)
    }
}
