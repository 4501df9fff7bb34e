//! What selection formulas see of a node, and the edge they choose.

use super::{Tree, VISITS_BEFORE_BOTH_KINDS, Walk};
use crate::evaluate::SearchRng;
use crate::game::{Game, Side};
use crate::node::{Child, Edge, Kind, NodeId};
use crate::outlook::Utility;
use crate::select::{self, Candidate, Chooser, NodeBooks};
use crate::settings::ChanceRule;
use crate::task::Restrict;

impl<G: Game> Tree<G> {
    /// What formulas see of all edges of the root.
    pub fn root_candidates(&self, root: NodeId) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        self.look_at_root(root, &mut candidates);
        candidates
    }

    /// What formulas see of a player's node.
    pub fn chooser(&self, id: NodeId, side: Side, is_root: bool, virtual_loss: u32) -> Chooser {
        let node = &self.arena[id];
        Chooser {
            side,
            visits: node.visits,
            mean: node.mean(),
            evaluation: node.evaluation,
            is_root,
            virtual_loss,
            books: self.node_books(id),
        }
    }

    fn node_books(&self, id: NodeId) -> NodeBooks {
        let Some(books) = &self.arena[id].books else {
            return NodeBooks::default();
        };
        let average = &books.average;
        NodeBooks {
            weight: average.weight,
            utility: average.utility,
            utility_square: average.utility_square,
            own_utility: books.own_utility,
            radius: self.utility.radius(),
        }
    }

    pub(super) fn choose(
        &mut self,
        id: NodeId,
        ply: usize,
        walk: &Walk<'_, G::Move>,
        rng: &mut SearchRng,
    ) -> Option<usize> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let chosen = match self.arena[id].kind {
            Kind::Player(side) => {
                let rule = &walk.settings.rule;
                let chooser = self.chooser(id, side, ply == 0, walk.settings.virtual_loss);
                let restrict = walk.restrict.filter(|restrict| ply < restrict.plies());
                match restrict {
                    _ if ply == 0 => self.look_at_root(id, &mut candidates),
                    Some(restrict) => {
                        self.look_restricted(id, ply, side, restrict, &mut candidates)
                    }
                    None => self.look(id, select::needs_all_edges(rule), &mut candidates),
                }
                let missing = walk
                    .both_kinds
                    .filter(|_| ply == 0 && chooser.visits >= VISITS_BEFORE_BOTH_KINDS)
                    .and_then(|kind| self.missing_kind(id, kind, &candidates));
                match &self.view.gumbel {
                    _ if missing.is_some() => missing,
                    Some(gumbel) if ply == 0 => {
                        // The simulation being placed is already counted.
                        let simulation = self.run.started.saturating_sub(1);
                        gumbel.pick(&chooser, &candidates, simulation)
                    }
                    _ => select::pick(rule, &chooser, &candidates, rng),
                }
            }
            _ => {
                self.look(id, true, &mut candidates);
                match walk.settings.chance {
                    ChanceRule::Sample => select::pick_sampled(&candidates, rng),
                    ChanceRule::Proportional => select::pick_proportional(&candidates),
                }
            }
        };
        self.candidates = candidates;
        chosen
    }

    /// The likeliest open move of a kind that no simulation has taken.
    fn missing_kind(
        &self,
        id: NodeId,
        kind: &dyn Fn(G::Move) -> bool,
        candidates: &[Candidate],
    ) -> Option<usize> {
        let edges = &self.arena[id].edges;
        [true, false].into_iter().find_map(|wanted| {
            let of_kind = || {
                candidates
                    .iter()
                    .filter(|c| kind(edges[c.edge].mv) == wanted)
            };
            let taken = of_kind().any(|c| c.visits + c.in_flight > 0);
            let best = of_kind().filter(|c| c.open && !taken);
            best.max_by(|a, b| a.prior.total_cmp(&b.prior))
                .map(|c| c.edge)
        })
    }

    /// Looks at the edges tried and the first one untried. Edges are sorted
    /// by prior and untried moves share one value, so no formula that is
    /// monotone in the prior can prefer a later one.
    fn look(&self, id: NodeId, all: bool, candidates: &mut Vec<Candidate>) {
        let node = &self.arena[id];
        let tried = if all {
            node.edges.len()
        } else {
            node.tried as usize
        };
        let mut edges = node.edges.iter().enumerate();
        let mut valid = |(index, edge): (usize, &Edge<G::Move>)| {
            self.candidate(index, edge, f64::from(edge.prior))
        };
        candidates.extend(edges.by_ref().take(tried).filter_map(&mut valid));
        candidates.extend(edges.find_map(valid));
    }

    fn look_at_root(&self, id: NodeId, candidates: &mut Vec<Candidate>) {
        for (index, edge) in self.arena[id].edges.iter().enumerate() {
            if !self.view.allows(index) {
                continue;
            }
            let prior = self.view.prior(index, edge.prior);
            candidates.extend(
                self.candidate(index, edge, prior)
                    .map(|candidate| Candidate {
                        open: self.view.is_active(index),
                        ..candidate
                    }),
            );
        }
    }

    fn look_restricted(
        &self,
        id: NodeId,
        ply: usize,
        side: Side,
        restrict: &dyn Restrict<G::Move>,
        candidates: &mut Vec<Candidate>,
    ) {
        for (index, edge) in self.arena[id].edges.iter().enumerate() {
            if restrict.allows(ply, side, edge.mv) {
                candidates.extend(self.candidate(index, edge, f64::from(edge.prior)));
            }
        }
        let total: f64 = candidates.iter().map(|candidate| candidate.prior).sum();
        if total > 0.0 {
            for candidate in candidates {
                candidate.prior /= total;
            }
        }
    }

    fn candidate(&self, index: usize, edge: &Edge<G::Move>, prior: f64) -> Option<Candidate> {
        let untried = Candidate::untried(index, prior);
        match edge.child() {
            Child::Invalid => None,
            Child::Untried => Some(untried),
            Child::Node(child) => {
                let child = &self.arena[child];
                let average = child.books.as_ref().map(|books| &books.average);
                Some(Candidate {
                    weight: average.map_or(0.0, |average| average.weight),
                    utility: average.map_or(0.0, |average| average.utility),
                    visits: child.visits,
                    in_flight: child.in_flight,
                    value_sum: child.value_sum,
                    expanding: child.kind == Kind::Expanding,
                    ..untried
                })
            }
        }
    }
}
