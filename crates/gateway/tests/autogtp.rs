//! Leela Zero's own client, as Debian ships it, plays a self-play game and a match game for a run.

#![cfg(unix)]

#[path = "support/certificate.rs"]
mod certificate;

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fleet::{Beginning, Event, Order, Run, ServeOptions, Service};
use gateway::{Autogtp, Gateway, Settings, Tls};
use go_training::{Go, StockGo};

const CLIENT: &str = "/usr/lib/leelaz/bin/autogtp";
const ENGINE: &str = "/usr/lib/leelaz/bin/leelaz";
/// A client that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);

const SETTINGS: &str = r#"
size = 19
blocks = 1
filters = 8
[selfplay]
at_once = 1
first_games = 1
games = 1
[selfplay.play]
simulations = 2
quick_simulations = 2
resign_winrate = 0.05
[training]
window = 200
batch = 16
threads = 1
passes = 0.1
[gate]
simulations = 2
at_once = 1
min_games = 1
max_games = 2
[rating]
games = 0
anchors = []
"#;

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder in which the client runs: it reaches our server by a script in place of curl, or by `.curlrc` with the
/// authority that signed the server's certificate; and its engine needs no graphics card.
fn folder(dir: &Path, address: SocketAddr, token: &str, authority: Option<&Path>) -> PathBuf {
    let home = dir.join("client");
    fs::create_dir_all(home.join("networks")).unwrap();
    fs::create_dir_all(home.join("bin")).unwrap();
    match authority {
        Some(authority) => fs::write(
            home.join(".curlrc"),
            format!(
                "connect-to = \"zero.sjeng.org:443:127.0.0.1:{}\"\ncacert = \"{}\"\nheader = \"Authorization: Bearer {token}\"\nfail\n",
                address.port(),
                authority.display()
            ),
        )
        .unwrap(),
        None => script(
        &home.join("bin/curl"),
        &format!(
            "#!/bin/bash\nargs=()\nfor word in \"$@\"; do args+=(\"${{word/https:\\/\\/zero.sjeng.org\\//http://{address}/}}\"); done\n\
             exec /usr/bin/curl -H 'Authorization: Bearer {token}' --fail \"${{args[@]}}\"\n"
        ),
    ),
    }
    script(
        &home.join("bin/leelaz"),
        &format!(
            "#!/bin/bash\ncase \"$*\" in *--tune-only*) exec {ENGINE} --cpu-only \"$@\" </dev/null;; esac\n\
             exec {ENGINE} --cpu-only \"$@\"\n"
        ),
    );
    home
}

/// Runs the client for one game; what it printed.
fn play_one(home: &Path) -> String {
    let path = format!(
        "{}:{}",
        home.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut client = Command::new(CLIENT)
        .args(["-m", "1"])
        .current_dir(home)
        .env("PATH", path)
        .env("HOME", home)
        .env("CURL_HOME", home)
        .stdin(Stdio::null())
        .stdout(fs::File::create(home.join("out")).unwrap())
        .stderr(fs::File::create(home.join("err")).unwrap())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let ended = loop {
        match client.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if began.elapsed() > PATIENCE => {
                client.kill().unwrap();
                client.wait().unwrap();
                break None;
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    let said = fs::read_to_string(home.join("out")).unwrap()
        + &fs::read_to_string(home.join("err")).unwrap();
    let ended = ended.unwrap_or_else(|| panic!("the client hangs: {said}"));
    assert!(ended.success(), "{ended}: {said}");
    said
}

fn records(log: &Path) -> usize {
    let copy = log.with_extension("copy");
    fs::copy(log, &copy).unwrap();
    let mut count = 0;
    base::Log::open(&copy, |_| count += 1).unwrap();
    count
}

#[test]
fn the_real_client_plays_self_play_and_a_match_and_each_counts_once() {
    play_both(|_| Some(None));
}

#[test]
fn the_real_client_does_the_same_over_tls_by_its_curlrc_with_a_token() {
    play_both(|dir| Some(Some(certificate::make(dir, "zero.sjeng.org")?)));
}

/// A self-play game and a match game of the real client. `certificate` says which files the server uses, if any.
fn play_both(certificate: impl FnOnce(&Path) -> Option<Option<[PathBuf; 3]>>) {
    if ![CLIENT, ENGINE, "/usr/bin/curl"]
        .iter()
        .all(|file| Path::new(file).exists())
    {
        println!("skipped: no leela-zero package with autogtp, or no curl");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let Some(certificate) = certificate(dir.path()) else {
        return;
    };
    let run_dir = dir.path().join("run");
    fs::create_dir(&run_dir).unwrap();
    fs::write(run_dir.join("settings.toml"), SETTINGS).unwrap();
    let mut run = Run::<Go>::open(&run_dir, &Beginning::default()).unwrap();
    let ledger = run
        .serve(ServeOptions {
            local_games: Some(0),
            ..ServeOptions::default()
        })
        .unwrap();
    let service: Arc<dyn Service> = ledger;
    let stock = Box::new(StockGo::new(run.settings().clone()));
    let autogtp =
        Autogtp::open(&run_dir.join("fleet/autogtp"), "autogtp", &*service, stock).unwrap();
    let settings = Settings {
        address: "127.0.0.1:0".parse().unwrap(),
        announce_in: None,
        autogtp: Some(autogtp),
        tls: certificate.as_ref().map(|[_, certificate, key]| Tls {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
    };
    let running = Gateway::start(service.clone(), settings).unwrap();
    let order = Order::Token { name: "ann".into() };
    let token = service.operate(&order).unwrap();
    let home = folder(
        dir.path(),
        running.address(),
        &token,
        certificate
            .as_ref()
            .map(|[authority, ..]| authority.as_path()),
    );

    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let looping = scope.spawn(|| {
            // Self-play ends with the client's game, and so does training after it.
            assert_eq!(run.step(&stop, &|_| {}).unwrap(), Event::Played);
            assert!(matches!(
                run.step(&stop, &|_| {}).unwrap(),
                Event::Trained(_)
            ));
            let match_over = AtomicBool::new(false);
            thread::scope(|inner| {
                inner.spawn(|| {
                    while !service.status()["match"].is_object() {
                        thread::sleep(Duration::from_millis(20));
                    }
                    let said = play_one(&home);
                    assert!(said.contains("Match data"), "{said}");
                    match_over.store(true, Ordering::Relaxed);
                });
                let _ = run.step(&match_over, &|_| {}).unwrap();
            });
        });
        let said = play_one(&home);
        assert!(said.contains("Game data"), "{said}");
        looping.join().unwrap();
    });
    assert_eq!(records(&run_dir.join("games.log")), 1);
    assert_eq!(records(&run_dir.join("matches.log")), 1);
    let status = service.status();
    let counts = &status["workers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|worker| worker["name"] == "autogtp")
        .unwrap()["counts"];
    assert_eq!(
        (counts["accepted"].as_u64(), counts["refused"].as_u64()),
        (Some(2), Some(0))
    );
}
