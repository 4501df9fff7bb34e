//! The desk: which games are wanted now, and who plays them.
//!
//! The loop says what it wants; players in this process and, if there are any, workers elsewhere take numbers and slots
//! from the same desk. A self-play game that is never finished is never missed, since a round needs enough games, not
//! these games. A slot of a match must be filled, so a slot that takes too long is given out again, and its first result
//! counts.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::AtomicBool, atomic::Ordering},
    time::{Duration, Instant},
};

use base::nth_seed;

use crate::{
    Appended, MatchGame, MatchScore, MatchTask, MatchVerdict, Store, StoreError, matches::Slots,
};

/// Numbers are set aside on disk in blocks, so that no number is given out twice, not even across a crash.
const BLOCK: u64 = 256;
/// The note that keeps how far.
const NUMBERS: &str = "numbers";
/// A slot is given out again after this many times the median time of a game.
const LATE_FACTOR: u32 = 2;
/// A slot is never given out again sooner.
const SHORTEST_LATE: Duration = Duration::from_secs(20);
/// While no game of a match is finished, a slot is given out again after this.
const FIRST_LATE: Duration = Duration::from_secs(600);
/// How often waiting players look again.
const GLANCE: Duration = Duration::from_millis(200);

/// What is wanted, and who plays it.
#[derive(Default)]
pub(crate) struct Desk {
    state: Mutex<DeskState>,
    changed: Condvar,
}

#[derive(Default)]
struct DeskState {
    next_number: u64,
    /// Numbers below are set aside in the store; without one nobody else needs to know.
    set_aside: u64,
    store: Option<Arc<dyn Store>>,
    selfplay: Option<SelfPlayOffer>,
    table: Option<Table>,
    is_paused: bool,
}

/// Self-play that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelfPlayOffer {
    /// The round the games belong to.
    pub(crate) round: u64,
    /// Who plays; empty for the player of the first games.
    pub(crate) network: String,
    /// Games that are still wanted; more are taken, but none are given out once it is 0.
    pub(crate) wanted: u64,
}

/// A slot that somebody is to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotOffer {
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) slot: u32,
    pub(crate) seed: u64,
    pub(crate) attempt: u32,
}

/// A match under way.
struct Table {
    first: String,
    second: String,
    rule: crate::Rule,
    seed: u64,
    is_for_workers: bool,
    slots: Slots,
    out: BTreeMap<u32, Lease>,
    /// How long finished games took.
    durations: Vec<Duration>,
    done: Arc<AtomicBool>,
}

struct Lease {
    since: Instant,
    attempt: u32,
}

impl Desk {
    /// A desk whose numbers begin here.
    pub(crate) fn new(next_number: u64) -> Desk {
        let desk = Desk::default();
        desk.lock().next_number = next_number;
        desk
    }

    /// From now on workers elsewhere take numbers, too; a note of the run keeps how far they were given out.
    pub(crate) fn open_to_workers(&self, store: Arc<dyn Store>) -> Result<(), StoreError> {
        let kept = match store.note(NUMBERS)? {
            Some(text) => {
                let text = String::from_utf8_lossy(&text).trim().to_owned();
                text.parse().map_err(|_| StoreError::Content {
                    path: NUMBERS.into(),
                    message: format!(
                        "{text:?} is no number; write one there that is larger than every game's number"
                    ),
                })?
            }
            None => 0,
        };
        let mut state = self.lock();
        state.next_number = state.next_number.max(kept);
        state.set_aside = state.next_number;
        state.store = Some(store);
        Ok(())
    }

    /// Says which self-play is wanted.
    pub(crate) fn offer_selfplay(&self, offer: Option<SelfPlayOffer>) {
        self.lock().selfplay = offer;
        self.changed.notify_all();
    }

    /// What self-play is wanted.
    pub(crate) fn selfplay(&self) -> Option<SelfPlayOffer> {
        self.lock().selfplay.clone()
    }

    /// One game that was wanted has come in.
    pub(crate) fn count_game(&self, round: u64) {
        let mut state = self.lock();
        if let Some(offer) = &mut state.selfplay
            && offer.round == round
        {
            offer.wanted = offer.wanted.saturating_sub(1);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Stops or resumes giving out self-play to workers.
    pub(crate) fn pause(&self, is_paused: bool) {
        self.lock().is_paused = is_paused;
        self.changed.notify_all();
    }

    /// Whether workers get no self-play.
    pub(crate) fn is_paused(&self) -> bool {
        self.lock().is_paused
    }

    /// The next number of a self-play game.
    pub(crate) fn take_number(&self) -> Result<u64, StoreError> {
        let mut state = self.lock();
        let number = state.next_number;
        if let Some(store) = state.store.clone()
            && number >= state.set_aside
        {
            let end = number + BLOCK;
            store.put_note(NUMBERS, end.to_string().as_bytes())?;
            state.set_aside = end;
        }
        state.next_number += 1;
        Ok(number)
    }

    /// Puts a match on the desk; returns the flag that is set when it is decided.
    pub(crate) fn open_match(
        &self,
        task: &MatchTask<'_>,
        games: Vec<MatchGame>,
        is_for_workers: bool,
    ) -> Arc<AtomicBool> {
        let slots = Slots::of(games, task);
        let done = Arc::new(AtomicBool::new(
            slots.verdict(&task.rule).0 != MatchVerdict::Open,
        ));
        self.lock().table = Some(Table {
            first: task.first.to_owned(),
            second: task.second.to_owned(),
            rule: task.rule,
            seed: task.seed,
            is_for_workers,
            slots,
            out: BTreeMap::new(),
            durations: Vec::new(),
            done: done.clone(),
        });
        self.changed.notify_all();
        done
    }

    /// Takes the match off the desk; returns its verdict and score.
    pub(crate) fn close_match(&self) -> (MatchVerdict, MatchScore) {
        let table = self.lock().table.take();
        self.changed.notify_all();
        table.map_or((MatchVerdict::Open, MatchScore::default()), |table| {
            table.slots.verdict(&table.rule)
        })
    }

    /// The match under way: its players, score and length so far, if any.
    pub(crate) fn current_match(&self) -> Option<(String, String, MatchScore, u32)> {
        let state = self.lock();
        let table = state.table.as_ref()?;
        let (_, score) = table.slots.verdict(&table.rule);
        let open = table.out.len() as u32;
        Some((table.first.clone(), table.second.clone(), score, open))
    }

    /// A slot to be played; nothing if all are filled or being played.
    pub(crate) fn take_slot(&self, for_worker: bool) -> Option<SlotOffer> {
        let mut state = self.lock();
        let table = state.table.as_mut()?;
        if for_worker && !table.is_for_workers || table.done.load(Ordering::Relaxed) {
            return None;
        }
        let slot = table.open_slot().or_else(|| table.late_slot())?;
        let attempt = table.out.get(&slot).map_or(1, |lease| lease.attempt + 1);
        table.out.insert(
            slot,
            Lease {
                since: Instant::now(),
                attempt,
            },
        );
        Some(SlotOffer {
            first: table.first.clone(),
            second: table.second.clone(),
            slot,
            seed: nth_seed(table.seed, u64::from(slot)),
            attempt,
        })
    }

    /// A slot comes back unplayed.
    pub(crate) fn give_back(&self, first: &str, second: &str, slot: u32) {
        if let Some(table) = &mut self.lock().table
            && table.is_of(first, second)
        {
            table.out.remove(&slot);
        }
        self.changed.notify_all();
    }

    /// Whether a match between these two is under way.
    pub(crate) fn is_playing(&self, first: &str, second: &str) -> bool {
        let state = self.lock();
        let table = state.table.as_ref();
        table.is_some_and(|table| table.is_of(first, second))
    }

    /// Keeps the result of a slot and returns the score so far; nothing if that match is not under way.
    pub(crate) fn fill(
        &self,
        store: &dyn Store,
        game: &MatchGame,
    ) -> Result<Option<(Appended, MatchScore)>, StoreError> {
        let mut state = self.lock();
        let Some(table) = &mut state.table else {
            return Ok(None);
        };
        if !table.is_of(&game.first, &game.second) {
            return Ok(None);
        }
        let appended = store.fill_slot(game)?;
        if let Some(lease) = table.out.remove(&game.slot) {
            table.durations.push(lease.since.elapsed());
        }
        let first_won = match appended {
            Appended::New => game.first_won,
            // The first result of a slot stays, also if it came in while this desk was not told.
            Appended::Duplicate => {
                let games = store.match_games()?;
                let kept = games.into_iter().rev().find(|kept| {
                    kept.slot == game.slot && kept.first == game.first && kept.second == game.second
                });
                kept.map_or(game.first_won, |kept| kept.first_won)
            }
        };
        table.slots.fill(game.slot, first_won);
        let (verdict, score) = table.slots.verdict(&table.rule);
        if verdict != MatchVerdict::Open {
            table.done.store(true, Ordering::Relaxed);
        }
        drop(state);
        self.changed.notify_all();
        Ok(Some((appended, score)))
    }

    /// Forgets the results of a match under way and reads it anew: somebody's games were taken back.
    pub(crate) fn reread_match(&self, games: Vec<MatchGame>) {
        if let Some(table) = &mut self.lock().table {
            let task = MatchTask {
                first: &table.first,
                second: &table.second,
                rule: table.rule,
                at_once: 0,
                seed: table.seed,
            };
            table.slots = Slots::of(games, &task);
            let is_done = table.slots.verdict(&table.rule).0 != MatchVerdict::Open;
            table.done.store(is_done, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    /// Waits a moment, or until something on the desk changes.
    pub(crate) fn wait(&self) {
        let state = self.lock();
        let _unused = self.changed.wait_timeout(state, GLANCE);
    }

    /// Wakes whoever waits.
    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn is_of(&self, first: &str, second: &str) -> bool {
        self.first == first && self.second == second
    }

    /// The first slot that nobody has filled or is filling.
    fn open_slot(&self) -> Option<u32> {
        (0..self.rule.most_games())
            .find(|slot| !self.slots.is_filled(*slot) && !self.out.contains_key(slot))
    }

    /// A slot that takes much longer than others did.
    fn late_slot(&self) -> Option<u32> {
        let mut durations = self.durations.clone();
        durations.sort_unstable();
        let median = durations.get(durations.len() / 2);
        let late = median.map_or(FIRST_LATE, |median| {
            (*median * LATE_FACTOR).max(SHORTEST_LATE)
        });
        let (slot, _) = self
            .out
            .iter()
            .find(|(_, lease)| lease.since.elapsed() > late)?;
        Some(*slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FolderStore, Rule, Sprt};

    fn task() -> MatchTask<'static> {
        MatchTask {
            first: "a",
            second: "b",
            rule: Rule::Sprt(Sprt::default()),
            at_once: 1,
            seed: 4,
        }
    }

    #[test]
    fn a_number_is_never_given_out_twice_not_even_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(FolderStore::open(folder.path(), |_| {}).unwrap());
        let mut given = std::collections::BTreeSet::new();
        for _ in 0..3 {
            // Nothing was recorded before each crash.
            let desk = Desk::new(0);
            desk.open_to_workers(store.clone()).unwrap();
            for _ in 0..BLOCK + 3 {
                assert!(given.insert(desk.take_number().unwrap()));
            }
        }
    }

    #[test]
    fn without_workers_numbers_follow_each_other() {
        let desk = Desk::new(7);
        let numbers: Vec<u64> = (0..3).map(|_| desk.take_number().unwrap()).collect();
        assert_eq!(numbers, [7, 8, 9]);
    }

    #[test]
    fn a_slot_is_out_once_until_it_is_given_back() {
        let desk = Desk::default();
        desk.open_match(&task(), Vec::new(), true);
        let taken: Vec<u32> = (0..3).map(|_| desk.take_slot(true).unwrap().slot).collect();
        assert_eq!(taken, [0, 1, 2]);
        desk.give_back("a", "b", 1);
        let again = desk.take_slot(true).unwrap();
        assert_eq!((again.slot, again.attempt), (1, 1));
        desk.give_back("a", "c", 2);
        assert_eq!(desk.take_slot(true).unwrap().slot, 3, "of another match");
    }

    #[test]
    fn games_against_fixed_opponents_stay_here() {
        let desk = Desk::default();
        desk.open_match(&task(), Vec::new(), false);
        assert!(desk.take_slot(true).is_none() && desk.take_slot(false).is_some());
    }
}
