//! Wins and losses of a match, and what they say about the difference in strength.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Standard normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_964;

/// Games won and lost by the first of two players. A drawn game counts for neither side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchScore {
    /// Games the first player won.
    pub wins: u32,
    /// Games the first player lost.
    pub losses: u32,
}

impl MatchScore {
    /// A score of `wins` to `losses`.
    pub const fn new(wins: u32, losses: u32) -> MatchScore {
        MatchScore { wins, losses }
    }

    /// Decided games.
    pub const fn games(self) -> u32 {
        self.wins + self.losses
    }

    /// The share of decided games won; one half before the first.
    pub fn winrate(self) -> f64 {
        if self.games() == 0 {
            0.5
        } else {
            f64::from(self.wins) / f64::from(self.games())
        }
    }

    /// Wilson's 95 % interval for the winrate.
    pub fn winrate_interval(self) -> Interval {
        if self.games() == 0 {
            return Interval {
                low: 0.0,
                high: 1.0,
            };
        }
        let n = f64::from(self.games());
        let p = self.winrate();
        let z2 = Z_95 * Z_95;
        let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z_95 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
        // At 0 and 1 the interval ends there exactly; rounding must not leave it short.
        Interval {
            low: (centre - half).clamp(0.0, p),
            high: (centre + half).clamp(p, 1.0),
        }
    }

    /// The Elo difference the score suggests, with the ends of the winrate's 95 % interval.
    pub fn elo(self) -> (Elo, Elo, Elo) {
        let Interval { low, high } = self.winrate_interval();
        (
            Elo::from_winrate(low),
            Elo::from_winrate(self.winrate()),
            Elo::from_winrate(high),
        )
    }
}

impl fmt::Display for MatchScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval { low, high } = self.winrate_interval();
        write!(
            f,
            "{} of {} = {:.1} % (95 %: {:.1}..{:.1})",
            self.wins,
            self.games(),
            100.0 * self.winrate(),
            100.0 * low,
            100.0 * high
        )
    }
}

/// The two ends of a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// A difference in playing strength: 400 points are odds of ten to one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Elo(pub f64);

impl Elo {
    /// The difference that predicts `winrate`; infinite at 0 and 1.
    pub fn from_winrate(winrate: f64) -> Elo {
        Elo(-400.0 * (1.0 / winrate - 1.0).log10())
    }

    /// The winrate this difference predicts.
    pub fn winrate(self) -> f64 {
        1.0 / (1.0 + 10f64.powf(-self.0 / 400.0))
    }
}

impl fmt::Display for Elo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.0}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn elo_and_winrate_are_inverse(elo in -800.0..800.0f64) {
            prop_assert!((Elo::from_winrate(Elo(elo).winrate()).0 - elo).abs() < 1e-6);
        }

        #[test]
        fn interval_holds_the_winrate(wins in 0u32..500, losses in 0u32..500) {
            let score = MatchScore::new(wins, losses);
            let interval = score.winrate_interval();
            prop_assert!(interval.low <= score.winrate() && score.winrate() <= interval.high);
        }
    }

    #[test]
    fn wilson_interval_of_eight_in_ten_is_the_textbook_one() {
        // Wilson (1927) for 8 of 10 at 95 %: 0.490 to 0.943.
        let interval = MatchScore::new(8, 2).winrate_interval();
        assert!((interval.low - 0.4902).abs() < 5e-4 && (interval.high - 0.9433).abs() < 5e-4);
    }
}
