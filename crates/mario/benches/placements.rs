//! Placements resolved a second, and random games a second, on one core.
//!
//! Run with `cargo bench -p mario`; criterion prints the throughput beside the time.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mario::{Board, Game, Pill, Placement, Rules, boxes, flood};

/// A small xorshift: the benchmark needs cheap choices, not good ones.
struct Choice(u64);

impl Choice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Positions met in random games of every level, each with a legal placement.
fn positions() -> Vec<(Board, Pill, Placement)> {
    let mut choice = Choice(0x9e37_79b9_7f4a_7c15);
    let mut positions = Vec::new();
    for level in 0..=20 {
        let mut game = Game::console(1000 + 2 * u16::from(level), level, Rules::default());
        while game.ending().is_none() {
            let placements: Vec<_> = flood(game.board()).placements(game.pill()).collect();
            let placement = placements[choice.below(placements.len())];
            positions.push((*game.board(), game.pill(), placement));
            game.play_reachable(placement);
        }
    }
    positions
}

fn random_game(choice: &mut Choice, resting: impl Fn(&Board) -> mario::Resting) -> u32 {
    let mut game = Game::console(2 + choice.below(65_534) as u16, 10, Rules::default());
    while game.ending().is_none() {
        let pill = game.pill();
        let resting = resting(game.board());
        let chosen = choice.below(resting.count(pill) as usize);
        let placement = resting.placements(pill).nth(chosen).expect("counted");
        game.play_reachable(placement);
    }
    game.placed()
}

fn benches(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("mario");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("placements", |bencher| {
        bencher.iter(|| {
            for &(board, pill, placement) in &positions {
                let mut board = black_box(board);
                black_box(board.play(pill, placement));
            }
        });
    });
    group.bench_function("flood", |bencher| {
        bencher.iter(|| {
            for (board, _, _) in &positions {
                black_box(flood(black_box(board)));
            }
        });
    });
    group.throughput(Throughput::Elements(1));
    let mut choice = Choice(1);
    group.bench_function("random games, exact moves", |bencher| {
        bencher.iter(|| random_game(&mut choice, flood));
    });
    group.bench_function("random games, box moves", |bencher| {
        bencher.iter(|| random_game(&mut choice, boxes));
    });
    group.finish();
}

criterion_group!(placements, benches);
criterion_main!(placements);
