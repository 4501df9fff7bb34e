//! What a Leela Zero network sees: eight positions of each side, and whose turn it is.
//!
//! Planes 0 to 7 are the stones of the side to move, now and one to seven moves ago; planes 8 to 15
//! are the opponent's. Two constant planes say that Black or White is to move: see
//! [`TurnKomi`](crate::dynamic_komi::TurnKomi). Cell 0 is A1, and cells go row by row upwards.

use go::{BoardSize, Color, Stones, Symmetry};

/// Positions a network looks back on, the current one included.
pub const HISTORY: usize = go::HISTORY;
/// Planes with stones: [`HISTORY`] of each side.
pub const STONE_PLANES: usize = 2 * HISTORY;
/// All planes: the stones, and two for the side to move.
pub const INPUT_PLANES: usize = STONE_PLANES + 2;

const WORD_BITS: usize = u64::BITS as usize;

/// The stone planes of one position, a bit a cell: 768 bytes on a 19x19 board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitPlanes {
    size: BoardSize,
    words: Box<[u64]>,
}

impl BitPlanes {
    /// Planes without stones.
    pub fn new(size: BoardSize) -> BitPlanes {
        let words = vec![0; STONE_PLANES * words_per_plane(size)].into_boxed_slice();
        BitPlanes { size, words }
    }

    /// The planes of a position, from its boards (the current one first), seen by `to_move`.
    pub fn of<'a>(
        size: BoardSize,
        to_move: Color,
        history: impl Iterator<Item = &'a Stones>,
    ) -> BitPlanes {
        let mut planes = BitPlanes::new(size);
        for_each_stone(to_move, history, |plane, point| {
            planes.set(plane, size.index(point));
        });
        planes
    }

    /// The size of the board.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// Bytes of the planes beside the value itself.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// Whether there is a stone on a cell of a plane.
    #[inline]
    pub fn get(&self, plane: usize, cell: usize) -> bool {
        let (word, bit) = self.place(plane, cell);
        self.words[word] >> bit & 1 == 1
    }

    /// Puts a stone on a cell of a plane.
    #[inline]
    pub fn set(&mut self, plane: usize, cell: usize) {
        let (word, bit) = self.place(plane, cell);
        self.words[word] |= 1 << bit;
    }

    /// Writes the network's input: the stones as ones, laid out by `orientation`, then the two
    /// constant planes.
    pub fn write_input(&self, orientation: &Orientation, turn_planes: [f32; 2], row: &mut [f32]) {
        let area = self.size.area();
        let (stones, turns) = row.split_at_mut(STONE_PLANES * area);
        stones.fill(0.0);
        for plane in 0..STONE_PLANES {
            let target = &mut stones[plane * area..(plane + 1) * area];
            for (cell, &to) in orientation.to_input.iter().enumerate() {
                if self.get(plane, cell) {
                    target[usize::from(to)] = 1.0;
                }
            }
        }
        fill_turn_planes(turns, turn_planes);
    }

    #[inline]
    fn place(&self, plane: usize, cell: usize) -> (usize, usize) {
        let word = plane * words_per_plane(self.size) + cell / WORD_BITS;
        (word, cell % WORD_BITS)
    }
}

fn words_per_plane(size: BoardSize) -> usize {
    size.area().div_ceil(WORD_BITS)
}

/// Writes the network's input for a position straight from its boards.
pub fn write_input<'a>(
    orientation: &Orientation,
    to_move: Color,
    history: impl Iterator<Item = &'a Stones>,
    turn_planes: [f32; 2],
    row: &mut [f32],
) {
    let size = orientation.size;
    let area = size.area();
    let (stones, turns) = row.split_at_mut(STONE_PLANES * area);
    stones.fill(0.0);
    for_each_stone(to_move, history, |plane, point| {
        let cell = usize::from(orientation.to_input[size.index(point)]);
        stones[plane * area + cell] = 1.0;
    });
    fill_turn_planes(turns, turn_planes);
}

fn for_each_stone<'a>(
    to_move: Color,
    history: impl Iterator<Item = &'a Stones>,
    mut visit: impl FnMut(usize, go::Point),
) {
    for (age, stones) in history.take(HISTORY).enumerate() {
        for point in stones.of(to_move).iter() {
            visit(age, point);
        }
        for point in stones.of(to_move.opponent()).iter() {
            visit(HISTORY + age, point);
        }
    }
}

fn fill_turn_planes(turns: &mut [f32], [black, white]: [f32; 2]) {
    let (black_plane, white_plane) = turns.split_at_mut(turns.len() / 2);
    black_plane.fill(black);
    white_plane.fill(white);
}

/// How a board is laid before the network: cell `i` of the input holds point `S(i)` of the
/// board, and output `i` speaks of point `S(i)`.
#[derive(Clone, Debug)]
pub struct Orientation {
    size: BoardSize,
    to_input: Box<[u16]>,
}

impl Orientation {
    /// The layout of one symmetry.
    pub fn new(size: BoardSize, symmetry: Symmetry) -> Orientation {
        let back = symmetry.inverse();
        let to_input = (0..size.area())
            .map(|cell| back.index(size, cell) as u16)
            .collect();
        Orientation { size, to_input }
    }

    /// All eight, by symmetry number.
    pub fn all(size: BoardSize) -> [Orientation; Symmetry::COUNT] {
        Symmetry::ALL.map(|symmetry| Orientation::new(size, symmetry))
    }

    /// The input cell that holds a cell of the board.
    #[inline]
    pub fn cell(&self, cell: usize) -> usize {
        usize::from(self.to_input[cell])
    }

    /// Turns the network's policy back to the board; the last entry, passing, stays.
    pub fn restore_policy(&self, raw: &[f32]) -> Box<[f32]> {
        let points = self.to_input.iter().map(|&cell| raw[usize::from(cell)]);
        points.chain(raw.last().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic_komi::TurnKomi;
    use go::{Game, Komi, Move, Point};
    use proptest::prelude::*;

    fn game(moves: &str) -> Game {
        let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
        for word in moves.split_whitespace() {
            game.play(word.parse().unwrap()).unwrap();
        }
        game
    }

    fn planes(game: &Game) -> BitPlanes {
        BitPlanes::of(game.size(), game.to_move(), game.history())
    }

    #[test]
    fn the_side_to_move_comes_first_and_the_past_grows_with_the_plane() {
        let planes = planes(&game("A1 T19 B1"));
        let count = |plane| (0..361).filter(|&cell| planes.get(plane, cell)).count();
        // White to move: its stone stands since two positions, Black's first since three.
        assert_eq!([count(0), count(1), count(2)], [1, 1, 0]);
        assert_eq!([count(8), count(9), count(10), count(11)], [2, 1, 1, 0]);
        assert!(planes.get(0, 360));
        assert!(planes.get(8, 0) && planes.get(8, 1) && !planes.get(9, 1));
    }

    #[test]
    fn a_pass_repeats_the_board() {
        let planes = planes(&game("A1 pass"));
        assert!(planes.get(0, 0) && planes.get(1, 0) && !planes.get(2, 0));
    }

    #[test]
    fn both_ways_to_write_an_input_agree_in_every_orientation() {
        let game = game("C3 D17 Q4 pass R14 K10 A1 T19 J5 H6 O3");
        let bits = planes(&game);
        let turn = TurnKomi::TRAINED.planes(game.to_move());
        for orientation in Orientation::all(game.size()) {
            let mut direct = vec![9.0; INPUT_PLANES * 361];
            let mut packed = vec![9.0; INPUT_PLANES * 361];
            write_input(
                &orientation,
                game.to_move(),
                game.history(),
                turn,
                &mut direct,
            );
            bits.write_input(&orientation, turn, &mut packed);
            assert_eq!(direct, packed);
            assert_eq!(direct[16 * 361], 0.0);
            assert_eq!(direct[17 * 361], 1.0);
        }
    }

    proptest! {
        #[test]
        fn a_policy_that_echoes_its_input_points_back_at_the_stone(
            x in 0usize..19, y in 0usize..19, number in 0usize..8
        ) {
            let point = Point::new(x, y);
            let size = BoardSize::NINETEEN;
            let symmetry = Symmetry::new(number).unwrap();
            let orientation = Orientation::new(size, symmetry);
            let mut game = Game::new(size, Komi::default());
            game.play(Move::Play(point)).unwrap();
            let mut row = vec![0.0; INPUT_PLANES * 361];
            write_input(&orientation, Color::White, game.history(), [0.0, 1.0], &mut row);
            // Cell i of the input is point S(i) of the board.
            let cell = row[8 * 361..9 * 361].iter().position(|&v| v == 1.0).unwrap();
            prop_assert_eq!(symmetry.index(size, cell), size.index(point));
            let mut raw = row[8 * 361..9 * 361].to_vec();
            raw.push(0.5);
            let policy = orientation.restore_policy(&raw);
            prop_assert_eq!(policy[size.index(point)], 1.0);
            prop_assert_eq!(policy[361], 0.5);
        }
    }
}
