//! A game from the first pill to its end.

use thiserror::Error;

use crate::board::Board;
use crate::cell::Color;
use crate::level::console_level;
use crate::pill::{Pill, PillList, Placement};
use crate::place::Outcome;
use crate::reach::flood;

/// Pills without a virus cleared after which self-play calls a game stalled.
pub(crate) const STALL_AFTER: u32 = 20;

/// When a game ends beside clearing the board and topping out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    /// The game is stalled once this many pills in a row cleared no virus.
    pub stall_after: Option<u32>,
    /// The game is cut after this many pills.
    pub most_pills: Option<u32>,
}

impl Rules {
    /// Self-play's rule: stalled after `STALL_AFTER` pills without a virus.
    pub const SELF_PLAY: Rules = Rules {
        stall_after: Some(STALL_AFTER),
        most_pills: None,
    };
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// No virus is left: won.
    Cleared,
    /// The next pill could not be launched: lost.
    ToppedOut,
    /// Too many pills in a row cleared nothing.
    Stalled,
    /// The limit of pills was reached.
    OutOfPills,
}

/// A placement the pill cannot come to rest in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the pill cannot come to rest at {0}")]
pub struct IllegalPlacement(pub Placement);

/// A game under way, or over.
#[derive(Clone, Debug)]
pub struct Game {
    board: Board,
    pills: PillList,
    rules: Rules,
    viruses_at_start: u32,
    placed: u32,
    placed_since_clear: u32,
    ending: Option<Ending>,
}

impl Game {
    /// A game on `board` with a list of pills.
    pub fn new(board: Board, pills: PillList, rules: Rules) -> Self {
        let mut game = Self {
            board,
            pills,
            rules,
            viruses_at_start: board.viruses_left(),
            placed: 0,
            placed_since_clear: 0,
            ending: None,
        };
        game.ending = game.find_ending();
        game
    }

    /// The game the console deals for a seed and level.
    pub fn console(seed: u16, level: u8, rules: Rules) -> Self {
        let (pills, board) = console_level(seed, level);
        Self::new(board, pills, rules)
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The pill to place now.
    pub fn pill(&self) -> Pill {
        self.pills.get(self.placed as usize)
    }

    /// The pill after it, which the console shows.
    pub fn next_pill(&self) -> Pill {
        self.pills.get(self.placed as usize + 1)
    }

    pub fn pills(&self) -> &PillList {
        &self.pills
    }

    /// Pills placed so far.
    pub fn placed(&self) -> u32 {
        self.placed
    }

    /// Viruses the game began with.
    pub fn viruses_at_start(&self) -> u32 {
        self.viruses_at_start
    }

    pub fn viruses_cleared(&self) -> u32 {
        self.viruses_at_start - self.board.viruses_left()
    }

    /// How the game ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Lets halves fall in that the other side sent (see [`crate::versus`]). They may clear runs, and may end the game.
    pub fn receive(&mut self, pieces: &[(u8, Color)]) -> Outcome {
        let outcome = self.board.drop_garbage(pieces);
        self.ending = self.find_ending();
        outcome
    }

    /// Places the current pill.
    pub fn play(&mut self, placement: Placement) -> Result<Outcome, IllegalPlacement> {
        if self.ending.is_some() || !flood(&self.board).contains(placement) {
            return Err(IllegalPlacement(placement));
        }
        Ok(self.play_reachable(placement))
    }

    /// [`Game::play`] for a placement known to be reachable.
    pub fn play_reachable(&mut self, placement: Placement) -> Outcome {
        let outcome = self.board.play(self.pill(), placement);
        self.placed += 1;
        self.placed_since_clear = if outcome.viruses > 0 {
            0
        } else {
            self.placed_since_clear + 1
        };
        self.ending = self.find_ending();
        outcome
    }

    /// Clearing the last virus wins even when the throat is blocked at that moment.
    fn find_ending(&self) -> Option<Ending> {
        if self.board.viruses_left() == 0 {
            Some(Ending::Cleared)
        } else if self.board.is_topped_out() {
            Some(Ending::ToppedOut)
        } else if self
            .rules
            .stall_after
            .is_some_and(|most| self.placed_since_clear >= most)
        {
            Some(Ending::Stalled)
        } else if self
            .rules
            .most_pills
            .is_some_and(|most| self.placed >= most)
        {
            Some(Ending::OutOfPills)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_placements_are_refused() {
        let mut game = Game::console(0x8988, 0, Rules::default());
        for placement in [
            Placement::new(0, 0, 5),
            Placement::new(0, 7, 0),
            Placement::new(1, 9, 0),
        ] {
            assert_eq!(game.play(placement), Err(IllegalPlacement(placement)));
        }
    }

    #[test]
    fn a_game_without_clears_stalls_or_tops_out() {
        for (rules, ending) in [
            (Rules::SELF_PLAY, Ending::Stalled),
            (
                Rules {
                    most_pills: Some(3),
                    ..Rules::default()
                },
                Ending::OutOfPills,
            ),
        ] {
            // All the pills upright in the two outer columns hold for twenty placements.
            let mut game = Game::console(0x8988, 0, rules);
            while game.ending().is_none() {
                let resting = flood(game.board());
                let lowest = resting
                    .placements(game.pill())
                    .filter(|&placement| {
                        let mut board = *game.board();
                        board.play(game.pill(), placement).rounds() == 0
                    })
                    .min_by_key(|placement| placement.y)
                    .unwrap();
                game.play(lowest).unwrap();
            }
            assert_eq!(game.ending(), Some(ending));
        }
    }
}
