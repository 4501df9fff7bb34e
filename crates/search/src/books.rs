//! What a node keeps under [`Rule::Utility`](crate::Rule::Utility): weighted averages, computed from its children.
//!
//! After each visit a node's averages are computed anew: those of its children, each with its weight, and the
//! node's own evaluation with its own weight. Two corrections bend the children's weights first. *Noise pruning*
//! takes weight off moves that were visited more than their prior explains and turned out worse than the moves
//! before them. *Value weighting* shifts weight from bad moves to good ones by the chance that they are better
//! than the average.

use std::f64::consts::PI;

use crate::game::Side;
use crate::outlook::{Means, Outlook, Utility};
use crate::settings::Weighing;

/// Averages of one node, for `Side::First`.
#[derive(Clone, Debug)]
pub(crate) struct Books<O: Outlook> {
    /// What the evaluator said of the node itself.
    pub own: O,
    pub own_value: f64,
    pub own_utility: f64,
    pub own_weight: f64,
    pub average: Average<O::Means>,
}

/// A weighted average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Average<X> {
    pub weight: f64,
    /// The sum of squared weights: how many independent evaluations the weight stands for.
    pub weight_squares: f64,
    pub value: f64,
    pub utility: f64,
    pub utility_square: f64,
    pub means: X,
}

/// A child as its parent's average sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<X> {
    pub prior: f64,
    /// Weight in the parent's average; the corrections change it.
    pub weight: f64,
    pub average: Average<X>,
}

impl<O: Outlook> Books<O> {
    pub fn new(own: O, own_value: f64, utility: &O::Utility, is_over: bool) -> Self {
        let mut books = Books {
            own,
            own_value,
            own_utility: 0.0,
            own_weight: 0.0,
            average: Average::default(),
        };
        books.weigh(utility, is_over);
        books
    }

    /// Computes what the utility says of the node's own evaluation.
    pub fn weigh(&mut self, utility: &O::Utility, is_over: bool) {
        self.own_utility = utility.of(self.own_value, &self.own.means());
        self.own_weight = if is_over {
            utility.weight_of_end()
        } else {
            utility.weight(&self.own)
        };
    }

    /// The node's average if it was visited `visits` times and has no children: a finished game, or no move.
    pub fn settle_alone(&mut self, visits: u32) {
        let visits = f64::from(visits);
        self.average = Average {
            weight: visits * self.own_weight,
            weight_squares: visits * self.own_weight * self.own_weight,
            value: self.own_value,
            utility: self.own_utility,
            utility_square: self.own_utility * self.own_utility,
            means: self.own.means(),
        };
    }

    /// The node's average from its children, in the order of their priors.
    pub fn settle(&mut self, side: Side, parts: &mut [Part<O::Means>], weighing: &Weighing) {
        if weighing.noise_pruning {
            prune_noise(side, parts);
        }
        if weighing.value_exponent > 0.0 {
            weigh_by_value(side, parts, weighing.value_exponent);
        }
        let own = self.own_weight;
        let mut sum = Average {
            weight: own,
            weight_squares: own * own,
            value: own * self.own_value,
            utility: own * self.own_utility,
            utility_square: own * self.own_utility * self.own_utility,
            means: self.own.means().scaled(own),
        };
        for part in parts.iter().filter(|part| part.weight > 0.0) {
            let (weight, child) = (part.weight, &part.average);
            let bent = weight / child.weight;
            sum.weight += weight;
            sum.weight_squares += bent * bent * child.weight_squares;
            sum.value += weight * child.value;
            sum.utility += weight * child.utility;
            sum.utility_square += weight * child.utility_square;
            sum.means.add(&child.means, weight);
        }
        let total = sum.weight;
        self.average = Average {
            value: (sum.value / total).clamp(0.0, 1.0),
            utility: sum.utility / total,
            utility_square: sum.utility_square / total,
            means: sum.means.scaled(1.0 / total),
            ..sum
        };
    }
}

pub(crate) fn for_side(side: Side, utility: f64) -> f64 {
    match side {
        Side::First => utility,
        Side::Second => -utility,
    }
}

/// How many times its share by prior a move's weight may be before noise pruning looks at it.
const PRUNED_ABOVE: f64 = 2.0;
/// The gap of utility over which noise pruning fades in.
const PRUNING_SCALE: f64 = 0.15;

/// Takes weight off moves that are worse than those of larger prior, and have more than twice their share.
fn prune_noise<X>(side: Side, parts: &mut [Part<X>]) {
    let mut weight_before = 0.0;
    let mut utility_before = 0.0;
    let mut prior_before = 0.0;
    for part in parts.iter_mut() {
        let utility = for_side(side, part.average.utility);
        if weight_before > 0.0 && prior_before > 0.0 {
            let gap = utility_before / weight_before - utility;
            let share = weight_before * part.prior / prior_before;
            let excess = part.weight - PRUNED_ABOVE * share;
            if gap > 0.0 && excess > 0.0 {
                part.weight -= excess * (1.0 - (-gap / PRUNING_SCALE).exp());
            }
        }
        weight_before += part.weight;
        utility_before += part.weight * utility;
        prior_before += part.prior;
    }
}

/// Keeps the spread of a child's utility above zero.
const SMALLEST_VARIANCE: f64 = 1e-8;
/// A child's variance is one over this times the root of its weight.
const VARIANCE_FACTOR: f64 = 1.5;
/// Keeps the weight of a hopeless child above zero.
const SMALLEST_CHANCE: f64 = 1e-4;

/// Multiplies weights by a power of the chance that the child is better than the average; the total stays.
fn weigh_by_value<X>(side: Side, parts: &mut [Part<X>], exponent: f64) {
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if total <= 0.0 {
        return;
    }
    let utility = |part: &Part<X>| for_side(side, part.average.utility);
    let mean = parts.iter().map(|p| p.weight * utility(p)).sum::<f64>() / total;
    for part in parts.iter_mut().filter(|part| part.weight > 0.0) {
        let variance = SMALLEST_VARIANCE + 1.0 / (VARIANCE_FACTOR * part.weight.sqrt());
        let chance = student_3_below((utility(part) - mean) / variance.sqrt());
        part.weight *= (chance + SMALLEST_CHANCE).powf(exponent);
    }
    let bent: f64 = parts.iter().map(|part| part.weight).sum();
    for part in parts.iter_mut() {
        part.weight *= total / bent;
    }
}

/// The chance that a variate of Student's t distribution with three degrees of freedom is below `t`.
fn student_3_below(t: f64) -> f64 {
    let scaled = t / 3f64.sqrt();
    0.5 + (scaled / (1.0 + scaled * scaled) + scaled.atan()) / PI
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(prior: f64, weight: f64, utility: f64) -> Part<()> {
        Part {
            prior,
            weight,
            average: Average {
                weight,
                weight_squares: weight,
                value: 0.5 * (1.0 + utility),
                utility,
                utility_square: utility * utility,
                means: (),
            },
        }
    }

    #[test]
    fn students_t_with_three_degrees_has_its_tabulated_quantiles() {
        for (t, below) in [(0.0, 0.5), (1.638, 0.90), (3.182, 0.975), (-5.841, 0.005)] {
            assert!((student_3_below(t) - below).abs() < 1e-4, "{t}");
        }
    }

    #[test]
    fn noise_pruning_takes_what_exceeds_twice_the_share_by_the_gap() {
        // Share of the second: 10 * 0.1/0.5 = 2, so 8 - 4 = 4 are in excess; the gap is 0.3 = 2 * 0.15.
        let mut parts = [part(0.5, 10.0, 0.2), part(0.1, 8.0, -0.1)];
        prune_noise(Side::First, &mut parts);
        assert_eq!(parts[0].weight, 10.0);
        let expected = 8.0 - 4.0 * (1.0 - (-2f64).exp());
        assert!((parts[1].weight - expected).abs() < 1e-12);
        // For the other side the second move is the better one, and keeps its weight.
        let mut parts = [part(0.5, 10.0, 0.2), part(0.1, 8.0, -0.1)];
        prune_noise(Side::Second, &mut parts);
        assert_eq!(parts[1].weight, 8.0);
    }

    #[test]
    fn value_weighting_keeps_the_total_and_favours_the_better_move() {
        // Both weigh 1: mean 0, s = sqrt(1/1.5) = 0.8165; t = +-0.6124 gives 0.7082 and 0.2918.
        let mut parts = [part(0.5, 1.0, 0.5), part(0.5, 1.0, -0.5)];
        weigh_by_value(Side::First, &mut parts, 0.25);
        let good = (0.7082f64 + 1e-4).powf(0.25);
        let bad = (0.2918f64 + 1e-4).powf(0.25);
        assert!((parts[0].weight - 2.0 * good / (good + bad)).abs() < 1e-3);
        assert!((parts[0].weight + parts[1].weight - 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_average_is_the_weighted_mean_of_children_and_own_evaluation() {
        let mut books = Books::<()>::new((), 0.6, &(), false);
        let plain = Weighing {
            noise_pruning: false,
            value_exponent: 0.0,
        };
        let mut parts = [part(0.7, 3.0, 0.4), part(0.3, 1.0, -0.2)];
        books.settle(Side::First, &mut parts, &plain);
        // (1*0.2 + 3*0.4 + 1*-0.2) / 5 = 0.24; squares (0.04 + 3*0.16 + 0.04) / 5 = 0.112.
        assert_eq!(books.average.weight, 5.0);
        assert!((books.average.utility - 0.24).abs() < 1e-12);
        assert!((books.average.utility_square - 0.112).abs() < 1e-12);
        assert!((books.average.value - 0.62).abs() < 1e-12);
        assert_eq!(books.average.weight_squares, 1.0 + 3.0 + 1.0);
    }

    #[test]
    fn a_finished_game_weighs_once_for_every_visit() {
        let mut books = Books::<()>::new((), 1.0, &(), true);
        books.settle_alone(4);
        assert_eq!((books.average.weight, books.average.utility), (4.0, 1.0));
    }
}
