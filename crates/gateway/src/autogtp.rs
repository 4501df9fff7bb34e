//! Leela Zero's own client, unchanged.
//!
//! autogtp deletes a game when curl ends well, whatever the server said, and it crashes on JSON without a command that it
//! knows. So the answer to `/get-task` is a task, `wait`, or plain text; and `/submit` says 200 only when the game is in
//! the run's log or never will be. The client cannot sign, so the gateway is its worker: it takes tasks under an account
//! of its own, keeps them on disk by their seed, and signs what comes back.

use std::{
    collections::HashMap,
    fs, io,
    io::Read,
    path::{Path as FilePath, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use base::write_whole;
use fleet::{
    Order, Refusal, RefusalKind, Service, StockGames, StockOptions, id_of, selfplay_task,
    wire::{
        Acceptance, Envelope, Kind, MatchBody, PROTOCOL, Signer, Task, TaskRequest, sha256_hex,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    answer::plain,
    multipart,
    server::Shared,
    v1::{ask, file_answer, read, token},
};

/// The account under which games of stock clients come in.
const ACCOUNT: &str = "autogtp";
/// The oldest client and engine that are served.
const OLDEST_CLIENT: &str = "16";
const OLDEST_ENGINE: &str = "0.15";
/// The longest upload.
const MOST_BYTES: usize = 4 << 20;
/// Unpacked files of an upload are not read beyond this.
const MOST_UNPACKED: u64 = 32 << 20;
/// Seeds have 63 bits.
const SEED_BITS: u64 = u64::MAX >> 1;

type Gate = State<Arc<Shared>>;

/// Serves stock clients.
pub struct Autogtp {
    dir: PathBuf,
    games: Box<dyn StockGames>,
    signer: Signer,
    token: String,
    secret: String,
    tasks: Mutex<HashMap<String, Task>>,
}

/// Why stock clients cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("Leela Zero's client cannot be served: {0}")]
pub struct AutogtpError(String);

/// What is kept beside the tasks.
#[derive(Serialize, Deserialize)]
struct Kept {
    token: String,
}

impl Autogtp {
    /// Opens or makes the account of this gateway in `dir`, under a name that no other gateway has.
    pub fn open(
        dir: &FilePath,
        account: &str,
        service: &dyn Service,
        games: Box<dyn StockGames>,
    ) -> Result<Autogtp, AutogtpError> {
        let failed = |error: &dyn std::fmt::Display| AutogtpError(error.to_string());
        fs::create_dir_all(dir.join("tasks")).map_err(|error| failed(&error))?;
        let signer = Signer::open(&dir.join("key")).map_err(|error| failed(&error))?;
        let file = dir.join("account.json");
        let token = match fs::read(&file) {
            Ok(bytes) => {
                let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
                kept.token
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let order = Order::Token {
                    name: account.to_owned(),
                };
                let token = service
                    .operate(&order)
                    .map_err(|refusal| AutogtpError(refusal.why))?;
                let kept = json!({ "token": token }).to_string();
                write_whole(&file, kept.as_bytes()).map_err(|error| failed(&error))?;
                token
            }
            Err(error) => return Err(failed(&error)),
        };
        service
            .register(Some(&token), account, &signer.public_key())
            .map_err(|refusal| AutogtpError(refusal.why))?;
        let mut tasks = HashMap::new();
        let entries = fs::read_dir(dir.join("tasks")).map_err(|error| failed(&error))?;
        for entry in entries.flatten() {
            let seed = entry.file_name().to_string_lossy().into_owned();
            let task = fs::read(entry.path()).ok();
            if let Some(task) = task.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
                tasks.insert(seed, task);
            }
        }
        Ok(Autogtp {
            secret: sha256_hex(signer.sign(b"verification").as_bytes()),
            dir: dir.to_owned(),
            games,
            signer,
            token,
            tasks: Mutex::new(tasks),
        })
    }

    /// A task as the client reads it; nothing if there is none for it now.
    fn task(&self, service: &dyn Service, may_match: bool) -> Result<Option<String>, String> {
        self.games.options(Kind::Selfplay)?;
        let kinds = match may_match {
            true => Vec::new(),
            false => vec![Kind::Selfplay],
        };
        let request = TaskRequest {
            protocol: PROTOCOL,
            client: ACCOUNT.into(),
            games: vec![
                service.hello()["game"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            ],
            kinds,
            count: 1,
            ..TaskRequest::default()
        };
        let batch = service.tasks(&self.token, &request);
        let Some(task) = batch.map_err(|refusal| refusal.why)?.tasks.pop() else {
            return Ok(None);
        };
        let options = self.games.options(task.kind)?;
        let seed = (task.seed & SEED_BITS).to_string();
        let file = self.dir.join("tasks").join(&seed);
        let bytes = serde_json::to_vec(&task).unwrap_or_default();
        write_whole(&file, &bytes).map_err(|error| error.to_string())?;
        let text = self.task_text(&task, &seed, options);
        self.lock().insert(seed, task);
        text.map(Some)
    }

    fn task_text(&self, task: &Task, seed: &str, options: StockOptions) -> Result<String, String> {
        let mut text = json!({
            "required_client_version": OLDEST_CLIENT,
            "minimum_autogtp_version": OLDEST_CLIENT,
            "minimum_leelaz_version": OLDEST_ENGINE,
            "random_seed": seed,
            "options": option_strings(options),
        });
        let options_hash = options_hash(options);
        match (task.kind, task.networks.as_slice()) {
            (Kind::Selfplay, [network]) => {
                text["cmd"] = "selfplay".into();
                text["hash"] = network.hash.clone().into();
                text["hash_gzip_hash"] = network.file_hash.clone().into();
                text["options_hash"] = options_hash.into();
            }
            (Kind::Match, [first, second]) => {
                let [black, white] = match task.number.is_multiple_of(2) {
                    true => [first, second],
                    false => [second, first],
                };
                text["cmd"] = "match".into();
                text["black_hash"] = black.hash.clone().into();
                text["white_hash"] = white.hash.clone().into();
                text["black_hash_gzip_hash"] = black.file_hash.clone().into();
                text["white_hash_gzip_hash"] = white.file_hash.clone().into();
                let code = self.verification(seed, &white.hash, &black.hash);
                text["options_hash"] = format!("{options_hash}{code}").into();
            }
            _ => return Err("this task is not for stock clients".into()),
        }
        Ok(text.to_string())
    }

    /// Proves that a match result belongs to a task of ours, as Leela Zero's server does.
    fn verification(&self, seed: &str, white: &str, black: &str) -> String {
        sha256_hex(format!("{}{seed}{white}{black}", self.secret).as_bytes())
    }

    /// Takes an upload in; the sentence says what became of it. An error means that the client must come again.
    fn submit(
        &self,
        service: &dyn Service,
        kind: Kind,
        fields: &HashMap<String, &[u8]>,
    ) -> Result<String, Refusal> {
        let text = |name: &str| {
            let value = fields
                .get(name)
                .and_then(|value| std::str::from_utf8(value).ok());
            value.map(str::trim).unwrap_or_default()
        };
        let sgf = match fields
            .get("sgf")
            .ok_or("No sgf file provided.")
            .and_then(|packed| unpack(packed))
        {
            Ok(sgf) => sgf,
            Err(why) => return Ok(why.to_owned()),
        };
        let stored = format!(
            "{} data {} stored in database\n",
            if kind == Kind::Match { "Match" } else { "Game" },
            sha256_hex(&sgf)
        );
        let seed = text("random_seed");
        let Some(task) = self
            .lock()
            .get(seed)
            .filter(|task| task.kind == kind)
            .cloned()
        else {
            // A copy of a game whose receipt came already, or a seed that nobody issued: either way it is settled.
            return Ok(
                "This seed is not out; the game was handed in before, or never asked for.\n".into(),
            );
        };
        let made = match kind {
            Kind::Selfplay => self.selfplay_envelope(&task, fields, &sgf, text("networkhash")),
            Kind::Match => self.match_envelope(&task, &sgf, &text, seed),
        };
        let envelope = match made {
            Ok(envelope) => envelope,
            Err(why) => return Ok(format!("Refused: {why}\n")),
        };
        let receipt = service.hand_in(&self.token, &envelope.pack())?;
        self.forget(seed);
        Ok(match receipt.verdict {
            Acceptance::Accepted | Acceptance::Duplicate => stored,
            _ => format!("Not counted: {}\n", receipt.why),
        })
    }

    fn selfplay_envelope(
        &self,
        task: &Task,
        fields: &HashMap<String, &[u8]>,
        sgf: &[u8],
        network: &str,
    ) -> Result<Envelope, String> {
        if task
            .networks
            .first()
            .is_none_or(|wanted| wanted.hash != network)
        {
            return Err("the task named another network".into());
        }
        let packed = fields
            .get("trainingdata")
            .ok_or("No trainingdata file provided.")?;
        let training = unpack(packed)?;
        let body = self.games.selfplay(&selfplay_task(task), sgf, &training)?;
        let id = id_of(task, &self.games.moves_and_result(&body)?);
        Ok(self.envelope(task, id, body))
    }

    fn match_envelope<'a>(
        &self,
        task: &Task,
        sgf: &[u8],
        text: &impl Fn(&str) -> &'a str,
        seed: &str,
    ) -> Result<Envelope, String> {
        let (winner, loser) = (text("winnerhash"), text("loserhash"));
        let code = text("options_hash");
        let code = code
            .get(code.len().saturating_sub(64)..)
            .unwrap_or_default();
        let is_right = [[winner, loser], [loser, winner]]
            .iter()
            .any(|[white, black]| self.verification(seed, white, black) == code);
        if !is_right {
            return Err("Verification failed.".into());
        }
        let record = self.games.match_game(task.number as u32, sgf)?;
        let first_won = record.winner.first_won();
        let claimed = task.networks.first().map(|first| first.hash == winner);
        if first_won.is_some() && first_won != claimed {
            return Err("the game was won by the other network".into());
        }
        let id = id_of(task, &record.moves);
        let body = serde_json::to_vec(&MatchBody::from(&record)).unwrap_or_default();
        Ok(self.envelope(task, id, body))
    }

    fn envelope(&self, task: &Task, id: String, body: Vec<u8>) -> Envelope {
        Envelope::new(task, id, body, (ACCOUNT, "leelaz", 0.0), &self.signer)
    }

    fn forget(&self, seed: &str) {
        self.lock().remove(seed);
        let _ = fs::remove_file(self.dir.join("tasks").join(seed));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn option_strings(options: StockOptions) -> serde_json::Value {
    json!({
        "playouts": "0",
        "visits": options.visits.to_string(),
        "resignation_percent": options.resignation_percent.to_string(),
        "noise": options.has_noise.to_string(),
        "randomcnt": options.drawn_moves.to_string(),
    })
}

fn options_hash(options: StockOptions) -> String {
    let text = format!(
        "{}{}{}{}",
        options.visits, options.resignation_percent, options.has_noise, options.drawn_moves
    );
    sha256_hex(text.as_bytes())[..6].to_owned()
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(packed).take(MOST_UNPACKED + 1);
    decoder
        .read_to_end(&mut bytes)
        .map_err(|_| "a file of the upload cannot be unpacked")?;
    if bytes.len() as u64 > MOST_UNPACKED {
        return Err("a file of the upload is too large");
    }
    Ok(bytes)
}

fn words(status: StatusCode, say: impl Into<String>) -> Response {
    plain(status, "text/plain; charset=utf-8", say.into())
}

/// `wait`, which every client understands.
fn wait(minutes: u32) -> Response {
    let text = json!({ "cmd": "wait", "minutes": minutes.to_string() }).to_string();
    plain(StatusCode::OK, "application/json", text)
}

/// Whether the client may play, and whether it may play matches.
fn allowance(service: &dyn Service, headers: &HeaderMap) -> Option<bool> {
    match token(headers) {
        Some(token) => service.renew(&token, &[]).is_ok().then_some(true),
        None => (service.hello()["open"] == true).then_some(false),
    }
}

pub(crate) async fn get_task(
    State(shared): Gate,
    Path(versions): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let gate = shared.clone();
    let question = move |service: &dyn Service| {
        let Some(autogtp) = &gate.autogtp else {
            return wait(5);
        };
        let Some(may_match) = allowance(service, &headers) else {
            return words(
                StatusCode::SERVICE_UNAVAILABLE,
                "This run takes clients with a token only.\n",
            );
        };
        if versions.split('/').next() == Some("0") {
            return tuning_task(autogtp, service).unwrap_or_else(|| wait(1));
        }
        match autogtp.task(service, may_match) {
            Ok(Some(text)) => plain(StatusCode::OK, "application/json", text),
            Ok(None) => wait(1),
            // Never JSON without a command: the client would crash.
            Err(_) => wait(5),
        }
    };
    ask(&shared, question).await
}

/// What the client asks for first: only the network of this task is used.
fn tuning_task(autogtp: &Autogtp, service: &dyn Service) -> Option<Response> {
    let best = service.status()["best"].as_str()?.to_owned();
    let file = service.network(&best).ok()??;
    let file_hash = sha256_hex(&fs::read(file).ok()?);
    let options = autogtp.games.options(Kind::Selfplay).ok()?;
    let text = json!({
        "cmd": "selfplay", "hash": best, "hash_gzip_hash": file_hash,
        "required_client_version": OLDEST_CLIENT, "minimum_autogtp_version": OLDEST_CLIENT,
        "minimum_leelaz_version": OLDEST_ENGINE, "random_seed": "1",
        "options_hash": options_hash(options), "options": option_strings(options),
    });
    Some(plain(StatusCode::OK, "application/json", text.to_string()))
}

pub(crate) async fn network(
    State(shared): Gate,
    Path(file): Path<String>,
) -> Result<Response, Response> {
    let hash = file.trim_end_matches(".gz").to_owned();
    network_bytes(&shared, hash).await
}

pub(crate) async fn best_network(State(shared): Gate) -> Result<Response, Response> {
    let best = ask(&shared, |service| {
        service.status()["best"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    })
    .await?;
    let mut response = network_bytes(&shared, best.clone()).await?;
    let name = format!("attachment; filename={best}.gz");
    if let Ok(name) = name.parse() {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

async fn network_bytes(shared: &Arc<Shared>, hash: String) -> Result<Response, Response> {
    let question = move |service: &dyn Service| {
        let file = service.network(&hash).ok().flatten()?;
        fs::read(file).ok()
    };
    match ask(shared, question).await? {
        Some(bytes) => Ok(file_answer(&bytes, &HeaderMap::new())),
        None => Err(words(StatusCode::NOT_FOUND, "There is no such network.\n")),
    }
}

pub(crate) async fn best_network_hash(State(shared): Gate) -> Result<Response, Response> {
    let best = ask(&shared, |service| {
        service.status()["best"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    })
    .await?;
    // The second line is an obsolete version that old clients read.
    Ok(words(StatusCode::OK, format!("{best}\n11")))
}

pub(crate) async fn submit(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    take(shared, headers, body, Kind::Selfplay).await
}

pub(crate) async fn submit_match(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    take(shared, headers, body, Kind::Match).await
}

async fn take(
    shared: Arc<Shared>,
    headers: HeaderMap,
    body: Body,
    kind: Kind,
) -> Result<Response, Response> {
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let bytes = read(body, MOST_BYTES).await?;
    let gate = shared.clone();
    let question = move |service: &dyn Service| {
        let Some(autogtp) = &gate.autogtp else {
            return words(StatusCode::OK, "This run takes Tengen's workers only.\n");
        };
        if allowance(service, &headers).is_none() {
            return words(
                StatusCode::OK,
                "This run takes clients with a token only.\n",
            );
        }
        let fields = match multipart::parts(&content_type, &bytes) {
            Ok(fields) => fields,
            Err(why) => return words(StatusCode::BAD_REQUEST, format!("{why}\n")),
        };
        match autogtp.submit(service, kind, &fields) {
            Ok(say) => words(StatusCode::OK, say),
            // The client must keep the game and come again.
            Err(Refusal {
                kind:
                    RefusalKind::Forbidden
                    | RefusalKind::Unknown
                    | RefusalKind::Bad
                    | RefusalKind::TooOld,
                why,
            }) => words(StatusCode::OK, why),
            Err(Refusal { why, .. }) => words(StatusCode::SERVICE_UNAVAILABLE, why),
        }
    };
    ask(&shared, question).await
}
