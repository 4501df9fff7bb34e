//! Two bottles: what a placement sends to the other side.
//!
//! Two or more runs cleared by one placement, in whatever rounds, send as many halves as there were runs, four at most,
//! in the colours of the runs. They fall into the other bottle before its next pill.

use crate::board::{Board, HEIGHT, WIDTH, bit};
use crate::cell::Color;
use crate::place::Scene;

/// Fewer runs send nothing.
const FEWEST_RUNS: usize = 2;
/// The most halves of one attack.
const MOST_HALVES: usize = 4;
/// Cells of a run.
const RUN: u8 = 4;

/// The halves that a placement sends, told from its scenes.
pub fn attack(scenes: &[Scene]) -> Vec<Color> {
    let mut sent: Vec<Color> = scenes
        .iter()
        .flat_map(|scene| runs_of(&scene.board, scene.clearing))
        .collect();
    if sent.len() < FEWEST_RUNS {
        return Vec::new();
    }
    sent.truncate(MOST_HALVES);
    sent
}

/// Where the halves of an attack start to fall: `draw` is any random number.
///
/// Two halves stand four columns apart, three and four stand two apart.
pub fn columns(halves: &[Color], draw: u8) -> Vec<(u8, Color)> {
    let (starts, distance) = match halves.len() {
        0..=2 => (4, 4),
        3 => (4, 2),
        _ => (2, 2),
    };
    let first = draw % starts;
    halves
        .iter()
        .zip(0..)
        .map(|(&color, nth)| (first + distance * nth, color))
        .collect()
}

/// The colour of every straight run among the cells that clear.
fn runs_of(board: &Board, clearing: u128) -> Vec<Color> {
    let color_at = |x: u8, y: u8| {
        (x < WIDTH && y < HEIGHT && clearing & bit(x, y) != 0)
            .then(|| board.cell(x, y).map(|cell| cell.color))
            .flatten()
    };
    let mut found = Vec::new();
    for (dx, dy) in [(1, 0), (0, 1)] {
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let Some(color) = color_at(x, y) else {
                    continue;
                };
                let continues = x >= dx && y >= dy && color_at(x - dx, y - dy) == Some(color);
                let length = (0..).take_while(|&n| color_at(x + dx * n, y + dy * n) == Some(color));
                if !continues && length.count() >= usize::from(RUN) {
                    found.push(color);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, Shape};
    use crate::pill::Pill;

    fn virus(board: &mut Board, x: u8, y: u8, color: Color) {
        let shape = Shape::Virus;
        board.set(x, y, Cell { color, shape });
    }

    #[test]
    fn one_run_sends_nothing_and_two_send_two_in_their_colours() {
        let mut board = Board::new();
        for x in 0..3 {
            virus(&mut board, x, 0, Color::Red);
        }
        for x in 5..8 {
            virus(&mut board, x, 0, Color::Blue);
        }
        let mut single = board;
        let red_yellow = Pill::new(Color::Red, Color::Yellow).turned(0);
        let scenes = single.place_slowly(red_yellow, 3, 0).unwrap();
        assert!(attack(&scenes).is_empty());
        let red_blue = Pill::new(Color::Red, Color::Blue).turned(0);
        let scenes = board.place_slowly(red_blue, 3, 0).unwrap();
        let mut sent = attack(&scenes);
        sent.sort_by_key(|color| color.letter());
        assert_eq!(sent, [Color::Blue, Color::Red]);
    }

    #[test]
    fn halves_never_start_outside_the_bottle_or_in_one_column() {
        for count in 2..=4 {
            let halves = vec![Color::Red; count];
            for draw in 0..=255 {
                let columns = columns(&halves, draw);
                assert_eq!(columns.len(), count);
                for (n, &(x, _)) in columns.iter().enumerate() {
                    assert!(x < WIDTH);
                    assert!(columns[..n].iter().all(|&(other, _)| other != x));
                }
            }
        }
    }
}
