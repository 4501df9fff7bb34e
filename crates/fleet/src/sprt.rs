//! When is a match decided? A sequential probability ratio test (Wald, 1945) between two
//! differences in strength. The gate asks "no stronger" or "35 Elo stronger" with the length limits
//! of Leela Zero's training server, so that a network is promoted here exactly when it would be there.

use serde::{Deserialize, Serialize};

use crate::{Elo, MatchScore};

/// The state of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MatchVerdict {
    /// The first player is stronger: promote it.
    Pass,
    /// The first player is not stronger.
    Fail,
    /// More games are needed.
    Open,
}

/// The rule that decides a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The difference under the hypothesis "not stronger".
    pub elo_fail: Elo,
    /// The difference under the hypothesis "stronger".
    pub elo_pass: Elo,
    /// The probability of each kind of wrong verdict.
    pub error: f64,
    /// The limits of the match's length; without them the test alone decides.
    pub limits: Option<Limits>,
}

/// How short and how long a match may be that must come to a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// No match passes with this many games or fewer.
    pub min_games: u32,
    /// The longest match.
    pub max_games: u32,
    /// The share of `max_games` that passes when the match goes the full length.
    pub full_length_winrate: f64,
}

/// The probability of each kind of wrong verdict at the training server.
const ERROR: f64 = 0.05;

impl Default for Sprt {
    /// The training server's gate: 0 against 35 Elo, 5 % errors, 101 to 400 games, 55 % at full length.
    fn default() -> Sprt {
        Sprt {
            elo_fail: Elo(0.0),
            elo_pass: Elo(35.0),
            error: ERROR,
            limits: Some(Limits::default()),
        }
    }
}

impl Default for Limits {
    /// The training server's.
    fn default() -> Limits {
        Limits {
            min_games: 100,
            max_games: 400,
            full_length_winrate: 0.55,
        }
    }
}

impl Sprt {
    /// The test between two differences with 5 % errors, whatever the match's length.
    pub fn between(elo_fail: Elo, elo_pass: Elo) -> Sprt {
        Sprt {
            elo_fail,
            elo_pass,
            error: ERROR,
            limits: None,
        }
    }

    /// Whether `score` decides the match.
    pub fn verdict(&self, score: MatchScore) -> MatchVerdict {
        let mut min_games = 0;
        if let Some(limits) = &self.limits {
            if limits.is_won_at_full_length(score) {
                return MatchVerdict::Pass;
            }
            if limits.is_out_of_reach(score) {
                return MatchVerdict::Fail;
            }
            min_games = limits.min_games;
        }
        let bound = ((1.0 - self.error) / self.error).ln();
        let ratio = self.log_likelihood_ratio(score);
        if ratio > bound && score.games() > min_games {
            MatchVerdict::Pass
        } else if ratio < -bound {
            MatchVerdict::Fail
        } else {
            MatchVerdict::Open
        }
    }

    /// How much likelier the score is if the first player is stronger, as a logarithm
    /// (normal approximation; a count of zero is taken as one).
    pub fn log_likelihood_ratio(&self, score: MatchScore) -> f64 {
        let wins = f64::from(score.wins.max(1));
        let games = wins + f64::from(score.losses.max(1));
        let winrate = wins / games;
        let (fail, pass) = (self.elo_fail.winrate(), self.elo_pass.winrate());
        let variance = winrate * (1.0 - winrate) / games;
        (pass - fail) * (2.0 * winrate - fail - pass) / (2.0 * variance)
    }
}

impl Limits {
    fn is_won_at_full_length(&self, score: MatchScore) -> bool {
        score.games() >= self.max_games && score.winrate() >= self.full_length_winrate
    }

    /// Whether the wins still needed exceed what the remaining games can be expected to bring,
    /// three standard deviations included.
    fn is_out_of_reach(&self, score: MatchScore) -> bool {
        let remaining = f64::from(self.max_games) - f64::from(score.games());
        if remaining < 0.0 {
            return true;
        }
        let target = self.full_length_winrate * f64::from(self.max_games);
        let needed = target - f64::from(score.wins);
        needed >= self.full_length_winrate * remaining + 3.0 * (remaining / 4.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Wins and losses, log likelihood ratio and verdict as the training server computes them.
    const SERVER: [(u32, u32, Option<f64>, MatchVerdict); 8] = [
        (0, 11, Some(-3.4837), MatchVerdict::Fail),
        (10, 30, Some(-2.9461), MatchVerdict::Fail),
        (62, 40, Some(1.7774), MatchVerdict::Open),
        (67, 34, None, MatchVerdict::Pass),
        (180, 120, Some(4.6999), MatchVerdict::Pass),
        (220, 180, Some(2.0202), MatchVerdict::Pass),
        (219, 181, Some(1.8156), MatchVerdict::Fail),
        (200, 200, Some(-2.0160), MatchVerdict::Fail),
    ];

    #[test]
    fn verdicts_are_the_training_servers() {
        let gate = Sprt::default();
        for (wins, losses, ratio, verdict) in SERVER {
            let score = MatchScore::new(wins, losses);
            if let Some(ratio) = ratio {
                assert!(
                    (gate.log_likelihood_ratio(score) - ratio).abs() < 1e-4,
                    "{score}"
                );
            }
            assert_eq!(gate.verdict(score), verdict, "{score}");
        }
    }

    #[test]
    fn first_fail_without_a_win_comes_after_eleven_games() {
        assert_eq!(
            Sprt::default().verdict(MatchScore::new(0, 10)),
            MatchVerdict::Open
        );
    }

    #[test]
    fn without_limits_the_test_alone_decides() {
        let verdict = |low, high, wins, losses| {
            Sprt::between(Elo(low), Elo(high)).verdict(MatchScore::new(wins, losses))
        };
        assert_eq!(verdict(0.0, 35.0, 99, 1), MatchVerdict::Pass);
        assert_eq!(verdict(0.0, 35.0, 55, 45), MatchVerdict::Open);
        assert_eq!(verdict(-35.0, 0.0, 200, 200), MatchVerdict::Open);
        assert_eq!(verdict(0.0, 35.0, 0, 11), MatchVerdict::Fail);
    }

    proptest! {
        #[test]
        fn short_matches_never_pass(wins in 0u32..=100, losses in 0u32..=100) {
            prop_assume!(wins + losses <= 100);
            prop_assert_ne!(Sprt::default().verdict(MatchScore::new(wins, losses)), MatchVerdict::Pass);
        }

        #[test]
        fn enough_wins_within_the_limit_never_fail(wins in 220u32..=400, losses in 0u32..=180) {
            prop_assume!(wins + losses <= 400);
            prop_assert_ne!(Sprt::default().verdict(MatchScore::new(wins, losses)), MatchVerdict::Fail);
        }

        #[test]
        fn too_many_losses_never_pass(wins in 0u32..=219, losses in 181u32..=400) {
            prop_assume!(wins + losses <= 400);
            prop_assert_ne!(Sprt::default().verdict(MatchScore::new(wins, losses)), MatchVerdict::Pass);
        }
    }
}
