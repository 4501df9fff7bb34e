//! The security review: every way in that a page of another site, another account or a hostile file could try.

use std::net::TcpStream;

use crate::support::{Stage, socket_request};
use serde_json::json;
use tungstenite::Message;

#[test]
fn nobody_else_gets_in() {
    let stage = Stage::new();
    let host = format!("Host: 127.0.0.1:{}", stage.port);
    let own = format!("Origin: http://127.0.0.1:{}", stage.port);
    let status = |head: &str| stage.ask(head, b"").0;
    assert_eq!(status(&format!("GET / HTTP/1.1\r\n{host}")), 200);
    assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example"), 421);
    assert_eq!(
        status(&format!(
            "GET / HTTP/1.1\r\nHost: evil.example:{}",
            stage.port
        )),
        421
    );
    assert_eq!(status(&format!("GET /api/nets HTTP/1.1\r\n{host}")), 401);
    assert_eq!(
        status(&format!(
            "GET /api/nets HTTP/1.1\r\n{host}\r\nAuthorization: Bearer 00"
        )),
        401
    );
    assert_eq!(
        status(&format!("OPTIONS /api/docs HTTP/1.1\r\n{host}\r\n{own}")),
        405
    );
    let key = format!("Authorization: Bearer {}", stage.key);
    assert_eq!(
        status(&format!(
            "POST /api/docs HTTP/1.1\r\n{host}\r\n{key}\r\nOrigin: http://evil.example"
        )),
        403
    );
    assert_eq!(
        status(&format!(
            "POST /api/docs HTTP/1.1\r\n{host}\r\n{key}\r\nOrigin: null"
        )),
        403
    );
    assert_eq!(
        status(&format!("POST /api/docs HTTP/1.1\r\n{host}\r\n{key}")),
        403
    );
    assert_eq!(
        status(&format!(
            "GET /api/nets HTTP/1.1\r\n{host}\r\n{key}\r\nSec-Fetch-Site: cross-site"
        )),
        403
    );
    assert_eq!(
        status(&format!("GET /assets/../Cargo.toml HTTP/1.1\r\n{host}")),
        404
    );
    assert_eq!(
        status(&format!("GET /assets/%2e%2e/Cargo.toml HTTP/1.1\r\n{host}")),
        404
    );
    let long = "x".repeat(20_000);
    assert_eq!(
        status(&format!("GET / HTTP/1.1\r\n{host}\r\nX-Long: {long}")),
        431
    );
    for origin in ["http://evil.example", "null", "https://127.0.0.1:1"] {
        let stream = TcpStream::connect(("127.0.0.1", stage.port)).unwrap();
        let opened = tungstenite::client(socket_request(stage.port, origin), stream);
        assert!(opened.is_err(), "a page of {origin} opened the socket");
    }
    let (_, headers, _) = stage.ask(&format!("GET / HTTP/1.1\r\n{host}"), b"");
    let headers = headers.to_ascii_lowercase();
    for wanted in [
        "content-security-policy: default-src 'none'",
        "nosniff",
        "referrer-policy: no-referrer",
        "same-origin",
        "frame-ancestors 'none'",
    ] {
        assert!(headers.contains(wanted), "{wanted} is missing in {headers}");
    }
    assert!(!headers.contains("access-control"));
}

#[test]
fn a_socket_must_say_hello_with_the_key_first() {
    let stage = Stage::new();
    let mut wrong = stage.silent_client();
    let answer = wrong.ask("hello", json!({ "key": "00", "protocol": 1 }));
    assert_eq!(answer["err"]["code"], "key");
    assert_eq!(wrong.closed(), Some(1008));
    let mut other = stage.silent_client();
    assert_eq!(other.ask("docs", json!({}))["err"]["code"], "hello");
    let mut old = stage.silent_client();
    assert_eq!(
        old.ask("hello", json!({ "key": stage.key, "protocol": 0 }))["err"]["code"],
        "protocol"
    );
}

#[test]
fn a_message_of_more_than_a_mebibyte_ends_the_connection() {
    let stage = Stage::new();
    let mut client = stage.client();
    let _ = client.socket.send(Message::text("x".repeat((1 << 20) + 1)));
    client.closed();
    assert!(stage.client().ok("docs", json!({}))["docs"].is_array());
}

#[test]
fn names_that_only_look_like_ours_are_refused() {
    let stage = Stage::new();
    let port = stage.port;
    let key = format!("Authorization: Bearer {}", stage.key);
    let status = |head: &str| stage.ask(head, b"").0;
    // Other names, by which a rebound or mistaken name would come in.
    for host in [
        "127.0.0.1".to_owned(),
        String::new(),
        format!("127.0.0.1:{port}.evil.example"),
        format!("evil.example/127.0.0.1:{port}"),
        format!("localhost.:{port}"),
        format!("[::1]:{port}"),
        format!("127.1:{port}"),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        format!("127.0.0.1:0{port}"),
    ] {
        let head = format!("GET /api/nets HTTP/1.1\r\nHost: {host}\r\n{key}");
        let found = status(&head);
        assert!([400, 421].contains(&found), "{host}: {found}");
    }
    let good = format!("Host: 127.0.0.1:{port}");
    assert_eq!(
        status(&format!("GET / HTTP/1.1\r\nHost: LOCALHOST:{port}")),
        200
    );
    // Two names, and a target with a name of its own.
    let twice = status(&format!("GET / HTTP/1.1\r\n{good}\r\nHost: evil.example"));
    assert!([400, 421].contains(&twice), "{twice}");
    let absolute = status(&format!("GET http://evil.example/ HTTP/1.1\r\n{good}"));
    assert!([400, 421].contains(&absolute), "{absolute}");
    // The one check that others fell for: name and origin agree with each other, but not with us.
    let rebound = status(&format!(
        "GET /ws HTTP/1.1\r\nHost: evil.example:{port}\r\nOrigin: http://evil.example:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    ));
    assert_eq!(rebound, 421);
    for origin in [
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.0.0.1:{port}0"),
        format!("http://evil.example:{port}"),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}@evil.example"),
        "http://127.0.0.1".to_owned(),
        "file://".to_owned(),
    ] {
        let head = format!("POST /api/quit HTTP/1.1\r\n{good}\r\n{key}\r\nOrigin: {origin}");
        assert_eq!(status(&head), 403, "{origin}");
    }
    assert_eq!(stage.own("GET", "/api/hello", b"").0, 200, "still there");
}

#[test]
fn it_listens_on_one_address_of_this_machine_only() {
    let stage = Stage::new();
    // Every address of 127.0.0.0/8 is this machine; only one of them is ours.
    assert!(TcpStream::connect(("127.0.0.1", stage.port)).is_ok());
    assert!(TcpStream::connect(("127.0.0.2", stage.port)).is_err());
    assert!(TcpStream::connect(("::1", stage.port)).is_err());
}

#[test]
fn the_key_is_nowhere_in_the_page_and_nothing_works_without_it() {
    let stage = Stage::new();
    let host = format!("Host: 127.0.0.1:{}", stage.port);
    let own = format!("Origin: http://127.0.0.1:{}", stage.port);
    for path in [
        "/",
        "/go/abc",
        "/assets/app.js",
        "/assets/wire.js",
        "/api/hello",
    ] {
        let (status, headers, body) = stage.ask(&format!("GET {path} HTTP/1.1\r\n{host}"), b"");
        assert_eq!(status, 200, "{path}");
        let whole = format!("{headers}{}", String::from_utf8_lossy(&body));
        assert!(!whole.contains(&stage.key), "{path} gives the key away");
        assert!(
            !headers.to_ascii_lowercase().contains("set-cookie"),
            "{path}"
        );
    }
    let short = &stage.key[..stage.key.len() - 1];
    for key in [
        "",
        short,
        &format!("{}0", stage.key),
        &stage.key.to_uppercase(),
    ] {
        if key == stage.key {
            continue;
        }
        for (method, path) in [
            ("POST", "/api/quit"),
            ("POST", "/api/docs"),
            ("POST", "/api/nets?name=a.net"),
            ("GET", "/api/nets"),
            ("GET", "/api/nets/inside"),
            ("GET", "/api/docs/aaaaaaaa.sgf"),
        ] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\n{host}\r\n{own}\r\nAuthorization: Bearer {key}"
            );
            assert_eq!(stage.ask(&head, b"").0, 401, "{method} {path} with {key:?}");
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut files = vec![stage.folder.path().join("state")];
        let mut seen = 0;
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(
                    std::fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            } else if std::fs::read_to_string(&path).is_ok_and(|text| text.contains(&stage.key)) {
                let mode = std::fs::metadata(&path).unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "others can read {}", path.display());
                seen += 1;
            }
        }
        assert!(seen > 0, "the key is kept for the next start");
    }
}

#[test]
fn every_answer_carries_the_headers_that_keep_other_sites_out() {
    let stage = Stage::new();
    let host = format!("Host: 127.0.0.1:{}", stage.port);
    for (path, status) in [
        ("/", 200),
        ("/assets/app.js", 200),
        ("/assets/none.js", 404),
        ("/api/hello", 200),
        ("/api/nets", 401),
    ] {
        let (found, headers, _) = stage.ask(&format!("GET {path} HTTP/1.1\r\n{host}"), b"");
        let headers = headers.to_ascii_lowercase();
        assert_eq!(found, status, "{path}");
        for wanted in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "require-trusted-types-for 'script'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(
                headers.contains(wanted),
                "{path}: {wanted} is missing in {headers}"
            );
        }
        assert!(!headers.contains("unsafe-"), "{path}");
        if path.starts_with("/api") {
            assert!(
                headers.contains("cache-control: no-store"),
                "{path}: {headers}"
            );
        }
    }
}

#[test]
fn no_name_that_comes_in_leads_to_a_file_of_the_disk() {
    let stage = Stage::new();
    let secret = stage.folder.path().join("secret.net");
    std::fs::write(&secret, "x").unwrap();
    for path in [
        "/api/docs/..%2f..%2fsecret.sgf",
        "/api/docs/%2fetc%2fpasswd.sgf",
        "/api/nets/..%2fsecret.net",
        "/api/nets/%00",
        "/assets/..%2f..%2fCargo.toml",
        "/assets//etc/passwd",
        "/assets/%5c..%5cCargo.toml",
    ] {
        let (status, body) = stage.own("GET", path, b"");
        assert!([400, 404].contains(&status), "{path}: {status} {body}");
    }
    // A dropped file is kept under its hash, if it is kept at all.
    let (status, _) = stage.own("POST", "/api/nets?name=..%2f..%2fsecret.net", b"no network");
    assert_ne!(status, 200);
    assert_eq!(std::fs::read(&secret).unwrap(), b"x");
    let left: Vec<_> = std::fs::read_dir(stage.folder.path().join("cache"))
        .into_iter()
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let mut client = stage.client();
    for name in [
        "../x",
        "a/b",
        "",
        "; touch x",
        "$(x)",
        "a\nb",
        "--help ",
        "é",
    ] {
        let code = client.refused(
            "run.start",
            json!({ "game": "go", "size": 7, "name": name }),
        );
        assert_eq!(code, "fields", "{name:?}");
    }
    for run in ["../x", "/etc", ""] {
        assert_eq!(client.refused("run.resume", json!({ "run": run })), "run");
        assert_eq!(client.refused("run.stop", json!({ "run": run })), "run");
    }
    assert_eq!(
        client.refused("see", json!({ "doc": "../../secret" })),
        "document"
    );
    assert_eq!(
        client.refused("go.new", json!({ "size": 9, "net": "../secret.net" })),
        "network"
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_a_folder_are_not_followed() {
    let stage = Stage::new();
    let runs = stage.folder.path().join("runs");
    let outside = stage.folder.path().join("outside");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("state.json"), "{}").unwrap();
    std::os::unix::fs::symlink(&outside, runs.join("link")).unwrap();
    let mut client = stage.client();
    assert_eq!(client.ok("run.list", json!({}))["runs"], json!([]));
}

#[test]
fn deep_and_long_messages_are_refused_and_nothing_falls() {
    let stage = Stage::new();
    let mut client = stage.client();
    let deep = format!(
        r#"{{"id":1,"do":"see","doc":{}{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    client.socket.send(Message::text(deep)).unwrap();
    let answer = client.read();
    assert_eq!(answer["err"]["code"], "syntax", "{answer}");
    // Fifty reviews at once: a queue of bounded length, then a refusal.
    let doc = stage
        .own("POST", "/api/docs", b"(;SZ[9];B[ee];W[cc];B[gg];W[gc])")
        .1;
    let doc = doc["docs"][0]["doc"].as_str().unwrap().to_owned();
    client.ok("see", json!({ "doc": doc }));
    let busy = (0..50)
        .map(|_| {
            let made = client.ok("go.new", json!({ "size": 9, "you": "both" }));
            client.ask("review.start", json!({ "doc": made["doc"], "visits": 800 }))
        })
        .filter(|answer| answer["err"]["code"] == "busy")
        .count();
    assert!(busy >= 20, "{busy} of 50 were refused");
    assert!(stage.client().ok("docs", json!({}))["docs"].is_array());
}
