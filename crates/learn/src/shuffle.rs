//! A random order of numbers that needs no memory: any place of it can be asked for.
//!
//! A Feistel network permutes the numbers below a power of four; numbers beyond the length are permuted again until
//! they fall inside. So a training resumed at any step sees exactly the samples it would have seen.

use base::mix;

/// Rounds of the network; four are enough for an order without visible pattern.
const ROUNDS: u64 = 4;

/// An order of `0..length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    length: u64,
    half_bits: u32,
    seed: u64,
}

impl Shuffle {
    /// The order number `seed` of `0..length`.
    ///
    /// # Panics
    /// If there is nothing to order.
    pub fn new(length: u64, seed: u64) -> Self {
        assert!(length > 0, "nothing to shuffle");
        let bits = u64::BITS - (length - 1).leading_zeros();
        Self {
            length,
            half_bits: bits.div_ceil(2).max(1),
            seed,
        }
    }

    /// The number at `place`; beyond the length, another round with another order begins.
    pub fn at(&self, place: u64) -> u64 {
        let round = place / self.length;
        let mut number = place % self.length;
        loop {
            number = self.permute(number, round);
            if number < self.length {
                return number;
            }
        }
    }

    fn permute(&self, number: u64, round: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for step in 0..ROUNDS {
            let key = mix(self.seed ^ mix(round * ROUNDS + step + 1));
            (left, right) = (right, left ^ mix(right ^ key) & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_a_round_and_rounds_differ() {
        for length in [1, 2, 3, 17, 64, 1000] {
            let shuffle = Shuffle::new(length, 5);
            let round = |number: u64| -> Vec<u64> {
                (number * length..(number + 1) * length)
                    .map(|place| shuffle.at(place))
                    .collect()
            };
            for number in 0..3 {
                let mut all = round(number);
                all.sort_unstable();
                assert_eq!(all, (0..length).collect::<Vec<_>>());
            }
            if length > 16 {
                assert_ne!(round(0), round(1));
                assert_ne!(round(0), (0..length).collect::<Vec<_>>());
            }
        }
    }
}
