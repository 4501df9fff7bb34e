//! A match: its slots are played many at once, and the sequential test reads them in order.
//!
//! Short games end first. If the test saw games as they arrive, quick wins would be counted before slow losses, so only
//! the slots before the first open one count. The verdict then depends on the results alone: a match that was interrupted,
//! or played on many machines, comes to the same one.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::{
    GameError, MatchGame, MatchScore, MatchVerdict, RunError, Sprt, Store, Winner, desk::Desk,
};

/// A match between two players.
#[derive(Clone, Copy, Debug)]
pub struct MatchTask<'a> {
    /// The name of the first player; the score is its score.
    pub first: &'a str,
    /// The name of the second player.
    pub second: &'a str,
    /// What ends the match.
    pub rule: Rule,
    /// Games at once.
    pub at_once: usize,
    /// Fixes the random choices, slot by slot.
    pub seed: u64,
}

/// What ends a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// A sequential test; its limits bound the number of games.
    Sprt(Sprt),
    /// So many games, whatever their results; its verdict says [`MatchVerdict::Fail`] when they are played.
    Length(u32),
}

impl Rule {
    /// The longest match.
    pub(crate) fn most_games(&self) -> u32 {
        match self {
            Rule::Sprt(sprt) => sprt.limits.map_or(u32::MAX, |limits| limits.max_games),
            Rule::Length(games) => *games,
        }
    }
}

/// Plays the open slots of a match until it is decided or `stop` is set, and returns the verdict with its score.
///
/// `play` plays the slot of a number with a seed, or returns nothing when its flag was set before the end;
/// `on_progress` is told the score after each game.
pub fn play_match(
    store: &dyn Store,
    task: &MatchTask<'_>,
    stop: &AtomicBool,
    play: impl Fn(u32, u64, &AtomicBool) -> Result<Option<Winner>, GameError> + Sync,
    on_progress: impl Fn(MatchScore) + Sync,
) -> Result<(MatchVerdict, MatchScore), RunError> {
    play_match_at(
        &Desk::default(),
        false,
        store,
        task,
        stop,
        play,
        on_progress,
    )
}

/// [`play_match`] at a desk from which workers elsewhere may take slots as well; then it waits for their results.
pub(crate) fn play_match_at(
    desk: &Desk,
    is_for_workers: bool,
    store: &dyn Store,
    task: &MatchTask<'_>,
    stop: &AtomicBool,
    play: impl Fn(u32, u64, &AtomicBool) -> Result<Option<Winner>, GameError> + Sync,
    on_progress: impl Fn(MatchScore) + Sync,
) -> Result<(MatchVerdict, MatchScore), RunError> {
    // Games under way are given up as soon as the match is decided.
    let done = desk.open_match(task, store.match_games()?, is_for_workers);
    let is_over = || done.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
    let failure = OnceLock::new();
    let fail = |error: RunError| {
        // Of several failures the first is told.
        let _ = failure.set(error);
        done.store(true, Ordering::Relaxed);
    };
    let at_once = match task.at_once {
        0 if !is_for_workers => 1,
        at_once => at_once,
    };
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while !is_over() {
                    let Some(offer) = desk.take_slot(false) else {
                        if !is_for_workers {
                            return;
                        }
                        desk.wait();
                        continue;
                    };
                    let winner = match play(offer.slot, offer.seed, &done) {
                        Ok(Some(winner)) => winner,
                        Ok(None) => return,
                        Err(error) => return fail(RunError::Game(error)),
                    };
                    let game = MatchGame::new(task.first, task.second, offer.slot, winner);
                    match desk.fill(store, &game) {
                        Ok(Some((_, score))) => on_progress(score),
                        Ok(None) => return,
                        Err(error) => return fail(error.into()),
                    }
                }
            });
        }
        while is_for_workers && !is_over() {
            desk.wait();
            if let Some((_, _, score, _)) = desk.current_match() {
                on_progress(score);
            }
        }
    });
    let outcome = desk.close_match();
    failure.into_inner().map_or(Ok(outcome), Err)
}

/// The results of a match by slot.
#[derive(Default)]
pub(crate) struct Slots {
    /// Open, or whether the first player won, which is absent in a tie.
    results: Vec<Option<Option<bool>>>,
}

impl Slots {
    /// The slots of a match among all results of a run.
    pub(crate) fn of(games: Vec<MatchGame>, task: &MatchTask<'_>) -> Slots {
        let mut slots = Slots::default();
        for game in games {
            // The first runs did not say who the opponent was: the best network of that time, as now.
            let opponent_fits = game.second.is_empty() || game.second == task.second;
            if game.first == task.first && opponent_fits {
                slots.fill(game.slot, game.first_won);
            }
        }
        slots
    }

    pub(crate) fn fill(&mut self, slot: u32, first_won: Option<bool>) {
        let slot = slot as usize;
        if self.results.len() <= slot {
            self.results.resize(slot + 1, None);
        }
        self.results[slot].get_or_insert(first_won);
    }

    pub(crate) fn is_filled(&self, slot: u32) -> bool {
        matches!(self.results.get(slot as usize), Some(Some(_)))
    }

    /// The verdict of the slots in order, and the score at which it fell. Ties count for the length of the match, which
    /// must come to an end.
    pub(crate) fn verdict(&self, rule: &Rule) -> (MatchVerdict, MatchScore) {
        let mut score = MatchScore::default();
        let filled = self.results.iter().map_while(|result| *result);
        let most = rule.most_games() as usize;
        for (index, first_won) in filled.enumerate() {
            match first_won {
                Some(true) => score.wins += 1,
                Some(false) => score.losses += 1,
                None => {}
            }
            let is_full = index + 1 >= most;
            let verdict = match rule {
                Rule::Sprt(sprt) => match (sprt.verdict(score), &sprt.limits) {
                    (MatchVerdict::Open, Some(limits)) if is_full => {
                        let passes = score.games() > limits.min_games
                            && score.winrate() >= limits.full_length_winrate;
                        if passes {
                            MatchVerdict::Pass
                        } else {
                            MatchVerdict::Fail
                        }
                    }
                    (verdict, _) => verdict,
                },
                Rule::Length(_) if is_full => MatchVerdict::Fail,
                Rule::Length(_) => MatchVerdict::Open,
            };
            if verdict != MatchVerdict::Open {
                return (verdict, score);
            }
        }
        (MatchVerdict::Open, score)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{FolderStore, Limits};

    fn sprt(min_games: u32, max_games: u32) -> Rule {
        Rule::Sprt(Sprt {
            limits: Some(Limits {
                min_games,
                max_games,
                ..Limits::default()
            }),
            ..Sprt::default()
        })
    }

    fn task(rule: Rule, at_once: usize) -> MatchTask<'static> {
        MatchTask {
            first: "a",
            second: "b",
            rule,
            at_once,
            seed: 1,
        }
    }

    fn store() -> (tempfile::TempDir, FolderStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = FolderStore::open(folder.path(), |_| {}).unwrap();
        (folder, store)
    }

    #[test]
    fn a_match_nobody_wins_ends_at_its_longest_and_not_later() {
        let (_folder, store) = store();
        let sprt = sprt(10, 20);
        let nobody = |_: u32, _: u64, _: &AtomicBool| Ok(Some(Winner::Nobody));
        let stop = AtomicBool::new(false);
        let (verdict, _) = play_match(&store, &task(sprt, 7), &stop, nobody, |_| {}).unwrap();
        assert_eq!(verdict, MatchVerdict::Fail);
        assert_eq!(store.match_games().unwrap().len(), 20);
    }

    #[test]
    fn no_more_games_are_played_than_the_longest_match_has() {
        let (_folder, store) = store();
        let sprt = sprt(30, 40);
        // As many wins as losses keep the test open until the end.
        let even = |slot: u32, _: u64, _: &AtomicBool| {
            Ok(Some(if slot.is_multiple_of(2) {
                Winner::First
            } else {
                Winner::Second
            }))
        };
        let stop = AtomicBool::new(false);
        play_match(&store, &task(sprt, 64), &stop, even, |_| {}).unwrap();
        assert!(store.match_games().unwrap().len() <= 40);
        assert!(
            store
                .match_games()
                .unwrap()
                .iter()
                .all(|game| game.slot < 40)
        );
    }

    #[test]
    fn a_match_resumes_with_the_open_slots_after_a_stop() {
        let (folder, first) = store();
        let sprt = sprt(10, 40);
        let (stop, played) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let win = |slot: u32, _: u64, _: &AtomicBool| {
            played.lock().unwrap().push(slot);
            stop.store(slot == 4, Ordering::Relaxed);
            Ok(Some(Winner::First))
        };
        let (verdict, score) = play_match(&first, &task(sprt, 1), &stop, win, |_| {}).unwrap();
        assert_eq!(
            (verdict, score),
            (MatchVerdict::Open, MatchScore::new(5, 0))
        );
        drop(first);
        let again = FolderStore::open(folder.path(), |_| {}).unwrap();
        stop.store(false, Ordering::Relaxed);
        let (verdict, _) = play_match(&again, &task(sprt, 1), &stop, win, |_| {}).unwrap();
        assert_eq!(verdict, MatchVerdict::Pass);
        let played = played.into_inner().unwrap();
        assert_eq!(played, (0..played.len() as u32).collect::<Vec<_>>());
    }

    #[test]
    fn a_game_that_fails_ends_the_match_with_its_error() {
        let (_folder, store) = store();
        let fails = |slot: u32, _: u64, _: &AtomicBool| match slot {
            3 => Err("the card was taken out".into()),
            _ => Ok(Some(Winner::First)),
        };
        let stop = AtomicBool::new(false);
        let ended = play_match(&store, &task(sprt(10, 40), 2), &stop, fails, |_| {});
        assert_eq!(ended.unwrap_err().to_string(), "the card was taken out");
        assert!(!stop.into_inner(), "only the match ends by itself");
    }

    #[test]
    fn quick_wins_do_not_count_before_slow_losses() {
        let sprt = sprt(4, 40);
        let mut slots = Slots::default();
        for slot in 1..40 {
            slots.fill(slot, Some(true));
        }
        assert_eq!(
            slots.verdict(&sprt),
            (MatchVerdict::Open, MatchScore::default())
        );
        slots.fill(0, Some(false));
        assert_eq!(slots.verdict(&sprt).0, MatchVerdict::Pass);
    }

    #[test]
    fn whatever_the_order_of_arrival_the_verdict_and_the_score_are_the_same() {
        let rule = Rule::Sprt(Sprt::default());
        for luck in 2..6 {
            let mut verdicts = std::collections::HashSet::new();
            for shuffle in 0..1000_u64 {
                let mut order: Vec<u32> = (0..400).collect();
                order.sort_by_key(|slot| base::mix(u64::from(*slot) ^ (shuffle << 32)));
                let mut slots = Slots::default();
                let decided = order.into_iter().find_map(|slot| {
                    let won = !base::mix(u64::from(slot)).is_multiple_of(luck);
                    slots.fill(slot, Some(won));
                    Some(slots.verdict(&rule)).filter(|(verdict, _)| *verdict != MatchVerdict::Open)
                });
                let (verdict, score) = decided.unwrap();
                verdicts.insert((verdict == MatchVerdict::Pass, score.wins, score.losses));
            }
            assert_eq!(verdicts.len(), 1, "{verdicts:?}");
        }
    }

    #[test]
    fn games_of_a_first_run_without_an_opponent_still_count() {
        let game = |slot| MatchGame {
            second: String::new(),
            ..MatchGame::new("a", "", slot, Winner::First)
        };
        let sprt = sprt(10, 40);
        let slots = Slots::of((0..3).map(game).collect(), &task(sprt, 1));
        assert_eq!(slots.verdict(&sprt).1, MatchScore::new(3, 0));
    }
}
