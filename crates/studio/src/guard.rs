//! Who may ask. Any page a user visits can send requests to this machine, and so can any other account on it.
//!
//! Three locks: the `Host` must be ours (a name that was rebound to 127.0.0.1 is not), the `Origin` of anything that
//! changes something must be our own page, and everything but the page itself needs the key that was printed at start.

use std::{fs, io::Write, path::Path};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

/// The page may load nothing from elsewhere, run no inline script, and be framed by nobody.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Bytes of randomness in a key: 128 bits.
const KEY_BYTES: usize = 16;

/// The file that keeps the key.
const KEY_FILE: &str = "key";

/// The secret of one user's studio.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// A new key.
    pub fn random() -> Key {
        let bytes: [u8; KEY_BYTES] = rand::random();
        Key(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The key of this user's studio: made at the first start and kept where only the user can read it, so that an open
    /// page finds its way back after a restart.
    pub fn kept_in(folder: &Path) -> Key {
        let file = folder.join(KEY_FILE);
        if let Ok(text) = fs::read_to_string(&file)
            && text.len() == 2 * KEY_BYTES
            && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Key(text);
        }
        let key = Key::random();
        let _ = fs::remove_file(&file);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Without a kept key the studio still works; pages just do not survive a restart.
        if let Ok(mut open) = options.open(file) {
            let _ = open.write_all(key.0.as_bytes());
        }
        key
    }

    /// The key as text, for the address.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `other` is this key. The time it takes does not tell how much of it is right.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let differences = own
            .iter()
            .zip(other)
            .fold(0, |differences, (a, b)| differences | (a ^ b));
        own.len() == other.len() && differences == 0
    }
}

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// One sentence.
    pub say: &'static str,
}

const WRONG_HOST: Refusal = Refusal {
    status: StatusCode::MISDIRECTED_REQUEST,
    say: "this server answers to 127.0.0.1 and localhost only",
};
const WRONG_ORIGIN: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    say: "only the studio's own page may ask this",
};
const NO_KEY: Refusal = Refusal {
    status: StatusCode::UNAUTHORIZED,
    say: "open the address that `tengen studio` printed",
};
const NO_METHOD: Refusal = Refusal {
    status: StatusCode::METHOD_NOT_ALLOWED,
    say: "this method is not answered",
};

/// What a request is for, as far as the locks care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The page, its files, and `/api/hello`: no secret in them.
    Page,
    /// The socket: the key comes in its first message.
    Socket,
    /// Everything else.
    Api,
}

impl Door {
    /// The door a path leads to.
    pub fn of(path: &str) -> Door {
        match path {
            "/ws" => Door::Socket,
            "/api/hello" => Door::Page,
            path if path.starts_with("/api/") => Door::Api,
            _ => Door::Page,
        }
    }
}

/// Lets a request through, or says why not.
pub fn check(
    method: &Method,
    target: &Uri,
    headers: &HeaderMap,
    port: u16,
    key: &Key,
) -> Result<(), Refusal> {
    let door = Door::of(target.path());
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let is_own = |host: &str| own.iter().any(|own| own.eq_ignore_ascii_case(host));
    let names_another = target
        .authority()
        .is_some_and(|name| !is_own(name.as_str()));
    if names_another || !single(headers, header::HOST).is_some_and(is_own) {
        return Err(WRONG_HOST);
    }
    if ![Method::GET, Method::HEAD, Method::POST, Method::DELETE].contains(method) {
        return Err(NO_METHOD);
    }
    let changes = *method != Method::GET && *method != Method::HEAD;
    if door == Door::Socket || changes {
        let origin =
            single(headers, header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if !origin.is_some_and(is_own) {
            return Err(WRONG_ORIGIN);
        }
    } else if headers.contains_key(header::ORIGIN) {
        let origin =
            single(headers, header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if !origin.is_some_and(is_own) {
            return Err(WRONG_ORIGIN);
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if let Some(site) = headers.get(site) {
        let is_page = door == Door::Page && site == "none";
        if site != "same-origin" && !is_page {
            // A link from elsewhere may open the page: it cannot read it, and has no key.
            let opens_page = door == Door::Page
                && headers
                    .get("sec-fetch-mode")
                    .is_some_and(|mode| mode == "navigate");
            if !opens_page {
                return Err(WRONG_ORIGIN);
            }
        }
    }
    if door == Door::Api {
        let bearer =
            single(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if !bearer.is_some_and(|bearer| key.is(bearer)) {
            return Err(NO_KEY);
        }
    }
    Ok(())
}

/// A header that is there once; twice is as wrong as not at all.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    match values.next() {
        Some(_) => None,
        None => first.to_str().ok(),
    }
}

/// The headers of every answer.
pub fn dress(path: &str, headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let caching = if path.starts_with("/api/") {
        "no-store"
    } else {
        "no-cache"
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 32278;

    fn ask(method: Method, path: &str, lines: &[(&'static str, &str)]) -> Result<(), StatusCode> {
        let mut headers = HeaderMap::new();
        for &(name, value) in lines {
            headers.append(name, value.parse().unwrap());
        }
        let key = Key("0123".to_owned());
        check(&method, &path.parse().unwrap(), &headers, PORT, &key)
            .map_err(|refusal| refusal.status)
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:32278");
    const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:32278");
    const BEARER: (&str, &str) = ("authorization", "Bearer 0123");

    #[test]
    fn a_key_is_kept_for_the_next_start_and_a_damaged_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::kept_in(folder.path());
        assert!(Key::kept_in(folder.path()).is(key.text()));
        fs::write(folder.path().join(KEY_FILE), "short").unwrap();
        let other = Key::kept_in(folder.path());
        assert!(!other.is(key.text()) && other.text().len() == 2 * KEY_BYTES);
    }

    #[test]
    fn only_our_own_two_names_are_answered() {
        for host in ["127.0.0.1:32278", "localhost:32278", "LOCALHOST:32278"] {
            assert_eq!(ask(Method::GET, "/", &[("host", host)]), Ok(()));
        }
        for host in [
            "evil.example",
            "evil.example:32278",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:32278.evil.example",
            "localhost:322780",
            "",
        ] {
            let refused = ask(Method::GET, "/", &[("host", host)]);
            assert_eq!(refused, Err(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
        assert!(ask(Method::GET, "/", &[]).is_err());
        assert!(ask(Method::GET, "/", &[HOST, ("host", "evil.example")]).is_err());
    }

    #[test]
    fn a_rebound_name_does_not_help_itself_with_a_matching_origin() {
        let lines = [("host", "evil.example"), ("origin", "http://evil.example")];
        assert_eq!(
            ask(Method::GET, "/ws", &lines),
            Err(StatusCode::MISDIRECTED_REQUEST)
        );
    }

    #[test]
    fn the_socket_and_every_change_need_our_origin() {
        assert_eq!(ask(Method::GET, "/ws", &[HOST, ORIGIN]), Ok(()));
        for origin in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:32278",
            "http://127.0.0.1:1",
        ] {
            let lines = [HOST, BEARER, ("origin", origin)];
            for (method, path) in [
                (Method::GET, "/ws"),
                (Method::POST, "/api/docs"),
                (Method::GET, "/api/nets"),
            ] {
                let refused = ask(method, path, &lines);
                assert_eq!(refused, Err(StatusCode::FORBIDDEN), "{origin} {path}");
            }
        }
        let unsaid = ask(Method::POST, "/api/docs", &[HOST, BEARER]);
        assert_eq!(unsaid, Err(StatusCode::FORBIDDEN));
        assert!(ask(Method::GET, "/ws", &[HOST]).is_err());
    }

    #[test]
    fn the_api_needs_the_key_and_the_page_does_not() {
        assert_eq!(ask(Method::GET, "/api/nets", &[HOST, BEARER]), Ok(()));
        assert_eq!(ask(Method::GET, "/api/hello", &[HOST]), Ok(()));
        assert_eq!(ask(Method::GET, "/go/abc", &[HOST]), Ok(()));
        for bearer in [
            "Bearer ",
            "Bearer 012",
            "Bearer 01234",
            "0123",
            "Bearer 9123",
        ] {
            let refused = ask(Method::GET, "/api/nets", &[HOST, ("authorization", bearer)]);
            assert_eq!(refused, Err(StatusCode::UNAUTHORIZED), "{bearer}");
        }
    }

    #[test]
    fn another_site_may_link_to_the_page_and_nothing_else() {
        let cross = ("sec-fetch-site", "cross-site");
        assert!(ask(Method::GET, "/", &[HOST, cross]).is_err());
        let link = [HOST, cross, ("sec-fetch-mode", "navigate")];
        assert_eq!(ask(Method::GET, "/", &link), Ok(()));
        let api = [HOST, BEARER, cross, ("sec-fetch-mode", "navigate")];
        assert!(ask(Method::GET, "/api/nets", &api).is_err());
        assert_eq!(
            ask(Method::OPTIONS, "/api/docs", &[HOST, ORIGIN]),
            Err(StatusCode::METHOD_NOT_ALLOWED)
        );
    }
}
