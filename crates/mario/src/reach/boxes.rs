//! The box approximation: along the top row, then straight down. It misses every tuck under an
//! overhang, and is what the original's rollouts use.

use crate::board::{Board, HEIGHT, WIDTH, bit};
use crate::pill::LAUNCH_X;
use crate::reach::Resting;

/// The resting poses of the box approximation; none if the throat is blocked.
pub fn boxes(board: &Board) -> Resting {
    let mut resting = Resting::default();
    if board.is_topped_out() {
        return resting;
    }
    let free = !board.occupied();
    let is_free = |x: u8, y: u8| x < WIDTH && free & bit(x, y) != 0;
    let top_free = (free >> (8 * (HEIGHT - 1))) as u8;
    let mut columns: u8 = 1 << LAUNCH_X;
    loop {
        let wider = columns | (columns << 1 | columns >> 1) & top_free;
        if wider == columns {
            break;
        }
        columns = wider;
    }
    for x in (0..WIDTH).filter(|x| columns >> x & 1 == 1) {
        for y in (0..HEIGHT).rev() {
            let rests = |left: u8| y == 0 || !is_free(left, y - 1) || !is_free(left + 1, y - 1);
            if is_free(x + 1, y) {
                if rests(x) {
                    resting.horizontal |= bit(x, y);
                }
            } else if x > 0 && is_free(x - 1, y) && rests(x - 1) {
                resting.horizontal |= bit(x - 1, y);
            }
            if y == 0 || !is_free(x, y - 1) {
                resting.vertical |= bit(x, y);
                break;
            }
        }
    }
    resting
}
