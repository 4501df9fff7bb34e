//! The options of dynamic komi and their defaults in each mode.

use std::path::PathBuf;

use go::Color;
use thiserror::Error;

use super::{TurnKomi, turn_komi::TRAINED_KOMI, validity::Trust};

/// The fewest positions an adjustment may rest on.
pub const MIN_POSITIONS: usize = 8;
/// The most: a hundred megabytes of them.
pub const MOST_POSITIONS: usize = 100_000;
/// A search with a limit asks for positions of each colour up to this part of it, so that they are
/// met in its first half; the default number is out of reach for a search of 200 visits.
const LIMIT_SHARE: u64 = 8;

/// What dynamic komi is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// White gives stones: komi is raised until White believes in a chance, and comes back
    /// to the target as the game turns.
    Handicap,
    /// Whoever leads keeps playing for more: komi moves against the leader, in both directions.
    NonSlack,
}

/// Every option, with the defaults of its mode. Winrates are White's, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The mode; without one, komi is never adjusted.
    pub mode: Option<Mode>,
    /// Komi is lowered above this winrate.
    pub max_winrate: f64,
    /// Komi is raised below this winrate.
    pub min_winrate: f64,
    /// How far inside the range an adjustment aims.
    pub margin: f64,
    /// The komi that is played for at the start and returned to when possible.
    pub target_komi: f64,
    /// Positions of each colour to collect before an adjustment.
    pub positions: usize,
    /// The share of the collected positions, in percent, that is kept: those nearest the mean.
    pub kept_percent: f64,
    /// Adjustments during one search.
    pub adjustments_per_search: u32,
    /// Which evaluations are trusted when komi lies beyond the trained range.
    pub trust: Trust,
    /// Whether the network is tested for `trust` by itself.
    pub test_network: bool,
    /// The one symmetry to evaluate with; `None` draws one at random each time.
    pub fixed_symmetry: Option<u8>,
    /// Whether a node whose evaluation is not trusted takes its value from its best child at once.
    pub sure_backup: bool,
    /// Whether the colour that is not trusted keeps a komi within the trained range.
    pub original_policy: bool,
    /// Whether an unvisited move is judged by its parent's running mean instead of the parent's evaluation.
    pub dynamic_fpu: bool,
    /// Whether a leader looks at its moves again, at the target, before it makes one.
    pub guard: bool,
    /// Never give White more than this.
    pub max_komi: f64,
    /// Never give White less than this.
    pub min_komi: f64,
    /// The file that remembers what tests of networks found; without one, each program tests anew.
    pub verdict_file: Option<PathBuf>,
}

/// Settings that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// A winrate is none.
    #[error("max-wr, min-wr and wr-margin must lie between 0 and 1")]
    Winrate,
    /// No winrate is inside the range.
    #[error(
        "min-wr + wr-margin must not be above max-wr - wr-margin: raising komi would call for lowering it"
    )]
    Range,
    /// Komi is no number.
    #[error("target-komi, max-komi and min-komi must be finite numbers")]
    Komi,
    /// The target is not allowed.
    #[error("target-komi must lie between min-komi and max-komi")]
    Target,
    /// The share is none.
    #[error("adj-pct must be a number above 0")]
    Percent,
    /// Nothing would be trusted.
    #[error(
        "pos and neg together leave no winrate to trust: give one of them, or none and let the network be tested"
    )]
    Trust,
}

impl Settings {
    /// The defaults of a mode, or of play without one, where nothing is out of range.
    pub fn for_mode(mode: Option<Mode>) -> Settings {
        let (max_winrate, min_winrate, margin) = match mode {
            Some(Mode::Handicap) => (0.12, 0.06, 0.03),
            Some(Mode::NonSlack) => (0.9, 0.1, 0.1),
            None => (1.0, 0.0, 0.0),
        };
        Settings {
            mode,
            max_winrate,
            min_winrate,
            margin,
            target_komi: TRAINED_KOMI,
            positions: 200,
            kept_percent: 4.0,
            adjustments_per_search: u32::from(mode.is_some()),
            trust: Trust::BOTH,
            test_network: true,
            fixed_symmetry: None,
            sure_backup: true,
            original_policy: true,
            dynamic_fpu: mode.is_some(),
            guard: true,
            max_komi: f64::from(f32::MAX),
            min_komi: f64::from(f32::MIN),
            verdict_file: None,
        }
    }

    /// The same with the defaults of another mode where they depend on it.
    #[must_use]
    pub fn with_mode(self, mode: Option<Mode>) -> Settings {
        let defaults = Settings::for_mode(mode);
        Settings {
            mode,
            max_winrate: defaults.max_winrate,
            min_winrate: defaults.min_winrate,
            margin: defaults.margin,
            adjustments_per_search: defaults.adjustments_per_search,
            dynamic_fpu: defaults.dynamic_fpu,
            ..self
        }
    }

    /// Whether the settings make sense together.
    pub fn check(&self) -> Result<(), SettingsError> {
        let winrates = [self.max_winrate, self.min_winrate, self.margin];
        if !winrates.iter().all(|rate| (0.0..=1.0).contains(rate)) {
            return Err(SettingsError::Winrate);
        }
        // Rounding must not refuse a range that is a single winrate.
        if self.low_aim() > self.high_aim() + f64::from(f32::EPSILON) {
            return Err(SettingsError::Range);
        }
        let komi = [self.target_komi, self.max_komi, self.min_komi];
        if !komi.iter().all(|komi| komi.is_finite()) {
            return Err(SettingsError::Komi);
        }
        if !(self.min_komi..=self.max_komi).contains(&self.target_komi) {
            return Err(SettingsError::Target);
        }
        if !(self.kept_percent > 0.0 && self.kept_percent.is_finite()) {
            return Err(SettingsError::Percent);
        }
        if !self.trust.positive && !self.trust.negative {
            return Err(SettingsError::Trust);
        }
        Ok(())
    }

    /// The komi a new game starts with.
    pub fn initial_komi(&self) -> TurnKomi {
        TurnKomi::both(self.target_komi)
    }

    /// Positions of each colour to collect in a search of at most `limit` playouts.
    pub fn positions_within(&self, limit: Option<u64>) -> usize {
        let reachable = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit / LIMIT_SHARE).unwrap_or(usize::MAX)
        });
        self.positions.min(reachable).max(MIN_POSITIONS)
    }

    /// The colour whose winrates are of no use at this komi and whose own komi therefore only follows
    /// the other's, within the trained range. Its positions need not be collected.
    pub fn follower(&self, komi: TurnKomi) -> Option<Color> {
        if !self.original_policy {
            return None;
        }
        let mut useless = Color::BOTH
            .into_iter()
            .filter(|&turn| !self.trust.accepts(komi, turn));
        match (useless.next(), useless.next()) {
            (Some(turn), None) if komi.on_turn(turn).abs() <= TRAINED_KOMI => Some(turn),
            _ => None,
        }
    }

    /// Positions of each colour that an adjustment keeps.
    pub fn kept_positions(&self) -> usize {
        let share = self.kept_percent.clamp(0.0, 100.0) / 100.0;
        ((self.positions as f64 * share).ceil() as usize).clamp(1, self.positions)
    }

    /// The winrate that raising komi aims for.
    pub fn low_aim(&self) -> f64 {
        self.min_winrate + self.margin
    }

    /// The winrate that lowering komi aims for.
    pub fn high_aim(&self) -> f64 {
        self.max_winrate - self.margin
    }

    /// Whether the mode pushes against a leading White.
    pub fn is_nonslack(&self) -> bool {
        self.mode == Some(Mode::NonSlack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_depend_on_the_mode() {
        let handicap = Settings::for_mode(Some(Mode::Handicap));
        assert_eq!(
            (handicap.max_winrate, handicap.min_winrate, handicap.margin),
            (0.12, 0.06, 0.03)
        );
        assert!(handicap.dynamic_fpu && handicap.adjustments_per_search == 1);
        let nonslack = Settings::for_mode(Some(Mode::NonSlack));
        assert_eq!(
            (nonslack.max_winrate, nonslack.min_winrate, nonslack.margin),
            (0.9, 0.1, 0.1)
        );
        let plain = Settings::for_mode(None);
        assert!(
            !plain.dynamic_fpu
                && plain.adjustments_per_search == 0
                && plain.fixed_symmetry.is_none()
        );
    }

    #[test]
    fn changing_the_mode_changes_what_depends_on_it_and_nothing_else() {
        let own = Settings {
            positions: 50,
            target_komi: 0.0,
            max_winrate: 0.5,
            ..Settings::for_mode(Some(Mode::Handicap))
        };
        let changed = own.with_mode(Some(Mode::NonSlack));
        assert_eq!((changed.positions, changed.target_komi), (50, 0.0));
        assert_eq!((changed.max_winrate, changed.min_winrate), (0.9, 0.1));
    }

    #[test]
    fn contradictions_are_found() {
        let good = Settings::for_mode(Some(Mode::Handicap));
        assert_eq!(good.check(), Ok(()));
        assert_eq!(Settings::for_mode(Some(Mode::NonSlack)).check(), Ok(()));
        assert_eq!(Settings::for_mode(None).check(), Ok(()));
        let bad = [
            (
                Settings {
                    max_winrate: 1.2,
                    ..good.clone()
                },
                SettingsError::Winrate,
            ),
            (
                Settings {
                    margin: f64::NAN,
                    ..good.clone()
                },
                SettingsError::Winrate,
            ),
            (
                Settings {
                    min_winrate: 0.1,
                    ..good.clone()
                },
                SettingsError::Range,
            ),
            (
                Settings {
                    max_komi: f64::INFINITY,
                    ..good.clone()
                },
                SettingsError::Komi,
            ),
            (
                Settings {
                    max_komi: 5.0,
                    ..good.clone()
                },
                SettingsError::Target,
            ),
            (
                Settings {
                    kept_percent: 0.0,
                    ..good.clone()
                },
                SettingsError::Percent,
            ),
        ];
        for (settings, error) in bad {
            assert_eq!(settings.check(), Err(error));
        }
    }

    #[test]
    fn a_short_search_asks_for_fewer_positions() {
        let settings = Settings::for_mode(Some(Mode::Handicap));
        let asked = |limit| settings.positions_within(limit);
        assert_eq!((asked(None), asked(Some(1600))), (200, 200));
        assert_eq!((asked(Some(200)), asked(Some(10))), (25, 8));
    }

    #[test]
    fn a_colour_without_useful_winrates_follows_beyond_the_trained_range_only() {
        let settings = Settings {
            trust: Trust::NEGATIVE_ONLY,
            ..Settings::for_mode(Some(Mode::Handicap))
        };
        let raised = TurnKomi {
            black: 7.5,
            white: 40.0,
        };
        assert_eq!(settings.follower(raised), Some(Color::Black));
        assert_eq!(settings.follower(TurnKomi::TRAINED), None);
        let lowered = TurnKomi {
            black: -40.0,
            white: -7.5,
        };
        assert_eq!(settings.follower(lowered), Some(Color::White));
        let free_policy = Settings {
            original_policy: false,
            ..settings
        };
        assert_eq!(free_policy.follower(raised), None);
    }

    #[test]
    fn kept_share_is_rounded_up_and_never_more_than_all() {
        let mut settings = Settings::for_mode(Some(Mode::Handicap));
        assert_eq!(settings.kept_positions(), 8);
        settings.kept_percent = 500.0;
        assert_eq!(settings.kept_positions(), 200);
        settings.kept_percent = 0.0;
        assert_eq!(settings.kept_positions(), 1);
    }
}
