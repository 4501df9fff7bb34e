//! Random games on every size, played on the board and on a slow one that recomputes
//! everything from the stones, which must agree on everything at every move.

use std::collections::{BTreeSet, HashMap};

use go::{Board, BoardSize, Color, Game, Illegal, Komi, Move, Point, Undo};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

type Position = Vec<Option<Color>>;

/// Stones in a plain array, nothing else kept.
#[derive(Clone, PartialEq, Debug)]
struct SlowBoard {
    side: usize,
    stones: Position,
    ko: Option<usize>,
}

impl SlowBoard {
    fn new(side: usize) -> SlowBoard {
        SlowBoard {
            side,
            stones: vec![None; side * side],
            ko: None,
        }
    }

    fn neighbors(&self, at: usize) -> Vec<usize> {
        let (x, y) = (at % self.side, at / self.side);
        let mut found = Vec::new();
        if x > 0 {
            found.push(at - 1);
        }
        if x + 1 < self.side {
            found.push(at + 1);
        }
        if y > 0 {
            found.push(at - self.side);
        }
        if y + 1 < self.side {
            found.push(at + self.side);
        }
        found
    }

    /// All points connected to `at` that hold what `at` holds.
    fn connected(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(next) = open.pop() {
            for neighbor in self.neighbors(next) {
                if self.stones[neighbor] == self.stones[at] && found.insert(neighbor) {
                    open.push(neighbor);
                }
            }
        }
        found
    }

    fn liberties(&self, at: usize) -> BTreeSet<usize> {
        self.connected(at)
            .into_iter()
            .flat_map(|stone| self.neighbors(stone))
            .filter(|&point| self.stones[point].is_none())
            .collect()
    }

    /// The rules, word by word: put the stone, remove opponents without liberties, then own
    /// stones without liberties. Returns captured stones and whether it was suicide.
    fn play(&mut self, at: usize, color: Color) -> (usize, bool) {
        self.ko = None;
        self.stones[at] = Some(color);
        let mut captured = BTreeSet::new();
        for neighbor in self.neighbors(at) {
            if self.stones[neighbor] == Some(color.opponent())
                && self.liberties(neighbor).is_empty()
            {
                captured.extend(self.connected(neighbor));
            }
        }
        for &stone in &captured {
            self.stones[stone] = None;
        }
        let suicide = self.liberties(at).is_empty();
        if suicide {
            for stone in self.connected(at) {
                self.stones[stone] = None;
            }
        } else if captured.len() == 1
            && self.connected(at).len() == 1
            && self.liberties(at).len() == 1
        {
            self.ko = captured.first().copied();
        }
        (captured.len(), suicide)
    }

    fn check(&self, at: usize, color: Color) -> Result<(), Illegal> {
        if self.stones[at].is_some() {
            return Err(Illegal::Occupied);
        }
        match self.clone().play(at, color) {
            // Retaking takes a stone; filling one's own ko does not.
            (1.., _) if self.ko == Some(at) => Err(Illegal::Ko),
            (_, true) => Err(Illegal::Suicide),
            _ => Ok(()),
        }
    }

    /// Black's area minus White's: each empty region counts for a colour if only that colour
    /// touches it.
    fn area_difference(&self) -> i32 {
        let worth = |color| match color {
            Color::Black => 1,
            Color::White => -1,
        };
        let mut difference = self.stones.iter().flatten().copied().map(worth).sum();
        let mut seen = BTreeSet::new();
        for at in (0..self.stones.len()).filter(|&at| self.stones[at].is_none()) {
            if seen.contains(&at) {
                continue;
            }
            let region = self.connected(at);
            let touching: BTreeSet<Color> = region
                .iter()
                .flat_map(|&empty| self.neighbors(empty))
                .filter_map(|neighbor| self.stones[neighbor])
                .collect();
            difference += touching.into_iter().map(worth).sum::<i32>() * region.len() as i32;
            seen.extend(region);
        }
        difference
    }
}

fn indices(size: BoardSize, points: impl Iterator<Item = Point>) -> BTreeSet<usize> {
    let list: Vec<usize> = points.map(|point| size.index(point)).collect();
    let set: BTreeSet<usize> = list.iter().copied().collect();
    assert_eq!(list.len(), set.len(), "a point was listed twice");
    set
}

/// Everything a board says must be what the slow board finds.
fn assert_same(board: &Board, slow: &SlowBoard, hashes: &mut HashMap<Position, u64>) {
    let size = board.size();
    for point in size.points() {
        let at = size.index(point);
        assert_eq!(board.stone(point), slow.stones[at]);
        assert_eq!(board.is_empty(point), slow.stones[at].is_none());
        for color in Color::BOTH {
            assert_eq!(board.is_stone(point, color), slow.stones[at] == Some(color));
            assert_eq!(
                board.stone_set(color).contains(point),
                slow.stones[at] == Some(color)
            );
        }
        if slow.stones[at].is_some() {
            let stones = slow.connected(at);
            let liberties = slow.liberties(at);
            assert_eq!(indices(size, board.stones(point)), stones);
            assert_eq!(indices(size, board.liberties(point)), liberties);
            assert_eq!(board.stone_count(point), stones.len());
            assert_eq!(board.liberty_count(point), liberties.len());
            assert!(stones.contains(&size.index(board.block(point))));
            assert!(
                stones
                    .iter()
                    .all(|&s| board.block(size.point(s)) == board.block(point))
            );
        }
    }
    assert_eq!(board.ko_point().map(|point| size.index(point)), slow.ko);
    assert_eq!(
        *hashes.entry(slow.stones.clone()).or_insert(board.hash()),
        board.hash()
    );
}

fn assert_same_moves(board: &Board, slow: &SlowBoard) {
    let size = board.size();
    for point in size.points() {
        for color in Color::BOTH {
            assert_eq!(
                board.check(point, color),
                slow.check(size.index(point), color)
            );
            if slow.stones[size.index(point)].is_none() {
                let mut after = board.clone();
                let undo = after.play(point, color);
                let mut slow_after = slow.clone();
                let (captured, suicide) = slow_after.play(size.index(point), color);
                assert_eq!(undo.captured_stones(), captured);
                assert_eq!(undo.was_suicide(), suicide);
                assert_eq!(after.hash(), board.hash_after(point, color));
            }
        }
    }
}

/// Picks any empty point, suicides and kos included, or now and then a pass.
fn random_move(board: &Board, rng: &mut Xoshiro256PlusPlus) -> Move {
    let empty: Vec<Point> = board.empty_set().iter().collect();
    match empty.choose(rng) {
        Some(&point) if rng.random_bool(0.97) => Move::Play(point),
        _ => Move::Pass,
    }
}

fn board_game(side: usize, seed: u64, moves: usize, full_check_every: usize) {
    let size = BoardSize::new(side).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut board = Board::new(size);
    let mut slow = SlowBoard::new(side);
    let mut past: Vec<(Undo, SlowBoard)> = Vec::new();
    let mut hashes = HashMap::new();
    for number in 0..moves {
        assert_same(&board, &slow, &mut hashes);
        if number % full_check_every == 0 {
            assert_same_moves(&board, &slow);
        }
        if rng.random_bool(0.2) {
            for _ in 0..rng.random_range(0..6) {
                let Some((undo, slow_before)) = past.pop() else {
                    break;
                };
                board.undo(undo);
                slow = slow_before;
                assert_same(&board, &slow, &mut hashes);
            }
        }
        let color = Color::BOTH[usize::from(rng.random_bool(0.5))];
        let before = slow.clone();
        let undo = match random_move(&board, &mut rng) {
            Move::Play(point) => {
                slow.play(size.index(point), color);
                board.play(point, color)
            }
            Move::Pass => {
                slow.ko = None;
                board.pass()
            }
        };
        past.push((undo, before));
    }
    let distinct: BTreeSet<u64> = hashes.values().copied().collect();
    assert_eq!(distinct.len(), hashes.len(), "two positions share a hash");
    let rebuilt = Board::with_stones(
        size,
        board.stone_set(Color::Black),
        board.stone_set(Color::White),
    )
    .unwrap();
    slow.ko = None;
    assert_same(&rebuilt, &slow, &mut hashes);
    while let Some((undo, slow_before)) = past.pop() {
        board.undo(undo);
        assert_same(&board, &slow_before, &mut hashes);
    }
    assert_eq!(board.hash(), 0);
}

/// A game with the rules enforced: superko over the whole past, score at every move, then all
/// the way back.
fn whole_game(side: usize, seed: u64, moves: usize) {
    let size = BoardSize::new(side).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut game = Game::new(size, Komi::new(0.5).unwrap());
    let mut slow = SlowBoard::new(side);
    let mut past: Vec<(SlowBoard, Color)> = Vec::new();
    let mut refused = 0;
    while past.len() < moves && refused < 3 * moves {
        let mv = random_move(game.board(), &mut rng);
        let color = if rng.random_bool(0.9) {
            game.to_move()
        } else {
            game.to_move().opponent()
        };
        let mut slow_after = slow.clone();
        let expected = match mv {
            Move::Pass => {
                slow_after.ko = None;
                Ok(())
            }
            Move::Play(point) => slow.check(size.index(point), color).and_then(|()| {
                slow_after.play(size.index(point), color);
                let stood_before = past
                    .iter()
                    .any(|(board, _)| board.stones == slow_after.stones);
                if stood_before || slow.stones == slow_after.stones {
                    Err(Illegal::Superko)
                } else {
                    Ok(())
                }
            }),
        };
        let to_move = game.to_move();
        assert_eq!(game.play_as(color, mv), expected);
        if expected.is_err() {
            refused += 1;
            continue;
        }
        past.push((slow, to_move));
        slow = slow_after;
        assert_eq!(game.to_move(), color.opponent());
        assert_eq!(
            game.score().lead(Color::Black),
            slow.area_difference() as f32 - 0.5
        );
        let boards: Vec<&SlowBoard> = past.iter().map(|(board, _)| board).chain([&slow]).collect();
        assert_eq!(game.history().len(), boards.len().min(8));
        for (stones, slow) in game.history().zip(boards.iter().rev()) {
            for color in Color::BOTH {
                let expected = (0..size.area())
                    .filter(|&at| slow.stones[at] == Some(color))
                    .collect();
                assert_eq!(indices(size, stones.of(color).iter()), expected);
            }
        }
    }
    let mut hashes = HashMap::new();
    while let Some((slow_before, to_move)) = past.pop() {
        let last = game.last_move();
        assert_eq!(game.undo(), last);
        assert_eq!(game.to_move(), to_move);
        assert_same(game.board(), &slow_before, &mut hashes);
    }
    assert_eq!(game.undo(), None);
    assert_eq!(game.positions().len(), 1);
}

#[test]
fn who_has_taken_a_ko_may_fill_it() {
    let size = BoardSize::new(5).unwrap();
    let rows = "
        . . . . .
        . . . . .
        . X O . .
        X . X O .
        . X O . .
    ";
    let mut board = Board::from_diagram(size, rows).unwrap();
    let [taken, taker] = ["C2", "B2"].map(|vertex| match vertex.parse().unwrap() {
        Move::Play(point) => point,
        Move::Pass => unreachable!("a vertex"),
    });
    let _ = board.play(taker, Color::White);
    assert_eq!(board.check(taken, Color::Black), Err(Illegal::Ko));
    assert_eq!(board.check(taken, Color::White), Ok(()));
    let _ = board.play(taken, Color::White);
    assert_eq!(board.ko_point(), None);
}

#[test]
fn board_agrees_with_the_slow_board_on_every_size() {
    for side in 2..=25 {
        let moves = if side <= 9 {
            2 * side * side + 40
        } else {
            side * side
        };
        board_game(side, side as u64, moves, 1 + side * side / 16);
    }
}

#[test]
fn games_agree_with_the_slow_board_on_every_size() {
    for side in 2..=25 {
        whole_game(
            side,
            1000 + side as u64,
            if side <= 9 { 2 * side * side } else { 200 },
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn board_agrees_with_the_slow_board(side in 2usize..=9, seed: u64) {
        board_game(side, seed, 2 * side * side + 20, side);
    }

    #[test]
    fn games_agree_with_the_slow_board(side in 2usize..=7, seed: u64) {
        whole_game(side, seed, 3 * side * side);
    }
}
