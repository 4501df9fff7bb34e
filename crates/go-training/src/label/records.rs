//! Positions from game records, with komi and random moves that the records do not have.

use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use go::{Color, Game, Komi, Move, PointSet, Rules, sgf::Tree};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    file::{LabelError, LabelFile},
    generate::Progress,
    plan::in_halves,
    record::LabelledGame,
    teacher::{Teacher, label},
};
use crate::games::collect;

/// Numbers of positions from records begin here, so that one file can hold generated games too.
pub(crate) const FIRST_NUMBER: u64 = 1 << 40;
/// Records whose positions are asked about together: enough of one board size for a full batch.
const TOGETHER: usize = 16;
/// How often komi is the record's own, or what the rules give.
const OWN_KOMI: f64 = 0.6;
/// Else komi is drawn about this, this widely.
const FAIR_KOMI: f64 = 7.0;
const KOMI_SPREAD: f64 = 10.0;
/// How often one to three random moves follow, which nobody would have played.
const DISTURBED: f64 = 0.25;
const MOST_RANDOM_MOVES: usize = 3;

/// The number of a position among those of records, if it is one of them.
pub(crate) fn is_from_record(number: u64) -> Option<u64> {
    number.checked_sub(FIRST_NUMBER)
}

/// Which positions to take from records.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordSettings {
    /// SGF files, archives of them (`.tar.gz`), or folders of either.
    pub games: Vec<PathBuf>,
    /// Positions of each game.
    pub per_game: usize,
    /// Decides which.
    pub seed: u64,
    /// Stop after so many labels, those in the file counted.
    pub labels: usize,
    /// Threads that ask the teacher.
    pub threads: usize,
}

/// Labels positions of game records. Positions that the file has already are not asked about again. Returns how many
/// records could not be read.
pub fn from_records(
    teacher: &Teacher,
    settings: &RecordSettings,
    file: &mut LabelFile,
    stop: &AtomicBool,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> Result<usize, LabelError> {
    let mut texts = Vec::new();
    for path in &settings.games {
        collect(path, &mut texts).map_err(|error| LabelError::Settings(error.to_string()))?;
    }
    let unreadable = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    let is_done = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let file = Mutex::new(file);
    let work = || -> Result<(), LabelError> {
        let seed = base::mix(settings.seed);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        while !is_done.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed) {
            let start = next.fetch_add(TOGETHER, Ordering::Relaxed);
            let Some(batch) = texts.get(start..) else {
                return Ok(());
            };
            let batch = &batch[..batch.len().min(TOGETHER)];
            if batch.is_empty() {
                return Ok(());
            }
            let mut drawn = Vec::new();
            for (index, (_, bytes)) in (start..).zip(batch) {
                match positions(bytes, index as u64, settings) {
                    Some(found) => drawn.extend(found),
                    None => drop(unreadable.fetch_add(1, Ordering::Relaxed)),
                }
            }
            let locked = || file.lock().unwrap_or_else(PoisonError::into_inner);
            drawn.retain(|(number, _)| !locked().contains(*number));
            for labelled in ask(teacher, drawn, &mut rng)? {
                let mut file = locked();
                file.append(&labelled)?;
                if file.labels() >= settings.labels {
                    is_done.store(true, Ordering::Relaxed);
                }
                on_progress(Progress {
                    games: file.games(),
                    labels: file.labels(),
                });
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| {
                if let Err(error) = work() {
                    is_done.store(true, Ordering::Relaxed);
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    failure.get_or_insert(error);
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(unreadable.into_inner()),
    }
}

/// Asks about positions, those of one board size together.
fn ask(
    teacher: &Teacher,
    mut drawn: Vec<(u64, Game)>,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Vec<LabelledGame>, LabelError> {
    drawn.sort_by_key(|(_, game)| game.size());
    let mut labelled = Vec::with_capacity(drawn.len());
    for group in drawn.chunk_by(|(_, a), (_, b)| a.size() == b.size()) {
        let games: Vec<&Game> = group.iter().map(|(_, game)| game).collect();
        let opinions = teacher.opinions(games[0].size(), &games, rng)?;
        for ((number, game), opinion) in group.iter().zip(opinions) {
            labelled.push(record(*number, game, &opinion)?);
        }
    }
    Ok(labelled)
}

fn record(
    number: u64,
    game: &Game,
    opinion: &go_player::Opinion,
) -> Result<LabelledGame, LabelError> {
    let anchor = &game.positions()[0];
    let moves: Vec<(Color, Move)> = game.moves().collect();
    Ok(LabelledGame {
        number,
        size: game.size(),
        rules: *game.rules(),
        setup: Color::BOTH.map(|color| *anchor.of(color)),
        handicap: game.handicap(),
        first: moves.first().map_or(game.to_move(), |&(color, _)| color),
        labels: vec![label(moves.len(), game.komi(), opinion)?],
        moves,
    })
}

/// Some positions of a record; nothing if it cannot be read.
fn positions(bytes: &[u8], index: u64, settings: &RecordSettings) -> Option<Vec<(u64, Game)>> {
    let collection = go::sgf::read(bytes).ok()?;
    let tree: &Tree = collection.games.first()?;
    let line = tree.main_line();
    let mut found = Vec::new();
    for place in 0..settings.per_game as u64 {
        let number = index * settings.per_game as u64 + place;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(base::nth_seed(settings.seed, number));
        let node = line[rng.random_range(0..line.len())];
        let mut game = tree.game_at(node).ok()?;
        let rules = [Rules::CHINESE, Rules::JAPANESE, Rules::TROMP_TAYLOR];
        game.set_rules(rules[rng.random_range(0..rules.len())]);
        if !rng.random_bool(OWN_KOMI) {
            let drawn = Normal::new(FAIR_KOMI, KOMI_SPREAD).ok()?.sample(&mut rng);
            game.set_komi(Komi::new(in_halves(drawn as f32))?);
        }
        if rng.random_bool(DISTURBED) {
            disturb(&mut game, &mut rng);
        }
        found.push((FIRST_NUMBER + number, game));
    }
    Some(found)
}

fn disturb(game: &mut Game, rng: &mut Xoshiro256PlusPlus) {
    for _ in 0..rng.random_range(1..=MOST_RANDOM_MOVES) {
        let legal: PointSet = game.legal_points(game.to_move()).collect();
        let Some(point) = legal.iter().nth(rng.random_range(0..legal.len().max(1))) else {
            return;
        };
        // The point is one of the legal ones.
        let _ = game.play(Move::Play(point));
    }
}
