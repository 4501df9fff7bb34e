//! A served run as a gateway elsewhere sees it: games go to the inbox, questions to whichever ledger is active.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::HeaderMap;
use base::write_whole;
use fleet::{
    Account, Order, Refusal, RefusalKind, Service,
    wire::{
        Envelope, MOST_PACKED_BYTES, Receipt, Signer, Task, TaskBatch, TaskRequest, Voice,
        sha256_hex,
    },
};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    BrokerError, Streams,
    follow::{WORKER, note_key},
    post::{Answer, Question, TOKEN_HASH, UPLOAD},
    streams::network_file,
};

/// An answer of the ledger.
const PATIENCE: Duration = Duration::from_secs(8);
/// An answer for the page, which must not wait for a ledger that is gone.
const PAGE_PATIENCE: Duration = Duration::from_millis(700);
/// A receipt; whoever gets none in time hands the game in again later.
const RECEIPT_PATIENCE: Duration = Duration::from_secs(20);
/// A client that must come again.
const LATER_SECONDS: u64 = 5;
/// A client whose game waits in the inbox, or finds no room there.
const INBOX_SECONDS: u64 = 15;
/// How old the known accounts may be, and how often they are asked for when a token is unknown.
const ACCOUNTS_AGE: Duration = Duration::from_secs(5);
const ACCOUNTS_PAUSE: Duration = Duration::from_millis(500);

type Waiters = Arc<Mutex<HashMap<String, Vec<oneshot::Sender<Answer<Receipt>>>>>>;

/// See the module.
pub struct Remote {
    streams: Streams,
    dir: PathBuf,
    hello: Value,
    signer: Signer,
    voice: Voice,
    waiters: Waiters,
    accounts: Mutex<(Option<Instant>, Vec<Account>)>,
}

impl Remote {
    /// A run on the broker; waits for its ledger at the first start, until `stop` is set. The folder keeps this gateway's
    /// key and networks.
    pub fn open(
        streams: &Streams,
        dir: &Path,
        stop: &AtomicBool,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Option<Remote>, BrokerError> {
        let networks = dir.join("networks");
        std::fs::create_dir_all(&networks).map_err(|source| BrokerError::File {
            path: networks,
            source,
        })?;
        let signer = Signer::open(&dir.join("gateway.key"))
            .map_err(|error| BrokerError::Other(error.to_string()))?;
        let file = dir.join("voice.json");
        let (hello, voice) = loop {
            if let Some(found) = Remote::introduce(streams, &signer, &file)? {
                break found;
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            on_wait("no ledger answers yet; waiting for one");
            std::thread::sleep(ACCOUNTS_PAUSE);
        };
        let remote = Remote {
            streams: streams.clone(),
            dir: dir.to_owned(),
            hello,
            signer,
            voice,
            waiters: Waiters::default(),
            accounts: Mutex::default(),
        };
        remote.listen()?;
        Ok(Some(remote))
    }

    /// What the run says of itself, and its word that this gateway may answer for it.
    fn introduce(
        streams: &Streams,
        signer: &Signer,
        file: &Path,
    ) -> Result<Option<(Value, Voice)>, BrokerError> {
        let Some(hello) = streams.get("hello")? else {
            return Ok(None);
        };
        let hello: Value = serde_json::from_slice(&hello)
            .map_err(|error| BrokerError::refused("what the ledger says of itself", error))?;
        let key = hello["key"].as_str().unwrap_or_default();
        let kept = std::fs::read(file).ok();
        let kept = kept.and_then(|bytes| serde_json::from_slice::<Voice>(&bytes).ok());
        if let Some(voice) =
            kept.filter(|voice| voice.is_of(key) && voice.key == signer.public_key())
        {
            return Ok(Some((hello, voice)));
        }
        let body = json!(signer.public_key());
        let Ok(voice) = ask::<Voice>(streams, "voice", None, body, PATIENCE) else {
            return Ok(None);
        };
        if !voice.is_of(key) {
            return Err(BrokerError::Other(
                "the ledger that answers has another key than the run; is a second run on the broker under the same name?".into(),
            ));
        }
        let bytes = serde_json::to_vec(&voice).unwrap_or_default();
        write_whole(file, &bytes).map_err(|source| BrokerError::File {
            path: file.to_owned(),
            source,
        })?;
        Ok(Some((hello, voice)))
    }

    /// Hands receipts to whoever waits for them.
    fn listen(&self) -> Result<(), BrokerError> {
        let link = &self.streams.link;
        let subject = link.subject("receipts.*");
        let client = link.jetstream.client();
        let mut receipts = link.insist("receipts", || client.subscribe(subject.clone()))?;
        let waiters = Arc::downgrade(&self.waiters);
        link.runtime.spawn(async move {
            while let Some(message) = receipts.next().await {
                let Some(waiters) = waiters.upgrade() else {
                    return;
                };
                let upload = message.headers.as_ref().and_then(|all| all.get(UPLOAD));
                let upload = upload.map_or("", |value| value.as_str());
                let waiting = lock(&waiters).remove(upload).unwrap_or_default();
                for waiter in waiting {
                    if let Ok(answer) = serde_json::from_slice(&message.payload) {
                        let _ = waiter.send(answer);
                    }
                }
            }
        });
        Ok(())
    }

    fn ask<T: DeserializeOwned>(
        &self,
        about: &str,
        token: Option<&str>,
        body: Value,
    ) -> Result<T, Refusal> {
        ask(&self.streams, about, token, body, PATIENCE)
    }

    /// What the page shows: of the ledger, or of the broker while no ledger answers.
    fn show(&self, about: &str) -> Value {
        let asked = ask::<Value>(&self.streams, about, None, Value::Null, PAGE_PATIENCE);
        let is_answered = asked.is_ok();
        let mut value = asked.unwrap_or_else(|_| {
            let get = self.streams.run.get(about);
            let found = self.streams.link.wait(async {
                let found = tokio::time::timeout(PAGE_PATIENCE, get).await.ok()?;
                found.ok()?
            });
            let found = found.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            found.unwrap_or(Value::Null)
        });
        if about == "status" && value.is_object() {
            value["is_ledger_answering"] = json!(is_answered);
        }
        value
    }

    /// The account of a token, as far as it can be known without the ledger.
    fn account(&self, token_hash: &str) -> Result<Account, Refusal> {
        let mut accounts = lock(&self.accounts);
        let find = |all: &[Account]| {
            all.iter()
                .find(|account| account.is_of(token_hash))
                .cloned()
        };
        let age = accounts.0.map(|at| at.elapsed());
        let mut found = find(&accounts.1);
        let is_old = age.is_none_or(|age| age > ACCOUNTS_AGE);
        if is_old || (found.is_none() && age.is_some_and(|age| age > ACCOUNTS_PAUSE)) {
            let note = self.streams.link.wait(async {
                let get = self.streams.run.get(note_key("workers.json"));
                tokio::time::timeout(PATIENCE, get).await
            });
            if let Ok(Ok(note)) = note {
                let note = note.unwrap_or_else(|| "[]".into());
                *accounts = (
                    Some(Instant::now()),
                    Account::read_all(&note).unwrap_or_default(),
                );
                found = find(&accounts.1);
            }
        }
        drop(accounts);
        match found {
            Some(Account {
                name,
                banned: Some(why),
                ..
            }) => {
                let why = format!("{name} is banned from this run: {why}");
                Err(Refusal::new(RefusalKind::Forbidden, why))
            }
            Some(account) => Ok(account),
            None => {
                let why = "nobody knows this token; ask the run's operator for another";
                Err(Refusal::new(RefusalKind::Unknown, why))
            }
        }
    }

    /// Puts a game into the inbox; full or without an answer, the client comes again.
    fn post(
        &self,
        account: &Account,
        token_hash: &str,
        upload: &str,
        envelope: &[u8],
    ) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(TOKEN_HASH, token_hash);
        headers.insert(UPLOAD, upload);
        headers.insert(WORKER, account.name.as_str());
        let link = &self.streams.link;
        let box_number = upload.get(..1).unwrap_or("0");
        let subject = link.subject(&format!("inbox.{box_number}"));
        let sent = link.wait(async {
            link.jetstream
                .publish_with_headers(subject, headers, envelope.to_vec().into())
                .await?
                .await
        });
        sent.map(|_| ()).map_err(|error| {
            let why =
                format!("the run cannot take games now ({error}); keep the game and come again");
            Refusal::new(RefusalKind::Later(INBOX_SECONDS), why)
        })
    }
}

impl Service for Remote {
    fn public_key(&self) -> String {
        self.hello["key"].as_str().unwrap_or_default().to_owned()
    }

    fn sign(&self, bytes: &[u8]) -> String {
        self.signer.sign(bytes)
    }

    fn voice(&self) -> Option<Voice> {
        Some(self.voice.clone())
    }

    fn appoint(&self, key: &str) -> Voice {
        self.ask("voice", None, json!(key)).unwrap_or(Voice {
            key: key.to_owned(),
            sig: String::new(),
        })
    }

    fn hello(&self) -> Value {
        self.hello.clone()
    }

    fn register(
        &self,
        token: Option<&str>,
        name: &str,
        key: &str,
    ) -> Result<(String, Option<String>), Refusal> {
        let answer: Value = self.ask("register", token, json!({ "name": name, "key": key }))?;
        let text = |field: &str| answer[field].as_str().map(str::to_owned);
        Ok((text("name").unwrap_or_default(), text("token")))
    }

    fn tasks(&self, token: &str, request: &TaskRequest) -> Result<TaskBatch, Refusal> {
        self.ask("tasks", Some(token), json!(request))
    }

    fn renew(&self, token: &str, tasks: &[Task]) -> Result<Vec<String>, Refusal> {
        self.ask("renew", Some(token), json!(tasks))
    }

    fn give_back(&self, token: &str, tasks: &[Task]) -> Result<(), Refusal> {
        self.ask("give_back", Some(token), json!(tasks))
    }

    fn hand_in_by(&self, token_hash: &str, envelope: &[u8]) -> Result<Receipt, Refusal> {
        let account = self.account(token_hash)?;
        // What is plainly nobody's game does not fill the inbox.
        if envelope.len() > MOST_PACKED_BYTES {
            let why = format!("at most {MOST_PACKED_BYTES} bytes are taken");
            return Err(Refusal::new(RefusalKind::Bad, why));
        }
        let key = account.key.as_deref().unwrap_or_default();
        if let Ok(header) = Envelope::header(envelope)
            && !header.is_signed_by(key)
        {
            let why = format!("the upload is not signed with the key of {}", account.name);
            return Ok(Receipt::new(
                &header.game,
                fleet::wire::Acceptance::Refused,
                why,
            ));
        }
        let upload = sha256_hex(envelope);
        let (waiter, receipt) = oneshot::channel();
        lock(&self.waiters)
            .entry(upload.clone())
            .or_default()
            .push(waiter);
        self.post(&account, token_hash, &upload, envelope)?;
        let link = &self.streams.link;
        let waited = link.wait(async { tokio::time::timeout(RECEIPT_PATIENCE, receipt).await });
        match waited {
            Ok(Ok(Answer::Done(receipt))) => Ok(receipt),
            Ok(Ok(Answer::Refused(refusal))) => Err(refusal),
            _ => {
                let mut waiters = lock(&self.waiters);
                if let Some(waiting) = waiters.get_mut(&upload) {
                    waiting.retain(|waiter| !waiter.is_closed());
                    if waiting.is_empty() {
                        waiters.remove(&upload);
                    }
                }
                let why = "the game waits for the ledger, which does not answer now; keep it and come again for the receipt";
                Err(Refusal::new(RefusalKind::Later(INBOX_SECONDS), why))
            }
        }
    }

    fn network(&self, name: &str) -> Result<Option<PathBuf>, Refusal> {
        // A name becomes part of a path.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let extension = self.hello["extension"].as_str().unwrap_or_default();
        let file = network_file(name, extension);
        let path = self.dir.join("networks").join(&file);
        if path.exists() {
            return Ok(Some(path));
        }
        let later = |why: String| Refusal::new(RefusalKind::Later(LATER_SECONDS), why);
        let found = self
            .streams
            .network(&file)
            .map_err(|error| later(error.to_string()))?;
        let Some(bytes) = found else {
            return Ok(None);
        };
        write_whole(&path, &bytes).map_err(|error| later(error.to_string()))?;
        Ok(Some(path))
    }

    fn status(&self) -> Value {
        self.show("status")
    }

    fn networks(&self) -> Value {
        self.show("networks")
    }

    fn matches(&self) -> Value {
        self.show("matches")
    }

    fn report(&self) -> Option<PathBuf> {
        let page: Option<String> = self.ask("report", None, Value::Null).ok()?;
        let path = self.dir.join("report.html");
        write_whole(&path, page?.as_bytes()).ok()?;
        Some(path)
    }

    fn audit(&self, _stop: &AtomicBool) -> bool {
        false
    }

    fn next_audit(&self) -> Option<Vec<u8>> {
        None
    }

    fn audited(&self, worker: &str, number: u64, is_same: bool) {
        let body = json!({ "worker": worker, "number": number, "is_same": is_same });
        let _ = self.ask::<Value>("audited", None, body);
    }

    fn operate(&self, order: &Order) -> Result<String, Refusal> {
        self.ask("operate", None, json!(order))
    }
}

/// Asks whichever ledger is active.
pub(crate) fn ask<T: DeserializeOwned>(
    streams: &Streams,
    about: &str,
    token: Option<&str>,
    body: Value,
    patience: Duration,
) -> Result<T, Refusal> {
    let later = |why: String| Refusal::new(RefusalKind::Later(LATER_SECONDS), why);
    let subject = streams.link.subject(&format!("ask.{about}"));
    let question = Question {
        token: token.map(str::to_owned),
        body,
    };
    let bytes = serde_json::to_vec(&question).unwrap_or_default();
    let client = streams.link.jetstream.client();
    let answered = streams.link.wait(async {
        tokio::time::timeout(patience, client.request(subject, bytes.into())).await
    });
    let message = match answered {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => return Err(later(format!("no ledger answers ({error}); come again"))),
        Err(_) => return Err(later("no ledger answers in time; come again".into())),
    };
    let answer: Answer<T> = serde_json::from_slice(&message.payload)
        .map_err(|error| later(format!("the ledger's answer cannot be read: {error}")))?;
    match answer {
        Answer::Done(done) => Ok(done),
        Answer::Refused(refusal) => Err(refusal),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
