//! Random playouts and ladders on our board and on the `goban` crate's, in turns in one run,
//! so that both see the same machine. Prints rates and ratios.
//!
//! Both boards play the same games: the same moves are tried in the same order, with ko and
//! suicide forbidden and single-point eyes left open, and the final positions are compared.

use std::{hint::black_box, time::Instant};

use go::{Board, BoardSize, Color, First, Game, Komi, LadderReader, Move, Point, Verdict};
use goban::rules::{CHINESE, GobanSizes, IllegalRules, game::Game as GobanGame};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Short rounds, many of them: the best one had the machine to itself.
const ROUNDS: usize = 150;
/// A playout stops at this many moves for each point of the board.
const MOVES_PER_POINT: usize = 3;

/// A board a playout can run on. Points are numbered row by row from the bottom.
trait Playable {
    /// The first point from `start` on, around the board, that is empty, no own eye and legal.
    fn first_playable(&self, side: usize, start: usize, black: bool) -> Option<(usize, usize)>;
    fn stone(&self, x: usize, y: usize) -> Option<bool>;
    fn play(&mut self, x: usize, y: usize, black: bool);
    fn pass(&mut self);
}

fn color(black: bool) -> Color {
    if black { Color::Black } else { Color::White }
}

impl Playable for Board {
    fn first_playable(&self, _side: usize, start: usize, black: bool) -> Option<(usize, usize)> {
        let color = color(black);
        let start = self.size().point(start);
        let empty = self.empty_set();
        let is_playable = |&point: &Point| {
            let mut around = point.neighbors().into_iter();
            let is_own_eye = around.all(|n| self.is_stone(n, color) || !self.is_on_board(n));
            !is_own_eye && self.is_legal(point, color)
        };
        empty
            .iter_from(start)
            .find(is_playable)
            .or_else(|| {
                empty
                    .iter()
                    .take_while(|&point| point < start)
                    .find(is_playable)
            })
            .map(|point| (point.x(), point.y()))
    }

    fn stone(&self, x: usize, y: usize) -> Option<bool> {
        Board::stone(self, Point::new(x, y)).map(|color| color == Color::Black)
    }

    fn play(&mut self, x: usize, y: usize, black: bool) {
        let _ = Board::play(self, Point::new(x, y), color(black));
    }

    fn pass(&mut self) {
        let _ = Board::pass(self);
    }
}

impl Playable for Game {
    fn first_playable(&self, side: usize, start: usize, black: bool) -> Option<(usize, usize)> {
        self.board().first_playable(side, start, black)
    }

    fn stone(&self, x: usize, y: usize) -> Option<bool> {
        Playable::stone(self.board(), x, y)
    }

    fn play(&mut self, x: usize, y: usize, black: bool) {
        let _ = self.force(color(black), Move::Play(Point::new(x, y)));
    }

    fn pass(&mut self) {
        let _ = Game::play(self, Move::Pass);
    }
}

impl Playable for GobanGame {
    fn first_playable(&self, side: usize, start: usize, black: bool) -> Option<(usize, usize)> {
        let own = |x: usize, y: usize| self.stone(x, y) == Some(black);
        let is_own_eye = |x: usize, y: usize| {
            (x == 0 || own(x - 1, y))
                && (y == 0 || own(x, y - 1))
                && (x + 1 == side || own(x + 1, y))
                && (y + 1 == side || own(x, y + 1))
        };
        let rules = IllegalRules::KO | IllegalRules::SUICIDE;
        (start..side * side)
            .chain(0..start)
            .map(|index| (index % side, index / side))
            .find(|&(x, y)| {
                self.stone(x, y).is_none()
                    && !is_own_eye(x, y)
                    && self.check_point_by((x as u8, y as u8), rules).is_none()
            })
    }

    fn stone(&self, x: usize, y: usize) -> Option<bool> {
        let stone = self.goban().get_color((x as u8, y as u8));
        stone.map(|color| color == goban::pieces::stones::Color::Black)
    }

    fn play(&mut self, x: usize, y: usize, _black: bool) {
        GobanGame::play(self, goban::rules::Move::Play(x as u8, y as u8));
    }

    fn pass(&mut self) {
        GobanGame::play(self, goban::rules::Move::Pass);
    }
}

/// Plays a random game; the number of moves.
fn playout(board: &mut impl Playable, side: usize, seed: u64) -> usize {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let area = side * side;
    let mut passes = 0;
    let mut moves = 0;
    let mut black = true;
    while passes < 2 && moves < MOVES_PER_POINT * area {
        match board.first_playable(side, rng.random_range(0..area), black) {
            Some((x, y)) => {
                board.play(x, y, black);
                passes = 0;
            }
            None => {
                board.pass();
                passes += 1;
            }
        }
        moves += 1;
        black = !black;
    }
    moves
}

fn position(board: &impl Playable, side: usize) -> Vec<Option<bool>> {
    (0..side * side)
        .map(|index| board.stone(index % side, index / side))
        .collect()
}

/// Seconds a round, the best of all rounds: noise only ever adds.
struct Timing {
    name: String,
    work_per_round: usize,
    best_seconds: f64,
}

impl Timing {
    fn new(name: impl Into<String>, work_per_round: usize) -> Timing {
        Timing {
            name: name.into(),
            work_per_round,
            best_seconds: f64::INFINITY,
        }
    }

    fn round(&mut self, mut work: impl FnMut(usize)) {
        let start = Instant::now();
        for index in 0..self.work_per_round {
            work(index);
        }
        self.best_seconds = self.best_seconds.min(start.elapsed().as_secs_f64());
    }

    fn per_second(&self) -> f64 {
        self.work_per_round as f64 / self.best_seconds
    }
}

fn print(unit: &str, timings: &[&Timing]) {
    let slowest = timings.last().map_or(1.0, |timing| timing.per_second());
    for timing in timings {
        let rate = timing.per_second();
        println!(
            "  {:<28} {:>12.0} {unit}/s   {:>9.2} us each   {:>7.1}x",
            timing.name,
            rate,
            1e6 / rate,
            rate / slowest
        );
    }
}

fn bench_playouts(side: usize, goban_size: GobanSizes) {
    let size = BoardSize::new(side).unwrap();
    let komi = Komi::SEVEN_AND_A_HALF;
    for seed in 0..20 {
        let mut ours = Board::new(size);
        let mut theirs = GobanGame::new(goban_size, CHINESE);
        let moves = playout(&mut ours, side, seed);
        assert_eq!(
            moves,
            playout(&mut theirs, side, seed),
            "the boards played different games"
        );
        assert_eq!(position(&ours, side), position(&theirs, side));
    }
    let mut board = Timing::new("go::Board", 2);
    let mut game = Timing::new("go::Game (superko, history)", 2);
    let mut theirs = Timing::new("goban", 2);
    for _ in 0..ROUNDS {
        // Every round plays the same games, so that the best rounds compare.
        let seed = |index: usize| index as u64;
        board.round(|index| {
            black_box(playout(&mut Board::new(size), side, seed(index)));
        });
        game.round(|index| {
            black_box(playout(&mut Game::new(size, komi), side, seed(index)));
        });
        theirs.round(|index| {
            black_box(playout(
                &mut GobanGame::new(goban_size, CHINESE),
                side,
                seed(index),
            ));
        });
    }
    println!("random playouts {size}");
    print("games", &[&board, &game, &theirs]);
}

/// The moves that start a ladder from D4 to the upper right: White is the prey.
const LADDER: [(&str, bool); 5] = [
    ("D4", false),
    ("C4", true),
    ("D3", true),
    ("E3", true),
    ("C5", true),
];
/// A white stone here cuts the ladder short to about 40 plies.
const BREAKER: &str = "P15";

/// The literal ladder search, a copy of the game a move, as `goban` takes no move back. Captures
/// of chasers are left out: this ladder has none.
fn goban_ladder(game: &GobanGame, prey: (u8, u8), attacker_to_move: bool) -> bool {
    let Some(_) = game.goban().get_color(prey) else {
        return true;
    };
    let liberties = goban_liberties(game, prey);
    if liberties.len() > if attacker_to_move { 2 } else { 1 } {
        return false;
    }
    let rules = IllegalRules::KO | IllegalRules::SUICIDE;
    let mut tried = liberties
        .into_iter()
        .filter(|&point| game.check_point_by(point, rules).is_none());
    let go_on = |(x, y): (u8, u8)| {
        let mut after = game.clone();
        GobanGame::play(&mut after, goban::rules::Move::Play(x, y));
        goban_ladder(&after, prey, !attacker_to_move)
    };
    if attacker_to_move {
        tried.any(go_on)
    } else {
        tried.all(go_on)
    }
}

fn goban_liberties(game: &GobanGame, prey: (u8, u8)) -> Vec<(u8, u8)> {
    let mut block = vec![prey];
    let mut liberties = Vec::new();
    let mut at = 0;
    while let Some(&stone) = block.get(at) {
        at += 1;
        liberties.extend(game.goban().get_liberties(stone));
        for neighbor in game.goban().get_connected_stones(stone) {
            let is_own = Some(neighbor.color) == game.goban().get_color(prey);
            if is_own && !block.contains(&neighbor.coord) {
                block.push(neighbor.coord);
            }
        }
    }
    liberties.sort_unstable();
    liberties.dedup();
    liberties
}

/// The same position for `goban`, Black to move.
fn goban_position(stones: &[(Point, bool)]) -> GobanGame {
    let mut game = GobanGame::new(GobanSizes::Nineteen, CHINESE);
    for &(point, black) in stones {
        if (game.turn() == goban::pieces::stones::Color::Black) != black {
            Playable::pass(&mut game);
        }
        Playable::play(&mut game, point.x(), point.y(), black);
    }
    if game.turn() != goban::pieces::stones::Color::Black {
        Playable::pass(&mut game);
    }
    game
}

fn bench_ladders() {
    let mut stones: Vec<(Point, bool)> = LADDER
        .map(|(vertex, black)| (vertex.parse().unwrap(), black))
        .to_vec();
    bench_ladder("ladder to the corner", &stones);
    stones.push((BREAKER.parse().unwrap(), false));
    bench_ladder("ladder to a breaker", &stones);
}

fn bench_ladder(name: &str, stones: &[(Point, bool)]) {
    let mut board = Board::new(BoardSize::NINETEEN);
    for &(point, black) in stones {
        let _ = board.play(point, color(black));
    }
    let theirs = goban_position(stones);
    let prey = stones[0].0;
    let goban_prey = (prey.x() as u8, prey.y() as u8);
    let mut reader = LadderReader::default();
    let reading = reader.read(&board, prey, First::Attacker);
    let is_captured = reading.verdict == Verdict::Captured;
    assert_eq!(goban_ladder(&theirs, goban_prey, true), is_captured);
    let mut ours_timing = Timing::new("go::LadderReader", 50);
    let mut theirs_timing = Timing::new("goban, a copy a move", 1);
    for _ in 0..ROUNDS {
        ours_timing.round(|_| {
            let verdict = reader.verdict(&mut board, prey, First::Attacker);
            assert_eq!(black_box(verdict), reading.verdict);
        });
        theirs_timing.round(|_| {
            assert_eq!(
                black_box(goban_ladder(&theirs, goban_prey, true)),
                is_captured
            );
        });
    }
    println!(
        "{name}: {:?}, {} plies, {} nodes",
        reading.verdict,
        reading.line.len(),
        reading.nodes
    );
    print("reads", &[&ours_timing, &theirs_timing]);
}

fn main() {
    bench_playouts(9, GobanSizes::Nine);
    bench_playouts(19, GobanSizes::Nineteen);
    bench_ladders();
}
