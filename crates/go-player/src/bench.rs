//! How fast this machine thinks with a network.

use std::time::Instant;

use go::{Color, Game, Komi, Symmetry};
use serde::Serialize;

use crate::{
    clock::TimeControl,
    network::{LoadedNetwork, NetworkError},
    options::Options,
    player::Player,
    think::Request,
};

/// Positions of an evaluation batch that are tried.
const BATCHES: [usize; 3] = [1, 4, 16];
/// Moves of the position that is searched: a quiet opening.
const OPENING: [(Color, &str); 3] = [
    (Color::Black, "R16"),
    (Color::White, "D4"),
    (Color::Black, "C3"),
];

/// Evaluations in batches of one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EvaluationSpeed {
    /// Positions at once.
    pub batch: usize,
    /// Positions a second, on one thread.
    pub per_second: f64,
}

/// A search with a number of threads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchSpeed {
    pub threads: usize,
    /// Playouts that were counted.
    pub playouts: u64,
    /// Playouts a second.
    pub per_second: f64,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// One thread, no search.
    pub evaluations: Vec<EvaluationSpeed>,
    /// Searches of the same position.
    pub searches: Vec<SearchSpeed>,
}

/// Measures evaluations for about `seconds` a batch size, and searches of `visits` with one thread and
/// with `threads`. `progress` is called with what is done, and of how much.
pub fn measure(
    network: &LoadedNetwork,
    seconds: f64,
    visits: u64,
    threads: usize,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Figures, NetworkError> {
    let mut thread_counts = vec![1, threads.max(1)];
    thread_counts.dedup();
    let steps = BATCHES.len() + thread_counts.len();
    let mut evaluations = Vec::new();
    let player = Player::new(network.clone(), Options::default())?;
    for batch in BATCHES {
        evaluations.push(EvaluationSpeed {
            batch,
            per_second: evaluations_per_second(&player, batch, seconds)?,
        });
        progress(evaluations.len(), steps);
    }
    let mut searches = Vec::new();
    for threads in thread_counts {
        searches.push(search_speed(network, threads, visits)?);
        progress(evaluations.len() + searches.len(), steps);
    }
    Ok(Figures {
        evaluations,
        searches,
    })
}

fn evaluations_per_second(
    player: &Player,
    batch: usize,
    seconds: f64,
) -> Result<f64, search::EvaluateError> {
    let position = player.position();
    let asked: Vec<_> = (0..batch)
        .map(|index| (&position, Symmetry::ALL[index % Symmetry::COUNT]))
        .collect();
    // The first call warms caches and frequencies.
    player.judge().evaluate_anew(&asked)?;
    let start = Instant::now();
    let mut done = 0;
    loop {
        player.judge().evaluate_anew(&asked)?;
        done += batch;
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed >= seconds {
            return Ok(done as f64 / elapsed);
        }
    }
}

fn search_speed(
    network: &LoadedNetwork,
    threads: usize,
    visits: u64,
) -> Result<SearchSpeed, NetworkError> {
    let options = Options {
        threads,
        visits: Some(visits),
        stop_mode: search::StopMode::Off,
        ..Options::default()
    };
    let mut player = Player::new(network.clone(), options)?;
    player.set_time(TimeControl::Unlimited);
    let mut game = Game::new(player.judge().size(), Komi::default());
    for (color, vertex) in OPENING {
        // Small boards lack some of the points; the search is no worse for it.
        if let Ok(mv) = vertex.parse() {
            let _ = game.play_as(color, mv);
        }
    }
    let to_move = game.to_move();
    let _ = player.set_game(game);
    let report = player
        .generate(to_move, &Request::default(), &mut ())?
        .report;
    Ok(SearchSpeed {
        threads,
        playouts: report.playouts,
        per_second: report.playouts as f64 / report.elapsed.as_secs_f64().max(1e-9),
    })
}
