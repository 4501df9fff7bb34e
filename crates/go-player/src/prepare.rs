//! The root before a search, when komi follows the game: positions sorted out, komi adjusted.

use std::time::{Duration, Instant};

use go::Color;
use search::{EvaluateError, Search, Task};

use crate::{
    dynamic_komi::{Purpose, Sample, TurnKomi, adjust},
    player::Player,
    position::Position,
    think::Snapshot,
};

/// What was done about komi before a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// Positions of Black's and of White's turns that had been collected.
    pub collected: [usize; 2],
    /// Those of them that lie below the root.
    pub descendants: [usize; 2],
    /// The adjustment, if there was one.
    pub adjusted: Option<Adjusted>,
    /// Who is to move.
    pub to_move: Color,
    /// The root's evaluation for the side to move.
    pub evaluation: f64,
    /// The komi the search is made with.
    pub komi: TurnKomi,
}

/// An adjustment of komi.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// The komi before.
    pub from: TurnKomi,
    /// Positions of each colour's turns that it rests on.
    pub kept: [usize; 2],
    /// White's winrate at the root.
    pub root_winrate: f64,
    /// White's mean winrate of the kept positions, on each colour's turn.
    pub sample_winrates: [Option<f64>; 2],
    /// Network batches.
    pub batches: usize,
    /// Positions in them.
    pub evaluations: usize,
    /// The time it took.
    pub elapsed: Duration,
}

/// A root that is ready to be searched.
pub(crate) struct Prepared {
    pub position: Position,
    pub preparation: Preparation,
    /// Positions given to the network on the way.
    pub evaluations: u64,
    /// Visits that the root has.
    pub visits: u64,
}

impl Player {
    /// Makes a root ready. `position` gives the root at the player's komi; `triggered` says that a
    /// search was stopped for an adjustment.
    pub(crate) fn prepare(
        &mut self,
        purpose: Purpose,
        triggered: bool,
        position: impl Fn(&Player) -> Position,
    ) -> Result<Prepared, EvaluateError> {
        let mut root = position(self);
        let collector = &self.controller.collector;
        let collected = collector.counts();
        collector.set_open(false);
        collector.move_root(&root);
        let descendants = collector.counts();
        collector.want(self.wanted_positions());
        let is_ripe = triggered || collector.is_full();

        let (mut snapshot, mut evaluations) = self.expand_root(purpose, &root)?;
        let mut adjusted = None;
        if is_ripe && purpose != Purpose::Pondering {
            let from = self.controller.komi;
            let adjustment = self.adjust_komi(&snapshot);
            evaluations += adjustment.evaluations as u64;
            adjusted = Some(adjustment);
            if self.controller.komi != from {
                root = position(self);
                let (again, more) = self.expand_root(purpose, &root)?;
                snapshot = again;
                evaluations += more;
            }
            let collector = &self.controller.collector;
            collector.move_root(&root);
            collector.want(self.wanted_positions());
        }
        let to_move = root.to_move();
        Ok(Prepared {
            preparation: Preparation {
                collected,
                descendants,
                adjusted,
                to_move,
                evaluation: crate::position::side(to_move).view(snapshot.evaluation),
                komi: self.controller.komi,
            },
            position: root,
            evaluations,
            visits: snapshot.visits,
        })
    }

    /// Positions to collect of each colour: none of one whose winrates are of no use.
    fn wanted_positions(&self) -> [usize; 2] {
        let follower = self.controller.settings.follower(self.controller.komi);
        let wanted = self.positions_for_adjustment();
        Color::BOTH.map(|turn| if follower == Some(turn) { 0 } else { wanted })
    }

    /// Positions of a colour that an adjustment waits for.
    pub(crate) fn positions_for_adjustment(&self) -> usize {
        let limits = [self.options.playouts, self.options.visits];
        let limit = limits.into_iter().flatten().min();
        self.controller.settings.positions_within(limit)
    }

    /// Evaluates a new root, and nothing else.
    fn expand_root(
        &self,
        purpose: Purpose,
        root: &Position,
    ) -> Result<(Snapshot, u64), EvaluateError> {
        let settings = search::Settings {
            threads: 1,
            ..self.search_settings(purpose, self.tree_limits().search)
        };
        let search: &Search<Position> = &self.search;
        let leaves = self.controller.leaves(self.leaves());
        let report = search.run(root, &leaves, &settings, &Task::visits(0))?;
        Ok((search.snapshot(), report.evaluations))
    }

    /// Seeks a new komi with the positions collected, which are used up by it.
    fn adjust_komi(&mut self, snapshot: &Snapshot) -> Adjusted {
        let start = Instant::now();
        let (settings, from) = (&self.controller.settings, self.controller.komi);
        let white_winrate = 1.0 - snapshot.value;
        let collected = self.controller.collector.take();
        let sample = Sample::nearest(collected, from, white_winrate, settings.kept_positions());
        let (judge, threads) = (&self.judge, self.options.threads);
        let adjustment = adjust(
            settings,
            from,
            self.game.to_move(),
            white_winrate,
            sample.known(),
            |requests| sample.winrates(judge, requests, threads),
        );
        self.controller.komi = adjustment.komi;
        Adjusted {
            from,
            kept: sample.counts(),
            root_winrate: white_winrate,
            sample_winrates: Color::BOTH.map(|turn| sample.present_winrate(turn)),
            batches: adjustment.batches,
            evaluations: sample.evaluations(),
            elapsed: start.elapsed(),
        }
    }
}
