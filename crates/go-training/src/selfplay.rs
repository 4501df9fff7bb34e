//! Games of a Go network against itself, many at once.

use std::{num::NonZero, sync::atomic::AtomicBool, thread};

use base::nth_seed;
use fleet::play_games;
use go_player::{
    EvaluateError, LoadedNetwork,
    selfplay::{Finished, SelfPlay, play_game},
};

use crate::anchor::NetworkPlayer;

/// Memory for evaluations: early positions recur in many games.
pub(crate) const CACHE_BYTES: usize = 64 << 20;

/// How full the network's batches were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Batches the network evaluated.
    pub batches: u64,
    /// Positions in them.
    pub rows: u64,
}

/// Plays the games with the numbers `first..end`, `at_once` at a time, and hands each to `finished` as it ends, until
/// `stop` is set; games under way are then given up. The number of a game and `seed` fix its random choices.
#[expect(
    clippy::too_many_arguments,
    reason = "each is one choice of the command line"
)]
pub fn self_play(
    network: LoadedNetwork,
    settings: &SelfPlay,
    seed: u64,
    first: u64,
    end: Option<u64>,
    at_once: usize,
    stop: &AtomicBool,
    finished: impl Fn(u64, Finished) + Sync,
) -> Result<Load, EvaluateError> {
    let player = NetworkPlayer::new(network, rows_wanted(at_once), CACHE_BYTES);
    let play = |number| {
        let _participant = player.gather.join();
        play_game(&player.judge, settings, nth_seed(seed, number), stop)
    };
    play_games(first, end, at_once, stop, play, finished)?;
    let (batches, rows) = player.gather.statistics();
    Ok(Load { batches, rows })
}

/// A batch for each core, all games together.
pub(crate) fn rows_wanted(at_once: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    at_once.div_ceil(cores)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path, sync::Mutex};

    use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};

    use super::*;

    fn play(at_once: usize) -> (BTreeMap<u64, usize>, Load) {
        let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 2), 3);
        let network = LoadedNetwork::from_leela(&random, Path::new("random")).unwrap();
        let settings = SelfPlay {
            simulations: 4,
            quick_simulations: 2,
            ..SelfPlay::default()
        };
        let lengths = Mutex::new(BTreeMap::new());
        let stop = AtomicBool::new(false);
        let load = self_play(
            network,
            &settings,
            9,
            100,
            Some(112),
            at_once,
            &stop,
            |number, game| {
                lengths
                    .lock()
                    .unwrap()
                    .insert(number, game.game.move_number());
            },
        );
        (lengths.into_inner().unwrap(), load.unwrap())
    }

    #[test]
    fn games_at_once_fill_batches_and_are_the_same_games() {
        let (together, load) = play(8);
        assert!(load.rows > load.batches, "{load:?}");
        let (alone, _) = play(1);
        assert_eq!(together, alone);
        assert_eq!(
            alone.keys().copied().collect::<Vec<_>>(),
            (100..112).collect::<Vec<_>>()
        );
    }
}
