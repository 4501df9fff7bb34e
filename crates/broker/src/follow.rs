//! A folder is brought up to the history on the broker, so that a ledger or a trainer can go on from it anywhere.
//!
//! The history is the run's logs, record by record, written by one ledger at a time. Where a folder has records that the
//! history has not, they were never acknowledged to anybody: at its end they are published later, and where the history
//! went on differently they are kept in a file beside the log and taken out of it.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use base::{Log, write_whole};
use flate2::read::DeflateDecoder;
use fleet::{FolderStore, MatchGame, Store, wire::MOST_UNPACKED_BYTES};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::{BrokerError, Streams};

/// Messages fetched at a time.
const BATCH: usize = 256;
/// A fetch waits no longer.
const FETCH: Duration = Duration::from_secs(2);
/// The header with the place of a record in its log, from 1.
pub(crate) const INDEX: &str = "Tengen-Index";
/// The header with the worker that sent a game.
pub(crate) const WORKER: &str = "Tengen-Worker";
/// The note with which version of the state a folder has.
pub(crate) const STATE_VERSION: &str = "state.version";
/// The note with the settings as they were when the folder was last brought up.
const FOLLOWED_SETTINGS: &str = "settings.followed";
/// The notes that move with a run.
pub(crate) const NOTES: [&str; 3] = ["workers.json", "numbers", "run.json"];

/// The state with its version: who wrote it, and which of his states it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Versioned {
    pub(crate) epoch: u64,
    pub(crate) count: u64,
    pub(crate) state: serde_json::Value,
}

/// One record of the history.
pub(crate) enum Entry {
    Game {
        index: u64,
        record: Vec<u8>,
        worker: String,
    },
    Match {
        index: u64,
        game: MatchGame,
    },
    Revoke {
        worker: String,
    },
}

/// Brings a folder up to the history. Whoever calls it holds the folder's lock, and nobody has the run open.
/// Returns how many records were added.
pub fn follow(streams: &Streams, dir: &Path) -> Result<u64, BrokerError> {
    follow_settings(streams, dir)?;
    let mut logs = Logs::open(dir)?;
    let mut added = 0;
    read_history(streams, &mut |entry| {
        added += u64::from(logs.add(entry)?);
        Ok(())
    })?;
    drop(logs);
    follow_state(streams, dir)?;
    let store = FolderStore::open(dir, |_| {})?;
    for name in NOTES {
        if let Some(bytes) = streams.get(&note_key(name))? {
            store.put_note(name, &bytes)?;
        }
    }
    Ok(added)
}

/// The key of a note on the broker.
pub(crate) fn note_key(name: &str) -> String {
    format!("note.{name}")
}

/// Hands every record of the history to `each`, in order.
pub(crate) fn read_history(
    streams: &Streams,
    each: &mut dyn FnMut(Entry) -> Result<(), BrokerError>,
) -> Result<(), BrokerError> {
    let link = &streams.link;
    let info = link.insist("the history", || streams.accepted.get_info())?;
    let last = info.state.last_sequence;
    if info.state.messages == 0 {
        return Ok(());
    }
    let mut next = info.state.first_sequence;
    let mut tries = 0;
    while next <= last {
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: next,
            },
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            num_replicas: 1,
            memory_storage: true,
            ..pull::Config::default()
        };
        let consumer = link.insist("the history", || {
            streams.accepted.create_consumer(config.clone())
        })?;
        let before = next;
        while next <= last {
            let fetched = link.wait(async {
                let fetch = consumer.fetch().max_messages(BATCH).expires(FETCH);
                let mut messages = fetch.messages().await.ok()?;
                let mut all = Vec::new();
                while let Some(Ok(message)) = messages.next().await {
                    all.push(message);
                }
                Some(all)
            });
            let Some(fetched) = fetched.filter(|fetched| !fetched.is_empty()) else {
                break;
            };
            for message in fetched {
                let sequence = message
                    .info()
                    .map_err(|error| BrokerError::refused("the history", error))?
                    .stream_sequence;
                if sequence < next {
                    continue;
                }
                next = sequence + 1;
                if let Some(entry) = Entry::read(&message)? {
                    each(entry)?;
                }
            }
        }
        // A broker that lost its leader loses such consumers, too: another one goes on from there.
        tries = if next == before { tries + 1 } else { 0 };
        if tries > 10 {
            return Err(BrokerError::refused(
                "the history",
                format!("the broker gives nothing after record {}", before - 1),
            ));
        }
    }
    Ok(())
}

impl Entry {
    fn read(message: &async_nats::jetstream::Message) -> Result<Option<Entry>, BrokerError> {
        let damaged =
            |why: String| BrokerError::refused(format!("a record of {}", message.subject), why);
        let header = |name: &str| {
            let value = message.headers.as_ref()?.get(name)?;
            Some(value.as_str().to_owned())
        };
        let index = header(INDEX)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let kind = message.subject.rsplit('.').next().unwrap_or_default();
        Ok(Some(match kind {
            "game" => Entry::Game {
                index,
                record: unpack(&message.payload).map_err(damaged)?,
                worker: header(WORKER).unwrap_or_default(),
            },
            "match" => {
                let game = serde_json::from_slice(&message.payload);
                let game = game.map_err(|error| damaged(error.to_string()))?;
                Entry::Match { index, game }
            }
            "revoke" => Entry::Revoke {
                worker: String::from_utf8_lossy(&message.payload).into_owned(),
            },
            // A new ledger's mark that ends the old one's writing, or something of a later version.
            _ => return Ok(None),
        }))
    }
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut record = Vec::new();
    DeflateDecoder::new(bytes)
        .take(MOST_UNPACKED_BYTES as u64)
        .read_to_end(&mut record)
        .map_err(|error| error.to_string())?;
    Ok(record)
}

/// A folder's logs while they are brought up.
struct Logs {
    dir: PathBuf,
    store: Option<FolderStore>,
    games: Vec<String>,
    matches: Vec<MatchGame>,
}

impl Logs {
    fn open(dir: &Path) -> Result<Logs, BrokerError> {
        let mut games = Vec::new();
        read_log(&dir.join("games.log"), |record| {
            games.push(fleet::wire::sha256_hex(record));
        })?;
        let mut matches = Vec::new();
        read_log(&dir.join("matches.log"), |record| {
            // What cannot be read has its place all the same.
            matches.push(serde_json::from_slice(record).unwrap_or_else(|_| no_game()));
        })?;
        Ok(Logs {
            store: Some(FolderStore::open(dir, |_| {})?),
            dir: dir.to_owned(),
            games,
            matches,
        })
    }

    fn store(&mut self) -> Result<&FolderStore, BrokerError> {
        if self.store.is_none() {
            self.store = Some(FolderStore::open(&self.dir, |_| {})?);
        }
        self.store
            .as_ref()
            .ok_or_else(|| BrokerError::Other("the folder is closed".into()))
    }

    /// Adds a record that the folder has not; says whether it did.
    fn add(&mut self, entry: Entry) -> Result<bool, BrokerError> {
        match entry {
            Entry::Game {
                index,
                record,
                worker,
            } => {
                let hash = fleet::wire::sha256_hex(&record);
                let place = self.place("game", index, self.games.len())?;
                if self.games.get(place) == Some(&hash) {
                    return Ok(false);
                }
                if place < self.games.len() {
                    self.store = None;
                    fork(&self.dir, "games.log", place)?;
                    self.games.truncate(place);
                }
                match worker.as_str() {
                    "" => self.store()?.append_game(&record)?,
                    worker => self.store()?.append_game_by(&record, worker)?,
                };
                self.games.push(hash);
            }
            Entry::Match { index, game } => {
                let place = self.place("match game", index, self.matches.len())?;
                if self.matches.get(place) == Some(&game) {
                    return Ok(false);
                }
                if place < self.matches.len() {
                    fork(&self.dir, "matches.log", place)?;
                    self.matches.truncate(place);
                }
                // Whether it counts beside a ban is found when the folder is opened.
                let mut log = Log::open(&self.dir.join("matches.log"), |_| {})?;
                log.append(&serde_json::to_vec(&game).unwrap_or_default())?;
                self.matches.push(game);
            }
            Entry::Revoke { worker } => {
                if self.store()?.is_revoked(&worker) {
                    return Ok(false);
                }
                self.store()?.revoke(&worker)?;
            }
        }
        Ok(true)
    }

    /// The place of a record from 0, if no record before it is missing.
    fn place(&self, what: &'static str, index: u64, have: usize) -> Result<usize, BrokerError> {
        let place = index.saturating_sub(1) as usize;
        if place > have {
            return Err(BrokerError::Gap {
                dir: self.dir.clone(),
                what,
                first: index,
                have: have as u64,
            });
        }
        Ok(place)
    }
}

fn no_game() -> MatchGame {
    MatchGame::new("", "", 0, fleet::Winner::Nobody)
}

fn read_log(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), BrokerError> {
    if path.exists() {
        Log::open(path, |record| each(record))?;
    }
    Ok(())
}

/// Keeps the first records of a log; all of it stays in a file beside it.
fn fork(dir: &Path, name: &str, keep: usize) -> Result<(), BrokerError> {
    let path = dir.join(name);
    let file = |source| BrokerError::File {
        path: path.clone(),
        source,
    };
    let mut number = 1;
    let aside = loop {
        let aside = dir.join(format!("{name}.fork-{number}"));
        if !aside.exists() {
            break aside;
        }
        number += 1;
    };
    fs::copy(&path, &aside).map_err(file)?;
    let short = dir.join(format!("{name}.part"));
    let _ = fs::remove_file(&short);
    let mut kept = Log::open(&short, |_| {})?;
    let (mut place, mut failure) = (0, None);
    Log::open(&aside, |record| {
        if place < keep && failure.is_none() {
            failure = kept.append(record).err();
        }
        place += 1;
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    drop(kept);
    fs::rename(&short, &path).map_err(file)
}

/// The settings of the run, unless somebody has changed them here since the folder was last brought up.
fn follow_settings(streams: &Streams, dir: &Path) -> Result<(), BrokerError> {
    let path = dir.join("settings.toml");
    let Some(on_broker) = streams.get("settings")? else {
        return Ok(());
    };
    let here = fs::read(&path).ok();
    let followed = dir.join("fleet").join(FOLLOWED_SETTINGS);
    let is_changed_here = here.is_some()
        && here != Some(on_broker.clone())
        && fs::read(&followed).ok() == Some(on_broker.clone());
    if !is_changed_here {
        let file = |path: PathBuf| move |source| BrokerError::File { path, source };
        fs::create_dir_all(dir.join("fleet")).map_err(file(dir.to_owned()))?;
        write_whole(&path, &on_broker).map_err(file(path.clone()))?;
        write_whole(&followed, &on_broker).map_err(file(followed.clone()))?;
    }
    Ok(())
}

/// Remembers the settings that the broker has now.
pub(crate) fn note_settings(store: &dyn Store, text: &[u8]) -> Result<(), BrokerError> {
    Ok(store.put_note(FOLLOWED_SETTINGS, text)?)
}

/// The newer of the two states, the folder's and the broker's.
fn follow_state(streams: &Streams, dir: &Path) -> Result<(), BrokerError> {
    let Some(bytes) = streams.get("state")? else {
        return Ok(());
    };
    let on_broker: Versioned = serde_json::from_slice(&bytes)
        .map_err(|error| BrokerError::refused("the state on the broker", error))?;
    let version = fs::read_to_string(dir.join("fleet").join(STATE_VERSION)).ok();
    let here = version.and_then(|text| read_version(&text));
    if here.is_some_and(|here| here >= (on_broker.epoch, on_broker.count))
        && dir.join("state.json").exists()
    {
        return Ok(());
    }
    let path = dir.join("state.json");
    let text = serde_json::to_vec_pretty(&on_broker.state).unwrap_or_default();
    write_whole(&path, &text).map_err(|source| BrokerError::File { path, source })?;
    let store = FolderStore::open(dir, |_| {})?;
    let version = format!("{} {}", on_broker.epoch, on_broker.count);
    Ok(store.put_note(STATE_VERSION, version.as_bytes())?)
}

/// A version of the state as it is written in its note.
pub(crate) fn read_version(text: &str) -> Option<(u64, u64)> {
    let (epoch, count) = text.trim().split_once(' ')?;
    Some((epoch.parse().ok()?, count.parse().ok()?))
}
