//! The untimed flood fill: all poses joined by moves, turns and drops.
//!
//! There is no way up, so the rows are filled once each, top to bottom. A turn from upright to
//! flat needs the cell on the right, or else kicks one to the left. The console's extra step to
//! the left (left held while turning) adds nothing here: a plain step left does the same.

use crate::board::{Board, HEIGHT};
use crate::pill::LAUNCH_X;
use crate::reach::Resting;

/// Every resting pose of a pill launched on `board`; none if the throat is blocked.
pub fn flood(board: &Board) -> Resting {
    if board.is_topped_out() {
        return Resting::default();
    }
    let free = !board.occupied();
    let mut resting = Resting::default();
    let (mut flat, mut upright) = (1 << LAUNCH_X, 0);
    for y in (0..HEIGHT).rev() {
        let row = Row::new(free, y);
        (flat, upright) = row.fill(flat & row.flat_fits, upright & row.upright_fits);
        if flat | upright == 0 {
            break;
        }
        let shift = 8 * u32::from(y);
        if y > 0 {
            let below = Row::new(free, y - 1);
            resting.horizontal |= u128::from(flat & !below.flat_fits) << shift;
            resting.vertical |= u128::from(upright & !below.upright_fits) << shift;
        } else {
            resting.horizontal |= u128::from(flat);
            resting.vertical |= u128::from(upright);
        }
    }
    resting
}

/// One row's columns where the two poses fit, and its free cells.
struct Row {
    free: u8,
    flat_fits: u8,
    upright_fits: u8,
}

impl Row {
    fn new(free: u128, y: u8) -> Self {
        let shift = 8 * u32::from(y);
        let here = (free >> shift) as u8;
        // Above the top row everything is free.
        let above = if y == HEIGHT - 1 {
            u8::MAX
        } else {
            (free >> (shift + 8)) as u8
        };
        Self {
            free: here,
            flat_fits: here & here >> 1,
            upright_fits: here & above,
        }
    }

    /// Everything joined to the given poses within this row.
    fn fill(&self, mut flat: u8, mut upright: u8) -> (u8, u8) {
        loop {
            let before = (flat, upright);
            flat |= (flat << 1 | flat >> 1) & self.flat_fits;
            upright |= (upright << 1 | upright >> 1) & self.upright_fits;
            upright |= flat & self.upright_fits;
            let right_free = self.free >> 1;
            flat |= upright & right_free;
            flat |= (upright & !right_free) >> 1 & self.free;
            if (flat, upright) == before {
                return before;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Color;
    use crate::pill::Pill;

    #[test]
    fn an_empty_board_has_thirty_placements() {
        let resting = flood(&Board::new());
        assert_eq!(resting.count(Pill::new(Color::Red, Color::Blue)), 30);
        assert_eq!(resting.count(Pill::new(Color::Red, Color::Red)), 15);
    }

    #[test]
    fn a_blocked_throat_has_none() {
        let text = "dddqudddd".to_owned() + &"d".repeat(119);
        let board: Board = text.parse().unwrap();
        assert!(flood(&board).is_empty());
    }
}
