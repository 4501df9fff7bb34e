//! Placing a pill and everything that follows: clearing runs, falling, clearing again.

use thiserror::Error;

use crate::board::{Board, HEIGHT, WIDTH, bit};
use crate::cell::{Cell, Color, Shape};
use crate::pill::{Content, Pill, Placement};

/// Every round empties at least four of the 128 cells, so there are never more.
const MOST_ROUNDS: usize = 32;

/// What a placement set off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Viruses cleared, over all rounds.
    pub viruses: u32,
    rounds: u8,
    rows_fallen: [u8; MOST_ROUNDS],
}

impl Outcome {
    /// Rounds of clearing; more than one is a chain.
    pub fn rounds(&self) -> usize {
        usize::from(self.rounds)
    }

    /// For each round the largest distance any cell fell after it.
    pub fn rows_fallen(&self) -> &[u8] {
        &self.rows_fallen[..self.rounds()]
    }
}

/// A moment of a placement, for drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    pub board: Board,
    /// Cells about to vanish.
    pub clearing: u128,
}

/// Why a pill cannot lie somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlaceError {
    /// A cell outside the 8 by 16 board.
    #[error("a pill at ({x}, {y}) would stick out of the 8x16 board")]
    Outside {
        /// Column asked for.
        x: u8,
        /// Row asked for.
        y: u8,
    },
    /// A cell that is taken.
    #[error("a pill at ({x}, {y}) would cover an occupied cell")]
    Occupied {
        /// Column asked for.
        x: u8,
        /// Row asked for.
        y: u8,
    },
}

impl Board {
    /// Puts `content` with its bottom or left cell at (x, y), then clears and drops until the
    /// board rests. Support is not checked: a pill locks wherever it is. An upright pill in the
    /// top row is legal; its upper half is lost.
    pub fn place(&mut self, content: Content, x: u8, y: u8) -> Result<Outcome, PlaceError> {
        let last_column = if content.vertical {
            WIDTH - 1
        } else {
            WIDTH - 2
        };
        if x > last_column || y >= HEIGHT {
            return Err(PlaceError::Outside { x, y });
        }
        let here = bit(x, y);
        let covered = if content.vertical {
            here | here << 8
        } else {
            here | here << 1
        };
        if self.occupied() & covered != 0 {
            return Err(PlaceError::Occupied { x, y });
        }
        Ok(self.place_reachable(content, x, y))
    }

    /// [`Board::place`] for a resting place that reachability returned, unchecked.
    #[inline]
    pub(crate) fn place_reachable(&mut self, content: Content, x: u8, y: u8) -> Outcome {
        let here = bit(x, y);
        if content.vertical {
            self.add_vertical(here, content.first, content.second);
        } else {
            self.add_horizontal(here, content.first, content.second);
        }
        self.settle()
    }

    /// What `Board::place_reachable` does for a launched pill after its turns.
    #[inline]
    pub fn play(&mut self, pill: Pill, placement: Placement) -> Outcome {
        self.place_reachable(pill.turned(placement.turns), placement.x, placement.y)
    }

    /// Clears runs of four and lets everything fall, until no run is left. Nothing falls when
    /// nothing clears.
    #[inline]
    pub fn settle(&mut self) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            let runs = self.runs();
            if runs == 0 {
                return outcome;
            }
            outcome.viruses += (runs & self.viruses()).count_ones();
            self.remove(runs);
            let mut fallen = 0;
            while self.fall_one_row() {
                fallen += 1;
            }
            outcome.rows_fallen[usize::from(outcome.rounds)] = fallen;
            outcome.rounds += 1;
        }
    }

    /// [`Board::place`] in slow motion: the board with the pill on it, then for each round the
    /// board with its runs marked and every row of the fall. The last scene is the board at rest.
    pub fn place_slowly(
        &mut self,
        content: Content,
        x: u8,
        y: u8,
    ) -> Result<Vec<Scene>, PlaceError> {
        let before = *self;
        self.place(content, x, y)?;
        let mut board = before;
        let here = bit(x, y);
        match content.vertical {
            true => board.add_vertical(here, content.first, content.second),
            false => board.add_horizontal(here, content.first, content.second),
        }
        let mut scenes = vec![Scene { board, clearing: 0 }];
        loop {
            let clearing = board.runs();
            if clearing == 0 {
                debug_assert_eq!(board, *self);
                return Ok(scenes);
            }
            scenes.push(Scene { board, clearing });
            board.remove(clearing);
            scenes.push(Scene { board, clearing: 0 });
            while board.fall_one_row() {
                scenes.push(Scene { board, clearing: 0 });
            }
        }
    }

    /// Drops single halves into the given columns from the top row (two-player garbage), then
    /// settles. Columns whose top cell is taken keep what they have.
    pub fn drop_garbage(&mut self, pieces: &[(u8, Color)]) -> Outcome {
        for &(x, color) in pieces {
            if x < WIDTH && self.cell(x, HEIGHT - 1).is_none() {
                self.set(
                    x,
                    HEIGHT - 1,
                    Cell {
                        color,
                        shape: Shape::Single,
                    },
                );
            }
        }
        while self.fall_one_row() {}
        self.settle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upright_pill_in_the_top_row_loses_its_upper_half() {
        let mut board = Board::new();
        let content = Pill::new(Color::Red, Color::Blue).turned(3);
        board.place(content, 2, 15).unwrap();
        assert_eq!(
            board.cell(2, 15),
            Some(Cell {
                color: Color::Red,
                shape: Shape::Single
            })
        );
        assert_eq!(board.occupied().count_ones(), 1);
    }

    #[test]
    fn bad_places_are_refused_and_leave_the_board_alone() {
        let mut board = Board::new();
        let pill = Pill::new(Color::Red, Color::Blue);
        board.place(pill.turned(0), 3, 0).unwrap();
        let before = board;
        assert_eq!(
            board.place(pill.turned(0), 7, 0),
            Err(PlaceError::Outside { x: 7, y: 0 })
        );
        assert_eq!(
            board.place(pill.turned(1), 0, 16),
            Err(PlaceError::Outside { x: 0, y: 16 })
        );
        assert_eq!(
            board.place(pill.turned(0), 2, 0),
            Err(PlaceError::Occupied { x: 2, y: 0 })
        );
        assert_eq!(board, before);
    }

    #[test]
    fn garbage_falls_and_clears() {
        let mut board = Board::new();
        for x in 0..3 {
            board.set(
                x,
                0,
                Cell {
                    color: Color::Blue,
                    shape: Shape::Virus,
                },
            );
        }
        let outcome = board.drop_garbage(&[(3, Color::Blue), (6, Color::Red)]);
        assert_eq!(outcome.viruses, 3);
        assert_eq!(
            board.cell(6, 0),
            Some(Cell {
                color: Color::Red,
                shape: Shape::Single
            })
        );
        assert_eq!(board.occupied().count_ones(), 1);
    }
}
