//! The store of a ledger over the broker: its folder, and the history from which another ledger can go on.
//!
//! A record is in the folder, synced, and in the history before anybody is told that it is kept. The history is written
//! with the sequence that its last record must have: a ledger that was overtaken finds that out with its first word, and
//! gives no receipt any more.

use std::{
    collections::{HashSet, VecDeque},
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_nats::{
    HeaderMap,
    jetstream::{context::PublishErrorKind, message::PublishMessage},
};
use base::{Log, write_whole};
use flate2::{Compression, write::DeflateEncoder};
use fleet::{
    Appended, MatchGame, NewNetwork, State, Store, StoreError, Unreadable, wire::sha256_hex,
};

use crate::{
    BrokerError, Lease, Streams,
    follow::{
        INDEX, NOTES, STATE_VERSION, Versioned, WORKER, note_key, note_settings, read_version,
    },
    lease::Held,
    streams::{network_file, short_hash},
};

/// Between two tries to publish.
const RETRY: Duration = Duration::from_millis(200);

/// See the module.
pub struct Mirror {
    inner: Arc<dyn Store>,
    dir: PathBuf,
    streams: Streams,
    held: Arc<Held>,
    epoch: u64,
    tail: Mutex<Tail>,
    states: Mutex<u64>,
}

/// The end of the history, and what is not in it yet.
struct Tail {
    sequence: u64,
    games: u64,
    matches: u64,
    waiting: VecDeque<Pending>,
    /// Names of records that are in the folder and were not in the history when somebody waited for them.
    unsettled: HashSet<String>,
}

/// A record on its way to the history.
struct Pending {
    subject: &'static str,
    index: u64,
    worker: String,
    payload: Vec<u8>,
    id: String,
}

impl Mirror {
    /// Stands before the store of a folder that was brought up by [`crate::follow`], and publishes what the broker lacks.
    pub fn open(
        inner: Arc<dyn Store>,
        dir: &Path,
        streams: &Streams,
        lease: &Lease,
    ) -> Result<Mirror, BrokerError> {
        let link = &streams.link;
        let info = link.insist("the history", || streams.accepted.get_info())?;
        let count = |kind: &str| -> Result<u64, BrokerError> {
            let subject = link.subject(&format!("accepted.{kind}"));
            if info.state.messages == 0 {
                return Ok(0);
            }
            let last = link.wait(streams.accepted.get_last_raw_message_by_subject(&subject));
            let Ok(last) = last else { return Ok(0) };
            let index = last
                .headers
                .get(INDEX)
                .and_then(|text| text.as_str().parse().ok());
            Ok(index.unwrap_or(0))
        };
        let mirror = Mirror {
            tail: Mutex::new(Tail {
                sequence: info.state.last_sequence,
                games: count("game")?,
                matches: count("match")?,
                waiting: VecDeque::new(),
                unsettled: HashSet::new(),
            }),
            states: Mutex::new(0),
            inner,
            dir: dir.to_owned(),
            streams: streams.clone(),
            held: lease.held(),
            epoch: lease.epoch(),
        };
        mirror.publish_missing()?;
        Ok(mirror)
    }

    /// Publishes what the folder has and the broker has not.
    fn publish_missing(&self) -> Result<(), BrokerError> {
        let mut tail = lock(&self.tail);
        let (games, matches) = (tail.games, tail.matches);
        let workers = uploads(&self.dir)?;
        if tail.sequence == 0 {
            for worker in &workers.revoked {
                tail.enqueue("accepted.revoke", 0, "", worker.as_bytes().to_vec());
            }
        }
        let mut place = 0;
        each_record(&self.dir.join("games.log"), |record| {
            place += 1;
            if place > games {
                let worker = workers.of(record);
                tail.enqueue("accepted.game", place, worker, pack(record));
            }
        })?;
        tail.games = tail.games.max(place);
        let mut place = 0;
        each_record(&self.dir.join("matches.log"), |record| {
            place += 1;
            if place > matches {
                tail.enqueue("accepted.match", place, "", record.to_vec());
            }
        })?;
        tail.matches = tail.matches.max(place);
        // Whoever held the role before expects another last record from now on, and can write no more.
        let epoch = self.epoch.to_string();
        tail.enqueue("accepted.fence", self.epoch, "", epoch.into_bytes());
        self.flush(&mut tail)?;
        drop(tail);
        for name in NOTES {
            if self.streams.get(&note_key(name))?.is_none()
                && let Some(bytes) = self.inner.note(name)?
            {
                self.streams.set(&note_key(name), &bytes)?;
            }
        }
        if let Ok(settings) = fs::read(self.dir.join("settings.toml")) {
            if self.streams.get("settings")?.as_ref() != Some(&settings) {
                self.streams.set("settings", &settings)?;
            }
            note_settings(&*self.inner, &settings)?;
        }
        let networks = self.dir.join("networks");
        for entry in fs::read_dir(&networks).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if let (Ok(bytes), Some(name)) = (fs::read(&path), name.to_str())
                && !name.ends_with(".part")
            {
                self.streams.put_network(name, &bytes)?;
            }
        }
        if let Some(state) = self.inner.state()? {
            self.publish_state(&state)?;
        }
        Ok(())
    }

    /// Publishes what waits, one after the other.
    fn flush(&self, tail: &mut Tail) -> Result<(), BrokerError> {
        while let Some(pending) = tail.waiting.front() {
            let sequence = self.publish(pending, tail.sequence)?;
            tail.sequence = sequence;
            tail.waiting.pop_front();
        }
        Ok(())
    }

    /// Publishes a record as the one after `last`; returns its sequence.
    fn publish(&self, pending: &Pending, last: u64) -> Result<u64, BrokerError> {
        let link = &self.streams.link;
        let mut headers = HeaderMap::new();
        headers.insert(INDEX, pending.index.to_string());
        if !pending.worker.is_empty() {
            headers.insert(WORKER, pending.worker.as_str());
        }
        let subject = link.subject(pending.subject);
        let deadline = Instant::now() + link.options.patience;
        loop {
            self.held.check()?;
            let message = PublishMessage::build()
                .headers(headers.clone())
                .message_id(&pending.id)
                .expected_last_sequence(last)
                .payload(pending.payload.clone().into());
            let sent = link.wait(async {
                link.jetstream
                    .send_publish(subject.clone(), message)
                    .await?
                    .await
            });
            let error = match sent {
                Ok(ack) => return Ok(ack.sequence),
                Err(error) => error,
            };
            if error.kind() == PublishErrorKind::WrongLastSequence {
                // The first try may have been stored without an answer; otherwise somebody else writes here.
                let next = link.insist("the history", || async {
                    match self.streams.accepted.get_raw_message(last + 1).await {
                        Ok(found) => Ok(Some(found)),
                        Err(error) if error.to_string().contains("no message found") => Ok(None),
                        Err(error) => Err(error.to_string()),
                    }
                })?;
                let id = next.and_then(|next| {
                    let id = next.headers.get(async_nats::header::NATS_MESSAGE_ID)?;
                    Some(id.as_str().to_owned())
                });
                if id.as_deref() == Some(&pending.id) {
                    return Ok(last + 1);
                }
                self.held.lose();
                let role = "ledger".to_owned();
                return Err(BrokerError::Lost { role });
            }
            if Instant::now() >= deadline {
                return Err(BrokerError::refused("the history", error));
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Keeps the state where a standby finds it, newer than every earlier one.
    fn publish_state(&self, state: &State) -> Result<(), BrokerError> {
        let mut states = lock_count(&self.states);
        if *states == 0 {
            let version = self.inner.note(STATE_VERSION)?;
            let version = version.and_then(|text| read_version(&String::from_utf8_lossy(&text)));
            *states = version.map_or(
                0,
                |(epoch, count)| if epoch == self.epoch { count } else { 0 },
            );
        }
        *states += 1;
        let version = format!("{} {}", self.epoch, *states);
        self.inner.put_note(STATE_VERSION, version.as_bytes())?;
        let versioned = Versioned {
            epoch: self.epoch,
            count: *states,
            state: serde_json::to_value(state).unwrap_or_default(),
        };
        self.held.check()?;
        self.streams
            .set("state", &serde_json::to_vec(&versioned).unwrap_or_default())?;
        self.streams.set("best", state.best.as_bytes())
    }

    /// Keeps a game in the folder and in the history.
    fn append(
        &self,
        record: &[u8],
        worker: &str,
        keep: impl FnOnce() -> Result<Appended, StoreError>,
    ) -> Result<Appended, StoreError> {
        self.held.check()?;
        let mut tail = lock(&self.tail);
        let id = sha256_hex(record);
        let appended = keep()?;
        if appended == Appended::New {
            tail.games += 1;
            let index = tail.games;
            tail.enqueue("accepted.game", index, worker, pack(record));
            tail.unsettled.insert(id.clone());
        }
        self.settle(&mut tail, &id, appended)
    }

    /// Waits for the history. A record that somebody waited for in vain before is new to whoever waits for it now.
    fn settle(
        &self,
        tail: &mut Tail,
        id: &str,
        appended: Appended,
    ) -> Result<Appended, StoreError> {
        self.flush(tail)?;
        match tail.unsettled.remove(id) {
            true => Ok(Appended::New),
            false => Ok(appended),
        }
    }
}

impl Tail {
    fn enqueue(&mut self, subject: &'static str, index: u64, worker: &str, payload: Vec<u8>) {
        let id = format!("{subject}/{index}/{}", short_hash(&payload));
        self.waiting.push_back(Pending {
            subject,
            index,
            worker: worker.to_owned(),
            payload,
            id,
        });
    }
}

impl Store for Mirror {
    fn put_network(&self, network: &NewNetwork) -> Result<(), StoreError> {
        self.inner.put_network(network)?;
        for (extension, bytes) in &network.files {
            let file = network_file(&network.name, extension);
            self.streams.put_network(&file, bytes)?;
        }
        Ok(())
    }

    fn network(&self, name: &str, extension: &str) -> Result<Option<PathBuf>, StoreError> {
        if let Some(found) = self.inner.network(name, extension)? {
            return Ok(Some(found));
        }
        if name.is_empty() {
            return Ok(None);
        }
        let file = network_file(name, extension);
        let Some(bytes) = self.streams.network(&file)? else {
            return Ok(None);
        };
        let path = self.dir.join("networks").join(file);
        match write_whole(&path, &bytes) {
            Ok(()) => Ok(Some(path)),
            Err(source) => Err(StoreError::File { path, source }),
        }
    }

    fn append_game(&self, record: &[u8]) -> Result<Appended, StoreError> {
        self.append(record, "", || self.inner.append_game(record))
    }

    fn append_game_by(&self, record: &[u8], worker: &str) -> Result<Appended, StoreError> {
        self.append(record, worker, || self.inner.append_game_by(record, worker))
    }

    fn revoke(&self, worker: &str) -> Result<(), StoreError> {
        self.held.check()?;
        self.inner.revoke(worker)?;
        let mut tail = lock(&self.tail);
        tail.enqueue("accepted.revoke", 0, "", worker.as_bytes().to_vec());
        Ok(self.flush(&mut tail)?)
    }

    fn games(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.inner.games(each)
    }

    fn fill_slot(&self, game: &MatchGame) -> Result<Appended, StoreError> {
        self.held.check()?;
        let mut tail = lock(&self.tail);
        let payload = serde_json::to_vec(game).unwrap_or_default();
        let id = sha256_hex(&payload);
        let appended = self.inner.fill_slot(game)?;
        if appended == Appended::New {
            tail.matches += 1;
            let index = tail.matches;
            tail.enqueue("accepted.match", index, "", payload);
            tail.unsettled.insert(id.clone());
        }
        self.settle(&mut tail, &id, appended)
    }

    fn match_games(&self) -> Result<Vec<MatchGame>, StoreError> {
        self.inner.match_games()
    }

    fn unreadable_match_games(&self) -> Unreadable {
        self.inner.unreadable_match_games()
    }

    fn state(&self) -> Result<Option<State>, StoreError> {
        self.inner.state()
    }

    fn save_state(&self, state: &State) -> Result<(), StoreError> {
        self.held.check()?;
        self.inner.save_state(state)?;
        Ok(self.publish_state(state)?)
    }

    fn compare_and_set_best(&self, expected: &str, new: &str) -> Result<bool, StoreError> {
        self.held.check()?;
        let is_set = self.inner.compare_and_set_best(expected, new)?;
        if let (true, Some(state)) = (is_set, self.inner.state()?) {
            self.publish_state(&state)?;
        }
        Ok(is_set)
    }

    fn training_dir(&self, round: u64) -> PathBuf {
        self.inner.training_dir(round)
    }

    fn remove_training(&self, round: u64) -> Result<(), StoreError> {
        self.inner.remove_training(round)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.note(name)
    }

    fn put_note(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.held.check()?;
        // First where a standby looks: what the folder alone knows would be forgotten.
        self.streams.set(&note_key(name), bytes)?;
        self.inner.put_note(name, bytes)
    }

    fn set_apart(&self, envelope: &[u8]) -> Result<(), StoreError> {
        self.inner.set_apart(envelope)?;
        let why = "of a worker in quarantine";
        Ok(self.streams.bury("quarantine", why, envelope)?)
    }

    fn write_report(&self, page: &str) -> Result<(), StoreError> {
        self.inner.write_report(page)
    }

    fn write_status(&self, json: &str) -> Result<(), StoreError> {
        self.inner.write_status(json)
    }
}

/// Who sent which game, and whose games do not count, as the folder's log of uploads says.
#[derive(Default)]
struct Uploads {
    workers: std::collections::HashMap<String, String>,
    revoked: Vec<String>,
}

impl Uploads {
    fn of(&self, record: &[u8]) -> &str {
        let worker = self.workers.get(&sha256_hex(record));
        worker.map_or("", String::as_str)
    }
}

fn uploads(dir: &Path) -> Result<Uploads, BrokerError> {
    let mut uploads = Uploads::default();
    each_record(&dir.join("uploads.log"), |record| {
        let line: serde_json::Value = serde_json::from_slice(record).unwrap_or_default();
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        if let (Some(record), Some(worker)) = (text("record"), text("worker")) {
            uploads.workers.insert(record, worker);
        }
        uploads.revoked.extend(text("revoked"));
    })?;
    Ok(uploads)
}

fn each_record(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), BrokerError> {
    if path.exists() {
        Log::open(path, |record| each(record))?;
    }
    Ok(())
}

fn pack(record: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // Memory can always be written to.
    let _ = encoder.write_all(record);
    encoder.finish().unwrap_or_default()
}

fn lock(mutex: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_count(mutex: &Mutex<u64>) -> MutexGuard<'_, u64> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
