//! What a game of the learning loop is dealt.

use std::sync::atomic::AtomicBool;

use mario::{Game, Record, Rules};
use mario_player::{EvaluateError, Player, record_game, training_seed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Self-play and match games end like this: a win is not worth waiting for without end.
pub(crate) const RULES: Rules = Rules {
    most_pills: Some(400),
    ..Rules::SELF_PLAY
};

/// A level, a board with its pills, and a player's random choices, all from one seed.
pub(crate) struct Deal {
    pub(crate) level: u8,
    pub(crate) seed: u16,
    pub(crate) player_seed: u64,
    rng: Xoshiro256PlusPlus,
}

impl Deal {
    /// The deal of a seed, of a level in the range.
    pub(crate) fn new([lowest, highest]: [u8; 2], seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self {
            level: rng.random_range(lowest..=highest),
            seed: training_seed(&mut rng),
            player_seed: rng.random(),
            rng,
        }
    }

    /// Plays the deal to its end; nothing when `stop` is set before.
    pub(crate) fn play(
        mut self,
        mut player: Box<dyn Player + '_>,
        explore: bool,
        stop: &AtomicBool,
    ) -> Result<Option<(Record, Game)>, EvaluateError> {
        let game = Game::console(self.seed, self.level, RULES);
        let explorer = explore.then_some(&mut self.rng);
        let (record, game) = record_game(game, &mut *player, explorer, stop)?;
        Ok(game.ending().is_some().then_some((record, game)))
    }
}
