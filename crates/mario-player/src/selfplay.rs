//! Games recorded move by move, to learn from, and the files of such records.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use mario::{Ending, Game, Placed, Placement, Record, RecordEnd, RecordError, RecordMove};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use search::EvaluateError;
use thiserror::Error;

use crate::player::{Decision, Player, View};

/// Why recorded games cannot be read.
#[derive(Debug, Error)]
pub enum RecordFileError {
    /// A file could not be read or written.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A record in the file is damaged.
    #[error("{}: game {game}: {source}", path.display())]
    Record {
        path: PathBuf,
        /// Counted from 1.
        game: u64,
        source: RecordError,
    },
}

/// With these chances self-play plays the best move, or draws one by weight; otherwise any.
const BEST_CHANCE: f64 = 0.8;
const WEIGHTED_CHANCE: f64 = 0.16;

/// A seed to learn from: one of those that evaluation never deals.
pub fn training_seed(rng: &mut impl RngExt) -> u16 {
    const REMAINDER: u16 = 2;
    (rng.random_range(0..=u16::MAX >> 2) << 2) | REMAINDER
}

/// Plays a game to its end and records it; `explorer` sometimes draws a move instead of choosing it. When the player
/// has no answer or `stop` is set, the record says that the game ran out of time. The game comes back as it ended.
pub fn record_game(
    mut game: Game,
    player: &mut dyn Player,
    mut explorer: Option<&mut Xoshiro256PlusPlus>,
    stop: &AtomicBool,
) -> Result<(Record, Game), EvaluateError> {
    player.new_game();
    let board = *game.board();
    let mut moves = Vec::new();
    let mut end = RecordEnd::End;
    while game.ending().is_none() {
        let decision = match stop.load(Ordering::Relaxed) {
            true => None,
            false => player.decide(&View::of(&game))?,
        };
        let Some(decision) = decision else {
            end = RecordEnd::Timeout;
            break;
        };
        let chosen = match &mut explorer {
            Some(rng) => explore(&decision, rng),
            None => decision.placement,
        };
        let pill = game.pill();
        let placed = |at: Placement| Placed {
            x: at.x,
            y: at.y,
            content: pill.turned(at.turns),
        };
        moves.push(RecordMove {
            chosen: placed(chosen),
            weights: decision
                .weights
                .iter()
                .map(|&(at, weight)| (placed(at), weight))
                .collect(),
        });
        game.play_reachable(chosen);
    }
    if game.ending() == Some(Ending::Stalled) {
        end = RecordEnd::Stall;
    }
    Ok((Record { board, moves, end }, game))
}

fn explore(decision: &Decision, rng: &mut Xoshiro256PlusPlus) -> Placement {
    let draw: f64 = rng.random();
    if draw < BEST_CHANCE || decision.weights.is_empty() {
        return decision.placement;
    }
    if draw >= BEST_CHANCE + WEIGHTED_CHANCE {
        return decision.weights[rng.random_range(0..decision.weights.len())].0;
    }
    // One is added so that a placement never tried can still be drawn.
    let total: f64 = decision
        .weights
        .iter()
        .map(|(_, weight)| weight + 1.0)
        .sum();
    let mut left = rng.random::<f64>() * total;
    for &(placement, weight) in &decision.weights {
        left -= weight + 1.0;
        if left < 0.0 {
            return placement;
        }
    }
    decision.placement
}

/// The records of a file, one after the other; a cut one at the very end is left out.
pub fn read_records(path: &Path) -> Result<RecordReader, RecordFileError> {
    let file = File::open(path).map_err(|source| RecordFileError::Io {
        path: path.to_owned(),
        source,
    })?;
    Ok(RecordReader {
        path: path.to_owned(),
        lines: BufReader::new(file),
        game: 0,
    })
}

/// See [`read_records`].
#[derive(Debug)]
pub struct RecordReader {
    path: PathBuf,
    lines: BufReader<File>,
    game: u64,
}

impl Iterator for RecordReader {
    type Item = Result<Record, RecordFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        self.game += 1;
        loop {
            let start = text.len();
            match self.lines.read_line(&mut text) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(source) => {
                    return Some(Err(RecordFileError::Io {
                        path: self.path.clone(),
                        source,
                    }));
                }
            }
            if matches!(&text[start..], "end\n" | "stall\n" | "timeout\n") {
                let record = text.parse().map_err(|source| RecordFileError::Record {
                    path: self.path.clone(),
                    game: self.game,
                    source,
                });
                return Some(record);
            }
        }
    }
}
