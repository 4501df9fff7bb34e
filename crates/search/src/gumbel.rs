//! Policy improvement with few simulations (Danihelka et al., "Policy
//! improvement by planning with Gumbel", 2022).
//!
//! At the root, Gumbel noise added to the logits draws a set of moves without
//! replacement; sequential halving spends the simulations on them. A move's
//! score is `gumbel + logit + sigma(value)`. Values of moves never tried are
//! completed by a mixture of the node's evaluation and the tried moves'
//! means, which makes `softmax(logit + sigma(value))` a policy at least as
//! good as the prior: the target for training.

use rand::RngExt;
use rand_distr::Gumbel as GumbelDistribution;

use crate::evaluate::SearchRng;
use crate::select::{Candidate, Chooser, best_of};
use crate::settings::{Gumbel, Sigma};

/// Prior below which a logit is not lowered any further.
const SMALLEST_PRIOR: f64 = 1e-12;

/// The state of Gumbel selection at one root.
#[derive(Debug)]
pub(crate) struct RootGumbel {
    sigma: Sigma,
    /// `gumbel + logit` for each edge.
    scores: Vec<f64>,
    /// Visits of each edge before this run.
    visits_before: Vec<u32>,
    /// For each simulation, the visits its move has had in this run.
    schedule: Vec<u32>,
}

impl RootGumbel {
    /// Draws the noise. `candidates` are all edges of the root, in order.
    pub fn new(
        gumbel: &Gumbel,
        candidates: &[Candidate],
        simulations: usize,
        rng: &mut SearchRng,
    ) -> Self {
        let noise = GumbelDistribution::new(0.0, 1.0).expect("a scale of one is valid");
        let scores = candidates
            .iter()
            .map(|candidate| rng.sample(noise) + logit(candidate.prior))
            .collect();
        let open = candidates.iter().filter(|candidate| candidate.open).count();
        RootGumbel {
            sigma: gumbel.sigma,
            scores,
            visits_before: candidates
                .iter()
                .map(|candidate| candidate.visits)
                .collect(),
            schedule: schedule(gumbel.considered.min(open), simulations),
        }
    }

    /// The edge for the simulation with this number; past the schedule, or if
    /// no move fits it any more, the interior rule decides.
    pub fn pick(
        &self,
        chooser: &Chooser,
        candidates: &[Candidate],
        simulation: u64,
    ) -> Option<usize> {
        let planned = usize::try_from(simulation)
            .ok()
            .and_then(|simulation| self.schedule.get(simulation))
            .and_then(|&visits| {
                self.best_with(chooser, candidates, |candidate| {
                    self.visits_of(candidate) == visits
                })
            });
        planned.or_else(|| pick_interior(&self.sigma, chooser, candidates))
    }

    /// The move to play: of the most visited ones, the best score.
    pub fn choice(&self, chooser: &Chooser, candidates: &[Candidate]) -> Option<usize> {
        let open = candidates.iter().filter(|candidate| candidate.open);
        let most = open.map(|candidate| self.visits_of(candidate)).max()?;
        self.best_with(chooser, candidates, |candidate| {
            self.visits_of(candidate) == most
        })
    }

    fn visits_of(&self, candidate: &Candidate) -> u32 {
        (candidate.visits + candidate.in_flight).saturating_sub(self.visits_before[candidate.edge])
    }

    fn best_with(
        &self,
        chooser: &Chooser,
        candidates: &[Candidate],
        fits: impl Fn(&Candidate) -> bool,
    ) -> Option<usize> {
        let completed = Completed::new(&self.sigma, chooser, candidates);
        let fitting: Vec<Candidate> = candidates
            .iter()
            .filter(|candidate| fits(candidate))
            .copied()
            .collect();
        best_of(&fitting, |candidate| {
            self.scores[candidate.edge] + completed.sigma_of(candidate)
        })
    }
}

/// Sequential halving as a list: before simulation `i`, the move it goes to
/// has been visited `list[i]` times.
fn schedule(considered: usize, simulations: usize) -> Vec<u32> {
    let rounds = considered.max(2).next_power_of_two().ilog2() as usize;
    let mut list = Vec::with_capacity(simulations);
    let mut survivors = considered.max(1);
    let mut visits = 0;
    while list.len() < simulations {
        let share = (simulations / (rounds * survivors)).max(1);
        for _ in 0..share {
            list.extend(std::iter::repeat_n(visits, survivors));
            visits += 1;
        }
        // The last two stay in the race until the simulations are spent.
        survivors = (survivors / 2).max(2).min(considered.max(1));
    }
    list.truncate(simulations);
    list
}

/// Selection inside the tree: the move that lags most behind the improved
/// policy.
pub(crate) fn pick_interior(
    sigma: &Sigma,
    chooser: &Chooser,
    candidates: &[Candidate],
) -> Option<usize> {
    let policy = improved_policy(sigma, chooser, candidates);
    let taken = |candidate: &Candidate| f64::from(candidate.visits + candidate.in_flight);
    let total: f64 = candidates.iter().map(taken).sum();
    let mut shares = policy.iter();
    best_of(candidates, |candidate| {
        let share = shares.next().copied().unwrap_or(0.0);
        let lag = share - taken(candidate) / (1.0 + total);
        // A child being expanded is the last resort.
        if candidate.expanding { lag - 2.0 } else { lag }
    })
}

/// `softmax(logit + sigma(completed value))` over the open candidates, in
/// their order.
pub(crate) fn improved_policy(
    sigma: &Sigma,
    chooser: &Chooser,
    candidates: &[Candidate],
) -> Vec<f64> {
    let completed = Completed::new(sigma, chooser, candidates);
    let mut policy: Vec<f64> = candidates
        .iter()
        .filter(|candidate| candidate.open)
        .map(|candidate| logit(candidate.prior) + completed.sigma_of(candidate))
        .collect();
    let largest = policy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for share in &mut policy {
        *share = (*share - largest).exp();
    }
    let total: f64 = policy.iter().sum();
    for share in &mut policy {
        *share /= total;
    }
    policy
}

fn logit(prior: f64) -> f64 {
    prior.max(SMALLEST_PRIOR).ln()
}

/// Values of all moves at a node, those never tried filled in.
struct Completed<'a> {
    chooser: &'a Chooser,
    scale: f64,
    untried_value: f64,
}

impl<'a> Completed<'a> {
    fn new(sigma: &Sigma, chooser: &'a Chooser, candidates: &[Candidate]) -> Self {
        let mut visits = 0.0;
        let mut visits_most = 0;
        let mut prior_tried = 0.0;
        let mut value_tried = 0.0;
        for candidate in candidates.iter().filter(|candidate| candidate.visits > 0) {
            let prior = candidate.prior.max(SMALLEST_PRIOR);
            visits += f64::from(candidate.visits);
            visits_most = visits_most.max(candidate.visits);
            prior_tried += prior;
            value_tried += prior * candidate.mean(chooser.side, chooser.virtual_loss);
        }
        let own = chooser.side.view(chooser.evaluation);
        let untried_value = if visits > 0.0 {
            (own + visits * value_tried / prior_tried) / (1.0 + visits)
        } else {
            own
        };
        Completed {
            chooser,
            scale: (sigma.c_visit + f64::from(visits_most)) * sigma.c_scale,
            untried_value,
        }
    }

    fn sigma_of(&self, candidate: &Candidate) -> f64 {
        let value = if candidate.visits > 0 {
            candidate.mean(self.chooser.side, self.chooser.virtual_loss)
        } else {
            self.untried_value
        };
        self.scale * value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Side;
    use crate::select::NodeBooks;

    #[test]
    fn halving_spends_exactly_the_simulations_and_halves_the_field() {
        // 16 moves, 200 simulations: 4 rounds of 3, 6, 12 and 25 visits each.
        let list = schedule(16, 200);
        assert_eq!(list.len(), 200);
        let with = |visits| list.iter().filter(|&&entry| entry == visits).count();
        assert_eq!((with(0), with(2)), (16, 16));
        assert_eq!((with(3), with(8)), (8, 8));
        assert_eq!((with(9), with(20)), (4, 4));
        assert_eq!(with(21), 2);
        assert_eq!(with(45), 2);
    }

    #[test]
    fn halving_copes_with_few_moves_and_few_simulations() {
        assert_eq!(schedule(1, 4), [0, 1, 2, 3]);
        assert_eq!(schedule(2, 5), [0, 0, 1, 1, 2]);
        assert_eq!(schedule(16, 3), [0, 0, 0]);
        assert_eq!(schedule(0, 2), [0, 1]);
        assert!(schedule(16, 0).is_empty());
    }

    fn candidate(edge: usize, prior: f64, visits: u32, mean: f64) -> Candidate {
        Candidate {
            visits,
            value_sum: mean * f64::from(visits),
            ..Candidate::untried(edge, prior)
        }
    }

    const CHOOSER: Chooser = Chooser {
        side: Side::First,
        visits: 1,
        mean: 0.4,
        evaluation: 0.4,
        is_root: true,
        virtual_loss: 0,
        books: NodeBooks {
            weight: 0.0,
            utility: 0.0,
            utility_square: 0.0,
            own_utility: 0.0,
            radius: 1.0,
        },
    };

    #[test]
    fn without_visits_the_improved_policy_is_the_prior() {
        let candidates = [candidate(0, 0.7, 0, 0.0), candidate(1, 0.3, 0, 0.0)];
        let policy = improved_policy(&Sigma::default(), &CHOOSER, &candidates);
        assert!((policy[0] - 0.7).abs() < 1e-12);
    }

    #[test]
    fn untried_moves_get_the_mixed_value() {
        // v_mix = (0.4 + 3 * (0.5*0.8 + 0.25*0.2) / 0.75) / 4 = 0.55.
        let candidates = [
            candidate(0, 0.5, 2, 0.8),
            candidate(1, 0.25, 1, 0.2),
            candidate(2, 0.25, 0, 0.0),
        ];
        let sigma = Sigma {
            c_visit: 8.0,
            c_scale: 0.1,
        };
        let policy = improved_policy(&sigma, &CHOOSER, &candidates);
        // (8 + 2) * 0.1 = 1: logits move by exactly the values.
        let weights = [
            0.5 * 0.8f64.exp(),
            0.25 * 0.2f64.exp(),
            0.25 * 0.55f64.exp(),
        ];
        let total: f64 = weights.iter().sum();
        for (share, weight) in policy.iter().zip(weights) {
            assert!((share - weight / total).abs() < 1e-12);
        }
    }

    #[test]
    fn interior_visits_follow_the_improved_policy() {
        let mut candidates = [candidate(0, 0.6, 0, 0.0), candidate(1, 0.4, 0, 0.0)];
        // All values equal: the policy stays the prior.
        for _ in 0..100 {
            let edge = pick_interior(&Sigma::default(), &CHOOSER, &candidates).unwrap();
            candidates[edge].visits += 1;
            candidates[edge].value_sum += CHOOSER.evaluation;
        }
        assert_eq!((candidates[0].visits, candidates[1].visits), (60, 40));
    }
}
