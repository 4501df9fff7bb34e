//! What a network says of a game beyond who wins, and what a search makes of it: KataGo's utility.
//!
//! A position's utility is win minus loss, and a little for points: a small term for the score as it is, and a
//! larger one for the score around a centre, so that a search whose game is decided still plays for points, yet
//! risks nothing for many of them. The centre follows what the root promises, and stays for a whole search.

use std::{f64::consts::PI, sync::Arc, sync::OnceLock};

use go::{BoardSize, Color};
use search::{Means, Utility};

use crate::{encoder::Opinion, position::side};

/// What a network says of one position, as a search backs it up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Numbers for Black.
    pub means: ScoreMeans,
    /// What it all comes from; none for a finished game and for networks that know no score.
    said: Option<(Arc<Opinion>, Color)>,
    /// Who owns each point of a finished game, for Black.
    settled: Option<Arc<[f32]>>,
}

/// Means over a tree, or one network's numbers. All are for Black.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreMeans {
    /// The chance that the game ends without a result.
    pub no_result: f64,
    /// The expected score at the end of a self-play game.
    pub score_mean: f64,
    /// The mean of its square.
    pub score_mean_square: f64,
    /// How many points Black is ahead: the number to show.
    pub lead: f64,
}

impl ScoreMeans {
    /// The standard deviation of the score.
    pub fn spread(&self) -> f64 {
        (self.score_mean_square - self.score_mean * self.score_mean)
            .max(0.0)
            .sqrt()
    }
}

impl Means for ScoreMeans {
    fn add(&mut self, other: &ScoreMeans, weight: f64) {
        self.no_result += weight * other.no_result;
        self.score_mean += weight * other.score_mean;
        self.score_mean_square += weight * other.score_mean_square;
        self.lead += weight * other.lead;
    }

    fn scaled(&self, factor: f64) -> ScoreMeans {
        let mut scaled = ScoreMeans::default();
        scaled.add(self, factor);
        scaled
    }
}

impl Outlook {
    /// What an opinion says, for Black. Nothing if its network knows no score.
    pub fn of(opinion: &Arc<Opinion>, to_move: Color) -> Outlook {
        let Some(score) = &opinion.score else {
            return Outlook::default();
        };
        let sign = sign_of(to_move);
        Outlook {
            means: ScoreMeans {
                no_result: f64::from(opinion.no_result),
                score_mean: sign * f64::from(score.mean),
                score_mean_square: f64::from(score.mean_square),
                lead: sign * f64::from(score.lead),
            },
            said: Some((opinion.clone(), to_move)),
            settled: None,
        }
    }

    /// What is known of a finished game: Black's score, and who owns which point (1 for Black).
    pub(crate) fn of_end(lead: f64, owners: Arc<[f32]>) -> Outlook {
        /// A draw counts as half a win and half a loss by half a point.
        const HALF_POINT: f64 = 0.5;
        let is_whole = lead.fract() == 0.0;
        let spread = if is_whole { HALF_POINT } else { 0.0 };
        Outlook {
            means: ScoreMeans {
                no_result: 0.0,
                score_mean: lead,
                score_mean_square: lead * lead + spread * spread,
                lead,
            },
            said: None,
            settled: Some(owners),
        }
    }

    /// The network's own words, if it knows scores.
    pub fn opinion(&self) -> Option<&Arc<Opinion>> {
        self.said.as_ref().map(|(opinion, _)| opinion)
    }

    /// Adds `share` of who owns each point, for Black, and of its square.
    pub(crate) fn add_owners(&self, share: f64, sums: &mut [(f64, f64)]) {
        let mut add = |sign: f64, owners: &[f32]| {
            for (sum, &owner) in sums.iter_mut().zip(owners) {
                let owner = sign * f64::from(owner);
                sum.0 += share * owner;
                sum.1 += share * owner * owner;
            }
        };
        match (&self.settled, &self.said) {
            (Some(settled), _) => add(1.0, settled),
            (None, Some((opinion, to_move))) => {
                if let Some(owners) = &opinion.ownership {
                    add(sign_of(*to_move), owners);
                }
            }
            (None, None) => {}
        }
    }
}

fn sign_of(color: Color) -> f64 {
    2.0 * side(color).view(1.0) - 1.0
}

impl search::Outlook for Outlook {
    type Means = ScoreMeans;
    type Utility = ScoreUtility;

    fn means(&self) -> ScoreMeans {
        self.means
    }

    fn heap_bytes(&self) -> usize {
        let said = self.said.as_ref().map_or(0, |(opinion, _)| opinion.bytes());
        said + self.settled.as_deref().map_or(0, size_of_val)
    }
}

/// How much winning and points count, with KataGo's values as defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UtilityFactors {
    /// Of win minus loss.
    pub win_loss: f64,
    /// Of the score as it is.
    pub static_score: f64,
    /// Of the score around the centre of the search.
    pub dynamic_score: f64,
    /// Whether evaluations that are sure of themselves weigh more.
    pub uncertainty: bool,
}

impl Default for UtilityFactors {
    fn default() -> UtilityFactors {
        UtilityFactors {
            win_loss: 1.0,
            static_score: 0.1,
            dynamic_score: 0.3,
            uncertainty: true,
        }
    }
}

impl UtilityFactors {
    /// Winning is all that counts.
    pub const WINRATE: UtilityFactors = UtilityFactors {
        win_loss: 1.0,
        static_score: 0.0,
        dynamic_score: 0.0,
        uncertainty: false,
    };
}

/// The width of the static score term, in board sides.
const STATIC_SCALE: f64 = 2.0;
/// The width of the dynamic score term, and how far its centre may lie from the expected score, in board sides.
const DYNAMIC_SCALE: f64 = 0.75;
/// How much of the expected score the centre is drawn towards zero.
const CENTRE_ZERO_WEIGHT: f64 = 0.20;
/// The weight of an evaluation is this over its uncertainty.
const UNCERTAINTY_COEFFICIENT: f64 = 0.25;
/// The largest weight, that of a certain one.
const MAX_WEIGHT: f64 = 8.0;

/// What one search maximises.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreUtility {
    factors: UtilityFactors,
    /// The side of the board.
    board_side: f64,
    /// The score around which points count most, for Black.
    centre: f64,
}

impl ScoreUtility {
    /// The utility of a search whose root promises `expected` points to Black.
    pub fn new(factors: UtilityFactors, size: BoardSize, expected: f64) -> ScoreUtility {
        let board_side = size.get() as f64;
        let reach = DYNAMIC_SCALE * board_side;
        let centre = expected * (1.0 - CENTRE_ZERO_WEIGHT);
        ScoreUtility {
            factors,
            board_side,
            centre: centre.clamp(expected - reach, expected + reach),
        }
    }

    /// The utility of points, for Black.
    fn of_score(&self, means: &ScoreMeans) -> f64 {
        let spread = means.spread();
        let term = |factor: f64, centre: f64, scale: f64| {
            if factor == 0.0 {
                return 0.0;
            }
            let width = scale * self.board_side;
            factor * expected_arctangent((means.score_mean - centre) / width, spread / width)
        };
        term(self.factors.static_score, 0.0, STATIC_SCALE)
            + term(self.factors.dynamic_score, self.centre, DYNAMIC_SCALE)
    }

    /// How much the utility of points changes with a point.
    fn slope(&self, score: f64) -> f64 {
        let slope = |centre: f64, scale: f64| {
            let width = scale * self.board_side;
            let distance = score - centre;
            2.0 / PI * width / (width * width + distance * distance)
        };
        self.factors.static_score * slope(0.0, STATIC_SCALE)
            + self.factors.dynamic_score * slope(self.centre, DYNAMIC_SCALE)
    }
}

impl Utility<Outlook> for ScoreUtility {
    fn of(&self, value: f64, means: &ScoreMeans) -> f64 {
        // A game without result counts half in the value, and nothing here.
        self.factors.win_loss * (2.0 * value - 1.0) + self.of_score(means)
    }

    fn weight(&self, outlook: &Outlook) -> f64 {
        let score = outlook.opinion().and_then(|opinion| opinion.score);
        let Some(errors) = score.and_then(|score| score.errors) else {
            return 1.0;
        };
        if !self.factors.uncertainty {
            return 1.0;
        }
        let uncertainty = self.factors.win_loss * f64::from(errors.win_loss)
            + self.slope(outlook.means.score_mean) * f64::from(errors.score);
        UNCERTAINTY_COEFFICIENT / (uncertainty + UNCERTAINTY_COEFFICIENT / MAX_WEIGHT)
    }

    fn weight_of_end(&self) -> f64 {
        if self.factors.uncertainty {
            MAX_WEIGHT
        } else {
            1.0
        }
    }

    fn radius(&self) -> f64 {
        self.factors.win_loss + self.factors.static_score + self.factors.dynamic_score
    }
}

/// Samples to each side of the mean, and their distance in standard deviations.
const SAMPLES: i32 = 50;
const SAMPLE_STEP: f64 = 0.1;

/// The mean of `2/pi * arctan(x)` where `x` is normally distributed: a sum over samples up to five deviations away.
fn expected_arctangent(mean: f64, deviation: f64) -> f64 {
    static WEIGHTS: OnceLock<Vec<f64>> = OnceLock::new();
    let weights = WEIGHTS.get_or_init(|| {
        let density = |sample: i32| (-0.5 * (f64::from(sample) * SAMPLE_STEP).powi(2)).exp();
        let densities: Vec<f64> = (-SAMPLES..=SAMPLES).map(density).collect();
        let total: f64 = densities.iter().sum();
        densities.iter().map(|density| density / total).collect()
    });
    if deviation <= 0.0 {
        return 2.0 / PI * mean.atan();
    }
    let samples = (-SAMPLES..=SAMPLES).zip(weights);
    let sum: f64 = samples
        .map(|(sample, weight)| {
            weight * (mean + f64::from(sample) * SAMPLE_STEP * deviation).atan()
        })
        .sum();
    2.0 / PI * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{ScoreOpinion, ShortTermErrors};
    use search::Outlook as _;

    fn opinion(winrate: f32, mean: f32, errors: Option<ShortTermErrors>) -> Arc<Opinion> {
        Arc::new(Opinion {
            policy: Box::default(),
            winrate,
            no_result: 0.0,
            score: Some(ScoreOpinion {
                mean,
                mean_square: mean * mean,
                lead: mean + 1.0,
                variance_time: None,
                errors,
            }),
            ownership: Some(vec![0.5, -1.0].into()),
        })
    }

    #[test]
    fn an_outlook_is_for_black_whoever_is_to_move() {
        let said = opinion(0.7, 5.0, None);
        assert_eq!(Outlook::of(&said, Color::Black).means.lead, 6.0);
        let white = Outlook::of(&said, Color::White);
        assert_eq!((white.means.lead, white.means.score_mean), (-6.0, -5.0));
        assert_eq!(white.means.score_mean_square, 25.0);
        let mut sums = vec![(0.0, 0.0); 2];
        white.add_owners(0.5, &mut sums);
        assert_eq!(sums, [(-0.25, 0.125), (0.5, 0.5)]);
    }

    #[test]
    fn utility_is_win_minus_loss_and_a_little_for_points() {
        // 19x19, centre 10*0.8 = 8; score exactly 10: static 0.1*2/pi*atan(10/38), dynamic 0.3*2/pi*atan(2/14.25).
        let utility = ScoreUtility::new(UtilityFactors::default(), BoardSize::NINETEEN, 10.0);
        let means = Outlook::of(&opinion(0.5, 10.0, None), Color::Black).means();
        let expected =
            0.1 * 2.0 / PI * (10.0f64 / 38.0).atan() + 0.3 * 2.0 / PI * (2.0f64 / 14.25).atan();
        assert!((utility.of(0.5, &means) - expected).abs() < 1e-12);
        assert!((utility.of(0.9, &means) - expected - 0.8).abs() < 1e-12);
        assert!((utility.radius() - 1.4).abs() < 1e-12);
    }

    #[test]
    fn the_centre_stays_within_reach_of_the_expected_score() {
        let centre = |expected| {
            ScoreUtility::new(UtilityFactors::default(), BoardSize::NINE, expected).centre
        };
        assert!((centre(10.0) - 8.0).abs() < 1e-12);
        // 0.2 * 50 = 10 points are more than 0.75 * 9 = 6.75.
        assert!((centre(50.0) - 43.25).abs() < 1e-12);
        assert!((centre(-50.0) + 43.25).abs() < 1e-12);
    }

    #[test]
    fn spread_flattens_the_utility_of_points() {
        assert!((expected_arctangent(1.0, 0.0) - 0.5).abs() < 1e-12);
        let wide = expected_arctangent(1.0, 3.0);
        assert!(wide > 0.0 && wide < 0.35, "{wide}");
        assert!((expected_arctangent(-1.0, 3.0) + wide).abs() < 1e-12, "odd");
        // A standard normal around zero has mean zero; far away the arctangent is flat.
        assert!(expected_arctangent(0.0, 1.0).abs() < 1e-12);
        assert!((expected_arctangent(1000.0, 1.0) - 2.0 / PI * 1000f64.atan()).abs() < 1e-6);
    }

    #[test]
    fn certain_evaluations_weigh_up_to_eight() {
        let utility = ScoreUtility::new(UtilityFactors::default(), BoardSize::NINETEEN, 0.0);
        let weight = |win_loss, score| {
            let errors = ShortTermErrors { win_loss, score };
            utility.weight(&Outlook::of(&opinion(0.5, 0.0, Some(errors)), Color::Black))
        };
        assert!((weight(0.0, 0.0) - 8.0).abs() < 1e-12);
        // u = 0.25: 0.25/(0.25 + 0.03125).
        assert!((weight(0.25, 0.0) - 0.25 / 0.28125).abs() < 1e-6);
        // Slope at the centre: 0.1*2/pi/38 + 0.3*2/pi/14.25 = 0.0016753 + 0.0134024 = 0.0150777 a point.
        let expected = 0.25 / (0.150_777 + 0.031_25);
        assert!((weight(0.0, 10.0) - expected).abs() < 1e-4);
        let without = Outlook::of(&opinion(0.5, 0.0, None), Color::Black);
        assert_eq!(utility.weight(&without), 1.0, "a network that does not say");
        assert_eq!(utility.weight_of_end(), 8.0);
    }

    #[test]
    fn a_finished_game_has_its_score() {
        let end = Outlook::of_end(3.5, Arc::new([1.0, -1.0]));
        assert_eq!((end.means.lead, end.means.spread()), (3.5, 0.0));
        let draw = Outlook::of_end(0.0, Arc::new([1.0, -1.0]));
        assert_eq!(draw.means.score_mean_square, 0.25);
    }
}
