//! The status page, and what people and monitors look at besides.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use draw::{Chart, Join, Line};

use crate::{
    answer::{plain, refuse_with},
    metrics,
    server::Shared,
    v1::ask,
};

/// The page; it fills itself from the JSON beside it and loads nothing from elsewhere.
const PAGE: &str = include_str!("page.html");
/// What the page may do: nothing but ask this server.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      img-src 'self'; frame-ancestors 'none'";

type Gate = State<Arc<Shared>>;

pub(crate) async fn page() -> Response {
    html(PAGE.to_owned())
}

/// The report that the run itself writes: charts, and games to click through.
pub(crate) async fn report(State(shared): Gate) -> Result<Response, Response> {
    let read = |service: &dyn fleet::Service| std::fs::read_to_string(service.report()?).ok();
    match ask(&shared, read).await? {
        Some(report) => Ok(html(report)),
        None => Err(refuse_with(StatusCode::NOT_FOUND, "there is no report yet")),
    }
}

fn html(text: String) -> Response {
    let mut response = plain(StatusCode::OK, "text/html; charset=utf-8", text);
    let policy = HeaderValue::from_static(POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Elo by games played, with error bars.
pub(crate) async fn elo(State(shared): Gate) -> Result<Response, Response> {
    let networks = ask(&shared, |service| service.networks()).await?;
    let (mut points, mut errors) = (Vec::new(), Vec::new());
    for network in networks.as_array().into_iter().flatten() {
        if network["was_best"] == true
            && let Some(elo) = network["elo"].as_f64()
        {
            points.push((network["games"].as_f64().unwrap_or(0.0), elo));
            errors.push(network["elo_error"].as_f64().unwrap_or(0.0));
        }
    }
    let line = Line::new(&points, draw::style::MARK)
        .errors(&errors)
        .join(Join::Steps);
    let svg = Chart::new("Elo of the best network by games of self-play", "")
        .line(line)
        .to_svg();
    Ok(plain(StatusCode::OK, "image/svg+xml", svg))
}

pub(crate) async fn metrics(State(shared): Gate) -> Result<Response, Response> {
    let status = ask(&shared, |service| service.status()).await?;
    let text = metrics::text(&status);
    Ok(plain(StatusCode::OK, "text/plain; version=0.0.4", text))
}

pub(crate) async fn not_found() -> Response {
    plain(
        StatusCode::NOT_FOUND,
        "text/plain; charset=utf-8",
        "There is nothing here.\n",
    )
}
