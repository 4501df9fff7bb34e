//! One connection of one tab: what it asked, what it looks at, what it is still to be told.
//!
//! Answers wait in a queue. Pictures of a state (a position, a graph, an analysis) wait in a slot each: a slow tab gets
//! the newest and skips the others, so nothing ever piles up.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    analysis, bottle,
    engine::lock,
    game, problem, reading, review,
    server::App,
    training,
    wire::{self, Answer, Failure, PROTOCOL, Reply, Request},
    xray,
};

/// Answers that may wait; a tab that takes none of them is disconnected and asks again.
const MOST_ANSWERS: usize = 256;
/// A tab must say hello within this time.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
const PING_EVERY: Duration = Duration::from_secs(10);
/// A tab that does not answer pings for this long is gone.
const GONE_AFTER: Duration = Duration::from_secs(30);
/// A hidden tab counts as looking for this long.
const HIDDEN_AFTER: Duration = Duration::from_secs(10);

/// Codes of a closing socket.
const GOING_AWAY: u16 = 1001;
const POLICY: u16 = 1008;
const TRY_AGAIN: u16 = 1013;

pub struct Tab {
    pub number: u64,
    answers: mpsc::Sender<Message>,
    slots: Mutex<BTreeMap<&'static str, String>>,
    ready: Notify,
    sight: Mutex<Sight>,
    /// Its bottles of Dr. Mario.
    pub bottles: Mutex<bottle::Bottles>,
}

/// What a tab looks at.
struct Sight {
    doc: Option<String>,
    hidden_since: Option<Instant>,
    run: Option<String>,
}

impl Tab {
    /// Follows a run, or none.
    pub fn watch_run(&self, run: Option<String>) {
        lock(&self.sight).run = run;
    }

    /// The run it follows.
    pub fn watched_run(&self) -> Option<String> {
        lock(&self.sight).run.clone()
    }

    /// Shows a picture of a state; one that waits is replaced.
    pub fn show(&self, topic: &'static str, picture: String) {
        lock(&self.slots).insert(topic, picture);
        self.ready.notify_one();
    }

    /// Answers a request.
    pub fn answer(&self, id: u64, outcome: Result<Value, &Failure>) {
        self.send(Message::Text(wire::answer(id, outcome).into()));
    }

    /// Sends a frame of numbers.
    pub fn send(&self, message: Message) {
        // A full queue ends the connection: its receiver sees that it lags.
        if self.answers.try_send(message).is_err() {
            lock(&self.slots).insert("lags", String::new());
            self.ready.notify_one();
        }
    }

    /// Whether it looks at a document.
    pub fn sees(&self, doc: &str) -> bool {
        lock(&self.sight).doc.as_deref() == Some(doc)
    }

    /// Whether the user can see it, or could a moment ago.
    pub fn is_in_sight(&self) -> bool {
        lock(&self.sight)
            .hidden_since
            .is_none_or(|since| since.elapsed() < HIDDEN_AFTER)
    }

    /// Whether the user sees it now.
    pub fn is_visible(&self) -> bool {
        lock(&self.sight).hidden_since.is_none()
    }
}

#[derive(Deserialize)]
struct Hello {
    key: String,
    protocol: u64,
}

/// Serves a connection until it ends.
pub async fn serve(app: Arc<App>, mut socket: WebSocket) {
    let hello = tokio::time::timeout(HELLO_WITHIN, socket.recv()).await;
    let request = match hello {
        Ok(Some(Ok(Message::Text(text)))) => Request::parse(&text),
        _ => return close(socket, POLICY, "say hello first").await,
    };
    let id = match check_hello(&app, request) {
        Ok(id) => id,
        Err((id, failure)) => {
            let text = wire::answer(id, Err(&failure));
            let _ = socket.send(Message::Text(text.into())).await;
            return close(socket, POLICY, failure.code).await;
        }
    };
    let (answers, mut waiting) = mpsc::channel(MOST_ANSWERS);
    let tab = Arc::new(Tab {
        number: app.number(),
        answers,
        slots: Mutex::default(),
        ready: Notify::new(),
        sight: Mutex::new(Sight {
            doc: None,
            hidden_since: None,
            run: None,
        }),
        bottles: Mutex::default(),
    });
    lock(&app.tabs).insert(tab.number, tab.clone());
    tab.answer(id, Ok(welcome(&app, &tab)));
    let end = converse(&app, &tab, &mut socket, &mut waiting).await;
    lock(&app.tabs).remove(&tab.number);
    app.thinker.cancel(&app, |label, _| {
        label.tab == tab.number && label.what != "move" && label.what != "review"
    });
    app.tell_engine();
    if let Some((code, reason)) = end {
        close(socket, code, reason).await;
    }
}

fn check_hello(app: &App, request: Result<Request, Failure>) -> Result<u64, (u64, Failure)> {
    let request = request.map_err(|failure| (0, failure))?;
    let refuse = |code, say: &str| (request.id, Failure::new(code, say));
    if request.verb != "hello" {
        return Err(refuse("hello", "say hello first"));
    }
    let hello: Hello = request.fields().map_err(|failure| (request.id, failure))?;
    if !app.key.is(&hello.key) {
        return Err(refuse(
            "key",
            "open the address that `tengen studio` printed",
        ));
    }
    if hello.protocol != PROTOCOL {
        return Err(refuse(
            "protocol",
            "the page is of another version: reload it",
        ));
    }
    Ok(request.id)
}

fn welcome(app: &App, tab: &Tab) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"), "tab": tab.number, "engine": app.engine_state(),
        "docs": recent(app), "threads": app.settings.threads,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// The documents, the newest first.
pub fn recent(app: &App) -> Value {
    let desk = lock(&app.desk);
    desk.recent()
        .take(12)
        .map(crate::document::Document::summary)
        .collect::<Vec<_>>()
        .into()
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// The documents of a kind, or the newest of all.
fn list(app: &App, request: &Request) -> Answer {
    let Kind { kind } = request.fields()?;
    if kind.as_deref() != Some("problem") {
        return Ok(Reply::Now(json!({ "docs": recent(app) })));
    }
    let desk = lock(&app.desk);
    let problems = desk
        .recent()
        .filter(|document| document.table.problem.is_some());
    let docs: Vec<Value> = problems
        .map(|document| json!({ "doc": document.id, "kind": "problem", "title": document.title() }))
        .collect();
    Ok(Reply::Now(json!({ "docs": docs })))
}

/// Talks until the connection ends; says why if it is ours to end it.
async fn converse(
    app: &Arc<App>,
    tab: &Arc<Tab>,
    socket: &mut WebSocket,
    waiting: &mut mpsc::Receiver<Message>,
) -> Option<(u16, &'static str)> {
    let mut closing = app.closing.subscribe();
    let mut ping = tokio::time::interval(PING_EVERY);
    let mut heard = Instant::now();
    loop {
        tokio::select! {
            message = socket.recv() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => receive(app, tab, &text),
                    Some(Ok(Message::Binary(_))) => return Some((POLICY, "text only")),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                }
            }
            answer = waiting.recv() => {
                if let Some(answer) = answer && !send(socket, answer).await {
                    return None;
                }
            }
            () = tab.ready.notified() => {
                let pictures = std::mem::take(&mut *lock(&tab.slots));
                for (topic, picture) in pictures {
                    if topic == "lags" {
                        return Some((TRY_AGAIN, "too slow"));
                    }
                    if !send(socket, Message::Text(picture.into())).await {
                        return None;
                    }
                }
            }
            _ = ping.tick() => {
                if heard.elapsed() > GONE_AFTER || !send(socket, Message::Ping(Vec::new().into())).await {
                    return None;
                }
            }
            () = ended(&mut closing) => return Some((GOING_AWAY, "the program ends")),
        }
    }
}

/// Returns when the program ends.
async fn ended(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|&is_closing| is_closing).await;
}

async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(
        tokio::time::timeout(GONE_AFTER, socket.send(message)).await,
        Ok(Ok(()))
    )
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: Utf8Bytes::from_static(reason),
    };
    let _ = socket.send(Message::Close(Some(frame))).await;
}

fn receive(app: &Arc<App>, tab: &Arc<Tab>, text: &str) {
    let request = match Request::parse(text) {
        Ok(request) => request,
        Err(failure) => return tab.answer(0, Err(&failure)),
    };
    match dispatch(app, tab, &request) {
        Ok(Reply::Now(value)) => tab.answer(request.id, Ok(value)),
        Ok(Reply::Later) => {}
        Err(failure) => tab.answer(request.id, Err(&failure)),
    }
}

fn dispatch(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let topic = request.verb.split('.').next().unwrap_or_default();
    match topic {
        "see" => see(app, tab, request),
        "docs" => list(app, request),
        "go" => game::handle(app, tab, request),
        "think" => analysis::handle(app, tab, request),
        "review" => review::handle(app, tab, request),
        "bottle" => bottle::handle(app, tab, request),
        "problem" => problem::handle(app, tab, request),
        "run" => training::handle(app, tab, request),
        "net" => xray::handle(app, tab, request),
        "read" => reading::read(app, tab, request),
        "why" => reading::why(app, tab, request),
        "job" => jobs(app, request),
        _ => Err(Failure::new(
            "unknown",
            format!("`{}` is not known here", request.verb),
        )),
    }
}

#[derive(Deserialize)]
struct See {
    doc: Option<String>,
    #[serde(default = "yes")]
    visible: bool,
}

fn yes() -> bool {
    true
}

/// The tab says what it looks at, and whether anybody looks at it.
fn see(app: &Arc<App>, tab: &Arc<Tab>, request: &Request) -> Answer {
    let asked: See = request.fields()?;
    if let Some(doc) = &asked.doc {
        app.with_doc(doc, |_| Ok(()))?;
    }
    let is_other = {
        let mut sight = lock(&tab.sight);
        let is_other = sight.doc != asked.doc;
        sight.doc = asked.doc.clone();
        sight.hidden_since = match (asked.visible, sight.hidden_since) {
            (true, _) => None,
            (false, since) => since.or_else(|| Some(Instant::now())),
        };
        is_other
    };
    if let (Some(doc), true) = (&asked.doc, asked.visible) {
        if is_other {
            app.tell_doc(doc);
        }
        review::resume(app, doc);
    }
    wire::done()
}

fn jobs(app: &Arc<App>, request: &Request) -> Answer {
    #[derive(Deserialize)]
    struct Cancel {
        job: u64,
    }
    match request.verb.as_str() {
        "job.list" => Ok(Reply::Now(json!({ "jobs": app.thinker.list() }))),
        "job.cancel" => {
            let Cancel { job } = request.fields()?;
            app.thinker.cancel(app, |_, number| number == job);
            wire::done()
        }
        verb => Err(Failure::new(
            "unknown",
            format!("`{verb}` is not known here"),
        )),
    }
}
