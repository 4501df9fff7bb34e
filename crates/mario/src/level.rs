//! Where the viruses of a level stand: the console's generator, in both orders of drawing.
//!
//! The console draws the 128 pills first and the viruses after them from one stream
//! ([`console_level`]). A simpler generator draws the viruses straight from the seed
//! ([`board_only`]). The two give different boards for one seed.

use crate::board::{Board, WIDTH};
use crate::cell::{Cell, Color, Shape};
use crate::pill::PillList;
use crate::rng::Rng;

/// The highest level a player can choose on the console.
pub(crate) const TOP_LEVEL: u8 = 20;

/// The highest level that exists at all; 21 to 24 look like 20.
pub const LAST_LEVEL: u8 = 24;

/// Viruses on the board at `level`: four more each level, 84 from level 20 on.
pub fn virus_count(level: u8) -> u32 {
    4 * (u32::from(level.min(TOP_LEVEL)) + 1)
}

/// The highest row that may hold a virus at `level`.
pub(crate) fn highest_virus_row(level: u8) -> u8 {
    (level.saturating_add(5) >> 1).clamp(9, 12)
}

/// The viruses drawn straight from `seed`.
pub fn board_only(seed: u16, level: u8) -> Board {
    draw_viruses(&mut Rng::new(seed), level)
}

/// The pill list and the board of `seed` in the console's order: pills first.
pub fn console_level(seed: u16, level: u8) -> (PillList, Board) {
    let mut rng = Rng::new(seed);
    let pills = PillList::draw(&mut rng);
    (pills, draw_viruses(&mut rng, level))
}

/// Draws one colour through the console's sixteen-entry table: red is a little likelier.
pub(crate) fn biased_color(rng: &mut Rng) -> Color {
    use Color::{Blue as B, Red as R, Yellow as Y};
    const TABLE: [Color; 16] = [Y, R, B, B, R, Y, Y, R, B, B, R, Y, Y, R, B, R];
    TABLE[usize::from(rng.advance() & 15)]
}

fn draw_viruses(rng: &mut Rng, level: u8) -> Board {
    let mut board = Board::new();
    let highest = highest_virus_row(level);
    for number in 0..virus_count(level) {
        while !draw_virus(rng, &mut board, number, highest) {}
    }
    board
}

/// One attempt at virus `number`; false when the scan ran out of the bottom of the board.
fn draw_virus(rng: &mut Rng, board: &mut Board, number: u32, highest: u8) -> bool {
    let state = loop {
        let state = rng.advance();
        if (state >> 8 & 15) as u8 <= highest {
            break state;
        }
    };
    let wanted = match number % 4 {
        0 => Color::Yellow,
        1 => biased_color(rng),
        2 => Color::Blue,
        _ => Color::Red,
    };
    let (mut x, mut y) = ((state & 7) as u8, (state >> 8 & 15) as u8);
    loop {
        if board.cell(x, y).is_none()
            && let Some(color) = first_allowed_color(board, x, y, wanted)
        {
            board.set(
                x,
                y,
                Cell {
                    color,
                    shape: Shape::Virus,
                },
            );
            return true;
        }
        x += 1;
        if x == WIDTH {
            x = 0;
            if y == 0 {
                return false;
            }
            y -= 1;
        }
    }
}

/// The first colour from `wanted` on, in the console's cyclic order, that no virus exactly two
/// cells away has.
fn first_allowed_color(board: &Board, x: u8, y: u8, wanted: Color) -> Option<Color> {
    let mut banned = [false; 3];
    let neighbours = [
        (x.checked_sub(2), Some(y)),
        (Some(x + 2), Some(y)),
        (Some(x), y.checked_sub(2)),
        (Some(x), Some(y + 2)),
    ];
    for (nx, ny) in neighbours {
        if let (Some(nx), Some(ny)) = (nx, ny)
            && let Some(cell) = board.cell(nx, ny)
        {
            banned[cell.color as usize] = true;
        }
    }
    let mut color = wanted;
    for _ in 0..3 {
        if !banned[color as usize] {
            return Some(color);
        }
        color = match color {
            Color::Blue => Color::Red,
            Color::Red => Color::Yellow,
            Color::Yellow => Color::Blue,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_number_of_viruses_below_its_line() {
        for level in 0..=LAST_LEVEL {
            for seed in [2, 77, 0x1234, 0x8988, 65535] {
                for board in [board_only(seed, level), console_level(seed, level).1] {
                    assert_eq!(board.viruses_left(), virus_count(level));
                    assert_eq!(board.occupied() >> (8 * (highest_virus_row(level) + 1)), 0);
                    assert_eq!(board.runs(), 0, "a fresh board holds no run of four");
                }
            }
        }
        assert_eq!(virus_count(0), 4);
        assert_eq!(virus_count(20), 84);
        let rows: Vec<u8> = [14, 15, 16, 17, 18, 19, 24].map(highest_virus_row).to_vec();
        assert_eq!(rows, [9, 10, 10, 11, 11, 12, 12]);
    }

    #[test]
    fn the_power_on_seed_starts_with_the_known_pills() {
        let known = ["qw", "sw", "qv", "rv", "ru", "rv", "su", "rw", "rv", "qv"];
        let pills = PillList::console(crate::rng::POWER_ON_SEED);
        for (pill, text) in pills.as_slice().iter().zip(known) {
            let cells = pill.turned(0).cells().map(Cell::code);
            assert_eq!(std::str::from_utf8(&cells), Ok(text));
        }
    }
}
