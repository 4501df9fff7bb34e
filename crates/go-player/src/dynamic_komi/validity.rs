//! Which of a network's evaluations can be trusted away from the komi it was trained with.
//!
//! Many networks answer sensibly only when komi helps one of the sides. A test feeds the empty
//! board with every komi from -300 to 300: the winrate of the side to move (Black) must fall as
//! komi grows. The sum of its rises, separately below and above zero, gives the verdict.

use go::Color;

use super::{TurnKomi, turn_komi::TRAINED_KOMI};

/// Komi of the test: from -300 to 300 in half points, after one more step below.
const TEST_LIMIT: f64 = 300.0;
const TEST_STEP: f64 = 0.5;
/// The largest sum of wrong-way changes, in winrate, of a usable half.
const TOLERANCE: f64 = 0.05;

/// Which evaluations beyond the trained range count: those where komi burdens the side to move
/// ("positive"), those where it helps ("negative"), or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trust {
    /// Trust evaluations where the side to move pays more than the trained komi.
    pub positive: bool,
    /// Trust evaluations where the side to move receives more than the trained komi.
    pub negative: bool,
}

impl Trust {
    /// Every evaluation counts.
    pub const BOTH: Trust = Trust {
        positive: true,
        negative: true,
    };
    /// Option `--pos`.
    pub const POSITIVE_ONLY: Trust = Trust {
        positive: true,
        negative: false,
    };
    /// Option `--neg`.
    pub const NEGATIVE_ONLY: Trust = Trust {
        positive: false,
        negative: true,
    };

    /// Whether every evaluation counts.
    pub fn is_full(self) -> bool {
        self == Trust::BOTH
    }

    /// Whether an evaluation with `to_move` to move counts. The komi of both turns is looked at,
    /// since the value of a position speaks of the moves to come as well.
    pub fn accepts(self, komi: TurnKomi, to_move: Color) -> bool {
        let above = komi.black > TRAINED_KOMI || komi.white > TRAINED_KOMI;
        let below = komi.black < -TRAINED_KOMI || komi.white < -TRAINED_KOMI;
        let (positive, negative) = match to_move {
            Color::Black => (above, below),
            Color::White => (below, above),
        };
        (self.positive || !positive) && (self.negative || !negative)
    }
}

/// What the test says about a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KomiVerdict {
    /// Usable without limits.
    Good,
    /// Usable where komi burdens the side to move.
    PositiveOnly,
    /// Usable where komi helps the side to move.
    NegativeOnly,
    /// Not usable for dynamic komi.
    Unusable,
}

impl KomiVerdict {
    /// The trust the verdict allows; `None` when the network cannot be used.
    pub fn trust(self) -> Option<Trust> {
        match self {
            KomiVerdict::Good => Some(Trust::BOTH),
            KomiVerdict::PositiveOnly => Some(Trust::POSITIVE_ONLY),
            KomiVerdict::NegativeOnly => Some(Trust::NEGATIVE_ONLY),
            KomiVerdict::Unusable => None,
        }
    }
}

/// How far a network is from answering komi sensibly: 0 is perfect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    /// Sum of rises below zero, and what the lowest komi lacks to certainty.
    pub negative: f64,
    /// Sum of rises above zero, and what the highest komi leaves.
    pub positive: f64,
}

impl Scores {
    /// The scores that the two ends alone give: the real ones are no better.
    pub fn at_least(lowest_komi_winrate: f64, highest_komi_winrate: f64) -> Scores {
        Scores {
            negative: 1.0 - lowest_komi_winrate,
            positive: highest_komi_winrate,
        }
    }

    /// What the scores mean.
    pub fn verdict(self) -> KomiVerdict {
        match (self.negative <= TOLERANCE, self.positive <= TOLERANCE) {
            (true, true) => KomiVerdict::Good,
            (true, false) => KomiVerdict::NegativeOnly,
            (false, true) => KomiVerdict::PositiveOnly,
            (false, false) => KomiVerdict::Unusable,
        }
    }
}

/// The winrates of the side to move over the test's range of komi, and what follows from them.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictTest {
    /// Every komi tried with its winrate, from low to high. Komi counts as the side to move pays it.
    pub winrates: Vec<(f64, f64)>,
    /// The komi at which the winrate rose.
    pub rises: Vec<f64>,
    /// The sums of the rises.
    pub scores: Scores,
}

impl VerdictTest {
    /// Every komi the test needs, from low to high: evaluate them in batches.
    pub fn komi_values() -> impl ExactSizeIterator<Item = f64> {
        let steps = (2.0 * TEST_LIMIT / TEST_STEP) as usize + 2;
        (0..steps).map(|step| -TEST_LIMIT - TEST_STEP + TEST_STEP * step as f64)
    }

    /// The test's result from the winrates at [`VerdictTest::komi_values`], in that order.
    ///
    /// # Panics
    /// If there is not exactly one winrate for each komi.
    pub fn new(winrates: &[f64]) -> VerdictTest {
        assert_eq!(
            winrates.len(),
            Self::komi_values().len(),
            "one winrate for each komi"
        );
        let winrates: Vec<(f64, f64)> = Self::komi_values().zip(winrates.iter().copied()).collect();
        let (lowest, highest) = (winrates[0].1, winrates[winrates.len() - 1].1);
        let mut test = VerdictTest {
            rises: Vec::new(),
            scores: Scores::at_least(lowest, highest),
            winrates,
        };
        for pair in test.winrates.windows(2) {
            let ((_, before), (komi, after)) = (pair[0], pair[1]);
            if after > before {
                test.rises.push(komi);
                let score = if komi <= 0.0 {
                    &mut test.scores.negative
                } else {
                    &mut test.scores.positive
                };
                *score += after - before;
            }
        }
        test
    }

    /// What the scores mean.
    pub fn verdict(&self) -> KomiVerdict {
        self.scores.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    fn test_of(curve: impl Fn(f64) -> f64) -> VerdictTest {
        VerdictTest::new(&VerdictTest::komi_values().map(curve).collect::<Vec<_>>())
    }

    #[test]
    fn test_has_1202_komi_from_minus_300_and_a_half_to_300() {
        let komi: Vec<f64> = VerdictTest::komi_values().collect();
        assert_eq!((komi.len(), komi[0], komi[1201]), (1202, -300.5, 300.0));
    }

    #[test]
    fn falling_curve_is_good_and_flat_curve_unusable() {
        assert_eq!(
            test_of(|k| sigmoid(-(k - 7.0) / 10.0)).verdict(),
            KomiVerdict::Good
        );
        assert_eq!(test_of(|_| 0.5).verdict(), KomiVerdict::Unusable);
    }

    #[test]
    fn a_half_that_goes_wrong_is_found() {
        // The winrate recovers to one half for very high komi, or drops to one half for very low.
        let bad_above = |k: f64| {
            if k > 100.0 {
                0.5
            } else {
                sigmoid(-(k - 7.0) / 10.0)
            }
        };
        let bad_below = |k: f64| {
            if k < -100.0 {
                0.5
            } else {
                sigmoid(-(k - 7.0) / 10.0)
            }
        };
        assert_eq!(test_of(bad_above).verdict(), KomiVerdict::NegativeOnly);
        assert_eq!(test_of(bad_below).verdict(), KomiVerdict::PositiveOnly);
        assert_eq!(test_of(bad_below).rises, [-100.0]);
    }

    #[test]
    fn a_score_of_exactly_the_tolerance_is_good() {
        let scores = |negative, positive| Scores { negative, positive };
        assert_eq!(scores(0.05, 0.05).verdict(), KomiVerdict::Good);
        assert_eq!(scores(0.05, 0.0501).verdict(), KomiVerdict::NegativeOnly);
        assert_eq!(scores(0.0501, 0.05).verdict(), KomiVerdict::PositiveOnly);
        assert_eq!(scores(0.0501, 0.0501).verdict(), KomiVerdict::Unusable);
    }

    #[test]
    fn everything_counts_within_the_trained_range() {
        for trust in [Trust::BOTH, Trust::POSITIVE_ONLY, Trust::NEGATIVE_ONLY] {
            for komi in [-7.5, 0.0, 7.5] {
                assert!(
                    Color::BOTH
                        .iter()
                        .all(|&turn| trust.accepts(TurnKomi::both(komi), turn))
                );
            }
        }
    }

    #[test]
    fn beyond_the_trained_range_one_side_is_not_trusted() {
        let high = TurnKomi {
            black: 7.5,
            white: 20.0,
        };
        assert!(Trust::POSITIVE_ONLY.accepts(high, Color::Black));
        assert!(!Trust::POSITIVE_ONLY.accepts(high, Color::White));
        assert!(!Trust::NEGATIVE_ONLY.accepts(high, Color::Black));
        assert!(Trust::NEGATIVE_ONLY.accepts(high, Color::White));
        assert!(Trust::BOTH.accepts(high, Color::Black) && Trust::BOTH.accepts(high, Color::White));
    }
}
