//! What ladder moves are worth to a network's policy and value, fitted on games.
//!
//! The policy's gains multiply: a move's probability times `exp(gain)`, divided by the new sum. Their likelihood is that
//! of the moves that were played, which is concave, so plain Newton steps of one gain after another find the maximum.
//! The value's gains are added before the logistic function, by stone, and fitted on who won.

use crate::moves::{MOVE_SORTS, STRING_SORTS};

/// Keeps gains of sorts that hardly occur near zero: as if one more such move had been seen at every step of one.
const RIDGE: f64 = 4.0;
/// More steps than any fit needs.
const ROUNDS: usize = 60;
/// A gain that moves less than this has arrived.
const CLOSE_ENOUGH: f64 = 1e-6;
/// The longest step of a gain, so that no step overshoots.
const LONGEST_STEP: f64 = 1.0;

/// One position of a game.
#[derive(Clone, Debug, Default)]
pub struct FitSample {
    /// Ladder moves: the probability that the network gives each, and its sorts. A point comes once.
    pub moves: Vec<(f64, Vec<usize>)>,
    /// Which of them was played, if one was.
    pub played: Option<usize>,
    /// The network's winning chance for the side to move.
    pub winrate: f64,
    /// Stones that ladders decide.
    pub stones: [usize; STRING_SORTS],
    /// Whether the side to move won the game, if that is known.
    pub won: Option<bool>,
}

/// The result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Added to the logit of a move, by sort.
    pub policy: [f64; MOVE_SORTS],
    /// Standard errors of these.
    pub policy_errors: [f64; MOVE_SORTS],
    /// How often each sort was on the board.
    pub policy_seen: [usize; MOVE_SORTS],
    /// Log-likelihood of the moves played, a position, before and after.
    pub policy_likelihood: [f64; 2],
    /// Added to the value before the logistic function, a stone, by sort.
    pub value: [f64; STRING_SORTS],
    /// Standard errors of these.
    pub value_errors: [f64; STRING_SORTS],
    /// Stones of each sort.
    pub value_seen: [usize; STRING_SORTS],
    /// Log-likelihood of the results, a position, before and after.
    pub value_likelihood: [f64; 2],
}

/// Fits all gains.
pub fn fit(samples: &[FitSample]) -> Fit {
    let mut fit = Fit {
        policy: [0.0; MOVE_SORTS],
        policy_errors: [0.0; MOVE_SORTS],
        policy_seen: [0; MOVE_SORTS],
        policy_likelihood: [policy_likelihood(samples, &[0.0; MOVE_SORTS]), 0.0],
        value: [0.0; STRING_SORTS],
        value_errors: [0.0; STRING_SORTS],
        value_seen: [0; STRING_SORTS],
        value_likelihood: [value_likelihood(samples, &[0.0; STRING_SORTS]), 0.0],
    };
    for sample in samples {
        for &sort in sample.moves.iter().flat_map(|(_, sorts)| sorts) {
            fit.policy_seen[sort] += 1;
        }
        for (seen, stones) in fit.value_seen.iter_mut().zip(sample.stones) {
            *seen += stones;
        }
    }
    fit.policy_errors = ascend(&mut fit.policy, |gains, sort| {
        policy_slope(samples, gains, sort)
    });
    fit.value_errors = ascend(&mut fit.value, |gains, sort| {
        value_slope(samples, gains, sort)
    });
    fit.policy_likelihood[1] = policy_likelihood(samples, &fit.policy);
    fit.value_likelihood[1] = value_likelihood(samples, &fit.value);
    fit
}

/// Newton steps, one gain after another, with the ridge; `slope` is the first derivative and minus the second. Returns
/// the standard errors.
fn ascend<const SORTS: usize>(
    gains: &mut [f64; SORTS],
    slope: impl Fn(&[f64; SORTS], usize) -> (f64, f64),
) -> [f64; SORTS] {
    let mut errors = [0.0; SORTS];
    for _ in 0..ROUNDS {
        let mut largest: f64 = 0.0;
        for sort in 0..SORTS {
            let (rise, curvature) = slope(gains, sort);
            let step = (rise - RIDGE * gains[sort]) / (curvature + RIDGE);
            let step = step.clamp(-LONGEST_STEP, LONGEST_STEP);
            gains[sort] += step;
            errors[sort] = (curvature + RIDGE).sqrt().recip();
            largest = largest.max(step.abs());
        }
        if largest < CLOSE_ENOUGH {
            break;
        }
    }
    errors
}

fn policy_likelihood(samples: &[FitSample], gains: &[f64; MOVE_SORTS]) -> f64 {
    let total: f64 = samples
        .iter()
        .map(|sample| {
            let played = sample
                .played
                .map_or(0.0, |played| gain_of(&sample.moves[played].1, gains));
            played - partition(sample, gains).ln()
        })
        .sum();
    total / samples.len().max(1) as f64
}

fn policy_slope(samples: &[FitSample], gains: &[f64; MOVE_SORTS], sort: usize) -> (f64, f64) {
    let (mut rise, mut curvature) = (0.0, 0.0);
    for sample in samples {
        let has_sort = |sorts: &[usize]| sorts.contains(&sort);
        if !sample.moves.iter().any(|(_, sorts)| has_sort(sorts)) {
            continue;
        }
        let whole = partition(sample, gains);
        let of_sort = sample.moves.iter().filter(|(_, sorts)| has_sort(sorts));
        let share: f64 = of_sort
            .map(|(probability, sorts)| probability * gain_of(sorts, gains).exp() / whole)
            .sum();
        let was_played = sample
            .played
            .is_some_and(|played| has_sort(&sample.moves[played].1));
        rise += f64::from(u8::from(was_played)) - share;
        curvature += share * (1.0 - share);
    }
    (rise, curvature)
}

/// The sum of all probabilities after the gains.
fn partition(sample: &FitSample, gains: &[f64; MOVE_SORTS]) -> f64 {
    let changed = sample.moves.iter();
    let changes = changed.map(|(probability, sorts)| probability * gain_of(sorts, gains).exp_m1());
    (1.0 + changes.sum::<f64>()).max(f64::MIN_POSITIVE)
}

fn gain_of(sorts: &[usize], gains: &[f64; MOVE_SORTS]) -> f64 {
    sorts.iter().map(|&sort| gains[sort]).sum()
}

fn value_likelihood(samples: &[FitSample], gains: &[f64; STRING_SORTS]) -> f64 {
    let known: Vec<f64> = samples
        .iter()
        .filter_map(|sample| {
            let chance = chance_of(sample, gains);
            Some(if sample.won? { chance } else { 1.0 - chance }.ln())
        })
        .collect();
    known.iter().sum::<f64>() / known.len().max(1) as f64
}

fn value_slope(samples: &[FitSample], gains: &[f64; STRING_SORTS], sort: usize) -> (f64, f64) {
    let (mut rise, mut curvature) = (0.0, 0.0);
    for sample in samples {
        let (Some(won), stones) = (sample.won, sample.stones[sort] as f64) else {
            continue;
        };
        if stones > 0.0 {
            let chance = chance_of(sample, gains);
            rise += stones * (f64::from(u8::from(won)) - chance);
            curvature += stones * stones * chance * (1.0 - chance);
        }
    }
    (rise, curvature)
}

fn chance_of(sample: &FitSample, gains: &[f64; STRING_SORTS]) -> f64 {
    let winrate = sample.winrate.clamp(1e-4, 1.0 - 1e-4);
    let added: f64 = gains
        .iter()
        .zip(sample.stones)
        .map(|(gain, stones)| gain * stones as f64)
        .sum();
    1.0 / (1.0 + (-(winrate / (1.0 - winrate)).ln() - added).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves of sort 4 that the network gives a tenth each, played as often as a gain of `gain` would have it.
    fn samples(gain: f64) -> Vec<FitSample> {
        let share = 0.1 * gain.exp() / (0.9 + 0.1 * gain.exp());
        let count = 20_000;
        (0..count)
            .map(|index| FitSample {
                moves: vec![(0.1, vec![4])],
                played: ((index as f64) < share * f64::from(count)).then_some(0),
                winrate: 0.5,
                ..FitSample::default()
            })
            .collect()
    }

    #[test]
    fn a_gain_that_made_the_moves_is_found_again() {
        for gain in [-2.0, -0.3, 0.0, 1.5] {
            let fit = fit(&samples(gain));
            assert!((fit.policy[4] - gain).abs() < 0.05, "{gain}: {fit:?}");
            assert!(fit.policy_likelihood[1] >= fit.policy_likelihood[0]);
            assert_eq!(fit.policy[5], 0.0, "what was never seen has no gain");
        }
    }

    #[test]
    fn stones_that_lose_games_lower_the_value() {
        let lost = |index: usize, stones: usize| FitSample {
            winrate: 0.5,
            stones: [0, 0, stones, 0, 0, 0],
            won: Some(index.is_multiple_of(4)),
            ..FitSample::default()
        };
        // With three stones lost one game in four is won: a logit of -ln 3.
        let samples: Vec<FitSample> = (0..4000).map(|index| lost(index, 3)).collect();
        let fit = fit(&samples);
        assert!(
            (3.0 * fit.value[2] + 3.0_f64.ln()).abs() < 0.02,
            "{:?}",
            fit.value
        );
    }
}
