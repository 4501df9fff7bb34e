//! Random games to the end of a position: who owns each point, on average.
//!
//! The players know little, but what matters at the end of a game: they do not fill their own eyes, they save and
//! capture chains in atari, and they do not put several of their stones in atari themselves, so that a seki stands.

use go::{Board, Color, Move, Point, Undo};
use rand::RngExt;
use search::SearchRng;

/// A playout of more moves than this many times the board's area is broken off.
const LONGEST: usize = 3;
/// How often a capture or a rescue beside the last move is made where there is one.
const ANSWER_CHANCE: f32 = 0.9;
/// A chain of so many stones is not put in atari by its owner.
const SELF_ATARI_STONES: usize = 2;

/// The mean owner of each point over `count` playouts, from -1 (White) to 1 (Black), row by row from the bottom.
/// Black starts every other one.
pub fn ownership(board: &Board, count: usize, rng: &mut SearchRng) -> Vec<f32> {
    let size = board.size();
    let mut sums = vec![0i32; size.area()];
    for number in 0..count {
        let first = Color::BOTH[number % 2];
        let end = Playout::new(board, first).run(rng);
        let (black, white) = (end.reach(Color::Black), end.reach(Color::White));
        for (sum, point) in sums.iter_mut().zip(size.points()) {
            *sum += i32::from(black.contains(point)) - i32::from(white.contains(point));
        }
    }
    sums.into_iter()
        .map(|sum| sum as f32 / count.max(1) as f32)
        .collect()
}

struct Playout {
    board: Board,
    to_move: Color,
    last: Move,
    /// The empty points, in any order.
    empty: Vec<Point>,
}

impl Playout {
    fn new(board: &Board, to_move: Color) -> Playout {
        let mut board = board.clone();
        board.clear_ko();
        Playout {
            empty: board.empty_set().iter().collect(),
            board,
            to_move,
            last: Move::Pass,
        }
    }

    fn run(mut self, rng: &mut SearchRng) -> Board {
        let mut passes = 0;
        for _ in 0..LONGEST * self.board.size().area() {
            let mv = self.choose(rng);
            passes = if mv.is_pass() { passes + 1 } else { 0 };
            if passes == 2 {
                break;
            }
            self.play(mv);
        }
        self.board
    }

    fn play(&mut self, mv: Move) {
        match mv {
            Move::Pass => drop(self.board.pass()),
            Move::Play(point) => {
                let undo = self.board.play(point, self.to_move);
                if undo.captured_stones() > 0 || undo.was_suicide() {
                    self.empty.clear();
                    self.empty.extend(self.board.empty_set().iter());
                } else if let Some(place) = self.empty.iter().position(|&empty| empty == point) {
                    self.empty.swap_remove(place);
                }
            }
        }
        self.last = mv;
        self.to_move = self.to_move.opponent();
    }

    fn choose(&mut self, rng: &mut SearchRng) -> Move {
        if rng.random::<f32>() < ANSWER_CHANCE
            && let Some(answer) = self.answer()
        {
            return Move::Play(answer);
        }
        let count = self.empty.len();
        if count == 0 {
            return Move::Pass;
        }
        let start = rng.random_range(0..count);
        for index in start..start + count {
            let point = self.empty[index % count];
            if self.is_sensible(point) {
                return Move::Play(point);
            }
        }
        Move::Pass
    }

    /// A capture or a rescue beside the last move.
    fn answer(&mut self) -> Option<Point> {
        let last = self.last.point()?;
        let color = self.to_move;
        if self.board.is_stone(last, color.opponent()) && self.board.liberty_count(last) == 1 {
            let capture = self.board.liberties(last).next()?;
            if self.board.is_legal(capture, color) {
                return Some(capture);
            }
        }
        let endangered = self
            .board
            .adjacent_blocks(last, color)
            .find(|&chain| self.board.liberty_count(chain) == 1)?;
        self.capture_around(endangered)
            .or_else(|| self.extension(endangered))
    }

    /// The capture of a chain in atari beside `chain`.
    fn capture_around(&self, chain: Point) -> Option<Point> {
        let enemy = self.to_move.opponent();
        self.board
            .stones(chain)
            .flat_map(Point::neighbors)
            .filter(|&n| self.board.is_stone(n, enemy) && self.board.liberty_count(n) == 1)
            .filter_map(|n| self.board.liberties(n).next())
            .find(|&capture| self.board.is_legal(capture, self.to_move))
    }

    /// The last liberty of `chain`, if it has more liberties then.
    fn extension(&mut self, chain: Point) -> Option<Point> {
        let liberty = self.board.liberties(chain).next()?;
        if !self.board.is_legal(liberty, self.to_move) {
            return None;
        }
        let undo = self.board.play(liberty, self.to_move);
        let helps = self.board.liberty_count(liberty) > 1;
        self.board.undo(undo);
        helps.then_some(liberty)
    }

    fn is_sensible(&mut self, point: Point) -> bool {
        self.board.is_legal(point, self.to_move)
            && !self.is_own_eye(point)
            && !self.is_self_atari(point)
    }

    /// A point between stones of the side to move that the opponent cannot make a false eye.
    fn is_own_eye(&self, point: Point) -> bool {
        let (board, color) = (&self.board, self.to_move);
        let is_closed = |&n: &Point| board.is_stone(n, color) || !board.is_on_board(n);
        if !point.neighbors().iter().all(is_closed) {
            return false;
        }
        let diagonals = point.diagonals();
        let enemies = diagonals
            .iter()
            .filter(|&&n| board.is_stone(n, color.opponent()))
            .count();
        let is_on_edge = diagonals.iter().any(|&n| !board.is_on_board(n));
        enemies + usize::from(is_on_edge) < 2
    }

    fn is_self_atari(&mut self, point: Point) -> bool {
        let free = |&&n: &&Point| self.board.is_empty(n);
        if point.neighbors().iter().filter(free).count() > 1 {
            return false;
        }
        let undo: Undo = self.board.play(point, self.to_move);
        let is_bad = undo.captured_stones() == 0
            && self.board.liberty_count(point) == 1
            && self.board.stone_count(point) >= SELF_ATARI_STONES;
        self.board.undo(undo);
        is_bad
    }
}
