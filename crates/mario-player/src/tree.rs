//! Players that search: round 0's random games, the heuristic's scores, and the network.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mario::Placement;
use net::evaluator::Evaluator;
use search::{
    ChanceLeaf, ChanceRule, Dirichlet, EarlyStop, Evaluate, Poll, Progress, Puct, Rule, Search,
    Settings, Task,
};

use crate::heuristic::Weights;
use crate::judges::{RandomGames, Scores};
use crate::net_judge::NetJudge;
use crate::player::{Decision, Player, View};
use crate::position::{Move, Position, Utility};

/// When to stop thinking about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After so many playouts.
    Playouts(u64),
    /// After so much time.
    Time(Duration),
}

/// A move that can no longer be overtaken within its playouts is played at once.
const WHEN_DECIDED: EarlyStop = EarlyStop {
    prune: false,
    stop: true,
};

/// Runs a search under a budget.
pub(crate) fn think<E: Evaluate<Position>>(
    search: &Search<Position>,
    root: &Position,
    judge: &E,
    settings: &Settings,
    budget: Budget,
    early_stop: EarlyStop,
) -> u64 {
    match budget {
        Budget::Playouts(playouts) => {
            let task = Task::playouts(playouts).stopping_early(early_stop);
            search.run(root, judge, settings, &task).playouts
        }
        Budget::Time(time) => {
            let deadline = Instant::now() + time;
            let watch = |_: &Progress| match Instant::now() < deadline {
                true => Poll::Continue {
                    playouts_left: u64::MAX,
                },
                false => Poll::Stop,
            };
            search
                .run(root, judge, settings, &Task::default().watched_by(&watch))
                .playouts
        }
    }
}

/// Round 0: no network and no heuristic, only random games under UCB1.
pub struct RoundZero {
    search: Search<Position>,
    budget: Budget,
    line: Vec<Move>,
}

impl RoundZero {
    /// The design's thinking time for a move.
    pub const TIME: Duration = Duration::from_millis(500);

    /// A player whose random games follow from `seed`.
    pub fn new(budget: Budget, seed: u64) -> Self {
        Self {
            search: Search::new(seed),
            budget,
            line: Vec::new(),
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
    fn decide(&mut self, view: &View) -> Option<Decision> {
        // Round 0 never sees the following pill.
        let view = View {
            next: None,
            ..*view
        };
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
        );
        let snapshot = self.search.snapshot();
        let weights: Vec<(Placement, f64)> = snapshot
            .moves
            .iter()
            .filter_map(|entry| match (entry.mv, entry.winrate) {
                (Move::Place(placement), Some(mean)) => Some((placement, mean)),
                _ => None,
            })
            .collect();
        let placement = weights.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        if self.line.is_empty() {
            self.line.push(Move::Draw(view.pill));
        }
        self.line.push(Move::Place(placement));
        Some(Decision {
            placement,
            weights,
            positions,
        })
    }

    fn new_game(&mut self) {
        self.line.clear();
        self.search.clear();
    }
}

/// The constants of the heuristic tree search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// See [`Scores::scale`].
    pub scale: f32,
    /// See [`Scores::temperature`].
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

impl Player for HeuristicTree {
    fn decide(&mut self, view: &View) -> Option<Decision> {
        let root = Position::new(view, Utility::Win);
        let judge = Scores {
            weights: &self.weights,
            even: self.weights.score(&view.board),
            scale: self.settings.scale,
            temperature: self.settings.temperature,
        };
        let puct = Puct {
            cpuct: self.settings.cpuct,
            ..Puct::default()
        };
        let fpu = search::Fpu {
            reduction: self.settings.fpu_reduction,
            root_reduction: self.settings.fpu_reduction,
            ..puct.fpu
        };
        let settings = Settings {
            rule: Rule::Puct(Puct { fpu, ..puct }),
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::PassThrough,
            ..Settings::default()
        };
        let search = Search::new(self.seed.wrapping_add(u64::from(view.placed)));
        let positions = think(&search, &root, &judge, &settings, self.budget, WHEN_DECIDED);
        decision(&search, positions)
    }
}

/// The constants of the network's tree search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetSettings {
    /// Weight of the priors in selection.
    pub cpuct: f64,
    /// Leaves given to the network at once.
    pub batch: usize,
    /// Noise in the root's priors, for self-play.
    pub noise: Option<Dirichlet>,
}

impl NetSettings {
    /// The original's noise: ten over the usual forty placements, one part in ten.
    pub const SELF_PLAY_NOISE: Dirichlet = Dirichlet {
        epsilon: 0.1,
        alpha: 0.25,
    };
}

impl Default for NetSettings {
    fn default() -> Self {
        Self {
            cpuct: 1.0,
            batch: 8,
            noise: None,
        }
    }
}

/// The network at the leaves of a tree with chance nodes.
pub struct NetTree<E> {
    judge: Arc<NetJudge<E>>,
    settings: NetSettings,
    budget: Budget,
    seed: u64,
}

impl<E: Evaluator> NetTree<E> {
    /// A player whose chance draws follow from `seed`.
    pub fn new(judge: Arc<NetJudge<E>>, settings: NetSettings, budget: Budget, seed: u64) -> Self {
        Self {
            judge,
            settings,
            budget,
            seed,
        }
    }
}

impl<E: Evaluator> Player for NetTree<E> {
    fn decide(&mut self, view: &View) -> Option<Decision> {
        let root = Position::new(view, Utility::Win);
        // AlphaZero's formula: exploration does not grow with the logarithm.
        let puct = Puct {
            cpuct: self.settings.cpuct,
            log_puct: 0.0,
            log_const: std::f64::consts::E,
            ..Puct::default()
        };
        let settings = Settings {
            rule: Rule::Puct(puct),
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::PassThrough,
            batch: self.settings.batch,
            noise: self.settings.noise,
            ..Settings::default()
        };
        let search = Search::new(self.seed.wrapping_add(u64::from(view.placed)));
        let positions = think(
            &search,
            &root,
            &*self.judge,
            &settings,
            self.budget,
            EarlyStop::default(),
        );
        decision(&search, positions)
    }
}

/// The most visited root move, and all root moves by their visits.
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
