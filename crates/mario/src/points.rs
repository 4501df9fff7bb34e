//! What a clear is worth.

use crate::speed::Speed;

/// The value of a virus stops doubling with the sixth of a move.
const LAST_DOUBLING: u32 = 6;

/// Points for `viruses` cleared by one placement: 100, 200 or 300 for the first by speed, and twice as much for each
/// further one, up to the sixth.
pub fn points(speed: Speed, viruses: u32) -> u32 {
    let first = match speed {
        Speed::Low => 100,
        Speed::Medium => 200,
        Speed::High | Speed::Ultra => 300,
    };
    (1..=viruses)
        .map(|nth| first << (nth.min(LAST_DOUBLING) - 1))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_further_virus_counts_double_up_to_the_sixth() {
        assert_eq!(points(Speed::Low, 0), 0);
        assert_eq!(points(Speed::Low, 1), 100);
        assert_eq!(points(Speed::Medium, 2), 200 + 400);
        assert_eq!(points(Speed::High, 6) - points(Speed::High, 5), 9600);
        assert_eq!(points(Speed::Low, 7) - points(Speed::Low, 6), 3200);
    }
}
