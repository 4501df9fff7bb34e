//! How fast pills fall, and what a placement costs in frames.

use std::str::FromStr;

use crate::place::Outcome;

/// Frames the console shows a second.
pub const FRAMES_PER_SECOND: f64 = 60.0988;

/// Frames a pill takes to fall one row, by speed index.
const FRAMES_PER_ROW: [u8; 81] = [
    70, 68, 66, 64, 62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24,
    22, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6,
    6, 6, 6, 6, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1,
];

/// The game gets one step faster each time this many pills are locked.
const PILLS_PER_STEP: u32 = 10;

/// The console stops getting faster after this many steps.
const MOST_STEPS: u32 = 49;

/// A starting speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Speed {
    /// 40 frames a row at the start.
    Low,
    /// 20 frames a row.
    #[default]
    Medium,
    /// 14 frames a row.
    High,
    /// 10 frames a row; not offered by the console.
    Ultra,
}

impl Speed {
    /// All speeds, slowest first.
    pub const ALL: [Speed; 4] = [Speed::Low, Speed::Medium, Speed::High, Speed::Ultra];

    /// Frames a row once `pills_locked` pills lie on the board.
    pub fn frames_per_row(self, pills_locked: u32) -> u8 {
        let base = match self {
            Speed::Low => 15,
            Speed::Medium => 25,
            Speed::High => 31,
            Speed::Ultra => 35,
        };
        let steps = (pills_locked.saturating_add(2) / PILLS_PER_STEP).min(MOST_STEPS);
        let index = (base + steps) as usize;
        FRAMES_PER_ROW[index.min(FRAMES_PER_ROW.len() - 1)]
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Speed::Low => "low",
            Speed::Medium => "med",
            Speed::High => "hi",
            Speed::Ultra => "ult",
        }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|speed| speed.name() == text)
            .ok_or_else(|| format!("{text:?} is no speed: expected low, med, hi or ult"))
    }
}

/// Frames from locking a pill in a row to control of the next, when nothing clears. The first
/// two rows are the model's guesses.
const LOCK_FRAMES: [u32; 16] = [
    47, 46, 44, 42, 41, 41, 39, 39, 37, 37, 35, 35, 33, 34, 34, 34,
];

/// Frames each round of clearing takes, apart from the fall.
const CLEAR_FRAMES: u32 = 20;

/// Frames a cell takes to fall one row after a clear.
const FALL_FRAMES: u32 = 16;

/// Frames from locking in row `y` to control of the next pill (an approximate model).
pub(crate) fn cleanup_frames(y: u8, outcome: &Outcome) -> u32 {
    let clears = outcome
        .rows_fallen()
        .iter()
        .map(|&rows| FALL_FRAMES * u32::from(rows) + CLEAR_FRAMES)
        .sum::<u32>();
    LOCK_FRAMES[usize::from(y.min(15))] + clears
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_speeds_are_the_published_ones() {
        assert_eq!(
            Speed::ALL.map(|speed| speed.frames_per_row(0)),
            [40, 20, 14, 10]
        );
        assert_eq!(Speed::Low.frames_per_row(7), 40);
        assert_eq!(Speed::Low.frames_per_row(8), 38);
        assert_eq!(Speed::Ultra.frames_per_row(u32::MAX), 1);
    }
}
