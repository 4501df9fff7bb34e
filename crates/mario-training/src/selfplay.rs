//! Self-play into one file: many games at once, written in order, resumable after any interruption.
//!
//! Game n follows from the settings and n alone, and games are appended in order, each with one
//! write and a sync. So a run that was killed at any moment resumes after the last whole game, and
//! the file has the same bytes whatever the threads and interruptions were.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use fleet::play_games;
use mario::{Game, GameInput, Record, Rules};
use mario_player::{EvaluateError, Player, record_game, training_seed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where pills come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PillSource {
    /// The console's list and its board.
    Console,
    /// Independent draws, viruses straight from the seed: the corpus of round 0.
    Independent,
}

/// What fixes a run: the same settings give the same file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfPlaySettings {
    /// A line that names the player and its budget.
    pub player: String,
    /// Lowest level dealt.
    pub lowest_level: u8,
    /// Highest level dealt.
    pub highest_level: u8,
    /// The levels dealt, if not all from the lowest to the highest; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u8>,
    /// Where pills come from.
    pub pills: PillSource,
    /// Whether moves are sometimes drawn instead of chosen, for variety.
    pub explore: bool,
    /// Seed of everything random.
    pub seed: u64,
}

/// Why self-play stopped.
#[derive(Debug, Error)]
pub enum SelfPlayError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The player: its network could not be evaluated.
    #[error(transparent)]
    Player(#[from] EvaluateError),
    /// The file belongs to a run with other settings.
    #[error("{} was begun with other settings ({found}); use another file or those settings", path.display())]
    OtherSettings {
        /// The records.
        path: PathBuf,
        /// What it was begun with.
        found: String,
    },
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfPlayReport {
    /// Whole games found in the file at the start.
    pub resumed: u64,
    /// Whole games in the file now.
    pub games: u64,
}

/// Plays until `path` holds `games` games. `new_player` makes a player from a seed; `stop` ends
/// the run after the games under way; `progress` is told the number of games in the file.
pub fn self_play(
    path: &Path,
    games: u64,
    threads: usize,
    settings: &SelfPlaySettings,
    new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync),
    stop: &AtomicBool,
    mut progress: impl FnMut(u64),
) -> Result<SelfPlayReport, SelfPlayError> {
    let at = |source| SelfPlayError::Io {
        path: path.to_owned(),
        source,
    };
    claim(path, settings)?;
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(at)?;
    let resumed = truncate_to_whole_games(&mut file).map_err(at)?;
    let failed = AtomicBool::new(false);
    let (sender, receiver) = channel::<(u64, Record)>();
    let mut written = resumed;
    let result = std::thread::scope(|scope| {
        let failed = &failed;
        let playing = scope.spawn(move || {
            let play = |number| {
                let is_over = stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
                match is_over {
                    true => Ok(None),
                    false => play_record(settings, number, new_player).map(Some),
                }
            };
            // Nobody listens any more once a write has failed.
            let finished = |number, record| drop(sender.send((number, record)));
            play_games(resumed, Some(games), threads, stop, play, finished)
        });
        // Games finish in any order and are written in theirs.
        let mut waiting = BTreeMap::new();
        for (number, record) in receiver {
            waiting.insert(number, record);
            while let Some(record) = waiting.remove(&written) {
                let write = file
                    .write_all(record.to_string().as_bytes())
                    .and_then(|()| file.sync_data());
                if let Err(source) = write {
                    failed.store(true, Ordering::Relaxed);
                    return Err(at(source));
                }
                written += 1;
                progress(written);
            }
        }
        match playing.join() {
            Ok(played) => Ok(played?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    result.map(|()| SelfPlayReport {
        resumed,
        games: written,
    })
}

/// Notes the settings beside the records, or checks that they are the same.
fn claim(path: &Path, settings: &SelfPlaySettings) -> Result<(), SelfPlayError> {
    let mut note = path.as_os_str().to_owned();
    note.push(".settings.json");
    let note = PathBuf::from(note);
    let at = |source| SelfPlayError::Io {
        path: note.clone(),
        source,
    };
    match std::fs::read_to_string(&note) {
        Ok(text) => match serde_json::from_str::<SelfPlaySettings>(&text) {
            Ok(found) if found == *settings => Ok(()),
            _ => {
                let (path, found) = (path.to_owned(), text.trim().to_owned());
                Err(SelfPlayError::OtherSettings { path, found })
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = serde_json::to_string(settings).map_err(|error| at(error.into()))? + "\n";
            base::write_whole(&note, text.as_bytes()).map_err(at)
        }
        Err(error) => Err(at(error)),
    }
}

/// Counts the whole games of a file and cuts what follows the last of them.
fn truncate_to_whole_games(file: &mut File) -> io::Result<u64> {
    let (mut games, mut end, mut position) = (0, 0, 0);
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(&*file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        position += line.len() as u64;
        if matches!(&line[..], b"end\n" | b"stall\n" | b"timeout\n") {
            games += 1;
            end = position;
        }
        line.clear();
    }
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(games)
}

/// Game `number` of a run.
fn play_record(
    settings: &SelfPlaySettings,
    number: u64,
    new_player: &(dyn Fn(u64) -> Box<dyn Player> + Sync),
) -> Result<Record, EvaluateError> {
    // Two steps keep the streams of neighbouring games apart.
    let mixed = settings.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(mixed);
    let level = match &settings.levels[..] {
        [] => rng.random_range(settings.lowest_level..=settings.highest_level),
        levels => levels[rng.random_range(0..levels.len())],
    };
    let seed = training_seed(&mut rng);
    let game = match settings.pills {
        PillSource::Console => Game::console(seed, level, Rules::SELF_PLAY),
        PillSource::Independent => {
            let GameInput { board, pills } = GameInput::corpus(seed, level);
            Game::new(board, pills, Rules::SELF_PLAY)
        }
    };
    let mut player = new_player(rng.random());
    let explorer = settings.explore.then_some(&mut rng);
    let (record, _) = record_game(game, &mut *player, explorer, &AtomicBool::new(false))?;
    Ok(record)
}
