//! What is known of a run's games: how many, the newest ones, and the positions to learn from.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::{Learner, Unreadable};

/// Games kept at hand for the report.
const RECENT_GAMES: usize = 12;

/// The self-play games of a run: counted, the newest at hand, and the newest positions.
pub struct Games<L: Learner> {
    /// Games so far.
    pub count: u64,
    /// Positions recorded so far.
    pub positions: u64,
    /// The newest games, oldest first.
    pub recent: VecDeque<L::Record>,
    /// What the game counts of all of them.
    pub summary: L::Summary,
    /// Records that teach nothing because they cannot be read.
    pub unreadable: Unreadable,
    pub(crate) next_number: u64,
    /// The numbers of all games: a number has one game.
    pub(crate) numbers: HashSet<u64>,
    rounds: BTreeMap<u64, RoundCount>,
    pub(crate) window: VecDeque<L::Example>,
    window_size: usize,
}

/// What was played in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCount {
    pub games: u64,
    /// Positions recorded in them.
    pub positions: usize,
}

impl<L: Learner> Games<L> {
    /// No games yet; the newest `window_size` positions will be kept.
    pub fn new(window_size: usize) -> Self {
        Games {
            count: 0,
            positions: 0,
            recent: VecDeque::new(),
            summary: L::Summary::default(),
            unreadable: Unreadable::default(),
            next_number: 0,
            numbers: HashSet::new(),
            rounds: BTreeMap::new(),
            window: VecDeque::new(),
            window_size,
        }
    }

    /// Adds a game. One without readable positions is counted and named in [`Self::unreadable`].
    pub fn add(&mut self, record: L::Record) {
        let (number, round) = L::number_and_round(&record);
        self.next_number = self.next_number.max(number + 1);
        self.numbers.insert(number);
        let examples = match L::examples(&record) {
            Ok(examples) => examples,
            Err(why) => {
                self.unreadable.add(&format!("game {number}"), &why);
                return;
            }
        };
        self.count += 1;
        self.positions += examples.len() as u64;
        let count = self.rounds.entry(round).or_default();
        count.games += 1;
        count.positions += examples.len();
        for example in examples {
            if self.window.len() == self.window_size {
                self.window.pop_front();
            }
            self.window.push_back(example);
        }
        L::summarise(&mut self.summary, &record);
        if self.recent.len() == RECENT_GAMES {
            self.recent.pop_front();
        }
        self.recent.push_back(record);
    }

    /// The positions to learn from, oldest first.
    pub fn window(&self) -> &VecDeque<L::Example> {
        &self.window
    }

    /// What was played in `round`. A game that comes in late counts for its own round, and is learned from all the same.
    pub fn of_round(&self, round: u64) -> RoundCount {
        self.rounds.get(&round).copied().unwrap_or_default()
    }
}
