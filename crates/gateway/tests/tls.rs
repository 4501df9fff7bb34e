//! A server over TLS: a worker that trusts its authority plays, everybody else is told why not.

#[path = "support/certificate.rs"]
mod certificate;
#[path = "../../fleet/tests/support/mod.rs"]
mod support;

use std::{io::Read, io::Write, net::TcpStream, sync::Arc, time::Duration};

use fleet::{Beginning, Run, ServeOptions, Service, wire::Signer};
use gateway::{Gateway, Settings, StartError, Tls};
use support::Coins;
use worker::{Client, WorkError};

#[test]
fn answers_come_over_tls_from_an_authority_that_is_trusted_only() {
    let folder = tempfile::tempdir().unwrap();
    let Some([authority, certificate, key]) = certificate::make(folder.path(), "localhost") else {
        return;
    };
    let mut run = Run::<Coins>::open(&folder.path().join("run"), &Beginning::default()).unwrap();
    let ledger = run.serve(ServeOptions {
        is_open: true,
        local_games: Some(0),
        ..ServeOptions::default()
    });
    let service: Arc<dyn Service> = ledger.unwrap();
    let settings = |tls: Tls| Settings {
        address: "127.0.0.1:0".parse().unwrap(),
        announce_in: None,
        autogtp: None,
        tls: Some(tls),
    };
    // Wrong files are named at the start.
    let swapped = Tls {
        certificate: key.clone(),
        key: certificate.clone(),
    };
    let error = Gateway::start(service.clone(), settings(swapped))
        .err()
        .unwrap();
    assert!(
        matches!(&error, StartError::Tls { path, .. } if *path == key),
        "{error}"
    );

    let running = Gateway::start(service, settings(Tls { certificate, key })).unwrap();
    let url = format!("https://localhost:{}", running.address().port());
    let mut client = Client::with_authority(&url, &authority).unwrap();
    // A client that never shakes hands, and one that speaks plain HTTP, hold up nobody.
    let stalled = TcpStream::connect(running.address()).unwrap();
    let mut plain = TcpStream::connect(running.address()).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let hello = client.hello().unwrap();
    client.trust(hello["key"].as_str().unwrap());
    let signer = Signer::from_secret(&[5; 32]).unwrap();
    let (name, token) = client.register("ann", &signer.public_key()).unwrap();
    assert!(name == "ann" && token.is_some());
    let mut answer = String::new();
    plain
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let _ = plain.read_to_string(&mut answer);
    assert!(!answer.contains("200"), "{answer}");
    drop(stalled);
    // Nobody else vouches for this certificate.
    let error = Client::new(&url).unwrap().hello().unwrap_err();
    assert!(matches!(error, WorkError::Later { .. }), "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    let missing = folder.path().join("no.pem");
    let error = Client::with_authority(&url, &missing)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("no.pem"), "{error}");
}
