//! The komi that the network is told, for each colour's turn.

use go::Color;

/// The komi Leela Zero's networks are trained with: their planes are 0 and 1 there.
pub const TRAINED_KOMI: f64 = 7.5;

/// The komi in force when Black is to move and when White is to move.
///
/// Keeping both by colour, not by "side to move" and "other side", means that passes,
/// handicap stones and moves out of turn cannot attach a komi to the wrong turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnKomi {
    /// Komi while Black is to move.
    pub black: f64,
    /// Komi while White is to move.
    pub white: f64,
}

impl TurnKomi {
    /// What the network was trained with, on both turns.
    pub const TRAINED: TurnKomi = TurnKomi::both(TRAINED_KOMI);

    /// The same komi on both turns.
    pub const fn both(komi: f64) -> TurnKomi {
        TurnKomi {
            black: komi,
            white: komi,
        }
    }

    /// The komi while `to_move` is to move.
    pub const fn on_turn(self, to_move: Color) -> f64 {
        match to_move {
            Color::Black => self.black,
            Color::White => self.white,
        }
    }

    /// The same with another komi on one colour's turn.
    #[must_use]
    pub const fn with(mut self, turn: Color, komi: f64) -> TurnKomi {
        match turn {
            Color::Black => self.black = komi,
            Color::White => self.white = komi,
        }
        self
    }

    /// The values of the two constant planes, "Black to move" and "White to move".
    pub fn planes(self, to_move: Color) -> [f32; 2] {
        planes(self.on_turn(to_move), to_move)
    }

    /// Bits that differ whenever the network would see another komi: for cache keys.
    pub fn key(self, to_move: Color) -> u64 {
        self.on_turn(to_move).to_bits()
    }
}

/// The values of the two constant planes for a komi: the plane of the side that pays it grows
/// with it, and both sum to one.
pub fn planes(komi: f64, to_move: Color) -> [f32; 2] {
    let lean = komi / (2.0 * TRAINED_KOMI);
    let black = match to_move {
        Color::Black => 0.5 + lean,
        Color::White => 0.5 - lean,
    };
    [black as f32, (1.0 - black) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_follow_the_formula() {
        let expected = [
            (7.5, [1.0, 0.0], [0.0, 1.0]),
            (-7.5, [0.0, 1.0], [1.0, 0.0]),
            (0.0, [0.5, 0.5], [0.5, 0.5]),
            (15.0, [1.5, -0.5], [-0.5, 1.5]),
        ];
        for (komi, black, white) in expected {
            assert_eq!(planes(komi, Color::Black), black);
            assert_eq!(planes(komi, Color::White), white);
        }
    }

    #[test]
    fn each_colour_keeps_its_own_komi() {
        let komi = TurnKomi::TRAINED.with(Color::White, 20.0);
        assert_eq!(komi.on_turn(Color::Black), 7.5);
        assert_eq!(komi.on_turn(Color::White), 20.0);
        assert_ne!(komi.key(Color::Black), komi.key(Color::White));
    }
}
