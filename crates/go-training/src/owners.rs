//! Who has which point once a game is over.
//!
//! Records of people's games leave dead stones on the board, and counted as alive they say nothing about who won. So
//! the position is played on at random, many times, without filling eyes: dead stones are soon taken, and what belongs
//! to the same side almost every time is its own.

use go::{Board, Color, Point, PointSet};
use go_player::is_eye;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Points of both sides; those in neither set are nobody's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Owners {
    black: PointSet,
    white: PointSet,
}

/// Random games from a position.
const PLAYOUTS: usize = 48;
/// Of these, a side must own a point in this many for the point to be its own.
const SURE: u32 = 36;
/// A random game ends after this many moves for each point, or when nobody can move.
const MOVES_PER_POINT: usize = 3;

impl Owners {
    /// The owners of the points of a position that both sides hold to be finished.
    pub fn of(board: &Board, seed: u64) -> Self {
        let size = board.size();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut owned = [vec![0; size.area()], vec![0; size.area()]];
        for number in 0..PLAYOUTS {
            let first = [Color::Black, Color::White][number % 2];
            let end = play_on(board.clone(), first, &mut random);
            let [black, white] = Color::BOTH.map(|color| end.reach(color));
            for (counts, points) in owned.iter_mut().zip([black - white, white - black]) {
                for point in points.iter() {
                    counts[size.index(point)] += 1;
                }
            }
        }
        let sure = |counts: &[u32]| {
            let points = size.points();
            points
                .filter(|&point| counts[size.index(point)] >= SURE)
                .collect()
        };
        let [black, white] = &owned;
        Self {
            black: sure(black),
            white: sure(white),
        }
    }

    /// The points of one side.
    pub fn points(&self, color: Color) -> &PointSet {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }

    /// Black's points less White's.
    pub fn lead(&self) -> f32 {
        self.black.len() as f32 - self.white.len() as f32
    }
}

/// A random game to its end.
fn play_on(mut board: Board, first: Color, random: &mut Xoshiro256PlusPlus) -> Board {
    let mut color = first;
    let mut passes = 0;
    let mut open: Vec<Point> = Vec::new();
    for _ in 0..MOVES_PER_POINT * board.size().area() {
        open.clear();
        open.extend(board.empty_set().iter());
        let mut found = None;
        while !open.is_empty() && found.is_none() {
            let point = open.swap_remove(random.random_range(0..open.len()));
            if !is_eye(&board, point, color) && board.is_legal(point, color) {
                found = Some(point);
            }
        }
        passes = match found {
            Some(point) => {
                let _ = board.play(point, color);
                0
            }
            None => {
                let _ = board.pass();
                passes + 1
            }
        };
        if passes == 2 {
            break;
        }
        color = color.opponent();
    }
    board
}

#[cfg(test)]
pub(crate) mod tests {
    use go::BoardSize;

    use super::*;

    /// Black lives above with two eyes, White below; one stone of each is dead in the other's area.
    pub fn finished() -> Board {
        let rows = "
            . X X O . X .
            X X X X X X X
            X X X X X X X
            X X X X X X X
            O O O O O O O
            O O O O O O O
            . O X . O O .
        ";
        Board::from_diagram(BoardSize::new(7).unwrap(), rows).unwrap()
    }

    #[test]
    fn dead_stones_are_taken_and_living_ones_are_not() {
        let owners = Owners::of(&finished(), 1);
        assert_eq!(owners.points(Color::Black).len(), 28);
        assert_eq!(owners.points(Color::White).len(), 21);
        assert_eq!(owners.lead(), 7.0);
    }
}
