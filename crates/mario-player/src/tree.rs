//! Players that search without a network: round 0's random games, and the heuristic's scores.

use std::time::Duration;

use mario::{Board, Placement, flood};
use search::{
    ChanceLeaf, ChanceRule, EarlyStop, Evaluate, EvaluateError, Poll, Progress, Puct, Rule, Search,
    Settings, Task,
};

use crate::clock::Clock;
use crate::heuristic::Weights;
use crate::judges::{RandomGames, Scores};
use crate::player::{Decision, Player, View};
use crate::position::{Move, Position, Utility};

/// When to stop thinking about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After so many playouts.
    Playouts(u64),
    /// After so much time, or before it when the choice is settled.
    Time(Duration, Clock),
}

/// A move that can no longer be overtaken within its playouts or its time is played at once.
pub(crate) const WHEN_DECIDED: EarlyStop = EarlyStop {
    prune: false,
    stop: true,
};

/// Runs a search under a budget, and returns its playouts.
pub(crate) fn think<E: Evaluate<Position>>(
    search: &Search<Position>,
    root: &Position,
    judge: &E,
    settings: &Settings,
    budget: Budget,
    early_stop: EarlyStop,
) -> Result<u64, EvaluateError> {
    let report = match budget {
        Budget::Playouts(playouts) => {
            let task = Task::playouts(playouts).stopping_early(early_stop);
            search.run(root, judge, settings, &task)?
        }
        Budget::Time(limit, clock) => {
            let stopwatch = clock.start();
            let watch = |progress: &Progress| {
                let used = stopwatch.elapsed();
                if used >= limit {
                    return Poll::Stop;
                }
                let playouts_left = playouts_left(progress.playouts, used, limit);
                Poll::Continue { playouts_left }
            };
            let task = Task::default()
                .watched_by(&watch)
                .stopping_early(early_stop);
            search.run(root, judge, settings, &task)?
        }
    };
    Ok(report.playouts)
}

/// Playouts the rest of the time is good for, at the pace so far. A tree gets deeper as it grows, so this is rather too
/// many than too few, and a search is not stopped too early.
fn playouts_left(playouts: u64, used: Duration, limit: Duration) -> u64 {
    const KNOWN_PACE: u64 = 32;
    if playouts < KNOWN_PACE || used.is_zero() {
        return u64::MAX;
    }
    let left = limit.saturating_sub(used).as_secs_f64();
    (playouts as f64 * left / used.as_secs_f64()).ceil() as u64
}

/// The decision that needs no thought: a placement that clears the last virus. (There is no forced placement: under an
/// open throat a pill can always lie, or stand in either column.)
pub(crate) fn obvious(view: &View) -> Option<Decision> {
    let resting = flood(&view.board);
    let placement = resting.placements(view.pill).find(|&placement| {
        let mut board = view.board;
        board.play(view.pill, placement);
        board.viruses_left() == 0
    })?;
    Some(Decision {
        placement,
        weights: vec![(placement, 1.0)],
        positions: u64::from(resting.count(view.pill)),
    })
}

/// Round 0: no network and no heuristic, only random games under UCB1.
pub struct RoundZero {
    search: Search<Position>,
    budget: Budget,
    line: Vec<Move>,
    /// The board after the placement it chose last.
    expected: Option<Board>,
}

impl RoundZero {
    /// A player whose random games follow from `seed`.
    pub fn new(budget: Budget, seed: u64) -> Self {
        Self {
            search: Search::new(seed),
            budget,
            line: Vec::new(),
            expected: None,
        }
    }

    fn settings() -> Settings {
        Settings {
            rule: Rule::Ucb1 { exploration: 2.0 },
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::Evaluate,
            ..Settings::default()
        }
    }
}

impl Player for RoundZero {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        // Round 0 never sees the following pill.
        let view = View {
            next: None,
            ..*view
        };
        // Self-play sometimes places a pill elsewhere: then the tree is about another board.
        if self
            .expected
            .take()
            .is_some_and(|board| board != view.board)
        {
            self.line.clear();
        }
        if !self.line.is_empty() {
            self.line.push(Move::Draw(view.pill));
        }
        let root = Position::new(&view, Utility::Progress).reached_by(self.line.clone());
        let positions = think(
            &self.search,
            &root,
            &RandomGames,
            &Self::settings(),
            self.budget,
            EarlyStop::default(),
        )?;
        let snapshot = self.search.snapshot();
        let weights: Vec<(Placement, f64)> = snapshot
            .moves
            .iter()
            .filter_map(|entry| match (entry.mv, entry.winrate) {
                (Move::Place(placement), Some(mean)) => Some((placement, mean)),
                _ => None,
            })
            .collect();
        let Some(&(placement, _)) = weights.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(None);
        };
        if self.line.is_empty() {
            self.line.push(Move::Draw(view.pill));
        }
        self.line.push(Move::Place(placement));
        let mut board = view.board;
        board.play(view.pill, placement);
        self.expected = Some(board);
        Ok(Some(Decision {
            placement,
            weights,
            positions,
        }))
    }

    fn new_game(&mut self) {
        self.expected = None;
        self.line.clear();
        self.search.clear();
    }
}

/// Round 0 with weights that tell placements apart.
///
/// After few random games the mean utilities of good and bad placements differ by little, and a network that learns
/// their ratios, as the design has it, learns next to nothing. Here a placement weighs e times as much as another if
/// it is worth `viruses` more of them, by the mean.
pub struct SharpRoundZero {
    inner: RoundZero,
    viruses: f64,
}

impl SharpRoundZero {
    /// Makes the weights of a player sharper.
    pub fn new(inner: RoundZero, viruses: f64) -> Self {
        Self { inner, viruses }
    }
}

impl Player for SharpRoundZero {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        let Some(mut decision) = self.inner.decide(view)? else {
            return Ok(None);
        };
        let best = decision.weights.iter().map(|entry| entry.1);
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        // A virus is worth one part in so many of the utility.
        let parts = f64::from(view.viruses_at_start) + 1.0;
        for (_, weight) in &mut decision.weights {
            *weight = ((*weight - best) * parts / self.viruses).exp();
        }
        Ok(Some(decision))
    }

    fn new_game(&mut self) {
        self.inner.new_game();
    }
}

/// The constants of the heuristic tree search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// See `Scores::scale`.
    pub scale: f32,
    /// See `Scores::temperature`.
    pub temperature: f32,
    /// Weight of the priors in selection.
    pub cpuct: f64,
    /// First-play urgency: how much worse than its parent a new move is taken to be.
    pub fpu_reduction: f64,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self {
            scale: 60.0,
            temperature: 20.0,
            cpuct: 0.7,
            fpu_reduction: 0.1,
        }
    }
}

/// The heuristic at the leaves of a tree with chance nodes.
pub struct HeuristicTree {
    weights: Weights,
    settings: TreeSettings,
    budget: Budget,
    seed: u64,
}

impl HeuristicTree {
    /// A player whose chance draws follow from `seed`.
    pub fn new(weights: Weights, settings: TreeSettings, budget: Budget, seed: u64) -> Self {
        Self {
            weights,
            settings,
            budget,
            seed,
        }
    }
}

impl HeuristicTree {
    fn judge(&self, view: &View) -> Scores<'_> {
        Scores {
            weights: &self.weights,
            even: self.weights.score(&view.board),
            scale: self.settings.scale,
            temperature: self.settings.temperature,
        }
    }

    fn search_settings(&self) -> Settings {
        let puct = Puct {
            cpuct: self.settings.cpuct,
            ..Puct::default()
        };
        let fpu = search::Fpu {
            reduction: self.settings.fpu_reduction,
            root_reduction: self.settings.fpu_reduction,
            ..puct.fpu
        };
        Settings {
            rule: Rule::Puct(Puct { fpu, ..puct }),
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::PassThrough,
            ..Settings::default()
        }
    }
}

impl Player for HeuristicTree {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        if let Some(decision) = obvious(view) {
            return Ok(Some(decision));
        }
        let root = Position::new(view, Utility::Win);
        let (judge, settings) = (self.judge(view), self.search_settings());
        let search = Search::new(self.seed.wrapping_add(u64::from(view.placed)));
        let positions = think(&search, &root, &judge, &settings, self.budget, WHEN_DECIDED)?;
        Ok(decision(&search, positions))
    }
}

/// The root move that is first in the order of the settings, and all root moves by their visits.
pub(crate) fn decision(search: &Search<Position>, positions: u64) -> Option<Decision> {
    let snapshot = search.snapshot();
    let Some(Move::Place(placement)) = snapshot.best() else {
        return None;
    };
    let weights = snapshot
        .moves
        .iter()
        .filter_map(|entry| match entry.mv {
            Move::Place(placement) => Some((placement, f64::from(entry.visits))),
            Move::Draw(_) => None,
        })
        .collect();
    Some(Decision {
        placement,
        weights,
        positions,
    })
}

#[cfg(test)]
mod tests;
