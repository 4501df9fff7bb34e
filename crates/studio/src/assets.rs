//! The page, compiled in. While developing (a debug build) files are read from the source folder at each request.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "web/"]
struct Web;

/// The one page behind every address.
const PAGE: &str = "index.html";

/// Answers with the page.
pub fn page() -> Response {
    file(PAGE, &HeaderMap::new())
}

/// Answers with a file of the page; names come from a table, never from the disk.
pub fn file(name: &str, asked: &HeaderMap) -> Response {
    let Some(found) = Web::get(name) else {
        return answer(
            StatusCode::NOT_FOUND,
            "text/plain",
            "",
            "no such file".into(),
        );
    };
    let hash = found.metadata.sha256_hash();
    let tag: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let is_known = asked
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known == tag.as_str());
    if is_known {
        return answer(StatusCode::NOT_MODIFIED, kind(name), &tag, Body::empty());
    }
    answer(
        StatusCode::OK,
        kind(name),
        &tag,
        Body::from(found.data.into_owned()),
    )
}

/// The bytes of all files of the page together.
pub fn page_bytes() -> usize {
    Web::iter()
        .filter_map(|name| Web::get(&name))
        .map(|file| file.data.len())
        .sum()
}

fn answer(status: StatusCode, kind: &str, tag: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [(header::CONTENT_TYPE, kind), (header::ETAG, tag)] {
        if let Ok(value) = value.parse()
            && !tag.is_empty() | (name == header::CONTENT_TYPE)
        {
            headers.insert(name, value);
        }
    }
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most the page may weigh; nothing is compressed on loopback.
    const MOST_BYTES: usize = 500_000;

    #[test]
    fn the_page_stays_light() {
        let bytes = page_bytes();
        assert!((10_000..MOST_BYTES).contains(&bytes), "{bytes} bytes");
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in ["../Cargo.toml", "/etc/passwd", "board/../../Cargo.toml", ""] {
            assert_eq!(file(name, &HeaderMap::new()).status(), 404, "{name}");
        }
        assert_eq!(page().status(), 200);
    }
}
