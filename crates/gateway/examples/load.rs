//! A load test that stops by itself: many simulated workers over HTTP, a server that is killed again and again, uploads
//! that come twice, cut off or forged. At the end every game with a receipt must be in the log once, and no forged one.
//!
//! `cargo run --release -p gateway --example load -- 1000 60` has 1,000 workers for 60 seconds. The games are coins, so
//! that the server is measured and not the engine.

#[path = "../../fleet/tests/support/mod.rs"]
mod support;

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fleet::{
    Beginning, Game, Run, ServeOptions, Service, id_of, selfplay_task,
    wire::{
        Acceptance, Envelope, Kind, MatchBody, PROTOCOL, Signer, Task, TaskRequest, sha256_hex,
    },
};
use gateway::{Gateway, Settings};
use support::{Coins, Record};
use worker::{Client, WorkError};

/// Bounds of the test.
const MOST_WORKERS: usize = 1000;
const MOST_SECONDS: u64 = 120;
/// Of so many uploads one comes twice, is cut off, is forged.
const DOUBLED: u64 = 20;
const CUT: u64 = 100;
const FORGED: u64 = 100;
/// A worker is paused after five refused games, so it sends fewer.
const BAD_PER_WORKER: u32 = 3;
/// How often the server is killed.
const KILLS: u64 = 3;

/// What all workers found.
#[derive(Default)]
struct Found {
    /// Numbers and hashes of games with a receipt that says they are kept.
    kept: Mutex<Vec<(u64, String)>>,
    /// Hashes of forged games.
    forged: Mutex<HashSet<String>>,
    forged_accepted: AtomicU64,
    duplicates: AtomicU64,
    refused: AtomicU64,
    match_games: AtomicU64,
    /// Seconds from handing in to the receipt.
    waits: Mutex<Vec<f64>>,
    /// When receipts came, in seconds since the start.
    times: Mutex<Vec<f64>>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [command, dir, address] = words.as_slice()
        && command == "serve"
    {
        return serve(Path::new(dir), address.parse().expect("an address"));
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
    storm(workers, Duration::from_secs(seconds), seed);
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
    let mut kills = Vec::new();
    thread::scope(|scope| {
        for index in 0..workers {
            let (found, stop) = (&found, &stop);
            scope.spawn(move || Simulated::new(index, seed).work(address, found, stop, began));
        }
        for kill in 1..=KILLS {
            let until = time.mul_f64(kill as f64 / (KILLS + 1) as f64);
            thread::sleep(until.saturating_sub(began.elapsed()));
            server.kill().expect("the server can be killed");
            server.wait().expect("the server ends");
            kills.push(began.elapsed().as_secs_f64());
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

fn report(dir: &Path, found: &Found, elapsed: f64, kills: &[f64]) {
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
    for kill in kills {
        let next = times
            .iter()
            .filter(|time| *time > kill)
            .fold(f64::INFINITY, |least, time| least.min(*time));
        println!(
            "killed at {kill:.1} s: the next receipt came {:.1} s later",
            next - kill
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

/// A worker without an engine.
struct Simulated {
    name: String,
    signer: Signer,
    luck: u64,
    bad_left: u32,
}

impl Simulated {
    fn new(index: usize, seed: u64) -> Simulated {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        Simulated {
            name: format!("w{index}"),
            signer: Signer::from_secret(&secret).expect("a key"),
            luck: base::mix(seed ^ (index as u64) << 20),
            bad_left: BAD_PER_WORKER,
        }
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.luck = base::mix(self.luck);
        self.luck.is_multiple_of(chances)
    }

    fn work(mut self, address: SocketAddr, found: &Found, stop: &AtomicBool, began: Instant) {
        let mut client = Client::new(&format!("http://{address}")).expect("an address");
        let key = self.signer.public_key();
        let mut is_known = false;
        while !stop.load(Ordering::Relaxed) {
            let done = if is_known {
                self.play_one(&client, found, stop, began)
            } else {
                self.join(&mut client, &key).map(|()| is_known = true)
            };
            if done.is_err() {
                thread::sleep(Duration::from_millis(200));
            }
        }
    }

    fn join(&self, client: &mut Client, key: &str) -> Result<(), WorkError> {
        let hello = client.hello()?;
        client.trust(hello["key"].as_str().unwrap_or_default());
        if let (_, Some(token)) = client.register(&self.name, key)? {
            client.set_token(&token);
        }
        Ok(())
    }

    fn play_one(
        &mut self,
        client: &Client,
        found: &Found,
        stop: &AtomicBool,
        began: Instant,
    ) -> Result<(), WorkError> {
        let batch = client.tasks(&TaskRequest {
            protocol: PROTOCOL,
            client: "load".into(),
            games: vec![Coins::NAME.into()],
            count: 4,
            wait_seconds: 2,
            ..TaskRequest::default()
        })?;
        for task in batch.tasks {
            let good = self.play(client, &task)?;
            if self.bad_left > 0 && self.one_in(FORGED) && task.kind == Kind::Selfplay {
                self.bad_left -= 1;
                self.forge(client, &task, &good, found)?;
                continue;
            }
            if self.bad_left > 0 && self.one_in(CUT) {
                self.bad_left -= 1;
                let packed = good.pack();
                let receipt = client.hand_in(&good.header.game, &packed[..packed.len() - 7])?;
                assert_eq!(
                    receipt.verdict,
                    Acceptance::Refused,
                    "a game that was cut off"
                );
                found.refused.fetch_add(1, Ordering::Relaxed);
            }
            let times = if self.one_in(DOUBLED) { 2 } else { 1 };
            for _ in 0..times {
                self.hand_in(client, &task, &good, found, stop, began)?;
            }
        }
        Ok(())
    }

    fn play(&self, client: &Client, task: &Task) -> Result<Envelope, WorkError> {
        let stop = AtomicBool::new(false);
        let settings = support::Settings { games: 500 };
        let network = |index: usize| -> Result<u64, WorkError> {
            let (_, bytes) = client.network(&task.networks[index].hash, 0)?;
            assert_eq!(sha256_hex(&bytes), task.networks[index].file_hash);
            Ok(String::from_utf8_lossy(&bytes).parse().expect("a number"))
        };
        let (content, body) = match task.kind {
            Kind::Selfplay => {
                let record = Coins::play(&settings, &network(0)?, &selfplay_task(task), &stop)
                    .expect("coins fall")
                    .expect("a game");
                (Coins::moves_and_result(&record), Coins::encode(&record))
            }
            Kind::Match => {
                let players = [&network(0)?, &network(1)?];
                let record = Coins::play_match_game(
                    &settings,
                    players,
                    task.number as u32,
                    task.seed,
                    &stop,
                )
                .expect("coins fall")
                .expect("a game");
                let body = serde_json::to_vec(&MatchBody::from(&record)).expect("JSON");
                (record.moves, body)
            }
        };
        Ok(self.envelope(task, &content, body))
    }

    fn envelope(&self, task: &Task, content: &str, body: Vec<u8>) -> Envelope {
        Envelope::new(
            task,
            id_of(task, content),
            body,
            ("load", "none", 0.0),
            &self.signer,
        )
    }

    fn forge(
        &mut self,
        client: &Client,
        task: &Task,
        good: &Envelope,
        found: &Found,
    ) -> Result<(), WorkError> {
        let mut record: Record = serde_json::from_slice(&good.body).expect("a record");
        let mut forged_task = task.clone();
        match self.luck % 5 {
            0 => record.heads += 1,
            1 => record.dealt[0] = !record.dealt[0],
            2 => record.network = "0".repeat(64),
            3 => forged_task.seed ^= 1,
            _ => forged_task.number += 1_000_000,
        }
        let forged = self.envelope(
            &forged_task,
            &Coins::moves_and_result(&record),
            Coins::encode(&record),
        );
        if forged.body != good.body {
            found
                .forged
                .lock()
                .expect("no panic")
                .insert(sha256_hex(&forged.body));
        }
        let receipt = client.hand_in(&forged.header.game, &forged.pack())?;
        match receipt.verdict {
            Acceptance::Refused => found.refused.fetch_add(1, Ordering::Relaxed),
            _ => found.forged_accepted.fetch_add(1, Ordering::Relaxed),
        };
        Ok(())
    }

    /// Hands a game in until there is a receipt, as a worker does with what is in its spool.
    fn hand_in(
        &self,
        client: &Client,
        task: &Task,
        game: &Envelope,
        found: &Found,
        stop: &AtomicBool,
        began: Instant,
    ) -> Result<(), WorkError> {
        let packed = game.pack();
        let receipt = loop {
            let sent = Instant::now();
            match client.hand_in(&game.header.game, &packed) {
                Ok(receipt) => {
                    found
                        .waits
                        .lock()
                        .expect("no panic")
                        .push(sent.elapsed().as_secs_f64());
                    break receipt;
                }
                Err(WorkError::Later { .. }) if !stop.load(Ordering::Relaxed) => {
                    thread::sleep(Duration::from_millis(200));
                }
                Err(error) => return Err(error),
            }
        };
        found
            .times
            .lock()
            .expect("no panic")
            .push(began.elapsed().as_secs_f64());
        match (receipt.verdict, task.kind) {
            (Acceptance::Accepted, Kind::Match) => {
                found.match_games.fetch_add(1, Ordering::Relaxed);
            }
            (Acceptance::Accepted | Acceptance::Duplicate, Kind::Selfplay) => {
                if receipt.verdict == Acceptance::Duplicate {
                    found.duplicates.fetch_add(1, Ordering::Relaxed);
                }
                let kept = (task.number, game.header.records.clone());
                found.kept.lock().expect("no panic").push(kept);
            }
            (Acceptance::Duplicate, Kind::Match) => {
                found.duplicates.fetch_add(1, Ordering::Relaxed);
            }
            (Acceptance::Refused, _) => panic!("an honest game was refused: {}", receipt.why),
            (Acceptance::Stale | Acceptance::Quarantined, _) => {}
        }
        Ok(())
    }
}
