//! Playing at a chosen level: short searches, and points given away on purpose.
//!
//! A rank stands for the points its players lose with an average move. Each turn a loss is drawn with that mean, and of
//! the moves that were looked at the one is played that gives away about as much. A move that the network finds unlikely
//! counts as farther off, so that mistakes are those a player would make: where every natural move is good, as on an
//! empty board, a good one is played.

use std::{fmt, str::FromStr};

use rand::RngExt;
use search::SearchRng;
use thiserror::Error;

use go::Color;

use crate::think::RootMove;

/// The strongest rank, and the weakest that is played here.
const BEST_DAN: u8 = 9;
const WORST_KYU: u8 = 15;
/// Points an average move loses: at the best rank, more for each rank below, and more again towards the weakest.
const LOSS_AT_BEST: f64 = 0.3;
const LOSS_PER_RANK: f64 = 0.09;
const LOSS_PER_RANK_SQUARED: f64 = 0.005;
/// Visits of a search at the best rank and from 1 kyu down.
const VISITS_AT_BEST: f64 = 128.0;
const VISITS_OF_KYU: f64 = 32.0;
/// No single draw is more than so many times the mean.
const MOST_MEANS: f64 = 4.0;
/// How much flatter priors are for each point of the mean loss, so that there are mistakes to choose from.
const TEMPERATURE_PER_POINT: f64 = 0.6;
/// A move whose prior is smaller than the largest by a factor of e counts as so many points farther off.
const POINTS_PER_NAT: f64 = 1.0;
/// Smaller priors are taken for this one.
const SMALLEST_PRIOR: f64 = 1e-6;

/// A rank from 15 kyu to 9 dan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Ranks below 9 dan.
    below_best: u8,
}

/// A text that names no rank.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no rank: expected 15k to 1k, or 1d to 9d")]
pub struct RankError(String);

impl FromStr for Rank {
    type Err = RankError;

    fn from_str(text: &str) -> Result<Rank, RankError> {
        let parse = || {
            let (number, kind) = text.split_at_checked(text.len().checked_sub(1)?)?;
            let number: u8 = number.parse().ok()?;
            let below_best = match kind {
                "d" | "D" if (1..=BEST_DAN).contains(&number) => BEST_DAN - number,
                "k" | "K" if (1..=WORST_KYU).contains(&number) => BEST_DAN - 1 + number,
                _ => return None,
            };
            Some(Rank { below_best })
        };
        parse().ok_or_else(|| RankError(text.to_owned()))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.below_best.checked_sub(BEST_DAN) {
            None => write!(f, "{}d", BEST_DAN - self.below_best),
            Some(kyu) => write!(f, "{}k", kyu + 1),
        }
    }
}

impl Rank {
    /// How a player of this rank plays.
    pub fn level(self) -> Level {
        let below = f64::from(self.below_best);
        let of_dan = (1.0 - below / f64::from(BEST_DAN)).max(0.0);
        let visits = VISITS_OF_KYU * (VISITS_AT_BEST / VISITS_OF_KYU).powf(of_dan);
        Level {
            visits: visits.round() as u64,
            points_lost: LOSS_AT_BEST
                + LOSS_PER_RANK * below
                + LOSS_PER_RANK_SQUARED * below * below,
        }
    }

    /// What KataGo's human-imitation networks call it.
    pub fn profile(self) -> String {
        format!("rank_{self}")
    }
}

/// How weakly to play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Visits of a search.
    pub visits: u64,
    /// Points an average move gives away.
    pub points_lost: f64,
}

impl Level {
    /// The temperature of priors that shows enough moves to choose from.
    pub(crate) fn policy_temperature(&self) -> f64 {
        1.0 + TEMPERATURE_PER_POINT * self.points_lost
    }

    /// The move to play: about as bad as a draw of chance says. Passing is left to the search.
    pub(crate) fn draw(&self, moves: &[RootMove], color: Color, rng: &mut SearchRng) -> usize {
        let lead = |entry: &RootMove| {
            let lead = entry.weighed.map(|weighed| weighed.means.lead)?;
            Some(if color == Color::Black { lead } else { -lead })
        };
        let Some(best) = moves
            .first()
            .filter(|best| !best.mv.is_pass())
            .and_then(lead)
        else {
            return 0;
        };
        // Exponential: most moves are good, some are bad.
        let drawn = -(1.0 - rng.random::<f64>()).ln();
        let wanted = self.points_lost * drawn.min(MOST_MEANS);
        let prior = |entry: &RootMove| entry.prior.max(SMALLEST_PRIOR);
        let likeliest = moves.iter().map(prior).fold(SMALLEST_PRIOR, f64::max);
        // The search was shown flattened priors.
        let nats = |entry: &RootMove| self.policy_temperature() * (likeliest / prior(entry)).ln();
        let apart = |entry: &RootMove| {
            let loss = (best - lead(entry).filter(|_| !entry.mv.is_pass())?).max(0.0);
            Some((loss - wanted).abs() + POINTS_PER_NAT * nats(entry))
        };
        let rated = moves.iter().enumerate();
        let rated = rated.filter_map(|(index, entry)| Some((index, apart(entry)?)));
        rated
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use go::Move;
    use rand::SeedableRng;
    use search::Weighed;

    use super::*;

    #[test]
    fn every_rank_has_a_name_and_weaker_ones_give_more_away() {
        let mut before = None;
        let dans = (1..=BEST_DAN).rev().map(|dan| format!("{dan}d"));
        for name in dans.chain((1..=WORST_KYU).map(|kyu| format!("{kyu}k"))) {
            let rank: Rank = name.parse().unwrap();
            assert_eq!(rank.to_string(), name);
            let level = rank.level();
            if let Some(Level {
                visits,
                points_lost,
            }) = before
            {
                assert!(
                    level.points_lost > points_lost && level.visits <= visits,
                    "{name}"
                );
            }
            before = Some(level);
        }
        for text in ["", "0d", "10d", "16k", "0k", "5", "k", "5p", "1e"] {
            assert!(text.parse::<Rank>().is_err(), "{text}");
        }
    }

    fn moves(leads: &[f64]) -> Vec<RootMove> {
        let entry = |(order, &lead): (usize, &f64)| RootMove {
            mv: Move::Play(go::Point::new(order % 19, order / 19)),
            visits: 1,
            winrate: None,
            prior: 0.0,
            lcb: None,
            order,
            pv: Vec::new(),
            pv_visits: Vec::new(),
            weighed: Some(Weighed {
                utility: 0.0,
                utility_lcb: 0.0,
                weight: 1.0,
                play_value: 1.0,
                means: crate::ScoreMeans {
                    lead,
                    ..Default::default()
                },
            }),
        };
        leads.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn the_mean_of_what_is_given_away_is_the_levels() {
        let leads: Vec<f64> = (0..80).map(|loss| f64::from(loss) / -4.0).collect();
        let mut rng = SearchRng::seed_from_u64(3);
        for points_lost in [0.5, 3.0] {
            let level = Level {
                visits: 1,
                points_lost,
            };
            let moves = moves(&leads);
            let draws = 20_000;
            let given: f64 = (0..draws)
                .map(|_| level.draw(&moves, Color::Black, &mut rng) as f64 / 4.0)
                .sum();
            // A draw is cut off at four means, which takes a fiftieth off.
            let mean = given / f64::from(draws);
            assert!((mean / points_lost - 0.98).abs() < 0.06, "{mean}");
        }
        // White loses where Black gains.
        let level = Level {
            visits: 1,
            points_lost: 0.0,
        };
        let gains: Vec<f64> = leads.iter().map(|lead| -lead).collect();
        assert_eq!(level.draw(&moves(&gains), Color::White, &mut rng), 0);
    }

    #[test]
    fn an_unlikely_move_is_not_played_for_the_sake_of_a_loss() {
        // On an empty board every natural move is good; the odd one loses three points.
        let mut moves = moves(&[0.0, -0.2, -3.0]);
        for (entry, prior) in moves.iter_mut().zip([0.4, 0.3, 0.001]) {
            entry.prior = prior;
        }
        let level = Level {
            visits: 1,
            points_lost: 2.0,
        };
        let mut rng = SearchRng::seed_from_u64(5);
        assert!((0..200).all(|_| level.draw(&moves, Color::Black, &mut rng) < 2));
        // A natural mistake is made.
        moves[2].prior = 0.3;
        assert!((0..200).any(|_| level.draw(&moves, Color::Black, &mut rng) == 2));
    }

    #[test]
    fn a_pass_is_never_a_mistake_made_on_purpose() {
        let mut moves = moves(&[0.0, -5.0]);
        moves[1].mv = Move::Pass;
        let level = Level {
            visits: 1,
            points_lost: 5.0,
        };
        let mut rng = SearchRng::seed_from_u64(1);
        assert!((0..50).all(|_| level.draw(&moves, Color::Black, &mut rng) == 0));
        moves.swap(0, 1);
        assert_eq!(level.draw(&moves, Color::Black, &mut rng), 0);
    }
}
