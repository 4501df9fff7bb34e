//! The selection formulas, as functions of plain numbers.

use rand::RngExt;

use crate::evaluate::SearchRng;
use crate::game::Side;
use crate::gumbel;
use crate::settings::{FpuBase, Puct, Rule};
use crate::utility::{self, Parent};

/// What a formula sees of one edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Index of the edge in its node.
    pub edge: usize,
    pub prior: f64,
    pub visits: u32,
    /// Simulations under way through the child.
    pub in_flight: u32,
    /// Sum of the child's values for `Side::First`.
    pub value_sum: f64,
    /// Weight and mean utility for `Side::First`, under `Rule::Utility`.
    pub weight: f64,
    pub utility: f64,
    /// A worker is evaluating the child.
    pub expanding: bool,
    /// May be chosen; others only count towards sums.
    pub open: bool,
}

impl Candidate {
    /// A move without a node.
    pub fn untried(edge: usize, prior: f64) -> Candidate {
        Candidate {
            edge,
            prior,
            visits: 0,
            in_flight: 0,
            value_sum: 0.0,
            weight: 0.0,
            utility: 0.0,
            expanding: false,
            open: true,
        }
    }

    /// Mean for `side`, virtual losses counted as losses of that side.
    pub fn mean(&self, side: Side, virtual_loss: u32) -> f64 {
        let losses = f64::from(self.in_flight * virtual_loss);
        let sum = match side {
            Side::First => self.value_sum,
            Side::Second => self.value_sum + losses,
        };
        side.view(sum / (f64::from(self.visits) + losses))
    }
}

/// What a formula sees of the node it chooses in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chooser {
    pub side: Side,
    pub visits: u32,
    /// The node's mean for `Side::First`.
    pub mean: f64,
    /// The node's own evaluation for `Side::First`.
    pub evaluation: f64,
    pub is_root: bool,
    pub virtual_loss: u32,
    /// What `Rule::Utility` looks at.
    pub books: NodeBooks,
}

/// Weight and utilities of a node for `Side::First`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeBooks {
    pub weight: f64,
    pub utility: f64,
    pub utility_square: f64,
    pub own_utility: f64,
    /// Utilities lie between minus this and this.
    pub radius: f64,
}

impl Chooser {
    /// The node as `Rule::Utility` sees it.
    pub fn parent(&self) -> Parent {
        Parent {
            side: self.side,
            average_utility: self.books.utility,
            average_utility_square: self.books.utility_square,
            weight: self.books.weight,
            own_utility: self.books.own_utility,
            is_root: self.is_root,
            radius: self.books.radius,
            virtual_loss: self.virtual_loss,
        }
    }
}

/// Picks an edge by the rule, `None` if none is open.
pub(crate) fn pick(
    rule: &Rule,
    chooser: &Chooser,
    candidates: &[Candidate],
    rng: &mut SearchRng,
) -> Option<usize> {
    match rule {
        Rule::Puct(puct) => pick_puct(puct, chooser, candidates),
        Rule::Ucb1 { exploration } => pick_ucb1(*exploration, chooser, candidates),
        Rule::Improved(sigma) => gumbel::pick_interior(sigma, chooser, candidates),
        Rule::Utility(puct) => utility::pick(puct, &chooser.parent(), candidates, rng),
    }
}

/// Does the rule look at moves beyond the first untried one?
pub(crate) fn needs_all_edges(rule: &Rule) -> bool {
    matches!(rule, Rule::Improved(_))
}

fn pick_puct(puct: &Puct, chooser: &Chooser, candidates: &[Candidate]) -> Option<usize> {
    let mut visits = 0.0;
    let mut prior_visited = 0.0;
    for candidate in candidates {
        if candidate.visits > 0 {
            visits += f64::from(candidate.visits);
            prior_visited += candidate.prior;
        }
    }
    let numerator = (visits * (puct.log_puct * visits + puct.log_const).ln()).sqrt();
    let reduction = match chooser.is_root {
        true => puct.fpu.root_reduction,
        false => puct.fpu.reduction,
    } * f64::sqrt(prior_visited);
    let base = match puct.fpu.base {
        FpuBase::ParentMean => chooser.side.view(chooser.mean),
        FpuBase::ParentEvaluation => chooser.side.view(chooser.evaluation),
        FpuBase::Constant(value) => value,
    };

    best_of(candidates, |candidate| {
        let value = if candidate.expanding {
            // Worse than any loss, yet ordered by the prior term.
            -1.0 - reduction
        } else if candidate.visits > 0 {
            candidate.mean(chooser.side, chooser.virtual_loss)
        } else {
            base - reduction
        };
        let exploration =
            puct.cpuct * candidate.prior * (numerator / (1.0 + f64::from(candidate.visits)));
        value + exploration
    })
}

fn pick_ucb1(exploration: f64, chooser: &Chooser, candidates: &[Candidate]) -> Option<usize> {
    let log_visits = f64::from(chooser.visits.max(1)).ln();
    best_of(candidates, |candidate| {
        if candidate.expanding {
            f64::MIN
        } else if candidate.visits == 0 {
            f64::MAX
        } else {
            let bonus = (exploration * log_visits / f64::from(candidate.visits)).sqrt();
            candidate.mean(chooser.side, chooser.virtual_loss) + bonus
        }
    })
}

/// The open candidate with the largest score; the first wins a tie.
pub(crate) fn best_of(
    candidates: &[Candidate],
    mut score: impl FnMut(&Candidate) -> f64,
) -> Option<usize> {
    let mut best = None;
    let mut best_score = f64::NEG_INFINITY;
    for candidate in candidates.iter().filter(|candidate| candidate.open) {
        let score = score(candidate);
        if score > best_score || best.is_none() {
            best_score = score;
            best = Some(candidate.edge);
        }
    }
    best
}

/// The outcome whose visits lag most behind its probability.
pub(crate) fn pick_proportional(candidates: &[Candidate]) -> Option<usize> {
    let taken = |candidate: &Candidate| f64::from(candidate.visits + candidate.in_flight);
    let total: f64 = candidates.iter().map(taken).sum();
    best_of(candidates, |candidate| {
        candidate.prior * (total + 1.0) - taken(candidate)
    })
}

/// An outcome drawn by probability.
pub(crate) fn pick_sampled(candidates: &[Candidate], rng: &mut SearchRng) -> Option<usize> {
    let total: f64 = candidates.iter().map(|candidate| candidate.prior).sum();
    let mut left = rng.random::<f64>() * total;
    for candidate in candidates {
        left -= candidate.prior;
        if left < 0.0 {
            return Some(candidate.edge);
        }
    }
    candidates.last().map(|candidate| candidate.edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Fpu;
    use rand::SeedableRng;

    fn candidate(edge: usize, prior: f64, visits: u32, mean: f64) -> Candidate {
        Candidate {
            visits,
            value_sum: mean * f64::from(visits),
            ..Candidate::untried(edge, prior)
        }
    }

    fn picked(rule: &Rule, chooser: &Chooser, candidates: &[Candidate]) -> Option<usize> {
        pick(rule, chooser, candidates, &mut SearchRng::seed_from_u64(1))
    }

    fn chooser(side: Side, mean: f64, evaluation: f64) -> Chooser {
        Chooser {
            side,
            visits: 20,
            mean,
            evaluation,
            is_root: false,
            virtual_loss: 3,
            books: NodeBooks::default(),
        }
    }

    #[test]
    fn puct_matches_the_formula_worked_by_hand() {
        // n = 10, P_v = 0.6: num = sqrt(10 ln 1.85) = 2.4803, r sqrt(P_v) = 0.1936.
        // first: 0.5 + 0.5 * 0.6 * 2.4803 / 11 = 0.5676
        // second: 0.55 - 0.1936 + 0.5 * p * 2.4803, larger once p > 0.1704.
        let at = |prior| {
            let candidates = [candidate(0, 0.6, 10, 0.5), candidate(1, prior, 0, 0.0)];
            pick_puct(
                &Puct::default(),
                &chooser(Side::First, 0.55, 0.1),
                &candidates,
            )
        };
        assert_eq!(at(0.170), Some(0));
        assert_eq!(at(0.171), Some(1));
    }

    #[test]
    fn fpu_base_can_be_the_parents_own_evaluation() {
        let puct = Puct {
            fpu: Fpu {
                base: FpuBase::ParentEvaluation,
                ..Fpu::default()
            },
            ..Puct::default()
        };
        let candidates = [candidate(0, 0.6, 10, 0.5), candidate(1, 0.2, 0, 0.0)];
        let low = chooser(Side::First, 0.55, 0.1);
        let high = chooser(Side::First, 0.1, 0.55);
        assert_eq!(pick_puct(&puct, &low, &candidates), Some(0));
        assert_eq!(pick_puct(&puct, &high, &candidates), Some(1));
    }

    #[test]
    fn the_second_side_prefers_what_is_bad_for_the_first() {
        let candidates = [candidate(0, 0.5, 5, 0.9), candidate(1, 0.5, 5, 0.2)];
        let rule = Rule::Puct(Puct::default());
        assert_eq!(
            picked(&rule, &chooser(Side::First, 0.5, 0.5), &candidates),
            Some(0)
        );
        assert_eq!(
            picked(&rule, &chooser(Side::Second, 0.5, 0.5), &candidates),
            Some(1)
        );
    }

    #[test]
    fn with_no_visits_the_first_move_is_taken() {
        let candidates = [candidate(0, 0.2, 0, 0.0), candidate(1, 0.8, 0, 0.0)];
        let rule = Rule::Puct(Puct::default());
        assert_eq!(
            picked(&rule, &chooser(Side::First, 0.5, 0.5), &candidates),
            Some(0)
        );
    }

    #[test]
    fn virtual_losses_weigh_on_the_mean_for_either_side() {
        let busy = Candidate {
            in_flight: 2,
            ..candidate(0, 0.5, 4, 0.75)
        };
        assert!((busy.mean(Side::First, 3) - 3.0 / 10.0).abs() < 1e-12);
        assert!((busy.mean(Side::Second, 3) - 1.0 / 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_child_being_expanded_is_the_last_resort() {
        let expanding = Candidate {
            expanding: true,
            in_flight: 1,
            ..candidate(0, 0.99, 0, 0.0)
        };
        let rule = Rule::Puct(Puct::default());
        let chooser = chooser(Side::First, 0.5, 0.5);
        let both = [expanding, candidate(1, 0.01, 0, 0.0)];
        assert_eq!(picked(&rule, &chooser, &both), Some(1));
        assert_eq!(picked(&rule, &chooser, &both[..1]), Some(0));
    }

    #[test]
    fn ucb1_tries_everything_once_then_weighs_mean_and_bonus() {
        let rule = Rule::Ucb1 { exploration: 2.0 };
        let chooser = chooser(Side::First, 0.5, 0.5);
        let untried = [candidate(0, 0.5, 9, 1.0), candidate(1, 0.5, 0, 0.0)];
        assert_eq!(picked(&rule, &chooser, &untried), Some(1));
        // sqrt(2 ln 20 / 16) = 0.6119, sqrt(2 ln 20 / 4) = 1.2239: a mean
        // lead of 0.6119 breaks even.
        let ahead = [candidate(0, 0.5, 16, 0.72), candidate(1, 0.5, 4, 0.1)];
        assert_eq!(picked(&rule, &chooser, &ahead), Some(0));
        let behind = [candidate(0, 0.5, 16, 0.70), candidate(1, 0.5, 4, 0.1)];
        assert_eq!(picked(&rule, &chooser, &behind), Some(1));
    }

    #[test]
    fn proportional_chance_keeps_visits_near_their_share() {
        let shares = [0.5, 0.3, 0.2];
        let mut candidates: Vec<_> = (0..3).map(|i| candidate(i, shares[i], 0, 0.0)).collect();
        for total in 1..=1000 {
            let edge = pick_proportional(&candidates).unwrap();
            candidates[edge].visits += 1;
            for candidate in &candidates {
                let due = candidate.prior * f64::from(total);
                assert!((f64::from(candidate.visits) - due).abs() < 1.0);
            }
        }
    }
}
