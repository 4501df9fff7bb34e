//! The ledger: gives out tasks, takes games in, and is the one place that says a game is safe.
//!
//! A game counts when it is in the run's log, on disk, and only then is there a receipt. Whoever played it keeps it until
//! then and hands it in again if in doubt; a game has one number and one id, so it counts once however often it comes.
//! A task carries the ledger's own signature. So a game is recognised after any crash without a list of what was given
//! out, and a seed that was never issued is recognised, too.

mod audit;
mod hand_in;
mod hand_out;
mod shared;
mod standing;
mod status;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use base::LogError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Game, Order, Store, StoreError,
    accounts::Accounts,
    wire::{KeyError, NetworkRef, Signer, hex, random_bytes, sha256_hex},
};

pub(crate) use shared::Shared;
use standing::Standing;

/// Where a served run keeps what concerns workers, below its own folder.
const FOLDER: &str = "fleet";
/// The note that says which run this is.
const IDENTITY: &str = "run.json";
/// Events that the page shows.
const MOST_EVENTS: usize = 100;

/// How a run is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Whether anybody may register; otherwise the operator makes tokens.
    pub is_open: bool,
    /// Games at once in this process instead of the settings' number; 0 to leave all games to workers.
    pub local_games: Option<usize>,
    /// What networks run on here: games of workers with the same engine can be played again bit for bit.
    pub engine: String,
    /// One game in so many is played again.
    pub audit_every: u64,
    /// The start of the server is at least the one with this number; 0 to count in the run's own store only.
    pub epoch: u64,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            is_open: false,
            local_games: None,
            engine: String::new(),
            audit_every: 200,
            epoch: 0,
        }
    }
}

/// Why a run cannot be served.
#[derive(Debug, Error)]
pub enum LedgerError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The settings have no text form.
    #[error("the settings cannot be written as TOML: {0}")]
    Settings(String),
}

/// Tasks given out and games taken in, over a store; shared by the gateway's threads and the loop.
pub struct Ledger<G: Game> {
    dir: PathBuf,
    store: Arc<dyn Store>,
    settings: Arc<G::Settings>,
    settings_text: String,
    settings_hash: String,
    identity: Identity,
    options: ServeOptions,
    shared: Arc<Shared<G>>,
    signer: Signer,
    accounts: Accounts,
    accepted: Mutex<Accepted>,
    networks: Mutex<HashMap<String, NetworkRef>>,
    standings: Mutex<BTreeMap<String, Standing>>,
    audits: Mutex<audit::Audits<G>>,
    events: Mutex<VecDeque<EventLine>>,
}

/// What makes this run this run, and which start of the server it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Identity {
    run: String,
    epoch: u64,
}

/// What is in the log already.
struct Accepted {
    numbers: HashSet<u64>,
    seq: u64,
    match_seq: u64,
}

/// Something worth telling the operator.
#[derive(Clone, Debug, Serialize)]
struct EventLine {
    at_unix: u64,
    say: String,
}

/// Why a request is not answered as wished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub kind: RefusalKind,
    /// A sentence for whoever asked.
    pub why: String,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusalKind {
    /// Nobody knows this token.
    Unknown,
    /// This worker may not.
    Forbidden,
    /// The worker's program is too old.
    TooOld,
    /// Too much; come again after so many seconds.
    TooMuch(u64),
    /// The request makes no sense.
    Bad,
    /// It cannot be done now; come again after so many seconds.
    Later(u64),
}

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(kind: RefusalKind, why: impl Into<String>) -> Refusal {
        let why = why.into();
        Refusal { kind, why }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        const RETRY_SECONDS: u64 = 30;
        Refusal::new(RefusalKind::Later(RETRY_SECONDS), error.to_string())
    }
}

impl<G: Game> Ledger<G> {
    pub(crate) fn open(
        run_dir: &Path,
        store: Arc<dyn Store>,
        settings: Arc<G::Settings>,
        shared: Arc<Shared<G>>,
        numbers: HashSet<u64>,
        options: ServeOptions,
    ) -> Result<Ledger<G>, LedgerError> {
        let dir = run_dir.join(FOLDER);
        fs::create_dir_all(&dir).map_err(|source| StoreError::File {
            path: dir.clone(),
            source,
        })?;
        let settings_text = toml::to_string(&*settings)
            .map_err(|error| LedgerError::Settings(error.to_string()))?;
        shared.desk.open_to_workers(store.clone())?;
        let match_seq = store.match_games()?.len() as u64;
        Ok(Ledger {
            settings_hash: sha256_hex(settings_text.as_bytes()),
            settings_text,
            identity: Identity::next(&*store, options.epoch)?,
            signer: Signer::open(&dir.join("server.key"))?,
            accounts: Accounts::open(store.clone())?,
            accepted: Mutex::new(Accepted {
                seq: numbers.len() as u64,
                match_seq,
                numbers,
            }),
            dir: run_dir.to_owned(),
            store,
            settings,
            options,
            shared,
            networks: Mutex::default(),
            standings: Mutex::default(),
            audits: Mutex::default(),
            events: Mutex::default(),
        })
    }

    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }

    pub(crate) fn run_name(&self) -> &str {
        &self.identity.run
    }

    pub(crate) fn is_open(&self) -> bool {
        self.options.is_open
    }

    pub(crate) fn network_file(&self, name: &str) -> Result<Option<PathBuf>, StoreError> {
        self.store.network(name, G::NETWORK_EXTENSION)
    }

    pub(crate) fn report_file(&self) -> Option<PathBuf> {
        Some(self.dir.join("report.html")).filter(|file| file.exists())
    }

    /// Does what the operator asks.
    pub(crate) fn obey(&self, order: &Order) -> Result<String, String> {
        match order {
            Order::Token { name } => self.accounts.create(name, None),
            Order::Ban { name, why } => {
                let reason = Some(why.clone());
                self.accounts
                    .change(name, |account| account.banned = reason)?;
                let store = &self.store;
                store.revoke(name).map_err(|error| error.to_string())?;
                let games = store.match_games().map_err(|error| error.to_string())?;
                self.shared.desk.reread_match(games);
                self.shared.revoke();
                self.note(format!("{name} is banned: {why}"));
                Ok(format!(
                    "{name} is banned, and its games do not count any more"
                ))
            }
            Order::Release { name } => {
                self.accounts.change(name, |account| {
                    account.banned = None;
                    account.quarantined = None;
                })?;
                self.note(format!("{name} was released"));
                Ok(format!("{name} may play again"))
            }
            Order::Pause => {
                self.shared.desk.pause(true);
                Ok("workers get no self-play until it is resumed".into())
            }
            Order::Resume => {
                self.shared.desk.pause(false);
                Ok("workers get self-play again".into())
            }
        }
    }

    fn note(&self, say: String) {
        let mut events = lock(&self.events);
        if events.len() == MOST_EVENTS {
            events.pop_front();
        }
        let at_unix = unix_seconds();
        events.push_back(EventLine { at_unix, say });
    }
}

impl Identity {
    /// The identity of the run, with the next epoch; at least `epoch`, if somebody counts besides.
    fn next(store: &dyn Store, epoch: u64) -> Result<Identity, LedgerError> {
        let mut identity = match store.note(IDENTITY)? {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| StoreError::Content {
                path: IDENTITY.into(),
                message: error.to_string(),
            })?,
            None => Identity {
                run: hex(&random_bytes::<8>()?),
                epoch: 0,
            },
        };
        identity.epoch = epoch.max(identity.epoch + 1);
        store.put_note(IDENTITY, &serde_json::to_vec(&identity).unwrap_or_default())?;
        Ok(identity)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time of day, for display only: no two machines' clocks are ever compared.
fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
