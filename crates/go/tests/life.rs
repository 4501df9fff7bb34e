//! Unconditional life against its definition, by a literal fixpoint and by playing it out.

mod common;
#[path = "common/suite.rs"]
mod suite;

use std::collections::{HashMap, HashSet};

use go::{Benson, Board, BoardSize, Color, Fate, Point, PointSet};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A position with stones and empty points in random shares, as far as every block has a
/// liberty.
fn random_board(side: usize, seed: u64) -> Board {
    let size = BoardSize::new(side).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut board = Board::new(size);
    let black_share = rng.random_range(0.3..0.9);
    for _ in 0..size.area() * 2 {
        let point = size.point(rng.random_range(0..size.area()));
        let color = if rng.random_bool(black_share) {
            Color::Black
        } else {
            Color::White
        };
        if board.is_legal(point, color) && rng.random_bool(0.8) {
            let _ = board.play(point, color);
        }
    }
    board
}

/// The textbook: all blocks, all regions, strike out until nothing changes.
fn textbook_life(board: &Board, color: Color) -> PointSet {
    let mut blocks: Vec<PointSet> = board.stone_set(color).components().collect();
    let others = PointSet::full(board.size()) - *board.stone_set(color);
    let mut regions: Vec<PointSet> = others.components().collect();
    loop {
        let before = (blocks.len(), regions.len());
        blocks.retain(|block| {
            let vital =
                |region: &&PointSet| (**region & board.empty_set()).is_subset(&block.grown());
            regions.iter().filter(vital).count() >= 2
        });
        let alive = blocks
            .iter()
            .fold(PointSet::EMPTY, |all, &block| all | block);
        regions.retain(|region| (region.grown() & *board.stone_set(color)).is_subset(&alive));
        if before == (blocks.len(), regions.len()) {
            return alive;
        }
    }
}

/// What the opponent, moving as often as he likes, can never capture: by trying everything.
fn played_out_life(board: &Board, color: Color) -> PointSet {
    let mut alive = *board.stone_set(color);
    let mut seen = HashSet::new();
    let mut open = vec![board.clone()];
    while let Some(board) = open.pop() {
        alive = alive & *board.stone_set(color);
        for point in board.empty_set().iter() {
            let attacker = color.opponent();
            if !board.is_suicide(point, attacker) && seen.insert(board.hash_after(point, attacker))
            {
                let mut next = board.clone();
                let _ = next.play(point, attacker);
                open.push(next);
            }
        }
    }
    alive
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn life_is_the_textbook_fixpoint(side in 2usize..=13, seed: u64) {
        let board = random_board(side, seed);
        let mut benson = Benson::new();
        for color in Color::BOTH {
            let life = board.unconditional_life(color);
            prop_assert_eq!(life.stones, textbook_life(&board, color));
            for stone in board.stone_set(color).iter() {
                prop_assert_eq!(benson.is_alive(&board, stone), life.stones.contains(stone));
            }
            prop_assert!(!life.eyes.intersects(&life.stones));
            prop_assert!(board.fates().territory(color).intersects(&life.eyes) || life.eyes.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn life_is_what_no_number_of_moves_can_capture(side in 2usize..=4, seed: u64) {
        let board = random_board(side, seed);
        for color in Color::BOTH {
            prop_assert_eq!(board.unconditional_life(color).stones, played_out_life(&board, color));
        }
    }
}

#[test]
fn two_eyes_live_and_one_dies() {
    let two = "..#.#\n#####\n.....";
    let board =
        Board::from_diagram(BoardSize::new(5).unwrap(), &format!("{two}\n.....\n.....")).unwrap();
    assert_eq!(board.unconditional_life(Color::Black).stones.len(), 7);
    let one = Board::from_diagram(
        BoardSize::new(5).unwrap(),
        ".##..\n###..\n.....\n.....\n.....",
    )
    .unwrap();
    assert!(one.unconditional_life(Color::Black).stones.is_empty());
}

#[test]
fn fates_agree_with_gnu_gos_suite() {
    let Some(file) = common::data("suites/gnugo/unconditional.tst") else {
        return;
    };
    let checks = suite::checks(&file);
    assert_eq!(checks.len(), 673);
    let mut wrong = Vec::new();
    let mut fates = HashMap::new();
    for check in &checks {
        let fates = fates
            .entry(check.board.hash())
            .or_insert_with(|| check.board.fates());
        let fate = match fates.at(check.point) {
            Fate::Alive => "alive",
            Fate::Dead => "dead",
            Fate::Territory(Color::Black) => "black_territory",
            Fate::Territory(Color::White) => "white_territory",
            Fate::Undecided => "undecided",
        };
        if fate != check.answer {
            let point: Point = check.point;
            wrong.push(format!(
                "{} {point}: {fate}, not {}",
                check.number, check.answer
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        checks.len(),
        wrong.join("\n")
    );
}
