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
    /// The round the newest game was played in, and the positions of that round.
    pub(super) round_positions: (u64, usize),
    pub(super) window: VecDeque<D::Example>,
    window_size: usize,
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
            round_positions: (0, 0),
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
        if self.round_positions.0 != round {
            self.round_positions = (round, 0);
        }
        self.round_positions.1 += examples.len();
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
}
