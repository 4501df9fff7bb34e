//! Random playouts and ladders on our board and on the `goban` crate's, in turns in one run,
//! so that both see the same machine. Prints rates and ratios.
//!
//! Both boards play the same games: the same moves are tried in the same order, with ko and
//! suicide forbidden and eyes left open, and the final positions are compared.

use std::{hint::black_box, time::Instant};

use go::{Board, BoardSize, Color, First, Game, Komi, LadderReader, LadderVerdict, Move, Point};
use goban::rules::{CHINESE, GobanSizes, IllegalRules, game::Game as GobanGame};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Many short pieces of work: the best time of each had the machine to itself.
const ROUNDS: usize = 20;
const GAMES: usize = 50;
/// A playout stops at this many moves for each point of the board.
const MOVES_PER_POINT: usize = 3;

/// A board a playout can run on.
trait Playable {
    type Point: Copy;
    /// The points row by row.
    fn points(side: usize) -> Vec<Self::Point>;
    /// Whether a point is empty, no eye of one's own, and legal.
    fn is_playable(&self, point: Self::Point, black: bool) -> bool;
    /// The first playable point from `start` on, around the board.
    fn first_playable(
        &self,
        points: &[Self::Point],
        start: usize,
        black: bool,
    ) -> Option<Self::Point> {
        let (before, after) = points.split_at(start);
        let mut around = after.iter().chain(before).copied();
        around.find(|&point| self.is_playable(point, black))
    }
    fn play(&mut self, point: Self::Point, black: bool);
    fn pass(&mut self);
    /// The stone at a point: whether it is black.
    fn stone(&self, point: Self::Point) -> Option<bool>;
}

fn color(black: bool) -> Color {
    if black { Color::Black } else { Color::White }
}

/// The usual eye of playouts: own stones and the edge around it, and at most one diagonal taken
/// by the opponent, none at the edge.
fn is_eye(board: &Board, point: Point, color: Color) -> bool {
    let is_wall = |n: Point| board.is_stone(n, color) || !board.is_on_board(n);
    if !point.neighbors().into_iter().all(is_wall) {
        return false;
    }
    let diagonals = point.diagonals();
    let is_at_edge = diagonals.iter().any(|&n| !board.is_on_board(n));
    let taken = diagonals
        .iter()
        .filter(|&&n| board.is_stone(n, color.opponent()));
    taken.count() <= usize::from(!is_at_edge)
}

impl Playable for Board {
    type Point = Point;

    fn points(side: usize) -> Vec<Point> {
        BoardSize::new(side).unwrap().points().collect()
    }

    fn is_playable(&self, point: Point, black: bool) -> bool {
        self.is_empty(point)
            && !is_eye(self, point, color(black))
            && self.is_legal(point, color(black))
    }

    fn first_playable(&self, points: &[Point], start: usize, black: bool) -> Option<Point> {
        let start = points[start];
        let empty = self.empty_set();
        let is_playable = |&point: &Point| self.is_playable(point, black);
        empty.iter_from(start).find(is_playable).or_else(|| {
            empty
                .iter()
                .take_while(|&point| point < start)
                .find(is_playable)
        })
    }

    fn play(&mut self, point: Point, black: bool) {
        let _ = Board::play(self, point, color(black));
    }

    fn pass(&mut self) {
        let _ = Board::pass(self);
    }

    fn stone(&self, point: Point) -> Option<bool> {
        Board::stone(self, point).map(|color| color == Color::Black)
    }
}

impl Playable for Game {
    type Point = Point;

    fn points(side: usize) -> Vec<Point> {
        Board::points(side)
    }

    fn is_playable(&self, point: Point, black: bool) -> bool {
        self.board().is_playable(point, black)
    }

    fn first_playable(&self, points: &[Point], start: usize, black: bool) -> Option<Point> {
        self.board().first_playable(points, start, black)
    }

    fn play(&mut self, point: Point, black: bool) {
        let _ = self.force(color(black), Move::Play(point));
    }

    fn pass(&mut self) {
        let _ = Game::play(self, Move::Pass);
    }

    fn stone(&self, point: Point) -> Option<bool> {
        Playable::stone(self.board(), point)
    }
}

impl Playable for GobanGame {
    type Point = (u8, u8);

    fn points(side: usize) -> Vec<(u8, u8)> {
        let side = side as u8;
        (0..side)
            .flat_map(|y| (0..side).map(move |x| (x, y)))
            .collect()
    }

    fn is_playable(&self, (x, y): (u8, u8), black: bool) -> bool {
        let (side, _) = self.size();
        let own = |x: u8, y: u8| Playable::stone(self, (x, y)) == Some(black);
        let is_own_eye = || {
            let (west, south, east, north) = (x == 0, y == 0, x + 1 == side, y + 1 == side);
            let has_walls = (west || own(x - 1, y))
                && (south || own(x, y - 1))
                && (east || own(x + 1, y))
                && (north || own(x, y + 1));
            if !has_walls {
                return false;
            }
            let taken = |off_board: bool, x: u8, y: u8| {
                usize::from(!off_board && Playable::stone(self, (x, y)) == Some(!black))
            };
            let (left, down, right, up) = (x.wrapping_sub(1), y.wrapping_sub(1), x + 1, y + 1);
            let diagonals = taken(west || south, left, down)
                + taken(west || north, left, up)
                + taken(east || south, right, down)
                + taken(east || north, right, up);
            diagonals <= usize::from(!(west || south || east || north))
        };
        let rules = IllegalRules::KO | IllegalRules::SUICIDE;
        Playable::stone(self, (x, y)).is_none()
            && !is_own_eye()
            && self.check_point_by((x, y), rules).is_none()
    }

    fn play(&mut self, (x, y): (u8, u8), _black: bool) {
        GobanGame::play(self, goban::rules::Move::Play(x, y));
    }

    fn pass(&mut self) {
        GobanGame::play(self, goban::rules::Move::Pass);
    }

    fn stone(&self, point: (u8, u8)) -> Option<bool> {
        let stone = self.goban().get_color(point);
        stone.map(|color| color == goban::pieces::stones::Color::Black)
    }
}

/// Plays a random game: each move is the first playable of a few random points, or else the
/// first playable one from a random point on, around the board. Returns the number of moves.
fn playout<B: Playable>(board: &mut B, points: &[B::Point], seed: u64) -> usize {
    const RANDOM_TRIES: usize = 16;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    // A random place without a division.
    let mut random_place = || (((rng.next_u64() >> 32) * points.len() as u64) >> 32) as usize;
    let mut passes = 0;
    let mut moves = 0;
    let mut black = true;
    while passes < 2 && moves < MOVES_PER_POINT * points.len() {
        let is_playable = |point: &B::Point| board.is_playable(*point, black);
        let found = (0..RANDOM_TRIES)
            .map(|_| points[random_place()])
            .find(is_playable)
            .or_else(|| board.first_playable(points, random_place(), black));
        match found {
            Some(point) => {
                board.play(point, black);
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

fn position<B: Playable>(board: &B, points: &[B::Point]) -> Vec<Option<bool>> {
    points.iter().map(|&point| board.stone(point)).collect()
}

/// The best time of each piece of work over all rounds: noise only ever adds.
struct Timing {
    name: String,
    best_seconds: Vec<f64>,
}

impl Timing {
    fn new(name: impl Into<String>, pieces: usize) -> Timing {
        Timing {
            name: name.into(),
            best_seconds: vec![f64::INFINITY; pieces],
        }
    }

    fn round(&mut self, mut work: impl FnMut(usize)) {
        for (index, best) in self.best_seconds.iter_mut().enumerate() {
            let start = Instant::now();
            work(index);
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }

    fn per_second(&self) -> f64 {
        self.best_seconds.len() as f64 / self.best_seconds.iter().sum::<f64>()
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
    let points = Board::points(side);
    let goban_points = GobanGame::points(side);
    for seed in 0..20 {
        let mut ours = Board::new(size);
        let mut theirs = GobanGame::new(goban_size, CHINESE);
        let moves = playout(&mut ours, &points, seed);
        let their_moves = playout(&mut theirs, &goban_points, seed);
        assert_eq!(moves, their_moves, "the boards played different games");
        assert_eq!(position(&ours, &points), position(&theirs, &goban_points));
    }
    let mut board = Timing::new("go::Board", GAMES);
    let mut game = Timing::new("go::Game (superko, history)", GAMES);
    let mut theirs = Timing::new("goban", GAMES);
    for _ in 0..ROUNDS {
        board.round(|index| {
            black_box(playout(&mut Board::new(size), &points, index as u64));
        });
        game.round(|index| {
            black_box(playout(&mut Game::new(size, komi), &points, index as u64));
        });
        theirs.round(|index| {
            let mut game = GobanGame::new(goban_size, CHINESE);
            black_box(playout(&mut game, &goban_points, index as u64));
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
        Playable::play(&mut game, (point.x() as u8, point.y() as u8), black);
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
    let is_captured = reading.verdict == LadderVerdict::Captured;
    assert_eq!(goban_ladder(&theirs, goban_prey, true), is_captured);
    let mut ours_timing = Timing::new("go::LadderReader", 10);
    let mut theirs_timing = Timing::new("goban, a copy a move", 3);
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
