//! Routes: the page, uploads and downloads.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, Query, Request, State, ws::WebSocketUpgrade},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::{
    assets,
    engine::lock,
    guard, nets, review,
    server::{App, MOST_TABS},
    tab,
    wire::{Failure, PROTOCOL},
};

/// The largest file of games.
const MOST_SGF_BYTES: usize = 4 << 20;
/// The largest message of a tab.
const MOST_MESSAGE_BYTES: usize = 1 << 20;
/// The most bytes of a request's headers.
const MOST_HEADER_BYTES: usize = 16 << 10;
/// A body must be there within this time.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// The routes.
pub fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/assets/{*name}", get(asset))
        .route("/api/hello", get(hello))
        .route("/api/docs", post(open_docs))
        .route("/api/docs/{name}", get(download))
        .route("/api/nets", get(nets::list).post(nets::drop_in))
        .route("/api/nets/{id}", get(nets::detail))
        .route("/api/quit", post(quit))
        .route("/ws", get(socket))
        .route("/favicon.ico", get(icon))
        .fallback(get(page))
        .layer(middleware::from_fn_with_state(app.clone(), guarded))
        .with_state(app.clone())
}

/// Every request passes the locks, and every answer gets its headers.
async fn guarded(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let header_bytes: usize = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    let mut response = if header_bytes > MOST_HEADER_BYTES {
        refuse(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "the headers are too long",
        )
    } else {
        match guard::check(
            request.method(),
            request.uri(),
            request.headers(),
            app.port,
            &app.key,
        ) {
            Ok(()) => next.run(request).await,
            Err(refusal) => refuse(refusal.status, refusal.say),
        }
    };
    guard::dress(&path, response.headers_mut());
    response
}

fn refuse(status: StatusCode, say: &str) -> Response {
    (
        status,
        axum::Json(json!({ "err": { "code": "refused", "say": say } })),
    )
        .into_response()
}

/// A refusal as an answer.
pub fn fail(failure: &Failure) -> Response {
    let status = match failure.code {
        "document" | "network" | "run" => StatusCode::NOT_FOUND,
        "large" => StatusCode::PAYLOAD_TOO_LARGE,
        _ => StatusCode::BAD_REQUEST,
    };
    (status, axum::Json(json!({ "err": failure.to_json() }))).into_response()
}

async fn page(request: Request) -> Response {
    if request.uri().path().starts_with("/api/") {
        return fail(&Failure::new("document", "there is no such address"));
    }
    assets::page()
}

async fn icon(headers: HeaderMap) -> Response {
    assets::file("icon.svg", &headers)
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    assets::file(&name, &headers)
}

async fn hello(State(app): State<Arc<App>>) -> axum::Json<Value> {
    axum::Json(json!({
        "program": "tengen studio", "version": env!("CARGO_PKG_VERSION"), "protocol": PROTOCOL,
        "engine": if app.thinker.is_idle() { "idle" } else { "thinking" },
        "tabs": lock(&app.tabs).len(), "most_tabs": MOST_TABS,
    }))
}

async fn socket(State(app): State<Arc<App>>, upgrade: WebSocketUpgrade) -> Response {
    if lock(&app.tabs).len() >= MOST_TABS {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many tabs are open: close some",
        );
    }
    upgrade
        .max_message_size(MOST_MESSAGE_BYTES)
        .max_frame_size(MOST_MESSAGE_BYTES)
        .on_upgrade(move |socket| tab::serve(app, socket))
}

/// The whole body, or why not.
pub async fn whole_body(app: &App, body: Body, most: usize) -> Result<Bytes, Failure> {
    let _turn = app.bodies.acquire().await;
    let read = axum::body::to_bytes(body, most);
    match tokio::time::timeout(BODY_WITHIN, read).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Failure::new(
            "large",
            format!("the file is larger than {} MiB", most >> 20),
        )),
        Err(_) => Err(Failure::new(
            "slow",
            "the file did not arrive in time: try again",
        )),
    }
}

async fn open_docs(State(app): State<Arc<App>>, body: Body) -> Response {
    let bytes = match whole_body(&app, body, MOST_SGF_BYTES).await {
        Ok(bytes) => bytes,
        Err(failure) => return fail(&failure),
    };
    let opened = tokio::task::spawn_blocking(move || {
        let mut desk = lock(&app.desk);
        let ids = desk.read(&bytes)?;
        let docs: Vec<Value> = ids
            .iter()
            .filter_map(|id| desk.peek(id).map(crate::document::Document::summary))
            .collect();
        Ok::<_, Failure>(json!({ "docs": docs }))
    });
    match opened.await {
        Ok(Ok(docs)) => axum::Json(docs).into_response(),
        Ok(Err(failure)) => fail(&failure),
        Err(_) => fail(&Failure::new("record", "the file cannot be read")),
    }
}

#[derive(serde::Deserialize)]
struct With {
    #[serde(default)]
    with: String,
}

/// A document as a file: `ID.sgf`, `ID.svg`.
async fn download(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(With { with }): Query<With>,
) -> Response {
    let (id, ending) = name.split_once('.').unwrap_or((&name, ""));
    let made = app.with_doc(id, |document| match ending {
        "sgf" if with == "analysis" => Ok(review::annotated(document)),
        "sgf" => Ok(document.to_saved()),
        "svg" => Ok(review::picture(document)),
        _ => Err(Failure::new("document", "there is no such file")),
    });
    match made {
        Ok(text) => {
            let kind = if ending == "svg" {
                "image/svg+xml"
            } else {
                "application/x-go-sgf"
            };
            let place = format!("attachment; filename=\"{id}.{ending}\"");
            let headers = [
                (header::CONTENT_TYPE, kind.to_owned()),
                (header::CONTENT_DISPOSITION, place),
            ];
            (headers, text).into_response()
        }
        Err(failure) => fail(&failure),
    }
}

async fn quit(State(app): State<Arc<App>>) -> axum::Json<Value> {
    app.close();
    axum::Json(json!({}))
}
