//! What an adjustment of komi costs in batches, against the same search one position at a time and
//! against doubling and halving, one position at a time, as the original does it:
//! `cargo run --release -p go-player --example komi_batches -- NETWORK [STONES]`.

use std::{cell::Cell, env, error::Error, path::Path, time::Instant};

use go::{Color, Symmetry};
use go_player::{
    LoadedNetwork, Options, Player, Position, candidates,
    dynamic_komi::{
        Look, Mode, Request, Sample, SavedPosition, Settings, TurnKomi, adjust, winrates,
    },
};
use search::Game as _;

const REPEATS: usize = 5;
/// What White is taken to believe before the adjustment.
const LOST: f64 = 0.001;
/// Halvings of the original, after a ladder of single steps.
const HALVINGS: usize = 8;
/// Where the original gives its ladder up.
const HIGHEST: f64 = 3840.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let file = words.next().ok_or("which network?")?;
    let stones = words.next().map_or(Ok(7), |word| word.parse())?;
    let settings = Settings::for_mode(Some(Mode::Handicap));
    let network = LoadedNetwork::load(Path::new(&file))?;
    let mut player = Player::new(network, Options::default())?;
    player.place_fixed_handicap(stones)?;
    let saved = positions(&player, settings.kept_positions());
    println!("{} bytes a position", saved[0][0].bytes());

    let komi = TurnKomi::TRAINED;
    for _ in 0..REPEATS {
        let sample = Sample::nearest(saved.clone(), komi, LOST, settings.kept_positions());
        let start = Instant::now();
        let batched = adjust(&settings, komi, Color::White, LOST, sample.known(), |all| {
            sample.winrates(player.judge(), all, 1)
        });
        let batched_seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let single = adjust(&settings, komi, Color::White, LOST, sample.known(), |all| {
            let each = all.iter().map(|&point| one_by_one(&player, &saved, point));
            each.collect()
        });
        let single_seconds = start.elapsed().as_secs_f64();
        assert_eq!(batched.komi, single.komi, "batches change nothing");

        let calls = Cell::new(0);
        let start = Instant::now();
        let halved = Color::BOTH.map(|turn| {
            halve(settings.low_aim(), |komi| {
                calls.set(calls.get() + saved[turn.index()].len());
                one_by_one(&player, &saved, Request { turn, komi })
            })
        });
        let halved_seconds = start.elapsed().as_secs_f64();
        println!(
            "{} batches, {} evaluations, {batched_seconds:.3} s, komi {:.2} {:.2}",
            batched.batches,
            sample.evaluations(),
            batched.komi.black,
            batched.komi.white
        );
        println!(
            "  the same one by one: {} calls, {single_seconds:.3} s, {:.2} times as long",
            sample.evaluations(),
            single_seconds / batched_seconds
        );
        println!(
            "  halving one by one: {} calls, {halved_seconds:.3} s, {:.2} times as long, komi {:.2} {:.2}",
            calls.get(),
            halved_seconds / batched_seconds,
            halved[0],
            halved[1]
        );
    }
    Ok(())
}

/// Positions of both colours after the network's favourite moves.
fn positions(player: &Player, count: usize) -> [Vec<SavedPosition>; 2] {
    let mut saved: [Vec<SavedPosition>; 2] = Default::default();
    let root = player.position();
    let look = |position: &Position| {
        let opinion = player
            .judge()
            .opinion(position, Symmetry::IDENTITY)
            .unwrap();
        let mut moves = candidates(position, &opinion);
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        (moves, opinion.winrate)
    };
    for (mv, _) in look(&root).0.into_iter().take(count) {
        let mut position = root.clone();
        position.play(mv);
        for _ in Color::BOTH {
            let (moves, winrate) = look(&position);
            let one = SavedPosition::new(&position, Symmetry::IDENTITY, winrate);
            saved[position.to_move().index()].push(one);
            position.play(moves[0].0);
        }
    }
    saved
}

/// White's mean winrate at a point, each position a call of its own.
fn one_by_one(player: &Player, saved: &[Vec<SavedPosition>; 2], point: Request) -> f64 {
    let saved = &saved[point.turn.index()];
    let winrates = saved.iter().map(|position| {
        let look = Look {
            planes: &position.planes,
            symmetry: position.symmetry,
            to_move: point.turn,
            komi: point.komi,
        };
        winrates(player.judge(), &[look], 1)[0]
    });
    let mean = winrates.sum::<f64>() / saved.len() as f64;
    match point.turn {
        Color::White => mean,
        Color::Black => 1.0 - mean,
    }
}

/// The original's way: double until White's winrate passes the aim, then halve.
fn halve(aim: f64, winrate: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (TurnKomi::TRAINED.white, 2.0 * TurnKomi::TRAINED.white);
    while winrate(high) < aim && high < HIGHEST {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if winrate(middle) > aim {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low + high) / 2.0
}
