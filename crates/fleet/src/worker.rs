//! Many games of self-play at once, so that the network always has a full batch.

use std::{
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use go_player::{
    Judge, NotForGo,
    selfplay::{Finished, SelfPlay, play_game},
};
use net::{evaluator::Evaluator, gather::Gather};

/// Memory for evaluations: early positions recur in many games.
const CACHE_BYTES: usize = 64 << 20;

/// How full the network's batches were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Batches the network evaluated.
    pub batches: u64,
    /// Positions in them.
    pub rows: u64,
}

/// Plays games, `at_once` at a time, counted from `first`, and hands each to `finished` as it ends.
/// It goes on until `stop` is set; games under way are then given up. The number of a game and
/// `seed` fix its random choices.
pub fn play_games(
    evaluator: Arc<dyn Evaluator>,
    settings: &SelfPlay,
    seed: u64,
    first: u64,
    at_once: usize,
    stop: &AtomicBool,
    finished: impl Fn(u64, Finished) + Sync,
) -> Result<Load, NotForGo> {
    let gather = Arc::new(Gather::new(evaluator, rows_wanted(at_once)));
    let judge = Judge::new(gather.clone(), CACHE_BYTES)?;
    let next = AtomicU64::new(first);
    thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            let seat = gather.join();
            let (judge, next, finished) = (&judge, &next, &finished);
            scope.spawn(move || {
                let _seat = seat;
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if let Some(game) =
                        play_game(judge, settings, base::nth_seed(seed, number), stop)
                    {
                        finished(number, game);
                    }
                }
            });
        }
    });
    let (batches, rows) = gather.statistics();
    Ok(Load { batches, rows })
}

/// A batch for each core, all games together.
pub(crate) fn rows_wanted(at_once: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    at_once.div_ceil(cores)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Mutex};

    use net::{
        leela::{LeelaNetwork, LeelaShape, LeelaVersion},
        reference::Reference,
    };

    use super::*;

    fn evaluator() -> Arc<dyn Evaluator> {
        let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 2), 3);
        Arc::new(Reference::new(random.to_network()).unwrap())
    }

    fn play(at_once: usize) -> (BTreeMap<u64, usize>, Load) {
        let settings = SelfPlay {
            simulations: 4,
            quick_simulations: 2,
            ..SelfPlay::default()
        };
        let lengths = Mutex::new(BTreeMap::new());
        let stop = AtomicBool::new(false);
        let load = play_games(
            evaluator(),
            &settings,
            9,
            100,
            at_once,
            &stop,
            |number, finished| {
                let mut lengths = lengths.lock().unwrap();
                lengths.insert(number, finished.game.move_number());
                stop.store(lengths.len() >= 12, Ordering::Relaxed);
            },
        );
        (lengths.into_inner().unwrap(), load.unwrap())
    }

    #[test]
    fn games_at_once_fill_batches() {
        let (lengths, load) = play(8);
        assert!(lengths.len() >= 12 && lengths.keys().all(|&number| number >= 100));
        assert!(load.rows > load.batches, "{load:?}");
    }

    #[test]
    fn one_game_at_a_time_is_played_in_order() {
        let (lengths, _) = play(1);
        assert_eq!(
            lengths.keys().copied().collect::<Vec<_>>(),
            (100..112).collect::<Vec<_>>()
        );
    }
}
