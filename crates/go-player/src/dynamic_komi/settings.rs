//! The options of dynamic komi and their defaults in each mode.

use super::{TurnKomi, validity::Trust};

/// The fewest positions an adjustment may rest on.
pub const MIN_POSITIONS: usize = 8;

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
    /// Never give White more than this.
    pub max_komi: f64,
    /// Never give White less than this.
    pub min_komi: f64,
}

impl Settings {
    /// The defaults of a mode, or of play without one.
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
            target_komi: super::turn_komi::TRAINED_KOMI,
            positions: 200,
            kept_percent: 4.0,
            adjustments_per_search: u32::from(mode.is_some()),
            trust: Trust::BOTH,
            test_network: true,
            fixed_symmetry: None,
            sure_backup: true,
            original_policy: true,
            dynamic_fpu: mode.is_some(),
            max_komi: f64::from(f32::MAX),
            min_komi: f64::from(f32::MIN),
        }
    }

    /// The komi a new game starts with.
    pub fn initial_komi(&self) -> TurnKomi {
        TurnKomi::both(self.target_komi)
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
    fn kept_share_is_rounded_up_and_never_more_than_all() {
        let mut settings = Settings::for_mode(Some(Mode::Handicap));
        assert_eq!(settings.kept_positions(), 8);
        settings.kept_percent = 500.0;
        assert_eq!(settings.kept_positions(), 200);
        settings.kept_percent = 0.0;
        assert_eq!(settings.kept_positions(), 1);
    }
}
