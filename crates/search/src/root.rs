//! The root as one run sees it: allowed moves, noisy priors, contention.
//!
//! None of this is stored in the tree, so noise never accumulates and a
//! restriction never outlives its run.

use rand::RngExt;
use rand_distr::Gamma;

use crate::books::for_side;
use crate::evaluate::MeansOf;
use crate::evaluate::SearchRng;
use crate::game::{Game, Side};
use crate::gumbel::{self, RootGumbel};
use crate::node::{Child, Edge, Kind, Node, NodeId};
use crate::outlook::{Outlook, Utility};
use crate::rank::{Ranking, RootMove, Snapshot, Standing, Weighed, better_first};
use crate::select::Candidate;
use crate::settings::{Rule, Settings, Sigma};
use crate::student::StudentTable;
use crate::task::{EarlyStop, Progress, Restrict};
use crate::tree::Tree;
use crate::utility::{Contender, confidence_radius, play_values, widen_priors};

/// What a run overlays on the root's edges. Empty lists change nothing.
#[derive(Debug, Default)]
pub(crate) struct RootView {
    allowed: Vec<bool>,
    active: Vec<bool>,
    priors: Vec<f64>,
    pub gumbel: Option<RootGumbel>,
    /// Visits of the root that went to moves not allowed.
    excluded_visits: u64,
}

impl RootView {
    pub fn allows(&self, edge: usize) -> bool {
        self.allowed.get(edge).copied().unwrap_or(true)
    }

    pub fn is_active(&self, edge: usize) -> bool {
        self.active.get(edge).copied().unwrap_or(true)
    }

    pub fn prior(&self, edge: usize, stored: f32) -> f64 {
        self.priors
            .get(edge)
            .copied()
            .unwrap_or_else(|| f64::from(stored))
    }
}

impl<G: Game> Tree<G> {
    /// Lays restrictions and noise over an expanded root.
    pub fn overlay(
        &mut self,
        root: NodeId,
        settings: &Settings,
        restrict: Option<&dyn Restrict<G::Move>>,
        rng: &mut SearchRng,
    ) {
        self.view = RootView::default();
        let node = &self.arena[root];
        let Kind::Player(side) = node.kind else {
            return;
        };
        let mut view = RootView {
            active: vec![true; node.edges.len()],
            priors: node.edges.iter().map(|e| f64::from(e.prior)).collect(),
            ..RootView::default()
        };
        let restrict = restrict.filter(|restrict| restrict.plies() > 0);
        if let Some(restrict) = restrict {
            let allowed = node.edges.iter();
            view.allowed = allowed
                .map(|edge| restrict.allows(0, side, edge.mv))
                .collect();
            let total: f64 = (0..node.edges.len())
                .filter(|&edge| view.allowed[edge])
                .map(|edge| view.priors[edge])
                .sum();
            if total > 0.0 {
                view.priors.iter_mut().for_each(|prior| *prior /= total);
            }
        }
        for (index, edge) in node.edges.iter().enumerate() {
            if let Child::Node(child) = edge.child()
                && !view.allows(index)
            {
                view.excluded_visits += u64::from(self.arena[child].visits);
            }
        }
        if let Rule::Utility(puct) = &settings.rule {
            widen_priors(
                &mut view.priors,
                puct.wide_root_noise,
                puct.root_policy_temperature,
            );
        }
        if let Some(noise) = &settings.noise {
            let open: Vec<usize> = (0..node.edges.len())
                .filter(|&edge| view.allows(edge) && node.edges[edge].child() != Child::Invalid)
                .collect();
            for (edge, share) in open.iter().zip(dirichlet(noise.alpha, open.len(), rng)) {
                let prior = &mut view.priors[*edge];
                *prior = (1.0 - noise.epsilon) * *prior + noise.epsilon * share;
            }
        }
        self.view = view;
        // Moves that are not allowed count for nothing in the root's average.
        self.weigh(root);
    }

    /// Expands the root with all its edges; its own value is its first visit.
    pub fn expand_root(
        &mut self,
        root: NodeId,
        kind: Kind,
        value: Option<f64>,
        outlook: G::Outlook,
        edges: Vec<Edge<G::Move>>,
    ) {
        let tried = edges
            .iter()
            .rposition(|edge| edge.child() != Child::Untried);
        self.arena.set_root_edges(root, edges);
        let node = &mut self.arena[root];
        node.kind = kind;
        node.thinned = false;
        node.checked = false;
        node.tried = tried.map_or(0, |edge| edge as u32 + 1);
        if let Some(value) = value {
            node.evaluation = value;
            if node.visits == 0 {
                node.update(value);
            }
        }
        self.keep_books(root, outlook, value);
        self.weigh(root);
    }

    /// Is there anything to simulate?
    pub fn has_open_move(&self, root: NodeId) -> bool {
        !self.root_candidates(root).is_empty()
    }

    /// Visits of the root that count under the current restriction.
    pub fn root_visits(&self, root: NodeId) -> u64 {
        u64::from(self.arena[root].visits).saturating_sub(self.view.excluded_visits)
    }

    pub fn progress(&self, root: NodeId) -> Progress {
        Progress {
            playouts: self.run.finished,
            visits: self.root_visits(root),
            value: self.mean_value(root),
        }
    }

    /// Draws Gumbel noise for a run of `simulations`.
    pub fn plan_gumbel(
        &mut self,
        root: NodeId,
        settings: &Settings,
        simulations: usize,
        rng: &mut SearchRng,
    ) {
        let is_player = matches!(self.arena[root].kind, Kind::Player(_));
        let Some(gumbel) = settings.gumbel.filter(|_| is_player) else {
            return;
        };
        // One entry for each edge, so that scores can be looked up by edge.
        let mut all: Vec<_> = (0..self.arena[root].edges.len()).map(closed).collect();
        for candidate in self.root_candidates(root) {
            all[candidate.edge] = candidate;
        }
        self.view.gumbel = Some(RootGumbel::new(&gumbel, &all, simulations, rng));
    }

    /// Looks which root moves can still become the best with the playouts
    /// left; true if only one can.
    pub fn review(
        &mut self,
        root: NodeId,
        playouts_left: u64,
        policy: EarlyStop,
        ranking: &Ranking,
    ) -> bool {
        let Kind::Player(side) = self.arena[root].kind else {
            return false;
        };
        let standings = self.standings(root, side, ranking);
        let visits_most = standings.iter().map(|entry| entry.1.visits).max();
        let best_bound = standings
            .iter()
            .filter_map(|entry| entry.1.lcb)
            .fold(f64::NEG_INFINITY, f64::max);
        let visits_needed = u64::from(visits_most.unwrap_or(0)).saturating_sub(playouts_left);
        let mut contenders = 0;
        for (edge, standing) in &standings {
            let visited = standing.visits > 0;
            let contends = u64::from(standing.visits) >= visits_needed
                || (visited && standing.mean >= best_bound);
            contenders += usize::from(contends);
            if policy.prune {
                self.view.active[*edge] = contends;
            }
        }
        contenders <= 1
    }

    /// The root's statistics, best move first, each line cut to its first
    /// move; and the edge of each move.
    pub fn snapshot(&self, ranking: &Ranking) -> (Snapshot<G::Move, MeansOf<G>>, Vec<usize>) {
        let Some(root) = self.root() else {
            return (Snapshot::empty(), Vec::new());
        };
        let node = &self.arena[root];
        let side = match node.kind {
            Kind::Player(side) => Some(side),
            _ => None,
        };
        let mover = side.unwrap_or(Side::First);
        let mut standings = self.standings(root, mover, ranking);
        let most = standings.iter().map(|entry| entry.1.visits).max();
        let order = better_first(&ranking.lcb, most.unwrap_or(0));
        standings.sort_by(|a, b| order(&a.1, &b.1));
        let root_move = |(order, (edge, standing)): (usize, &(usize, Standing))| RootMove {
            mv: node.edges[*edge].mv,
            visits: standing.visits,
            winrate: (standing.visits > 0).then_some(standing.mean),
            prior: standing.prior,
            lcb: standing.lcb,
            order,
            pv: vec![node.edges[*edge].mv],
            pv_visits: vec![standing.visits],
            weighed: match node.edges[*edge].child() {
                Child::Node(child) if standing.visits > 0 => {
                    self.weighed(child, mover, standing.play_value, ranking)
                }
                _ => None,
            },
        };
        let weighed = self.weighed(root, Side::First, 0.0, ranking);
        let snapshot = Snapshot {
            side,
            visits: self.root_visits(root),
            playouts: self.run.finished,
            value: self.mean_value(root),
            evaluation: node.evaluation,
            moves: standings.iter().enumerate().map(root_move).collect(),
            weighed,
            gumbel_choice: side.and_then(|side| self.gumbel_choice(root, side)),
        };
        (snapshot, standings.iter().map(|entry| entry.0).collect())
    }

    /// A node's mean value for `Side::First`, weighed if it keeps books.
    fn mean_value(&self, id: NodeId) -> f64 {
        let node = &self.arena[id];
        match &node.books {
            Some(books) if books.average.weight > 0.0 => books.average.value,
            _ => node.mean(),
        }
    }

    fn weighed(
        &self,
        id: NodeId,
        side: Side,
        play_value: f64,
        ranking: &Ranking,
    ) -> Option<Weighed<MeansOf<G>>> {
        let puct = ranking.utility.as_ref()?;
        let average = &self.arena[id].books.as_ref()?.average;
        let utility = for_side(side, average.utility);
        let radius = confidence_radius(puct, average, self.utility.radius());
        Some(Weighed {
            utility,
            utility_lcb: utility - radius,
            weight: average.weight,
            play_value,
            means: average.means,
        })
    }

    /// What the evaluations below a node say, each with its share of the whole: a node's own share is that of its
    /// weight, and its children split the rest by the square of theirs. Below `smallest` shares are not divided.
    pub fn shares(&self, id: NodeId, smallest: f64) -> Vec<(G::Outlook, f64)> {
        let mut shares = Vec::new();
        let mut open = vec![(id, 1.0)];
        while let Some((id, share)) = open.pop() {
            let node = &self.arena[id];
            let Some(books) = &node.books else {
                continue;
            };
            let below: Vec<(NodeId, f64)> = (node.edges.iter())
                .filter_map(|edge| match edge.child() {
                    Child::Node(child) => {
                        let books = self.arena[child].books.as_ref()?;
                        let weight = books.average.weight;
                        (weight > 0.0).then_some((child, weight))
                    }
                    Child::Untried | Child::Invalid => None,
                })
                .collect();
            let weight: f64 = below.iter().map(|entry| entry.1).sum();
            let squares: f64 = below.iter().map(|entry| entry.1 * entry.1).sum();
            if share < smallest || squares <= 0.0 {
                shares.push((books.own.clone(), share));
                continue;
            }
            let own = books.own_weight / (books.own_weight + weight);
            if own > 0.0 {
                shares.push((books.own.clone(), share * own));
            }
            let rest = share * (1.0 - own) / squares;
            open.extend(below.iter().map(|&(child, w)| (child, rest * w * w)));
        }
        shares
    }

    /// The improved policy of the root.
    pub fn improved_policy(&self, sigma: &Sigma) -> Vec<(G::Move, f64)> {
        let Some(root) = self.root() else {
            return Vec::new();
        };
        let Kind::Player(side) = self.arena[root].kind else {
            return Vec::new();
        };
        let mut candidates = self.root_candidates(root);
        for candidate in &mut candidates {
            // What the clean prior and the values say, not the run's noise.
            candidate.open = true;
            if self.view.allowed.is_empty() {
                candidate.prior = f64::from(self.arena[root].edges[candidate.edge].prior);
            }
        }
        let chooser = self.chooser(root, side, true, 0);
        let policy = gumbel::improved_policy(sigma, &chooser, &candidates);
        let moves = candidates
            .iter()
            .map(|candidate| self.arena[root].edges[candidate.edge].mv);
        moves.zip(policy).collect()
    }

    fn gumbel_choice(&self, root: NodeId, side: Side) -> Option<G::Move> {
        let gumbel = self.view.gumbel.as_ref()?;
        let chooser = self.chooser(root, side, true, 0);
        let edge = gumbel.choice(&chooser, &self.root_candidates(root))?;
        Some(self.arena[root].edges[edge].mv)
    }

    /// Edge and standing of every root move that may be played.
    fn standings(&self, root: NodeId, side: Side, ranking: &Ranking) -> Vec<(usize, Standing)> {
        let edges = self.arena[root].edges.iter().enumerate();
        let allowed = edges.filter(|(index, _)| self.view.allows(*index));
        let standings = allowed.filter_map(|(index, edge)| {
            let prior = self.view.prior(index, edge.prior);
            let standing = match edge.child() {
                Child::Invalid => return None,
                Child::Node(child) if self.arena[child].visits > 0 => {
                    self.standing(child, prior, side, ranking)
                }
                Child::Node(_) | Child::Untried => Standing {
                    visits: 0,
                    mean: 0.0,
                    lcb: None,
                    prior,
                    play_value: 0.0,
                },
            };
            Some((index, standing))
        });
        let mut standings: Vec<(usize, Standing)> = standings.collect();
        self.value_plays(root, side, true, ranking, &mut standings);
        standings
    }

    /// The expected line through an edge, the best visited move each time, with the visits of its positions.
    pub fn line_from(
        &self,
        id: NodeId,
        edge: usize,
        ranking: &Ranking,
    ) -> (Vec<G::Move>, Vec<u32>) {
        let mut line = vec![self.arena[id].edges[edge].mv];
        let mut visits = Vec::new();
        let mut child = self.arena[id].edges[edge].child();
        while let Child::Node(id) = child {
            visits.push(self.arena[id].visits);
            let Some(edge) = self.best_visited(id, ranking) else {
                break;
            };
            line.push(self.arena[id].edges[edge].mv);
            child = self.arena[id].edges[edge].child();
        }
        visits.resize(line.len(), 0);
        (line, visits)
    }

    /// The best visited edge of an inner node; a chance node's likeliest.
    fn best_visited(&self, id: NodeId, ranking: &Ranking) -> Option<usize> {
        let node = &self.arena[id];
        let visited = || {
            let tried = node.edges.iter().enumerate().take(node.tried as usize);
            tried.filter_map(|(index, edge)| match edge.child() {
                Child::Node(child) if self.arena[child].visits > 0 => Some((index, edge, child)),
                _ => None,
            })
        };
        let most = visited()
            .map(|(_, _, child)| self.arena[child].visits)
            .max()?;
        let Kind::Player(side) = node.kind else {
            return visited()
                .find(|(_, _, child)| self.arena[*child].visits == most)
                .map(|(index, ..)| index);
        };
        let order = better_first(&ranking.lcb, most);
        let mut standings: Vec<(usize, Standing)> = visited()
            .map(|(index, edge, child)| {
                let prior = f64::from(edge.prior);
                (index, self.standing(child, prior, side, ranking))
            })
            .collect();
        self.value_plays(id, side, false, ranking, &mut standings);
        standings
            .into_iter()
            .min_by(|a, b| order(&a.1, &b.1))
            .map(|(index, _)| index)
    }

    /// How a visited child stands for the side to move.
    fn standing(&self, child: NodeId, prior: f64, side: Side, ranking: &Ranking) -> Standing {
        let node = &self.arena[child];
        let mean = side.view(self.mean_value(child));
        let lcb = match (&ranking.utility, &node.books) {
            (Some(puct), Some(books)) => {
                let widest = self.utility.radius();
                let radius = confidence_radius(puct, &books.average, widest);
                Some(mean - 0.5 * radius / widest)
            }
            _ => visits_bound(node, mean, &ranking.quantiles),
        };
        Standing {
            visits: node.visits,
            mean,
            lcb,
            prior,
            play_value: 0.0,
        }
    }

    /// Under `Rule::Utility`, fills in what speaks for each move.
    fn value_plays(
        &self,
        id: NodeId,
        side: Side,
        is_root: bool,
        ranking: &Ranking,
        standings: &mut [(usize, Standing)],
    ) {
        let Some(puct) = &ranking.utility else {
            return;
        };
        let edges = &self.arena[id].edges;
        let contender = |(edge, standing): &(usize, Standing)| {
            let books = match edges[*edge].child() {
                Child::Node(child) => self.arena[child].books.as_ref(),
                Child::Untried | Child::Invalid => None,
            };
            let average = books.map(|books| &books.average);
            Contender {
                prior: standing.prior,
                visits: standing.visits,
                weight: average.map_or(0.0, |average| average.weight),
                utility: average.map_or(0.0, |average| for_side(side, average.utility)),
                radius: average.map_or(f64::INFINITY, |average| {
                    confidence_radius(puct, average, self.utility.radius())
                }),
            }
        };
        let contenders: Vec<Contender> = standings.iter().map(contender).collect();
        let parent = self.chooser(id, side, is_root, 0).parent();
        let values = play_values(puct, &parent, &contenders);
        for (entry, value) in standings.iter_mut().zip(values) {
            entry.1.play_value = value;
        }
    }
}

/// The lower confidence bound of a mean of visits, once there are two.
fn visits_bound<M, O: Outlook>(
    child: &Node<M, O>,
    mean: f64,
    quantiles: &StudentTable,
) -> Option<f64> {
    child.variance().map(|variance| {
        let deviation = (variance / f64::from(child.visits)).sqrt();
        mean - quantiles.quantile(child.visits - 1) * deviation
    })
}

fn closed(edge: usize) -> Candidate {
    Candidate {
        open: false,
        ..Candidate::untried(edge, 0.0)
    }
}

/// One draw of a symmetric Dirichlet distribution.
fn dirichlet(alpha: f64, count: usize, rng: &mut SearchRng) -> Vec<f64> {
    let Ok(gamma) = Gamma::new(alpha, 1.0) else {
        return vec![1.0 / count as f64; count];
    };
    let mut draw: Vec<f64> = (0..count).map(|_| rng.sample(gamma)).collect();
    let total: f64 = draw.iter().sum();
    // A tiny alpha may underflow in every component; then there is no noise.
    let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
    draw.iter_mut().for_each(|share| *share *= scale);
    draw
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn dirichlet_draws_sum_to_one_with_the_right_spread() {
        const DRAWS: usize = 4000;
        let (alpha, count) = (0.3, 5);
        let mut rng = SearchRng::seed_from_u64(3);
        let mut squares = 0.0;
        for _ in 0..DRAWS {
            let draw = dirichlet(alpha, count, &mut rng);
            assert!((draw.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            squares += draw[0] * draw[0];
        }
        // E[x^2] = (alpha + 1) / (k (k alpha + 1)).
        let expected = (alpha + 1.0) / (5.0 * (5.0 * alpha + 1.0));
        assert!((squares / DRAWS as f64 - expected).abs() < 0.01);
    }
}
