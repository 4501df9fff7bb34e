//! Answers: signed JSON, and refusals with a sentence.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use fleet::{Refusal, RefusalKind, Service};
use serde::Serialize;
use serde_json::json;

/// The header of the server's signature.
pub(crate) const SIGNATURE: &str = "tengen-signature";
/// The header with the key that signed in the server's place, and the server's word for it.
pub(crate) const VOICE: &str = "tengen-voice";
/// The header with a number that the client drew: an old answer does not fit it.
pub(crate) const NONCE: &str = "tengen-nonce";
/// A longer nonce is cut.
const MOST_NONCE: usize = 128;

/// A question, as far as its answer's signature needs it.
pub(crate) struct Asked {
    path: String,
    nonce: String,
}

impl Asked {
    pub(crate) fn new(path: &str, headers: &HeaderMap) -> Asked {
        let nonce = headers.get(NONCE).and_then(|value| value.to_str().ok());
        Asked {
            path: path.to_owned(),
            nonce: nonce.unwrap_or_default().chars().take(MOST_NONCE).collect(),
        }
    }

    /// An answer with the server's signature.
    pub(crate) fn json(&self, service: &dyn Service, value: &impl Serialize) -> Response {
        let body = serde_json::to_vec(value).unwrap_or_default();
        let mut signed = format!("tengen answer\n{}\n{}\n", self.nonce, self.path).into_bytes();
        signed.extend_from_slice(&body);
        let mut response = plain(StatusCode::OK, "application/json", body);
        if let Ok(signature) = HeaderValue::from_str(&service.sign(&signed)) {
            response.headers_mut().insert(SIGNATURE, signature);
        }
        if let Some(voice) = service.voice()
            && let Ok(value) = HeaderValue::from_str(&format!("{}:{}", voice.key, voice.sig))
        {
            response.headers_mut().insert(VOICE, value);
        }
        response
    }
}

/// An answer without a signature.
pub(crate) fn plain(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// A refusal in JSON. `final` says whether asking again can help.
pub(crate) fn refuse(refusal: &Refusal) -> Response {
    let (status, wait) = match refusal.kind {
        RefusalKind::Unknown => (StatusCode::UNAUTHORIZED, None),
        RefusalKind::Forbidden => (StatusCode::FORBIDDEN, None),
        RefusalKind::TooOld => (StatusCode::UPGRADE_REQUIRED, None),
        RefusalKind::TooMuch(seconds) => (StatusCode::TOO_MANY_REQUESTS, Some(seconds)),
        RefusalKind::Bad => (StatusCode::BAD_REQUEST, None),
        RefusalKind::Later(seconds) => (StatusCode::SERVICE_UNAVAILABLE, Some(seconds)),
    };
    let body = json!({ "error": refusal.why, "final": wait.is_none() });
    let mut response = plain(status, "application/json", body.to_string());
    if let Some(seconds) = wait {
        let value = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// A refusal with a status of its own.
pub(crate) fn refuse_with(status: StatusCode, why: &str) -> Response {
    let is_final = status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT;
    let body = json!({ "error": why, "final": is_final });
    plain(status, "application/json", body.to_string())
}
