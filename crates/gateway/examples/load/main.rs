//! A load test that stops by itself: many simulated workers over HTTP, servers that are killed again and again, uploads
//! that come twice, cut off or forged. At the end every game with a receipt must be in the log once, and no forged one.
//!
//! `cargo run -p gateway --example load -- 1000 60 7` has 1,000 workers for 60 seconds at one server with its own folder,
//! from the seed 7; with `cluster` behind it there are two gateways, two ledgers and a broker of three nodes, and the
//! leader of the broker, the ledger and a gateway are killed; `cut` also stops one node for a minute. The games are
//! coins, so that the servers are measured and not the engine.

mod cluster;
#[path = "../../../broker/tests/support/nats.rs"]
mod nats;
mod simulated;
#[path = "../../../fleet/tests/support/mod.rs"]
mod support;

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fleet::{Beginning, Run, ServeOptions, Service, wire::sha256_hex};
use gateway::{Gateway, Settings};
use simulated::{Found, Simulated};
use support::{Coins, Record};

/// Bounds of the test.
const MOST_WORKERS: usize = 1000;
const MOST_SECONDS: u64 = 150;
/// How often the server is killed.
const KILLS: u64 = 3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", dir, address] => {
            return serve(Path::new(dir), address.parse().expect("an address"));
        }
        ["ledger", dir, urls] => return cluster::ledger(Path::new(dir), urls),
        ["gateway", dir, urls, address] => {
            let address = address.parse().expect("an address");
            return cluster::gateway(Path::new(dir), urls, address);
        }
        _ => {}
    }
    let number = |index: usize, usual: u64| {
        words
            .get(index)
            .and_then(|word| word.parse().ok())
            .unwrap_or(usual)
    };
    let workers = (number(0, 100) as usize).min(MOST_WORKERS);
    let seconds = number(1, 20).min(MOST_SECONDS);
    let seed = number(2, 1);
    let time = Duration::from_secs(seconds);
    match words.get(3).map(String::as_str) {
        None => storm(workers, time, seed),
        Some(kind) => cluster::storm(workers, time, seed, kind == "cut"),
    }
}

/// The server: a run of coins whose games are all played elsewhere.
fn serve(dir: &Path, address: SocketAddr) {
    let mut run = Run::<Coins>::open(dir, &Beginning::default()).expect("the run opens");
    let ledger = run
        .serve(ServeOptions {
            is_open: true,
            local_games: Some(0),
            ..ServeOptions::default()
        })
        .expect("the run can be served");
    let service: Arc<dyn Service> = ledger;
    let settings = Settings {
        address,
        announce_in: None,
        autogtp: None,
        tls: None,
    };
    let _running = Gateway::start(service, settings).expect("the address is free");
    let stop = AtomicBool::new(false);
    loop {
        run.step(&stop, &|_| {}).expect("a step");
    }
}

fn start(dir: &Path, address: SocketAddr) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program)
        .arg("serve")
        .arg(dir)
        .arg(address.to_string())
        .spawn()
        .expect("the server starts")
}

fn storm(workers: usize, time: Duration, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let dir: PathBuf = folder.path().to_owned();
    std::fs::write(dir.join("settings.toml"), "games = 500\n").expect("settings");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("a port");
    drop(listener);
    let mut server = start(&dir, address);
    let (found, stop) = (Found::default(), AtomicBool::new(false));
    let began = Instant::now();
    println!(
        "{workers} workers, {} s, seed {seed}, {KILLS} kills of the server",
        time.as_secs()
    );
    let mut kills: Vec<(String, f64)> = Vec::new();
    thread::scope(|scope| {
        for index in 0..workers {
            let (found, stop) = (&found, &stop);
            scope.spawn(move || Simulated::new(index, seed, &[address]).work(found, stop, began));
        }
        for kill in 1..=KILLS {
            let until = time.mul_f64(kill as f64 / (KILLS + 1) as f64);
            thread::sleep(until.saturating_sub(began.elapsed()));
            server.kill().expect("the server can be killed");
            server.wait().expect("the server ends");
            kills.push(("server killed".into(), began.elapsed().as_secs_f64()));
            server = start(&dir, address);
        }
        thread::sleep(time.saturating_sub(began.elapsed()));
        stop.store(true, Ordering::Relaxed);
    });
    let elapsed = began.elapsed().as_secs_f64();
    server.kill().expect("the server can be killed");
    server.wait().expect("the server ends");
    report(&dir, &found, elapsed, &kills);
}

fn report(dir: &Path, found: &Found, elapsed: f64, kills: &[(String, f64)]) {
    let mut log: HashMap<u64, Vec<String>> = HashMap::new();
    base::Log::open(&dir.join("games.log"), |record| {
        let game: Record = serde_json::from_slice(record).expect("a record");
        log.entry(game.number).or_default().push(sha256_hex(record));
    })
    .expect("the log opens");
    let kept = found.kept.lock().expect("no panic");
    let lost = kept
        .iter()
        .filter(|(number, hash)| log.get(number).is_none_or(|hashes| !hashes.contains(hash)))
        .count();
    let doubled = log.values().filter(|hashes| hashes.len() > 1).count();
    let forged = found.forged.lock().expect("no panic");
    let forged_kept = log
        .values()
        .flatten()
        .filter(|hash| forged.contains(*hash))
        .count();
    let mut waits = found.waits.lock().expect("no panic").clone();
    waits.sort_by(f64::total_cmp);
    let at = |share: f64| {
        waits
            .get((waits.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    println!(
        "{} self-play games in the log, {} match games taken, {:.0} games/s; hand-in to receipt: median {:.1} ms, 99 % {:.1} ms",
        log.len(),
        found.match_games.load(Ordering::Relaxed),
        log.len() as f64 / elapsed,
        1000.0 * at(0.5),
        1000.0 * at(0.99)
    );
    let times = found.times.lock().expect("no panic");
    for (what, kill) in kills {
        let mut after: Vec<f64> = times.iter().copied().filter(|time| time > kill).collect();
        after.sort_by(f64::total_cmp);
        // The longest silence that begins within so many seconds of the fault.
        const WITHIN: f64 = 12.0;
        let mut gap = after.first().map_or(f64::INFINITY, |first| first - kill);
        for pair in after.windows(2).take_while(|pair| pair[0] < kill + WITHIN) {
            gap = gap.max(pair[1] - pair[0]);
        }
        println!(
            "{what} at {kill:.1} s: the longest time without a receipt after it was {gap:.1} s"
        );
    }
    println!(
        "{} acknowledged, {} came twice, {} bad ones refused; lost {lost}, doubled {doubled}, forged kept {forged_kept}, forged acknowledged {}",
        kept.len(),
        found.duplicates.load(Ordering::Relaxed),
        found.refused.load(Ordering::Relaxed),
        found.forged_accepted.load(Ordering::Relaxed)
    );
    let is_good = lost == 0
        && doubled == 0
        && forged_kept == 0
        && found.forged_accepted.load(Ordering::Relaxed) == 0;
    assert!(is_good && !kept.is_empty(), "the promise was broken");
}
