//! Tromp-Taylor scoring: area, every stone on the board alive.

use std::fmt;

use crate::{Board, Color, PointSet};

/// Points White gets for moving second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Komi(f32);

impl Komi {
    /// The komi Leela Zero's networks were trained with.
    pub const SEVEN_AND_A_HALF: Komi = Komi(7.5);
    /// No compensation.
    pub const ZERO: Komi = Komi(0.0);

    /// A komi, if `points_for_white` is a finite number.
    pub const fn new(points_for_white: f32) -> Option<Komi> {
        if points_for_white.is_finite() {
            Some(Komi(points_for_white))
        } else {
            None
        }
    }

    /// The points White gets.
    #[inline]
    pub const fn points_for_white(self) -> f32 {
        self.0
    }
}

impl Default for Komi {
    fn default() -> Komi {
        Komi::SEVEN_AND_A_HALF
    }
}

impl fmt::Display for Komi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A result in points. Printed as SGF and GTP do: `B+3.5`, `W+7.5`, `0` for a tie.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Score(f32);

impl Score {
    /// A score by how much Black is ahead.
    pub const fn from_black(points_black_is_ahead: f32) -> Score {
        Score(points_black_is_ahead)
    }

    /// How many points `color` is ahead; negative when behind.
    #[inline]
    pub const fn lead(self, color: Color) -> f32 {
        match color {
            Color::Black => self.0,
            Color::White => -self.0,
        }
    }

    /// Who has more points, if not both the same.
    pub fn winner(self) -> Option<Color> {
        Color::BOTH
            .into_iter()
            .find(|&color| self.lead(color) > 0.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winner() {
            Some(Color::Black) => write!(f, "B+{}", self.0),
            Some(Color::White) => write!(f, "W+{}", -self.0),
            None => f.write_str("0"),
        }
    }
}

impl Board {
    /// The stones of `color` and the empty points from which a walk over empty points reaches
    /// one of them. A point that reaches both colours is in the area of both.
    pub fn reach(&self, color: Color) -> PointSet {
        let stones = *self.stone_set(color);
        stones | stones.flood(&self.empty_set())
    }

    /// Black's area minus White's, by Tromp and Taylor: neutral points cancel.
    pub fn area_difference(&self) -> i32 {
        self.reach(Color::Black).len() as i32 - self.reach(Color::White).len() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_print_as_protocols_write_them() {
        assert_eq!(Score::from_black(3.5).to_string(), "B+3.5");
        assert_eq!(Score::from_black(-7.5).to_string(), "W+7.5");
        assert_eq!(Score::from_black(-8.0).to_string(), "W+8");
        assert_eq!(Score::from_black(0.0).to_string(), "0");
        assert_eq!(Score::from_black(0.0).winner(), None);
    }

    #[test]
    fn komi_is_a_finite_number() {
        assert_eq!(Komi::new(f32::NAN), None);
        assert_eq!(Komi::new(f32::INFINITY), None);
        assert_eq!(Komi::new(-5.5).unwrap().to_string(), "-5.5");
        assert_eq!(Komi::default().to_string(), "7.5");
    }
}
