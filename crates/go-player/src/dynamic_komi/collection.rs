//! Positions that a search met while White's winrate was out of range.
//!
//! A position is kept as the network saw it, a bit a point, with the first moves that lead to it:
//! under a kilobyte. When the game moves on, those below the new root stay.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use go::{BoardSize, Color, Move, Symmetry};
use search::Game;

use crate::{planes::BitPlanes, position::Position};

/// Moves from the root that are remembered of a position. A game that goes on for longer without an
/// adjustment has left the position behind.
const PATH_MOVES: usize = 16;

/// A position, and what the network said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPosition {
    /// The stones, as the side to move sees them.
    pub planes: BitPlanes,
    /// How the board was laid before the network.
    pub symmetry: Symmetry,
    /// The winrate of the side to move.
    pub winrate: f32,
    path: Path,
}

impl SavedPosition {
    /// Keeps a position with what the network said about it.
    pub fn new(position: &Position, symmetry: Symmetry, winrate: f32) -> SavedPosition {
        let size = position.size();
        SavedPosition {
            planes: BitPlanes::of(size, position.to_move(), position.history()),
            symmetry,
            winrate,
            path: Path::new(size, position.line()),
        }
    }

    /// Bytes it takes, on the heap and off it.
    pub fn bytes(&self) -> usize {
        size_of::<SavedPosition>() + self.planes.heap_bytes()
    }
}

/// The first moves from a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Path {
    cells: [u16; PATH_MOVES],
    length: u8,
}

impl Path {
    fn new(size: BoardSize, moves: impl Iterator<Item = Move>) -> Path {
        let mut path = Path {
            cells: [0; PATH_MOVES],
            length: 0,
        };
        for (cell, mv) in path.cells.iter_mut().zip(moves) {
            *cell = cell_of(size, mv);
            path.length += 1;
        }
        path
    }

    /// The path from where `moves` lead to, if they are its beginning.
    fn after(self, size: BoardSize, moves: &[Move]) -> Option<Path> {
        let cells = &self.cells[..usize::from(self.length)];
        let (first, rest) = cells.split_at_checked(moves.len())?;
        if !first
            .iter()
            .copied()
            .eq(moves.iter().map(|&mv| cell_of(size, mv)))
        {
            return None;
        }
        let mut path = Path {
            cells: [0; PATH_MOVES],
            length: rest.len() as u8,
        };
        path.cells[..rest.len()].copy_from_slice(rest);
        Some(path)
    }
}

fn cell_of(size: BoardSize, mv: Move) -> u16 {
    mv.point().map_or(size.area(), |point| size.index(point)) as u16
}

/// Collects positions of both colours while it is open. Shared by all threads of a search, so that
/// no slow one can hold an adjustment up.
#[derive(Default)]
pub struct Collector {
    is_open: AtomicBool,
    collected: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    /// Where the paths start.
    root: Option<Position>,
    /// By colour of the side to move.
    positions: [Vec<SavedPosition>; 2],
    /// The most to keep of each colour.
    wanted: [usize; 2],
}

impl Collector {
    /// Opens or closes it; what was collected stays.
    pub fn set_open(&self, open: bool) {
        self.is_open.store(open, Ordering::Relaxed);
    }

    /// Whether positions are taken in.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// How many positions of each colour to take in at most; none of a colour that is not wanted.
    pub fn want(&self, wanted: [usize; 2]) {
        self.lock().wanted = wanted;
    }

    /// Takes a position in if it is open and has room for its colour.
    pub fn offer(&self, position: &Position, symmetry: Symmetry, winrate: f32) {
        if !self.is_open() {
            return;
        }
        let turn = position.to_move().index();
        let mut collected = self.lock();
        if collected.positions[turn].len() < collected.wanted[turn] {
            collected.positions[turn].push(SavedPosition::new(position, symmetry, winrate));
        }
    }

    /// Positions of each colour.
    pub fn counts(&self) -> [usize; 2] {
        self.lock().counts()
    }

    /// Whether it holds all that is wanted.
    pub fn is_full(&self) -> bool {
        let collected = self.lock();
        let counts = collected.counts();
        Color::BOTH
            .iter()
            .all(|turn| counts[turn.index()] >= collected.wanted[turn.index()])
    }

    /// Goes on from a new root: positions that are not below it are dropped.
    pub fn move_root(&self, root: &Position) {
        let mut collected = self.lock();
        let moves = collected
            .root
            .as_ref()
            .and_then(|before| root.path_from(before));
        for positions in &mut collected.positions {
            positions.retain_mut(|position| {
                let path = moves
                    .as_ref()
                    .and_then(|moves| position.path.after(root.size(), moves));
                path.inspect(|&path| position.path = path).is_some()
            });
        }
        collected.root = Some(root.clone());
    }

    /// Hands over all positions, by colour, and closes.
    pub fn take(&self) -> [Vec<SavedPosition>; 2] {
        self.set_open(false);
        std::mem::take(&mut self.lock().positions)
    }

    /// Forgets everything, and closes.
    pub fn clear(&self) {
        self.set_open(false);
        *self.lock() = Collected::default();
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collected {
    fn counts(&self) -> [usize; 2] {
        [self.positions[0].len(), self.positions[1].len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dynamic_komi::{Trust, TurnKomi},
        position::Assumptions,
    };
    use go::{Game as GoGame, Komi};

    fn position(game: &GoGame) -> Position {
        let assumptions = Assumptions {
            net_komi: TurnKomi::TRAINED,
            trust: Trust::BOTH,
            compensation: 7.5,
            always_considers_pass: false,
            ..Assumptions::default()
        };
        Position::new(game, assumptions)
    }

    fn after(position: &Position, moves: &str) -> Position {
        let mut position = position.clone();
        for word in moves.split_whitespace() {
            position.play(word.parse().unwrap());
        }
        position
    }

    fn collector(root: &Position, lines: &[&str]) -> Collector {
        let collector = Collector::default();
        collector.want([10, 10]);
        collector.move_root(root);
        collector.set_open(true);
        for line in lines {
            collector.offer(&after(root, line), Symmetry::IDENTITY, 0.5);
        }
        collector
    }

    #[test]
    fn a_saved_position_takes_less_than_a_kilobyte() {
        let root = position(&GoGame::new(BoardSize::NINETEEN, Komi::default()));
        let moves: String = "ABCDEFGHJKLMNOPQRST"
            .chars()
            .flat_map(|column| (3..8).map(move |row| format!("{column}{row} ")))
            .collect();
        let saved = SavedPosition::new(&after(&root, &moves), Symmetry::ALL[5], 0.25);
        assert!(saved.bytes() < 1024, "{} bytes", saved.bytes());
    }

    #[test]
    fn positions_below_the_new_root_stay_and_no_others() {
        let mut game = GoGame::new(BoardSize::NINETEEN, Komi::default());
        let root = position(&game);
        let lines = ["D4", "D4 Q16", "D4 Q16 C3", "D4 Q4", "Q16 D4", "D4 pass"];
        let collector = collector(&root, &lines);
        assert_eq!(collector.counts(), [4, 2]);
        game.play("D4".parse().unwrap()).unwrap();
        collector.move_root(&position(&game));
        assert_eq!(collector.counts(), [3, 2]);
        game.play("Q16".parse().unwrap()).unwrap();
        collector.move_root(&position(&game));
        assert_eq!(collector.counts(), [1, 1]);
        game.undo();
        collector.move_root(&position(&game));
        assert_eq!(collector.counts(), [0, 0], "a root above leaves nothing");
    }

    #[test]
    fn a_root_too_far_away_leaves_nothing() {
        let mut game = GoGame::new(BoardSize::NINETEEN, Komi::default());
        let moves: Vec<String> = (1..19).map(|row| format!("A{row}")).collect();
        let collector = collector(&position(&game), &[&moves.join(" ")]);
        for word in &moves[..17] {
            game.play(word.parse().unwrap()).unwrap();
        }
        collector.move_root(&position(&game));
        assert_eq!(collector.counts(), [0, 0]);
    }

    #[test]
    fn only_wanted_colours_are_taken_in_and_only_while_open() {
        let root = position(&GoGame::new(BoardSize::NINETEEN, Komi::default()));
        let collector = collector(&root, &[]);
        collector.want([2, 0]);
        for line in ["D4", "D4 Q16", "C3 Q16", "E3 Q16", "F3"] {
            collector.offer(&after(&root, line), Symmetry::IDENTITY, 0.5);
        }
        assert_eq!(collector.counts(), [2, 0]);
        assert!(collector.is_full());
        let taken = collector.take();
        assert_eq!((taken[0].len(), taken[1].len()), (2, 0));
        collector.offer(&after(&root, "D4 Q16"), Symmetry::IDENTITY, 0.5);
        assert_eq!(collector.counts(), [0, 0], "taking closes it");
    }
}
