//! Root statistics, the order of moves, and the choice among them.

use std::cmp::Ordering;
use std::sync::Arc;

use rand::RngExt;

use crate::evaluate::SearchRng;
use crate::game::Side;
use crate::settings::{Lcb, UtilityPuct};
use crate::student::StudentTable;

/// Fewest visits a bound is compared at.
const LCB_MIN_VISITS: f64 = 2.0;

/// One root move. Values are for the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct RootMove<M, X = ()> {
    pub mv: M,
    /// Simulations that took it.
    pub visits: u32,
    /// Mean value for the side to move, if visited.
    pub winrate: Option<f64>,
    /// Prior in use, noise and restrictions included.
    pub prior: f64,
    /// Lower confidence bound of the winrate, once there are two visits.
    pub lcb: Option<f64>,
    /// Rank, 0 for the best.
    pub order: usize,
    /// The line expected, this move first.
    pub pv: Vec<M>,
    /// Visits of each position of that line.
    pub pv_visits: Vec<u32>,
    /// What [`Rule::Utility`](crate::Rule::Utility) found, if the move was
    /// visited under it.
    pub weighed: Option<Weighed<X>>,
}

/// What [`Rule::Utility`](crate::Rule::Utility) knows of a move or of the
/// root. For a move, utilities are for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighed<X> {
    /// Mean utility.
    pub utility: f64,
    /// Its lower confidence bound.
    pub utility_lcb: f64,
    /// The weight of all evaluations below.
    pub weight: f64,
    /// How much speaks for the move: the order of moves follows it, and a
    /// choice with temperature is drawn by it. 0 for the root.
    pub play_value: f64,
    /// The averages of what else was evaluated, for [`Side::First`].
    pub means: X,
}

/// The root as it stands, while the search runs or after.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<M, X = ()> {
    /// Side to move, unless the root is a chance node, finished or new.
    pub side: Option<Side>,
    /// Visits of the root.
    pub visits: u64,
    /// Playouts of the current or last run.
    pub playouts: u64,
    /// Mean value for [`Side::First`].
    pub value: f64,
    /// The root's own evaluation for [`Side::First`].
    pub evaluation: f64,
    /// All moves that may be played, best first.
    pub moves: Vec<RootMove<M, X>>,
    /// What [`Rule::Utility`](crate::Rule::Utility) knows of the root;
    /// utilities are for [`Side::First`].
    pub weighed: Option<Weighed<X>>,
    /// The move Gumbel selection settled on, if it was in use.
    pub gumbel_choice: Option<M>,
}

impl<M: Copy + Eq, X> Snapshot<M, X> {
    pub(crate) fn empty() -> Self {
        Snapshot {
            side: None,
            visits: 0,
            playouts: 0,
            value: 0.5,
            evaluation: 0.5,
            moves: Vec::new(),
            weighed: None,
            gumbel_choice: None,
        }
    }

    /// The move to play: Gumbel's choice, or the first in order.
    pub fn best(&self) -> Option<M> {
        self.gumbel_choice
            .or_else(|| self.moves.first().map(|best| best.mv))
    }

    /// The statistics of a move.
    pub fn get(&self, mv: M) -> Option<&RootMove<M, X>> {
        self.moves.iter().find(|entry| entry.mv == mv)
    }
}

/// The shape of the tree below the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeShape {
    /// Nodes, the root included.
    pub nodes: usize,
    /// Nodes with at least one child node.
    pub non_leaf_nodes: usize,
    /// Sum of all nodes' distances from the root.
    pub depth_sum: usize,
    /// Largest distance from the root.
    pub depth_max: usize,
}

impl TreeShape {
    /// Mean distance from the root.
    pub fn average_depth(&self) -> f64 {
        self.depth_sum as f64 / self.nodes.max(1) as f64
    }

    /// Mean number of child nodes of the nodes that have any.
    pub fn average_children(&self) -> f64 {
        self.nodes.saturating_sub(1) as f64 / self.non_leaf_nodes.max(1) as f64
    }
}

/// What the order of moves depends on for a whole run.
#[derive(Clone)]
pub(crate) struct Ranking {
    pub lcb: Lcb,
    pub quantiles: Arc<StudentTable>,
    /// Set under `Rule::Utility`.
    pub utility: Option<UtilityPuct>,
}

/// What the order of moves depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub visits: u32,
    pub mean: f64,
    pub lcb: Option<f64>,
    pub prior: f64,
    /// Under `Rule::Utility`, what decides before all else.
    pub play_value: f64,
}

/// Orders moves of one node, the better one first (`Less`).
///
/// Moves with enough visits compare by their bounds; they have more visits
/// than all others, so the order is consistent.
pub(crate) fn better_first(
    lcb: &Lcb,
    visits_most: u32,
) -> impl Fn(&Standing, &Standing) -> Ordering + use<> {
    let enough = (f64::from(visits_most) * lcb.min_visit_ratio).max(LCB_MIN_VISITS);
    move |a, b| {
        let by_value = b.play_value.total_cmp(&a.play_value);
        if by_value.is_ne() {
            return by_value;
        }
        if f64::from(a.visits) > enough && f64::from(b.visits) > enough {
            let by_bound = b.lcb.partial_cmp(&a.lcb).unwrap_or(Ordering::Equal);
            if by_bound.is_ne() {
                return by_bound;
            }
        }
        b.visits.cmp(&a.visits).then_with(|| match a.visits {
            0 => b.prior.total_cmp(&a.prior),
            _ => b.mean.total_cmp(&a.mean),
        })
    }
}

/// Draws one of the moves in proportion to `visits^(1/temperature)` among
/// those with more than `min_visits` visits, and returns its index in
/// `moves`; 0 if the first move has no more than `min_visits` itself.
pub fn draw_by_visits<M, X>(
    moves: &[RootMove<M, X>],
    temperature: f64,
    min_visits: u32,
    rng: &mut SearchRng,
) -> usize {
    let first_eligible = moves.first().is_some_and(|first| first.visits > min_visits);
    if !first_eligible || temperature <= 0.0 {
        return 0;
    }
    let eligible = |entry: &&RootMove<M, X>| entry.visits > min_visits;
    let most = moves.iter().map(|entry| entry.visits).max().unwrap_or(1);
    // Relative to the most visited, so that no temperature overflows.
    let weight = |entry: &RootMove<M, X>| {
        (f64::from(entry.visits) / f64::from(most)).powf(1.0 / temperature)
    };
    let total: f64 = moves.iter().filter(eligible).map(weight).sum();
    let mut left = rng.random::<f64>() * total;
    let mut chosen = 0;
    for (index, entry) in moves.iter().enumerate() {
        if !eligible(&entry) {
            continue;
        }
        chosen = index;
        left -= weight(entry);
        if left < 0.0 {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn standing(visits: u32, mean: f64, lcb: f64, prior: f64) -> Standing {
        Standing {
            visits,
            mean,
            lcb: (visits >= 2).then_some(lcb),
            prior,
            play_value: 0.0,
        }
    }

    fn sorted(mut list: Vec<Standing>) -> Vec<u32> {
        let most = list.iter().map(|entry| entry.visits).max().unwrap();
        list.sort_by(better_first(&Lcb::default(), most));
        list.iter().map(|entry| entry.visits).collect()
    }

    #[test]
    fn bounds_rank_the_well_visited_and_visits_the_rest() {
        let list = vec![
            standing(100, 0.5, 0.40, 0.5),
            standing(60, 0.6, 0.55, 0.1),
            // Ten is not more than a tenth of a hundred: its bound is ignored.
            standing(10, 0.9, 0.89, 0.1),
            standing(11, 0.5, 0.30, 0.1),
        ];
        assert_eq!(sorted(list), [60, 100, 11, 10]);
    }

    #[test]
    fn two_visits_are_too_few_for_a_bound() {
        let list = vec![
            standing(2, 0.9, 0.9, 0.1),
            standing(3, 0.1, 0.0, 0.1),
            standing(1, 0.9, 0.0, 0.1),
        ];
        assert_eq!(sorted(list), [3, 2, 1]);
    }

    #[test]
    fn ties_fall_to_the_mean_and_then_the_prior() {
        let order = better_first(&Lcb::default(), 1);
        let by_mean = order(&standing(1, 0.4, 0.0, 0.9), &standing(1, 0.6, 0.0, 0.1));
        assert_eq!(by_mean, Ordering::Greater);
        let by_prior = order(&standing(0, 0.4, 0.0, 0.9), &standing(0, 0.6, 0.0, 0.1));
        assert_eq!(by_prior, Ordering::Less);
    }

    fn moves(visits: &[u32]) -> Vec<RootMove<usize>> {
        let entry = |(order, &visits): (usize, &u32)| RootMove {
            mv: order,
            visits,
            winrate: None,
            prior: 0.0,
            lcb: None,
            order,
            pv: Vec::new(),
            pv_visits: Vec::new(),
            weighed: None,
        };
        visits.iter().enumerate().map(entry).collect()
    }

    fn frequencies(visits: &[u32], temperature: f64, min_visits: u32) -> Vec<f64> {
        const DRAWS: usize = 40_000;
        let moves = moves(visits);
        let mut rng = SearchRng::seed_from_u64(7);
        let mut counts = vec![0.0; visits.len()];
        for _ in 0..DRAWS {
            counts[draw_by_visits(&moves, temperature, min_visits, &mut rng)] += 1.0;
        }
        counts.iter().map(|count| count / DRAWS as f64).collect()
    }

    #[test]
    fn an_ineligible_move_in_between_does_not_shift_the_draw() {
        let drawn = frequencies(&[30, 1, 60, 10], 1.0, 1);
        for (share, expected) in drawn.iter().zip([0.3, 0.0, 0.6, 0.1]) {
            assert!((share - expected).abs() < 0.015, "{drawn:?}");
        }
    }

    #[test]
    fn temperature_sharpens_and_flattens() {
        let sharp = frequencies(&[20, 10], 0.5, 0);
        assert!((sharp[0] - 0.8).abs() < 0.015);
        let flat = frequencies(&[16, 4], 2.0, 0);
        assert!((flat[0] - 2.0 / 3.0).abs() < 0.015);
        assert_eq!(frequencies(&[20, 10], 1e-9, 0), [1.0, 0.0]);
    }

    #[test]
    fn too_few_visits_leave_the_order_alone() {
        assert_eq!(frequencies(&[1, 1, 1], 1.0, 1), [1.0, 0.0, 0.0]);
        assert_eq!(frequencies(&[5, 40], 1.0, 5), [1.0, 0.0]);
    }
}
