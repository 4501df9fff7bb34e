//! The player that searches with a network, and the form of it that plays itself.

use std::sync::Arc;

use net::Evaluator;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use search::{
    ChanceLeaf, ChanceRule, Dirichlet, EarlyStop, EvaluateError, Gumbel, Lcb, Puct, Rule, Search,
    Settings, Sigma,
};

use crate::net_judge::NetJudge;
use crate::player::{Decision, Player, View};
use crate::position::{Move, Position, Utility};
use crate::tree::{Budget, WHEN_DECIDED, decision, obvious, think};

/// The constants of the network's tree search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetSettings {
    /// Weight of the priors in selection.
    pub cpuct: f64,
    /// Leaves given to the network at once.
    pub batch: usize,
    /// Noise in the root's priors, for self-play.
    pub noise: Option<Dirichlet>,
    /// Moves that enter Gumbel selection at the root; 0 for none of it. It needs a budget of playouts.
    pub considered: usize,
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
            considered: 0,
        }
    }
}

/// How much a difference in value moves the policy that Gumbel search teaches.
const SIGMA: Sigma = Sigma {
    c_visit: 50.0,
    c_scale: 1.0,
};

/// The most visited move is played. Lower confidence bounds would prefer placements after which little can happen, the
/// more so the longer the search, since the pills that come make the values of all others spread.
const BY_VISITS: Lcb = Lcb {
    alpha: 1e-5,
    min_visit_ratio: 1.0,
};

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

    fn search_settings(&self) -> Settings {
        // AlphaZero's formula: exploration does not grow with the logarithm.
        let puct = Puct {
            cpuct: self.settings.cpuct,
            log_puct: 0.0,
            log_const: std::f64::consts::E,
            ..Puct::default()
        };
        let gumbel = Gumbel {
            considered: self.settings.considered,
            sigma: SIGMA,
        };
        Settings {
            rule: Rule::Puct(puct),
            gumbel: (self.settings.considered > 0).then_some(gumbel),
            chance: ChanceRule::Proportional,
            chance_leaf: ChanceLeaf::PassThrough,
            batch: self.settings.batch,
            noise: self.settings.noise,
            lcb: BY_VISITS,
            ..Settings::default()
        }
    }
}

impl<E: Evaluator> Player for NetTree<E> {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        if let Some(decision) = obvious(view) {
            return Ok(Some(decision));
        }
        let root = Position::new(view, Utility::Pace);
        let settings = self.search_settings();
        // What teaches must have its visits; what plays may stop when the choice is settled.
        let early_stop = match (settings.gumbel, settings.noise) {
            (None, None) => WHEN_DECIDED,
            _ => EarlyStop::default(),
        };
        let search = Search::new(self.seed.wrapping_add(u64::from(view.placed)));
        let judge = &*self.judge;
        let positions = think(&search, &root, judge, &settings, self.budget, early_stop)?;
        let Some(mut decision) = decision(&search, positions) else {
            return Ok(None);
        };
        if settings.gumbel.is_some() {
            let improved = search.improved_policy(&SIGMA);
            decision.weights = improved
                .into_iter()
                .filter_map(|(mv, share)| match mv {
                    Move::Place(placement) => Some((placement, share)),
                    Move::Draw(_) => None,
                })
                .collect();
        }
        Ok(Some(decision))
    }
}

/// Self-play's player: a random share of the moves gets a full search; the others get a quick one that carries the game
/// on, and say nothing of the moves they weighed (playout cap randomisation; Wu, 2019).
pub struct CappedTree<E> {
    full: NetTree<E>,
    quick: NetTree<E>,
    full_share: f64,
    rng: Xoshiro256PlusPlus,
}

impl<E: Evaluator> CappedTree<E> {
    /// A player with two budgets of playouts, whose choices follow from `seed`.
    pub fn new(
        judge: &Arc<NetJudge<E>>,
        settings: NetSettings,
        [full, quick]: [u64; 2],
        full_share: f64,
        seed: u64,
    ) -> Self {
        let tree =
            |playouts| NetTree::new(judge.clone(), settings, Budget::Playouts(playouts), seed);
        Self {
            full: tree(full),
            quick: tree(quick),
            full_share,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }
}

impl<E: Evaluator> Player for CappedTree<E> {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        if self.rng.random_bool(self.full_share) {
            return self.full.decide(view);
        }
        let mut decision = self.quick.decide(view)?;
        if let Some(decision) = &mut decision {
            decision.weights.clear();
        }
        Ok(decision)
    }
}
