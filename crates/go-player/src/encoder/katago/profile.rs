//! Whom a human-imitation network is to imitate: ranks, time control and date, as 192 numbers.

use std::{f64::consts::TAU, fmt, str::FromStr};

use thiserror::Error;

/// Numbers of the metadata input.
pub const LEN: usize = 192;

/// Places in the input.
mod place {
    pub const IS_HUMAN: usize = 0;
    pub const RANKS: [usize; 2] = [6, 40];
    pub const UNRATED: usize = 74;
    /// The first of seven kinds of time control; byo-yomi is the fifth.
    pub const TIME_CONTROL: usize = 75;
    pub const MAIN_TIME: usize = 82;
    pub const PERIOD_TIME: usize = 83;
    pub const PERIODS: usize = 84;
    pub const CANADIAN_MOVES: usize = 85;
    pub const BOARD_AREA: usize = 86;
    pub const DATE: usize = 87;
    /// The first of sixteen servers.
    pub const SOURCE: usize = 151;
}

/// Byo-yomi among the kinds of time control.
const BYO_YOMI: usize = 4;
/// KGS among the servers.
const KGS: usize = 1;
const MAIN_SECONDS: f64 = 1200.0;
const PERIOD_SECONDS: f64 = 30.0;
const PERIODS: f64 = 5.0;
/// Whether a game was rated is not known.
const RATEDNESS_UNKNOWN: f32 = 0.5;
/// Waves with which a date is written, from a week on.
const DATE_WAVES: usize = 32;
const SHORTEST_WAVE_DAYS: f64 = 7.0;
const LONGEST_OVER_SHORTEST: f64 = 80_000.0;
/// 1 March 2020 and 1 September 2016, in days since 1970.
const MODERN_DAYS: f64 = 18_322.0;
const BEFORE_ALPHAZERO_DAYS: f64 = 17_045.0;

/// The strongest rank, 9 dan, counts one; 20 kyu counts 29.
const STRONGEST_DAN: u8 = 9;
const WEAKEST_KYU: u8 = 20;

/// Both players' rank and the time they played in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HumanProfile {
    /// Places below the top, 9 dan being 1.
    inverse_rank: u8,
    before_alphazero: bool,
}

/// A text that names no profile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no profile: expected rank_ or preaz_ and a rank from 20k to 9d, such as rank_5k")]
pub struct ProfileError(String);

impl Default for HumanProfile {
    /// A modern 9 dan.
    fn default() -> HumanProfile {
        HumanProfile {
            inverse_rank: 1,
            before_alphazero: false,
        }
    }
}

impl FromStr for HumanProfile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<HumanProfile, ProfileError> {
        let parse = || {
            let (era, rank) = text.split_once('_')?;
            let before_alphazero = match era {
                "rank" => false,
                "preaz" => true,
                _ => return None,
            };
            let (number, kind) = rank.split_at_checked(rank.len().checked_sub(1)?)?;
            let number: u8 = number.parse().ok()?;
            let inverse_rank = match kind {
                "d" if (1..=STRONGEST_DAN).contains(&number) => STRONGEST_DAN + 1 - number,
                "k" if (1..=WEAKEST_KYU).contains(&number) => STRONGEST_DAN + number,
                _ => return None,
            };
            Some(HumanProfile {
                inverse_rank,
                before_alphazero,
            })
        };
        parse().ok_or_else(|| ProfileError(text.to_owned()))
    }
}

impl fmt::Display for HumanProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let era = if self.before_alphazero {
            "preaz"
        } else {
            "rank"
        };
        match self.inverse_rank.checked_sub(STRONGEST_DAN) {
            Some(kyu @ 1..) => write!(f, "{era}_{kyu}k"),
            _ => write!(f, "{era}_{}d", STRONGEST_DAN + 1 - self.inverse_rank),
        }
    }
}

impl HumanProfile {
    /// Differs for different profiles.
    pub(super) fn key(&self) -> u64 {
        u64::from(self.inverse_rank) << 1 | u64::from(self.before_alphazero)
    }

    /// Writes the metadata input for a board of `area` points.
    pub(super) fn write(&self, area: usize, row: &mut [f32]) {
        row.fill(0.0);
        row[place::IS_HUMAN..place::IS_HUMAN + 2].fill(1.0);
        for ranks in place::RANKS {
            row[ranks..ranks + usize::from(self.inverse_rank)].fill(1.0);
        }
        row[place::UNRATED] = RATEDNESS_UNKNOWN;
        row[place::TIME_CONTROL + BYO_YOMI] = 1.0;
        row[place::MAIN_TIME] = (0.4 * ((MAIN_SECONDS + 60.0).ln() - 6.5)) as f32;
        row[place::PERIOD_TIME] = (0.3 * ((PERIOD_SECONDS + 1.0).ln() - 3.0)) as f32;
        row[place::PERIODS] = (0.5 * ((PERIODS + 2.0).ln() - 1.5)) as f32;
        row[place::CANADIAN_MOVES] = (0.25 * (2f64.ln() - 1.5)) as f32;
        row[place::BOARD_AREA] = (0.5 * (area as f64 / 361.0).ln()) as f32;
        let days = if self.before_alphazero {
            BEFORE_ALPHAZERO_DAYS
        } else {
            MODERN_DAYS
        };
        let growth = LONGEST_OVER_SHORTEST.powf(1.0 / (DATE_WAVES - 1) as f64);
        for wave in 0..DATE_WAVES {
            let period = SHORTEST_WAVE_DAYS * growth.powi(wave as i32);
            let angle = TAU * days / period;
            row[place::DATE + 2 * wave] = angle.cos() as f32;
            row[place::DATE + 2 * wave + 1] = angle.sin() as f32;
        }
        row[place::SOURCE + KGS] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(profile: &str, area: usize) -> Vec<f32> {
        let mut row = vec![9.0; LEN];
        profile
            .parse::<HumanProfile>()
            .unwrap()
            .write(area, &mut row);
        row
    }

    #[test]
    fn ranks_are_thermometers_that_count_from_the_top() {
        for (profile, count) in [
            ("rank_9d", 1),
            ("rank_1d", 9),
            ("rank_1k", 10),
            ("preaz_20k", 29),
        ] {
            let row = row(profile, 361);
            for ranks in place::RANKS {
                let ones = row[ranks..ranks + 34].iter().filter(|&&v| v == 1.0).count();
                assert_eq!(ones, count, "{profile}");
                assert!(row[ranks..ranks + count].iter().all(|&v| v == 1.0));
            }
        }
    }

    #[test]
    fn the_rest_of_the_row_is_what_its_formulas_say() {
        let row = row("rank_5k", 81);
        assert_eq!(row[..6], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(row[74..82], [0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!((row[86] - 0.5 * (81f32 / 361.0).ln()).abs() < 1e-6);
        // 18,322 days are 2,617 weeks and three days.
        assert!((row[87] - (TAU * 3.0 / 7.0).cos() as f32).abs() < 1e-6);
        assert!((row[88] - (TAU * 3.0 / 7.0).sin() as f32).abs() < 1e-6);
        assert!(row.iter().all(|v| v.is_finite()));
        assert_eq!(row[151..167].iter().sum::<f32>(), 1.0);
        assert_eq!(row[167..], [0.0; 25]);
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        for text in [
            "", "5k", "rank_0k", "rank_21k", "rank_10d", "rank_k", "pro_9d", "rank_5é",
        ] {
            assert!(text.parse::<HumanProfile>().is_err(), "{text}");
        }
    }
}
