//! A run's folder: the store of one machine.
//!
//! `games.log` and `matches.log` are append-only and synced; `state.json`, `settings.toml`, the networks and
//! `report.html` are written whole.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use base::{Log, write_whole};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Appended, MatchGame, NewNetwork, State, Store, StoreError, Unreadable, wire::hex};

/// Files of a run.
const GAMES: &str = "games.log";
const MATCHES: &str = "matches.log";
const STATE: &str = "state.json";
const REPORT: &str = "report.html";
const STATUS: &str = "status.json";
/// Which worker sent which game, and whose games do not count any more.
const UPLOADS: &str = "uploads.log";
const NETWORKS: &str = "networks";
/// Notes, and games that are kept apart, below the run's folder: what concerns workers.
const NOTES: &str = "fleet";
const APART: &str = "quarantine.log";

/// A run's folder. Whoever opens it must hold the folder's lock.
pub struct FolderStore {
    dir: PathBuf,
    games: Mutex<GamesLog>,
    matches: Mutex<MatchesLog>,
    state: Mutex<Option<State>>,
    uploads: Mutex<UploadsLog>,
    apart: Mutex<Option<Log>>,
}

/// Who played what, for games that came from elsewhere.
struct UploadsLog {
    log: Option<Log>,
    path: PathBuf,
    workers: HashMap<String, String>,
    revoked: HashSet<String>,
}

/// A line of the log of uploads.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum UploadLine {
    /// A worker sent the game with this hash.
    Sent { record: String, worker: String },
    /// The games that a worker sent so far, and its slots, do not count.
    Revoked { revoked: String },
}

struct GamesLog {
    log: Log,
    /// SHA-256 of every record.
    known: HashSet<[u8; 32]>,
}

struct MatchesLog {
    log: Log,
    games: Vec<MatchGame>,
    filled: HashSet<(String, String, u32)>,
    unreadable: Unreadable,
}

impl FolderStore {
    /// Opens or makes the folder; every self-play game in it is handed to `each`, oldest first.
    pub fn open(dir: &Path, mut each: impl FnMut(&[u8])) -> Result<FolderStore, StoreError> {
        let path = dir.join(NETWORKS);
        fs::create_dir_all(&path).map_err(|source| StoreError::File { path, source })?;
        let uploads = UploadsLog::open(&dir.join(UPLOADS))?;
        let mut known = HashSet::new();
        let log = Log::open(&dir.join(GAMES), |record| {
            let id = hash(record);
            known.insert(id);
            if !uploads.is_revoked(&id) {
                each(record);
            }
        })?;
        let games = GamesLog { log, known };
        Ok(FolderStore {
            games: Mutex::new(games),
            matches: Mutex::new(MatchesLog::open(&dir.join(MATCHES), &uploads.revoked)?),
            uploads: Mutex::new(uploads),
            state: Mutex::new(read_state(&dir.join(STATE))?),
            apart: Mutex::default(),
            dir: dir.to_owned(),
        })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.dir.join(name);
        write_whole(&path, bytes).map_err(|source| StoreError::File { path, source })
    }

    fn write_state(&self, state: &State) -> Result<(), StoreError> {
        // A struct of strings and finite numbers always has a JSON form.
        self.write(STATE, &serde_json::to_vec_pretty(state).unwrap_or_default())
    }

    fn network_file(&self, name: &str, extension: &str) -> PathBuf {
        self.dir.join(NETWORKS).join(format!("{name}.{extension}"))
    }

    /// Whether the games of a worker do not count any more.
    pub fn is_revoked(&self, worker: &str) -> bool {
        lock(&self.uploads).revoked.contains(worker)
    }

    /// The folder of the notes, made when something is written to it.
    fn notes(&self) -> Result<PathBuf, StoreError> {
        let path = self.dir.join(NOTES);
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(StoreError::File { path, source }),
        }
    }
}

impl UploadsLog {
    /// Reads the log, if there is one; a run that nobody sends games to has none.
    fn open(path: &Path) -> Result<UploadsLog, StoreError> {
        let (mut workers, mut revoked) = (HashMap::new(), HashSet::new());
        let mut read = |record: &[u8]| match serde_json::from_slice(record) {
            Ok(UploadLine::Sent { record, worker }) => {
                workers.insert(record, worker);
            }
            Ok(UploadLine::Revoked { revoked: worker }) => {
                revoked.insert(worker);
            }
            // A line of a later version.
            Err(_) => {}
        };
        let log = match path.exists() {
            true => Some(Log::open(path, &mut read)?),
            false => None,
        };
        Ok(UploadsLog {
            log,
            path: path.to_owned(),
            workers,
            revoked,
        })
    }

    fn is_revoked(&self, id: &[u8; 32]) -> bool {
        !self.revoked.is_empty()
            && (self.workers.get(&hex(id))).is_some_and(|worker| self.revoked.contains(worker))
    }

    fn append(&mut self, line: &UploadLine) -> Result<(), StoreError> {
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(Log::open(&self.path, |_| {})?),
        };
        log.append(&serde_json::to_vec(line).unwrap_or_default())?;
        Ok(())
    }
}

impl MatchesLog {
    fn open(path: &Path, revoked: &HashSet<String>) -> Result<MatchesLog, StoreError> {
        let (mut games, mut unreadable, mut number) = (Vec::new(), Unreadable::default(), 0);
        let log = Log::open(path, |record| {
            number += 1;
            match serde_json::from_slice::<MatchGame>(record) {
                Ok(game) if revoked.contains(&game.worker) => {}
                Ok(game) => games.push(game),
                Err(error) => unreadable.add(&format!("record {number}"), &error.to_string()),
            }
        })?;
        let filled = games.iter().map(slot).collect();
        Ok(MatchesLog {
            log,
            games,
            filled,
            unreadable,
        })
    }
}

impl Store for FolderStore {
    fn put_network(&self, network: &NewNetwork) -> Result<(), StoreError> {
        for (extension, bytes) in &network.files {
            let path = self.network_file(&network.name, extension);
            write_whole(&path, bytes).map_err(|source| StoreError::File { path, source })?;
        }
        Ok(())
    }

    fn network(&self, name: &str, extension: &str) -> Result<Option<PathBuf>, StoreError> {
        let path = self.network_file(name, extension);
        Ok((!name.is_empty() && path.exists()).then_some(path))
    }

    fn append_game(&self, record: &[u8]) -> Result<Appended, StoreError> {
        let mut games = lock(&self.games);
        let id = hash(record);
        if games.known.contains(&id) {
            return Ok(Appended::Duplicate);
        }
        games.log.append(record)?;
        games.known.insert(id);
        Ok(Appended::New)
    }

    fn append_game_by(&self, record: &[u8], worker: &str) -> Result<Appended, StoreError> {
        // First who, then what: a game whose worker is not known could never be taken back.
        let line = UploadLine::Sent {
            record: hex(&hash(record)),
            worker: worker.to_owned(),
        };
        lock(&self.uploads).append(&line)?;
        if let UploadLine::Sent { record, worker } = line {
            lock(&self.uploads).workers.insert(record, worker);
        }
        self.append_game(record)
    }

    fn revoke(&self, worker: &str) -> Result<(), StoreError> {
        let revoked = worker.to_owned();
        let mut uploads = lock(&self.uploads);
        uploads.append(&UploadLine::Revoked { revoked })?;
        uploads.revoked.insert(worker.to_owned());
        let mut matches = lock(&self.matches);
        matches.games.retain(|game| game.worker != worker);
        matches.filled = matches.games.iter().map(slot).collect();
        Ok(())
    }

    fn games(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        // The log stays open for appending; a second reader sees whole records only while nobody appends.
        let _games = lock(&self.games);
        let uploads = lock(&self.uploads);
        Log::open(&self.dir.join(GAMES), |record| {
            if !uploads.is_revoked(&hash(record)) {
                each(record);
            }
        })?;
        Ok(())
    }

    fn fill_slot(&self, game: &MatchGame) -> Result<Appended, StoreError> {
        let mut matches = lock(&self.matches);
        if matches.filled.contains(&slot(game)) {
            return Ok(Appended::Duplicate);
        }
        matches
            .log
            .append(&serde_json::to_vec(game).unwrap_or_default())?;
        matches.filled.insert(slot(game));
        matches.games.push(game.clone());
        Ok(Appended::New)
    }

    fn match_games(&self) -> Result<Vec<MatchGame>, StoreError> {
        Ok(lock(&self.matches).games.clone())
    }

    fn unreadable_match_games(&self) -> Unreadable {
        lock(&self.matches).unreadable.clone()
    }

    fn state(&self) -> Result<Option<State>, StoreError> {
        Ok(lock(&self.state).clone())
    }

    fn save_state(&self, state: &State) -> Result<(), StoreError> {
        let mut kept = lock(&self.state);
        if kept.as_ref().is_some_and(|kept| kept.best != state.best) {
            return Err(StoreError::Conflict);
        }
        self.write_state(state)?;
        *kept = Some(state.clone());
        Ok(())
    }

    fn compare_and_set_best(&self, expected: &str, new: &str) -> Result<bool, StoreError> {
        let mut kept = lock(&self.state);
        let mut state = kept.clone().unwrap_or_default();
        if state.best == new {
            return Ok(true);
        }
        if state.best != expected {
            return Ok(false);
        }
        new.clone_into(&mut state.best);
        self.write_state(&state)?;
        *kept = Some(state);
        Ok(true)
    }

    fn training_dir(&self, round: u64) -> PathBuf {
        self.dir.join(format!("training-{round:04}"))
    }

    fn remove_training(&self, round: u64) -> Result<(), StoreError> {
        let path = self.training_dir(round);
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::File { path, source })
            }
            _ => Ok(()),
        }
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.dir.join(NOTES).join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::File { path, source }),
        }
    }

    fn put_note(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.notes()?.join(name);
        write_whole(&path, bytes).map_err(|source| StoreError::File { path, source })
    }

    fn set_apart(&self, envelope: &[u8]) -> Result<(), StoreError> {
        let mut apart = lock(&self.apart);
        let log = match &mut *apart {
            Some(log) => log,
            None => apart.insert(Log::open(&self.notes()?.join(APART), |_| {})?),
        };
        Ok(log.append(envelope)?)
    }

    fn write_report(&self, page: &str) -> Result<(), StoreError> {
        self.write(REPORT, page.as_bytes())
    }

    fn write_status(&self, json: &str) -> Result<(), StoreError> {
        self.write(STATUS, json.as_bytes())
    }
}

fn read_state(path: &Path) -> Result<Option<State>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let path = path.to_owned();
            return Err(StoreError::File { path, source });
        }
    };
    let state = serde_json::from_slice(&bytes).map_err(|error| StoreError::Content {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    Ok(Some(state))
}

fn slot(game: &MatchGame) -> (String, String, u32) {
    (game.first.clone(), game.second.clone(), game.slot)
}

fn hash(record: &[u8]) -> [u8; 32] {
    Sha256::digest(record).into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Winner;

    fn store(dir: &Path) -> FolderStore {
        FolderStore::open(dir, |_| {}).unwrap()
    }

    #[test]
    fn a_game_is_appended_once_however_often_it_is_handed_in() {
        let folder = tempfile::tempdir().unwrap();
        let first = store(folder.path());
        assert_eq!(first.append_game(b"one").unwrap(), Appended::New);
        assert_eq!(first.append_game(b"one").unwrap(), Appended::Duplicate);
        drop(first);
        let mut found = Vec::new();
        let again = FolderStore::open(folder.path(), |game| found.push(game.to_vec())).unwrap();
        assert_eq!(again.append_game(b"one").unwrap(), Appended::Duplicate);
        assert_eq!(again.append_game(b"two").unwrap(), Appended::New);
        assert_eq!(found, [b"one".to_vec()]);
        let mut all = 0;
        again.games(&mut |_| all += 1).unwrap();
        assert_eq!(all, 2);
    }

    #[test]
    fn the_first_result_of_a_slot_stays() {
        let folder = tempfile::tempdir().unwrap();
        let first = store(folder.path());
        let game = |slot, winner| MatchGame::new("a", "b", slot, winner);
        assert_eq!(
            first.fill_slot(&game(0, Winner::First)).unwrap(),
            Appended::New
        );
        let late = first.fill_slot(&game(0, Winner::Second)).unwrap();
        assert_eq!(late, Appended::Duplicate);
        drop(first);
        let again = store(folder.path());
        assert_eq!(
            again.fill_slot(&game(0, Winner::Second)).unwrap(),
            Appended::Duplicate
        );
        assert_eq!(again.match_games().unwrap(), [game(0, Winner::First)]);
    }

    #[test]
    fn a_banned_worker_has_never_played() {
        let folder = tempfile::tempdir().unwrap();
        let first = store(folder.path());
        let by = |worker: &str, slot| MatchGame {
            worker: worker.into(),
            ..MatchGame::new("a", "b", slot, Winner::First)
        };
        first.append_game(b"ours").unwrap();
        first.append_game_by(b"good", "ann").unwrap();
        first.append_game_by(b"bad", "bob").unwrap();
        for (worker, slot) in [("ann", 0), ("bob", 1), ("ann", 2)] {
            first.fill_slot(&by(worker, slot)).unwrap();
        }
        first.revoke("bob").unwrap();
        let games = |store: &FolderStore| {
            let mut found = Vec::new();
            store.games(&mut |game| found.push(game.to_vec())).unwrap();
            found
        };
        let left = [b"ours".to_vec(), b"good".to_vec()];
        assert_eq!(games(&first), left);
        assert_eq!(first.match_games().unwrap(), [by("ann", 0), by("ann", 2)]);
        assert_eq!(first.fill_slot(&by("cid", 1)).unwrap(), Appended::New);
        drop(first);
        let mut found = Vec::new();
        let again = FolderStore::open(folder.path(), |game| found.push(game.to_vec())).unwrap();
        assert_eq!(found, left);
        let workers: Vec<String> = again
            .match_games()
            .unwrap()
            .into_iter()
            .map(|game| game.worker)
            .collect();
        assert_eq!(workers, ["ann", "ann", "cid"]);
    }

    #[test]
    fn the_best_network_changes_only_from_the_expected_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        assert!(store.compare_and_set_best("", "a").unwrap());
        assert!(!store.compare_and_set_best("", "b").unwrap());
        assert!(
            store.compare_and_set_best("", "a").unwrap(),
            "said again after a crash"
        );
        let stale = State {
            best: "z".into(),
            ..State::default()
        };
        assert!(matches!(
            store.save_state(&stale),
            Err(StoreError::Conflict)
        ));
        assert_eq!(store.state().unwrap().unwrap().best, "a");
    }

    #[test]
    fn a_match_record_that_cannot_be_read_is_counted_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(&folder.path().join(MATCHES), |_| {}).unwrap();
        log.append(br#"{"candidate":"a","number":0,"candidate_won":true}"#)
            .unwrap();
        log.append(br#"{"candidat":"a"}"#).unwrap();
        drop(log);
        let store = store(folder.path());
        assert_eq!(store.match_games().unwrap().len(), 1);
        let said = store
            .unreadable_match_games()
            .sentence("matches.log")
            .unwrap();
        assert!(
            said.contains("1 record of matches.log") && said.contains("record 2"),
            "{said}"
        );
    }
}
