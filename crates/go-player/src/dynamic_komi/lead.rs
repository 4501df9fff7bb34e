//! A leader with komi against it, and what it may risk at the true one.

use go::Color;

use super::TurnKomi;

/// The chance to lose may be this many times that of the safest move,
const RISK_RATIO: f64 = 1.25;
/// and this much on top: searches of some dozen visits do not agree better when all is well.
const RISK_MARGIN: f64 = 0.003;

/// Whether `color` pays more, or gets less, than at the target.
pub fn is_against(komi: TurnKomi, target: f64, color: Color) -> bool {
    let mean = (komi.black + komi.white) / 2.0;
    match color {
        Color::Black => mean > target,
        Color::White => mean < target,
    }
}

/// Whether a move with this winrate risks about as little as the safest one.
pub fn is_as_safe(winrate: f64, safest: f64) -> bool {
    1.0 - winrate <= RISK_RATIO * (1.0 - safest) + RISK_MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_pays_komi_and_white_gets_it() {
        let raised = TurnKomi {
            black: 40.0,
            white: 7.5,
        };
        assert!(is_against(raised, 7.5, Color::Black));
        assert!(!is_against(raised, 7.5, Color::White));
        assert!(is_against(TurnKomi::both(-10.0), 7.5, Color::White));
        assert!(!is_against(TurnKomi::TRAINED, 7.5, Color::Black));
        assert!(!is_against(TurnKomi::TRAINED, 7.5, Color::White));
    }

    #[test]
    fn little_may_be_risked_where_little_is_lost() {
        assert!(is_as_safe(0.99, 0.99) && is_as_safe(1.0, 0.99));
        assert!(is_as_safe(0.9975, 1.0) && !is_as_safe(0.996, 1.0));
        assert!(is_as_safe(0.90, 0.92) && !is_as_safe(0.89, 0.92));
        assert!(!is_as_safe(0.908, 0.994));
    }
}
