//! The console's 16-bit random generator: a shift register fed with bit 1 xor bit 9.

/// The seed in the generator when the console is switched on.
pub const POWER_ON_SEED: u16 = 0x8988;

/// The smallest usable seed: 0 and 1 give nothing but zeros.
pub const FIRST_SEED: u16 = 2;

/// The number of distinct states on the generator's one long cycle.
#[cfg(test)]
const CYCLE_LENGTH: usize = 32_767;

/// The generator. Each draw advances the state first, so the seed itself is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u16,
}

impl Rng {
    /// A generator holding `seed`.
    pub fn new(seed: u16) -> Self {
        Self { state: seed }
    }

    /// Advances the state and returns it.
    pub fn advance(&mut self) -> u16 {
        let fed_back = (self.state >> 1 ^ self.state >> 9) & 1;
        self.state = self.state >> 1 | fed_back << 15;
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_has_the_length_of_a_maximal_fifteen_bit_register() {
        let mut rng = Rng::new(POWER_ON_SEED);
        let start = rng.advance();
        let mut length = 1;
        while rng.advance() != start {
            length += 1;
        }
        assert_eq!(length, CYCLE_LENGTH);
    }

    #[test]
    fn an_even_seed_and_its_odd_neighbour_behave_alike() {
        for seed in (FIRST_SEED..=u16::MAX).step_by(2) {
            assert_eq!(Rng::new(seed).advance(), Rng::new(seed + 1).advance());
        }
    }

    #[test]
    fn seeds_below_two_collapse() {
        assert_eq!(Rng::new(0).advance(), 0);
        assert_eq!(Rng::new(1).advance(), 0);
    }
}
