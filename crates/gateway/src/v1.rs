//! The protocol of Tengen's own workers.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use fleet::{
    Order, Refusal, Service,
    wire::{MOST_PACKED_BYTES, Task, TaskRequest, sha256_hex},
};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    answer::{Asked, plain, refuse, refuse_with},
    server::Shared,
};

/// The longest question that is no game.
const MOST_QUESTION_BYTES: usize = 1 << 20;
/// So much of a body that is too long is read before it is refused.
const MOST_DRAINED_BYTES: usize = 8 << 20;
/// A body that takes longer is dropped.
const MOST_BODY_TIME: Duration = Duration::from_secs(60);
/// The longest a question for tasks waits.
const MOST_WAIT: Duration = Duration::from_secs(50);
/// How often it looks whether there are any.
const GLANCE: Duration = Duration::from_millis(300);

type Gate = State<Arc<Shared>>;

/// Runs what may block where it holds nobody up.
pub(crate) async fn ask<T: Send + 'static>(
    shared: &Arc<Shared>,
    question: impl FnOnce(&dyn Service) -> T + Send + 'static,
) -> Result<T, Response> {
    let failed = || {
        refuse_with(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the server failed; try again",
        )
    };
    let shared = shared.clone();
    let _seat = shared.at_once.acquire().await.map_err(|_| failed())?;
    let service = shared.service.clone();
    tokio::task::spawn_blocking(move || question(&*service))
        .await
        .map_err(|_| failed())
}

/// Reads a body of at most so many bytes, in time.
pub(crate) async fn read(body: Body, most: usize) -> Result<Bytes, Response> {
    match timeout(MOST_BODY_TIME, read_all(body, most)).await {
        Ok(read) => read,
        Err(_) => Err(refuse_with(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not come in time",
        )),
    }
}

/// What is too long is read on for a while, but not kept, so that the client hears why it is refused.
async fn read_all(mut body: Body, most: usize) -> Result<Bytes, Response> {
    let (mut kept, mut length) = (Vec::new(), 0);
    while length <= most + MOST_DRAINED_BYTES {
        let Some(frame) = body.frame().await else {
            break;
        };
        let broken = |_| refuse_with(StatusCode::BAD_REQUEST, "the body broke off");
        if let Ok(part) = frame.map_err(broken)?.into_data() {
            length += part.len();
            if length <= most {
                kept.extend_from_slice(&part);
            }
        }
    }
    if length > most {
        let why = format!("at most {most} bytes are taken");
        return Err(refuse_with(StatusCode::PAYLOAD_TOO_LARGE, &why));
    }
    Ok(kept.into())
}

async fn read_json<T: for<'de> Deserialize<'de>>(body: Body) -> Result<T, Response> {
    let bytes = read(body, MOST_QUESTION_BYTES).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        refuse_with(
            StatusCode::BAD_REQUEST,
            &format!("no such question: {error}"),
        )
    })
}

/// The token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    Some(value.strip_prefix("Bearer ")?.trim().to_owned())
}

#[expect(
    clippy::result_large_err,
    reason = "a response is what a handler returns in either case"
)]
fn answer<T>(done: Result<Result<T, Refusal>, Response>) -> Result<T, Response> {
    done?.map_err(|refusal| refuse(&refusal))
}

pub(crate) async fn hello(State(shared): Gate, headers: HeaderMap) -> Result<Response, Response> {
    let asked = Asked::new("/v1/hello", &headers);
    let hello = ask(&shared, |service| service.hello()).await?;
    Ok(asked.json(&*shared.service, &hello))
}

#[derive(Deserialize)]
struct Registration {
    #[serde(default)]
    name: String,
    key: String,
}

pub(crate) async fn register(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/register", &headers);
    let Registration { name, key } = read_json(body).await?;
    let token = token(&headers);
    let question = move |service: &dyn Service| service.register(token.as_deref(), &name, &key);
    let (name, token) = answer(ask(&shared, question).await)?;
    Ok(asked.json(&*shared.service, &json!({ "name": name, "token": token })))
}

pub(crate) async fn tasks(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/tasks", &headers);
    let request: TaskRequest = read_json(body).await?;
    let token = token(&headers).unwrap_or_default();
    let wait = Duration::from_secs(request.wait_seconds).min(MOST_WAIT);
    let until = Instant::now() + wait;
    loop {
        let (token, request) = (token.clone(), request.clone());
        let question = move |service: &dyn Service| service.tasks(&token, &request);
        let batch = answer(ask(&shared, question).await)?;
        if !batch.tasks.is_empty() || Instant::now() >= until {
            return Ok(asked.json(&*shared.service, &batch));
        }
        sleep(GLANCE).await;
    }
}

pub(crate) async fn renew(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/tasks/renew", &headers);
    let tasks: Vec<Task> = read_json(body).await?;
    let token = token(&headers).unwrap_or_default();
    let question = move |service: &dyn Service| service.renew(&token, &tasks);
    let unwanted = answer(ask(&shared, question).await)?;
    Ok(asked.json(&*shared.service, &json!({ "not_wanted": unwanted })))
}

pub(crate) async fn give_back(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/tasks/give-back", &headers);
    let tasks: Vec<Task> = read_json(body).await?;
    let token = token(&headers).unwrap_or_default();
    let question = move |service: &dyn Service| service.give_back(&token, &tasks);
    answer(ask(&shared, question).await)?;
    Ok(asked.json(&*shared.service, &json!({})))
}

pub(crate) async fn hand_in(
    State(shared): Gate,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new(&format!("/v1/games/{id}"), &headers);
    let envelope = read(body, MOST_PACKED_BYTES).await?;
    let token = token(&headers).unwrap_or_default();
    let question = move |service: &dyn Service| service.hand_in(&token, &envelope);
    let receipt = answer(ask(&shared, question).await)?;
    Ok(asked.json(&*shared.service, &receipt))
}

pub(crate) async fn network(
    State(shared): Gate,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let question = move |service: &dyn Service| {
        let file = service.network(&hash)?;
        Ok(file.and_then(|file| std::fs::read(file).ok()))
    };
    let found = answer(ask(&shared, question).await)?;
    let Some(bytes) = found else {
        return Err(refuse_with(
            StatusCode::NOT_FOUND,
            "there is no such network",
        ));
    };
    Ok(file_answer(&bytes, &headers))
}

/// A file that never changes; from a place on, if only the rest is asked for.
pub(crate) fn file_answer(bytes: &[u8], headers: &HeaderMap) -> Response {
    let from = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| {
            value
                .strip_prefix("bytes=")?
                .strip_suffix('-')?
                .parse::<usize>()
                .ok()
        })
        .filter(|from| *from > 0 && *from < bytes.len());
    let (status, part) = match from {
        Some(from) => (StatusCode::PARTIAL_CONTENT, &bytes[from..]),
        None => (StatusCode::OK, bytes),
    };
    let mut response = plain(status, "application/octet-stream", part.to_vec());
    let told = response.headers_mut();
    if let (Some(from), all) = (from, bytes.len())
        && let Ok(range) = HeaderValue::from_str(&format!("bytes {from}-{}/{all}", all - 1))
    {
        told.insert(header::CONTENT_RANGE, range);
    }
    if let Ok(digest) = HeaderValue::from_str(&sha256_hex(bytes)) {
        told.insert("tengen-sha256", digest);
    }
    told.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    response
}

pub(crate) async fn status(State(shared): Gate, headers: HeaderMap) -> Result<Response, Response> {
    let asked = Asked::new("/v1/status.json", &headers);
    let status = ask(&shared, |service| service.status()).await?;
    Ok(asked.json(&*shared.service, &status))
}

pub(crate) async fn networks(
    State(shared): Gate,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/networks.json", &headers);
    let networks = ask(&shared, |service| service.networks()).await?;
    Ok(asked.json(&*shared.service, &networks))
}

pub(crate) async fn matches(State(shared): Gate, headers: HeaderMap) -> Result<Response, Response> {
    let asked = Asked::new("/v1/matches.json", &headers);
    let matches = ask(&shared, |service| service.matches()).await?;
    Ok(asked.json(&*shared.service, &matches))
}

/// How strong the best networks were after how many games, oldest first.
pub(crate) async fn elo(State(shared): Gate, headers: HeaderMap) -> Result<Response, Response> {
    let asked = Asked::new("/v1/elo.json", &headers);
    let networks = ask(&shared, |service| service.networks()).await?;
    let best = networks.as_array().into_iter().flatten();
    let best = best.filter(|network| network["was_best"] == true);
    let lines: Vec<_> = best
        .map(|network| {
            json!({
                "hash": network["hash"], "games": network["games"], "elo": network["elo"], "elo_error": network["elo_error"],
            })
        })
        .collect();
    Ok(asked.json(&*shared.service, &lines))
}

/// What happened lately, as a JSON feed (jsonfeed.org, version 1.1).
pub(crate) async fn feed(State(shared): Gate, headers: HeaderMap) -> Result<Response, Response> {
    let asked = Asked::new("/v1/feed", &headers);
    let status = ask(&shared, |service| service.status()).await?;
    let events = status["events"].as_array().into_iter().flatten();
    let items: Vec<_> = events
        .map(|event| {
            let text = event["say"].as_str().unwrap_or_default();
            let id = sha256_hex(format!("{} {text}", event["at_unix"]).as_bytes());
            json!({ "id": id, "content_text": text, "_at_unix": event["at_unix"] })
        })
        .collect();
    let feed = json!({ "version": "https://jsonfeed.org/version/1.1", "title": "Tengen run", "items": items });
    Ok(asked.json(&*shared.service, &feed))
}

/// How one worker stands.
pub(crate) async fn worker(
    State(shared): Gate,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let asked = Asked::new(&format!("/v1/workers/{file}"), &headers);
    let name = file.strip_suffix(".json").unwrap_or(&file).to_owned();
    let status = ask(&shared, |service| service.status()).await?;
    let mut workers = status["workers"].as_array().into_iter().flatten();
    match workers.find(|worker| worker["name"] == *name) {
        Some(worker) => Ok(asked.json(&*shared.service, worker)),
        None => Err(refuse_with(
            StatusCode::NOT_FOUND,
            &format!("there is no worker called {name}"),
        )),
    }
}

pub(crate) async fn operate(
    State(shared): Gate,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let asked = Asked::new("/v1/operate", &headers);
    // Hashes are compared, so that the time it takes says nothing about the token.
    let given = sha256_hex(token(&headers).unwrap_or_default().as_bytes());
    if given != sha256_hex(shared.operator_token.as_bytes()) {
        return Err(refuse_with(
            StatusCode::FORBIDDEN,
            "only the run's operator may",
        ));
    }
    let order: Order = read_json(body).await?;
    let question = move |service: &dyn Service| service.operate(&order);
    let say = answer(ask(&shared, question).await)?;
    Ok(asked.json(&*shared.service, &json!({ "say": say })))
}
