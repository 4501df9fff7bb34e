//! What is known of a run's games.

use std::collections::VecDeque;

use crate::zero::Discipline;

/// Games kept at hand for the report.
const RECENT_GAMES: usize = 12;

/// The games of a run: counted, the newest at hand, the positions of the window.
pub struct Games<D: Discipline> {
    /// Games so far.
    pub count: u64,
    /// Positions recorded so far.
    pub positions: u64,
    /// The newest games.
    pub recent: VecDeque<D::Game>,
    /// What the game counts of them.
    pub summary: D::Summary,
    pub(super) next_number: u64,
    /// The round the newest game was played in, and what there is of that round.
    newest_round: (u64, RoundCount),
    pub(super) window: VecDeque<D::Example>,
    window_size: usize,
}

/// What was played in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundCount {
    /// Games.
    pub(super) games: u64,
    /// Positions recorded in them.
    pub(super) positions: usize,
}

impl<D: Discipline> Games<D> {
    /// No games yet.
    pub fn new(window_size: usize) -> Self {
        Games {
            count: 0,
            positions: 0,
            recent: VecDeque::new(),
            summary: D::Summary::default(),
            next_number: 0,
            newest_round: (0, RoundCount::default()),
            window: VecDeque::new(),
            window_size,
        }
    }

    /// Adds a game.
    pub fn add(&mut self, game: D::Game) {
        let (number, round) = D::place(&game);
        let examples = D::examples(&game);
        self.count += 1;
        self.next_number = self.next_number.max(number + 1);
        self.positions += examples.len() as u64;
        if self.newest_round.0 != round {
            self.newest_round = (round, RoundCount::default());
        }
        self.newest_round.1.games += 1;
        self.newest_round.1.positions += examples.len();
        for example in examples {
            if self.window.len() == self.window_size {
                self.window.pop_front();
            }
            self.window.push_back(example);
        }
        D::count(&mut self.summary, &game);
        if self.recent.len() == RECENT_GAMES {
            self.recent.pop_front();
        }
        self.recent.push_back(game);
    }

    /// What was played in `round`, which is the newest game's or a later one without games so far.
    pub(super) fn of_round(&self, round: u64) -> RoundCount {
        match self.newest_round {
            (newest, count) if newest == round => count,
            _ => RoundCount::default(),
        }
    }
}
