//! Selection and choice under [`Rule::Utility`](crate::Rule::Utility), as functions of plain numbers: KataGo's
//! PUCT over weights and utilities, its confidence bound, and its choice of a move.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::books::{Average, for_side};
use crate::evaluate::SearchRng;
use crate::game::Side;
use crate::select::{Candidate, best_of};
use crate::settings::UtilityPuct;

/// Keeps the exploration term above zero before the first visit.
const TOTAL_WEIGHT_OFFSET: f64 = 0.01;
/// A child counts at least this much against the losses of simulations under way.
const LEAST_WEIGHT_UNDER_LOSS: f64 = 0.25;
/// The share of comparisons in which root noise adds a bonus.
const NOISE_CHANCE: f64 = 0.5;

/// What the formulas see of the node they choose in; utilities are for `Side::First`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    pub side: Side,
    pub average_utility: f64,
    pub average_utility_square: f64,
    pub weight: f64,
    pub own_utility: f64,
    pub is_root: bool,
    /// Utilities lie between minus this and this.
    pub radius: f64,
    /// Losses for each simulation under way.
    pub virtual_loss: u32,
}

/// Picks an edge, `None` if none is open.
pub(crate) fn pick(
    puct: &UtilityPuct,
    parent: &Parent,
    candidates: &[Candidate],
    rng: &mut SearchRng,
) -> Option<usize> {
    let visited = || candidates.iter().filter(|candidate| candidate.visits > 0);
    let total_weight: f64 = visited().map(|candidate| candidate.weight).sum();
    let prior_visited: f64 = visited().map(|candidate| candidate.prior).sum();
    let exploration = exploration(puct, parent, total_weight);
    let untried = first_play_utility(puct, parent, prior_visited);
    let noise = if parent.is_root {
        puct.wide_root_noise
    } else {
        0.0
    };
    best_of(candidates, |candidate| {
        if candidate.expanding {
            // Worse than any loss, yet ordered by the prior term.
            return -2.0 * parent.radius + exploration * candidate.prior;
        }
        let (utility, weight) = if candidate.visits > 0 {
            (for_side(parent.side, candidate.utility), candidate.weight)
        } else {
            (untried, 0.0)
        };
        let losses = f64::from(candidate.in_flight * parent.virtual_loss);
        let share = losses / (losses + weight.max(LEAST_WEIGHT_UNDER_LOSS));
        let mut utility = utility + share * (-parent.radius - utility);
        if noise > 0.0 && rng.random_bool(NOISE_CHANCE) {
            let bonus: f64 = rng.sample(StandardNormal);
            utility += noise * bonus.abs();
        }
        utility + exploration * candidate.prior / (1.0 + weight + losses)
    })
}

/// The factor of `prior / (1 + weight)` in the selection value.
fn exploration(puct: &UtilityPuct, parent: &Parent, total_weight: f64) -> f64 {
    let cpuct =
        puct.cpuct + puct.cpuct_log * ((total_weight + puct.cpuct_base) / puct.cpuct_base).ln();
    cpuct * (total_weight + TOTAL_WEIGHT_OFFSET).sqrt() * spread_factor(puct, parent)
}

/// Explores more where utilities differ much, and less where they are all alike.
fn spread_factor(puct: &UtilityPuct, parent: &Parent) -> f64 {
    let prior = puct.stdev_prior;
    let stdev = if parent.weight > 1.0 {
        let mean = parent.average_utility;
        let (before, weight) = (puct.stdev_prior_weight, parent.weight);
        let squares =
            (mean * mean + prior * prior) * before + parent.average_utility_square * weight;
        (squares / (before + weight - 1.0) - mean * mean)
            .max(0.0)
            .sqrt()
    } else {
        prior
    };
    1.0 + puct.stdev_scale * (stdev / prior - 1.0)
}

/// What the mover expects of a move that was never tried.
fn first_play_utility(puct: &UtilityPuct, parent: &Parent, prior_visited: f64) -> f64 {
    let trust = (prior_visited * prior_visited).min(1.0);
    let base = trust * for_side(parent.side, parent.average_utility)
        + (1.0 - trust) * for_side(parent.side, parent.own_utility);
    let reduction = if parent.is_root {
        puct.root_fpu_reduction
    } else {
        puct.fpu_reduction
    };
    base - reduction * prior_visited.sqrt()
}

/// A child of the node a move is chosen in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub prior: f64,
    pub visits: u32,
    pub weight: f64,
    /// For the mover.
    pub utility: f64,
    /// Half the width of its confidence interval.
    pub radius: f64,
}

/// Half the width of the confidence interval of a mean utility.
///
/// A prior of the widest spread there is stands in for what few evaluations cannot tell; its weight falls with
/// the cube of the number of evaluations the average stands for.
pub(crate) fn confidence_radius<X>(puct: &UtilityPuct, average: &Average<X>, radius: f64) -> f64 {
    if average.weight <= 0.0 || average.weight_squares <= 0.0 {
        return f64::INFINITY;
    }
    let weight = average.weight;
    let evaluations = weight * weight / average.weight_squares;
    let before = weight / evaluations.powi(3);
    let mean = average.utility;
    let squares = weight * average.utility_square + before * (mean * mean + radius * radius);
    let total = weight + before;
    let variance = (squares / total - mean * mean).max(0.0);
    let evaluations = total * total / (average.weight_squares + before * before);
    puct.lcb_stdevs * (variance / evaluations).sqrt()
}

/// The weight of the prior in the choice of the child that others are measured against.
const PRIOR_IN_REFERENCE: f64 = 2.0;
/// A bound that is better by this part of the other's radius counts.
const LCB_GAP_SHARE: f64 = 0.2;
/// Values below this, or below a part of the largest, become nothing.
const PRUNED_BELOW: f64 = 1.0;
const PRUNED_PART: f64 = 64.0;

/// How much speaks for each move: its weight without the visits that hindsight calls wasted, raised for the move
/// of the best lower confidence bound.
pub(crate) fn play_values(puct: &UtilityPuct, parent: &Parent, children: &[Contender]) -> Vec<f64> {
    let visited = |child: &Contender| child.visits > 0;
    let mut values: Vec<f64> = children
        .iter()
        .map(|child| if visited(child) { child.weight } else { 0.0 })
        .collect();
    let Some(reference) = reference(children) else {
        return values;
    };
    let total_weight: f64 = values.iter().sum();
    let exploration = exploration(puct, parent, total_weight);
    let best = &children[reference];
    let wanted = best.utility + exploration * best.prior / (1.0 + best.weight);
    for (index, child) in children.iter().enumerate() {
        let gap = wanted - child.utility;
        if index != reference && visited(child) && gap > 0.0 {
            let deserved = (exploration * child.prior / gap - 1.0).ceil().max(0.0);
            values[index] = values[index].min(deserved);
        }
    }
    raise_best_bound(puct, children, reference, &mut values);
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = PRUNED_BELOW.min(most / PRUNED_PART);
    for value in values.iter_mut().filter(|value| **value < least) {
        *value = 0.0;
    }
    values
}

/// The visited child that most speaks for.
fn reference(children: &[Contender]) -> Option<usize> {
    let strength = |child: &Contender| {
        let visits = f64::from(child.visits);
        child.weight * (visits - 1.0) / visits + PRIOR_IN_REFERENCE * child.prior
    };
    let visited = children.iter().enumerate().filter(|(_, c)| c.visits > 0);
    visited
        .max_by(|a, b| strength(a.1).total_cmp(&strength(b.1)).then(b.0.cmp(&a.0)))
        .map(|(index, _)| index)
}

/// Raises the child of the best lower confidence bound above those whose bound is worse.
fn raise_best_bound(
    puct: &UtilityPuct,
    children: &[Contender],
    reference: usize,
    values: &mut [f64],
) {
    let least = puct.lcb_min_weight_ratio * values[reference];
    let bound = |index: usize| children[index].utility - children[index].radius;
    let eligible: Vec<usize> = (0..children.len())
        .filter(|&i| children[i].visits > 0 && values[i] > 0.0 && values[i] >= least)
        .collect();
    let Some(&best) = eligible
        .iter()
        .max_by(|&&a, &&b| bound(a).total_cmp(&bound(b)).then(b.cmp(&a)))
    else {
        return;
    };
    let mut raised = values[best];
    for (index, child) in children.iter().enumerate() {
        let gap = bound(best) - bound(index);
        if index == best || child.visits == 0 || gap < 0.0 || !child.radius.is_finite() {
            continue;
        }
        let factor = (child.radius + gap) / (child.radius + LCB_GAP_SHARE * gap);
        raised = raised.max(values[index] * factor * factor);
    }
    values[best] = raised;
}

/// Priors made flatter, so that an analysis looks at more moves, and to the power of one over a temperature.
pub(crate) fn widen_priors(priors: &mut [f64], noise: f64, temperature: f64) {
    /// How much the exponent of priors falls with the noise.
    const FLATTENING: f64 = 4.0;
    let exponent = 1.0 / ((FLATTENING * noise + 1.0) * temperature);
    if exponent == 1.0 {
        return;
    }
    for prior in priors.iter_mut() {
        *prior = prior.powf(exponent);
    }
    let total: f64 = priors.iter().sum();
    if total > 0.0 {
        priors.iter_mut().for_each(|prior| *prior /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn parent(average_utility: f64, average_utility_square: f64, weight: f64) -> Parent {
        Parent {
            side: Side::First,
            average_utility,
            average_utility_square,
            weight,
            own_utility: average_utility,
            is_root: false,
            radius: 1.4,
            virtual_loss: 1,
        }
    }

    fn candidate(edge: usize, prior: f64, weight: f64, utility: f64) -> Candidate {
        Candidate {
            edge,
            prior,
            visits: weight.ceil() as u32,
            weight,
            utility,
            ..Candidate::untried(edge, prior)
        }
    }

    fn picked(parent: &Parent, candidates: &[Candidate]) -> Option<usize> {
        let mut rng = SearchRng::seed_from_u64(1);
        pick(&UtilityPuct::default(), parent, candidates, &mut rng)
    }

    #[test]
    fn spread_of_a_node_follows_the_formula() {
        let puct = UtilityPuct::default();
        // No more weight than one evaluation: the prior alone, a factor of one.
        assert_eq!(spread_factor(&puct, &parent(0.3, 0.09, 1.0)), 1.0);
        // u = 0.5, m2 = 0.29, w = 9: ((0.25 + 0.16)*2 + 0.29*9)/10 - 0.25 = 0.093; sd = 0.30496;
        // S = 1 + 0.85*(0.7624 - 1) = 0.79804.
        let factor = spread_factor(&puct, &parent(0.5, 0.29, 9.0));
        assert!((factor - 0.79804).abs() < 1e-4, "{factor}");
    }

    #[test]
    fn exploration_grows_with_the_root_and_the_logarithm_of_the_weight() {
        let puct = UtilityPuct::default();
        let flat = parent(0.0, 0.0, 0.0);
        assert!((exploration(&puct, &flat, 0.0) - 0.1).abs() < 1e-12);
        // (1 + 0.45 ln 2) * sqrt(500.01) = 1.31192 * 22.3609 = 29.3358.
        assert!((exploration(&puct, &flat, 500.0) - 29.3358).abs() < 1e-3);
    }

    #[test]
    fn first_play_blends_the_parents_average_with_its_own_evaluation() {
        let puct = UtilityPuct::default();
        let node = Parent {
            own_utility: 0.2,
            ..parent(0.6, 0.4, 10.0)
        };
        // a = 0.25: base 0.25*0.6 + 0.75*0.2 = 0.3; reduced by 0.2*sqrt(0.5) = 0.14142.
        let untried = first_play_utility(&puct, &node, 0.5);
        assert!((untried - (0.3 - 0.141_421_36)).abs() < 1e-7);
        let root = Parent {
            is_root: true,
            side: Side::Second,
            ..node
        };
        let untried = first_play_utility(&puct, &root, 0.5);
        assert!((untried - (-0.3 - 0.070_710_68)).abs() < 1e-7);
    }

    #[test]
    fn selection_breaks_even_where_the_formula_says() {
        // One child of weight 9 and prior 0.5 at utility 0.1; the parent's spread is the prior's (w = 1).
        // E = (1 + 0.45 ln(509/500)) * sqrt(9.01) = 1.00803 * 3.00167 = 3.02577.
        // child: 0.1 + 3.02577*0.5/10 = 0.251288
        // untried: base = 0.25*0.1 + 0.75*0.1 = 0.1, minus 0.141421, plus 3.02577 p: even at p = 0.096738.
        let node = parent(0.1, 0.0, 1.0);
        let at = |prior| {
            picked(
                &node,
                &[candidate(0, 0.5, 9.0, 0.1), candidate(1, prior, 0.0, 0.0)],
            )
        };
        assert_eq!(at(0.0966), Some(0));
        assert_eq!(at(0.0969), Some(1));
    }

    #[test]
    fn simulations_under_way_count_as_lost() {
        let node = parent(0.0, 0.0, 1.0);
        let mut candidates = [candidate(0, 0.5, 4.0, 0.2), candidate(1, 0.5, 4.0, 0.1)];
        assert_eq!(picked(&node, &candidates), Some(0));
        candidates[0].in_flight = 1;
        // 0.2 + (1/5)*(-1.4 - 0.2) = -0.12.
        assert_eq!(picked(&node, &candidates), Some(1));
    }

    #[test]
    fn the_second_side_prefers_low_utility() {
        let node = Parent {
            side: Side::Second,
            ..parent(0.0, 0.0, 1.0)
        };
        let candidates = [candidate(0, 0.5, 4.0, 0.2), candidate(1, 0.5, 4.0, -0.2)];
        assert_eq!(picked(&node, &candidates), Some(1));
    }

    fn average(visits: f64, utility: f64, utility_square: f64) -> Average<()> {
        Average {
            weight: visits,
            weight_squares: visits,
            value: 0.5,
            utility,
            utility_square,
            means: (),
        }
    }

    #[test]
    fn one_evaluation_has_a_radius_of_three_and_a_half() {
        // p = 1: variance 1.96/2 = 0.98 over 2 evaluations; 5*sqrt(0.49) = 3.5, as KataGo prints it.
        let radius = confidence_radius(&UtilityPuct::default(), &average(1.0, -0.55, 0.3025), 1.4);
        assert!((radius - 3.5).abs() < 1e-9);
    }

    #[test]
    fn many_equal_evaluations_leave_little_doubt() {
        // w = 100, p = 1e-4: variance about 1.96e-6 over 100 evaluations.
        let radius = confidence_radius(&UtilityPuct::default(), &average(100.0, 0.5, 0.25), 1.4);
        let expected = 5.0 * (1.96 * 1e-4 / 100.0001f64 / 100.0002).sqrt();
        assert!((radius - expected).abs() < 1e-6, "{radius} {expected}");
    }

    fn contender(prior: f64, visits: u32, utility: f64, radius: f64) -> Contender {
        Contender {
            prior,
            visits,
            weight: f64::from(visits),
            utility,
            radius,
        }
    }

    #[test]
    fn wasted_visits_are_cut_as_in_a_recorded_search() {
        // Recorded from KataGo (25 visits, three moves): it gave 22, 1 and 0. The parent's numbers are those of
        // its answer, the spread of the parent is not; any factor from 0.72 to 1.49 gives the same.
        let node = parent(0.134, 0.134 * 0.134 + 0.16, 25.0);
        let children = [
            contender(0.6247, 22, 0.1751, 0.3002),
            contender(0.2064, 1, -0.5510, 3.5),
            contender(0.1651, 1, -0.9272, 3.5),
        ];
        let values = play_values(&UtilityPuct::default(), &node, &children);
        assert_eq!(values, [22.0, 1.0, 0.0]);
    }

    #[test]
    fn the_best_bound_is_raised_above_more_visits() {
        let node = parent(0.0, 0.16, 100.0);
        let children = [
            contender(0.5, 60, 0.10, 0.30),
            contender(0.3, 40, 0.12, 0.12),
        ];
        let values = play_values(&UtilityPuct::default(), &node, &children);
        // Bounds -0.2 and 0.0: the gap 0.2 raises to 60*((0.3+0.2)/(0.3+0.04))^2.
        let raised = 60.0 * (0.5f64 / 0.34).powi(2);
        assert!((values[1] - raised).abs() < 1e-9, "{values:?}");
    }

    #[test]
    fn a_bound_on_few_visits_is_not_believed() {
        let node = parent(0.0, 0.16, 100.0);
        let children = [
            contender(0.5, 100, 0.10, 0.30),
            contender(0.3, 14, 0.12, 0.0),
        ];
        let values = play_values(&UtilityPuct::default(), &node, &children);
        assert_eq!(values[0], 100.0);
        assert!(values[1] <= 14.0);
    }

    #[test]
    fn wide_noise_flattens_the_priors() {
        let mut priors = [0.9, 0.1];
        widen_priors(&mut priors, 0.04, 1.0);
        let (large, small) = (0.9f64.powf(1.0 / 1.16), 0.1f64.powf(1.0 / 1.16));
        assert!((priors[0] - large / (large + small)).abs() < 1e-12);
        assert!((priors[0] + priors[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_temperature_of_two_takes_the_root_of_priors() {
        let mut priors = [0.64, 0.36];
        widen_priors(&mut priors, 0.0, 2.0);
        assert!((priors[0] - 0.8 / 1.4).abs() < 1e-12);
        let mut untouched = [0.9, 0.1];
        widen_priors(&mut untouched, 0.0, 1.0);
        assert_eq!(untouched, [0.9, 0.1]);
    }
}
