//! Networks: listed, dropped, described.

use std::{io::Write, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    engine::{self, NetworkFile, lock},
    http::fail,
    server::App,
    wire::Failure,
};

/// The largest network file.
const MOST_BYTES: usize = 600 << 20;
/// A network must go on arriving.
const BYTE_WITHIN: Duration = Duration::from_secs(30);

/// A network in the list.
fn summary(known: &NetworkFile) -> Value {
    let bytes = known
        .file
        .as_ref()
        .and_then(|file| std::fs::metadata(file).ok())
        .map(|found| found.len());
    json!({ "net": known.id, "name": known.name, "origin": known.origin, "game": "go", "bytes": bytes, "sizes": null, "komi": null })
}

/// `GET /api/nets`.
pub async fn list(State(app): State<Arc<App>>) -> Response {
    let networks = lock(&app.networks);
    let nets: Vec<Value> = networks.files().iter().map(summary).collect();
    axum::Json(json!({ "nets": nets })).into_response()
}

/// `GET /api/nets/ID`: read, if that was not done yet.
pub async fn detail(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let read = tokio::task::spawn_blocking(move || describe(&app, &id));
    match read.await {
        Ok(Ok(value)) => axum::Json(value).into_response(),
        Ok(Err(failure)) => fail(&failure),
        Err(_) => fail(&Failure::new("network", "the network cannot be read")),
    }
}

fn describe(app: &App, id: &str) -> Result<Value, Failure> {
    let mut networks = lock(&app.networks);
    let known = networks.file(id)?.clone();
    let mut value = summary(&known);
    let network = networks.load_any(id)?;
    value["family"] = engine::family(&network).into();
    value["blocks"] = network.blocks.into();
    value["filters"] = network.filters.into();
    value["weights"] = network.bytes.into();
    value["sizes"] = match known.file {
        Some(_) => engine::plays_only(&network).map(|size| vec![size]).into(),
        None => Value::Null,
    };
    Ok(value)
}

#[derive(serde::Deserialize)]
pub struct Named {
    #[serde(default)]
    name: String,
}

/// `POST /api/nets`: a dropped file, kept under its hash once it was read as a network.
pub async fn drop_in(
    State(app): State<Arc<App>>,
    Query(Named { name }): Query<Named>,
    body: Body,
) -> Response {
    let kept = async {
        let _turn = app.bodies.acquire().await;
        let (partial, hash) = receive(&app, body).await?;
        let kept = {
            let (app, partial) = (app.clone(), partial.clone());
            tokio::task::spawn_blocking(move || keep(&app, &partial, &hash, &name)).await
        };
        let _ = std::fs::remove_file(&partial);
        kept.unwrap_or_else(|_| Err(Failure::new("network", "the network cannot be read")))
    };
    match kept.await {
        Ok(id) => axum::Json(json!({ "net": id })).into_response(),
        Err(failure) => fail(&failure),
    }
}

/// Writes the body to a file of the cache folder; returns the file and its hash.
async fn receive(app: &App, mut body: Body) -> Result<(PathBuf, String), Failure> {
    let folder = &app.settings.cache_folder;
    let refuse =
        |error: std::io::Error| Failure::new("disk", format!("cannot keep the network: {error}"));
    std::fs::create_dir_all(folder).map_err(refuse)?;
    let partial = folder.join(format!("arriving-{}", app.number()));
    let mut file = std::fs::File::create(&partial).map_err(refuse)?;
    let (mut hash, mut length) = (Sha256::new(), 0);
    let outcome = loop {
        match tokio::time::timeout(BYTE_WITHIN, body.frame()).await {
            Err(_) | Ok(Some(Err(_))) => {
                break Err(Failure::new("slow", "the file did not arrive: try again"));
            }
            Ok(None) => break Ok(()),
            Ok(Some(Ok(frame))) => {
                let Ok(bytes) = frame.into_data() else {
                    continue;
                };
                length += bytes.len();
                if length > MOST_BYTES {
                    break Err(Failure::new("large", "the network is larger than 600 MiB"));
                }
                hash.update(&bytes);
                if let Err(error) = file.write_all(&bytes) {
                    break Err(refuse(error));
                }
            }
        }
    };
    match outcome {
        Ok(()) => {
            let hash = hash.finalize();
            Ok((
                partial,
                hash.iter()
                    .take(6)
                    .map(|byte| format!("{byte:02x}"))
                    .collect(),
            ))
        }
        Err(failure) => {
            let _ = std::fs::remove_file(&partial);
            Err(failure)
        }
    }
}

/// Checks a network and gives it its name.
fn keep(app: &App, partial: &std::path::Path, hash: &str, name: &str) -> Result<String, Failure> {
    engine::read_network(partial).map_err(|failure| {
        let say = failure.say.replace(&*partial.to_string_lossy(), "the file");
        Failure::new("network", format!("{}: {say}", clean(name)))
    })?;
    let ending = ["net", "gz", "txt", "bin"]
        .into_iter()
        .find(|ending| name.ends_with(&format!(".{ending}")))
        .unwrap_or("net");
    let file = app.settings.cache_folder.join(format!("{hash}.{ending}"));
    std::fs::rename(partial, &file)
        .map_err(|error| Failure::new("disk", format!("cannot keep the network: {error}")))?;
    let id = format!("n{}", &hash[..10]);
    lock(&app.networks).add(id.clone(), clean(name), file, "dropped");
    Ok(id)
}

/// A file's name without anything a name does not need.
fn clean(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .filter(|letter| !letter.is_control())
        .take(80)
        .collect();
    if clean.is_empty() {
        "network".to_owned()
    } else {
        clean
    }
}
