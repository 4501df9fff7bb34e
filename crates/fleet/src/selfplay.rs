//! The one driver of self-play: many games at once, so that a network always has a full batch.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

/// Plays the games with the numbers `first..end`, `at_once` at a time, and hands each to `finished` as it ends.
///
/// `play` plays the game of a number and returns nothing when it was stopped before its end. No game begins once `stop`
/// is set or a game has failed; the first failure is returned. Games end in any order; the number alone must fix a
/// game, so that order does not matter.
pub fn play_games<R, E: Send + Sync>(
    first: u64,
    end: Option<u64>,
    at_once: usize,
    stop: &AtomicBool,
    play: impl Fn(u64) -> Result<Option<R>, E> + Sync,
    finished: impl Fn(u64, R) + Sync,
) -> Result<(), E> {
    let next = AtomicU64::new(first);
    let failure = OnceLock::new();
    let number = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let is_wanted = end.is_none_or(|end| number < end) && failure.get().is_none();
        is_wanted.then_some(number)
    };
    let play = |number| {
        play(number).unwrap_or_else(|error| {
            // Of several failures the first is told.
            let _ = failure.set(error);
            None
        })
    };
    play_numbers(number, at_once.max(1), stop, play, finished);
    failure.into_inner().map_or(Ok(()), Err)
}

/// [`play_games`] with numbers from elsewhere; a player ends when there is none for it.
pub(crate) fn play_numbers<R>(
    next: impl Fn() -> Option<u64> + Sync,
    at_once: usize,
    stop: &AtomicBool,
    play: impl Fn(u64) -> Option<R> + Sync,
    finished: impl Fn(u64, R) + Sync,
) {
    let play_next = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(number) = next() else {
                return;
            };
            if let Some(record) = play(number) {
                finished(number, record);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(play_next);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn every_number_is_played_once_and_none_beyond_the_end() {
        for at_once in [1, 4] {
            let (stop, played) = (AtomicBool::new(false), Mutex::new(Vec::new()));
            let play = |number| Ok::<_, String>(Some(number));
            play_games(100, Some(112), at_once, &stop, play, |number, same| {
                assert_eq!(number, same);
                played.lock().unwrap().push(number);
            })
            .unwrap();
            let mut played = played.into_inner().unwrap();
            if at_once > 1 {
                played.sort_unstable();
            }
            assert_eq!(played, (100..112).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_stop_ends_it_and_unfinished_games_are_not_handed_on() {
        let (stop, played) = (AtomicBool::new(false), AtomicU64::new(0));
        let even = |number: u64| Ok::<_, String>(number.is_multiple_of(2).then_some(()));
        play_games(0, None, 2, &stop, even, |number, ()| {
            assert!(number.is_multiple_of(2));
            stop.store(
                played.fetch_add(1, Ordering::Relaxed) >= 4,
                Ordering::Relaxed,
            );
        })
        .unwrap();
        assert!(played.into_inner() >= 5);
    }

    #[test]
    fn a_game_that_fails_ends_it_with_its_error() {
        let (stop, played) = (AtomicBool::new(false), AtomicU64::new(0));
        let play = |number: u64| match number {
            5 => Err("the card was taken out"),
            number => Ok(Some(number)),
        };
        let ended = play_games(0, None, 2, &stop, play, |_, _| {
            played.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(ended, Err("the card was taken out"));
        assert!(played.into_inner() >= 4 && !stop.into_inner());
    }
}
