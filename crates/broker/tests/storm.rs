//! Many workers hand games in over a broker of three nodes while its leader and the active ledger are killed: no game with
//! a receipt is lost, none is there twice, and none that was forged.
//!
//! `STORM_WORKERS`, `STORM_SECONDS` and `STORM_SEED` make it a load test: 1000, 60 and any number. With `STORM_CUT=1` the
//! leader is not killed but stopped for most of the time.

#[path = "../../fleet/tests/support/mod.rs"]
mod coins;
#[path = "support/nats.rs"]
mod nats;

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use broker::{LedgerRole, Link, LinkOptions, Remote, RoleOptions, Streams};
use coins::{Coins, Record, player::Worker};
use fleet::{
    Beginning, Game, ServeOptions, Service,
    wire::{Acceptance, Kind, PROTOCOL, Signer, TaskRequest, sha256_hex},
};
use nats::Nats;

/// A ledger that was killed is replaced after about this.
const LEASE: Duration = Duration::from_secs(9);
/// Of so many uploads one comes twice, is forged, is cut off.
const DOUBLED: u64 = 20;
const FORGED: u64 = 100;
const CUT: u64 = 100;
/// A worker is paused after five refused games.
const BAD_PER_WORKER: u32 = 3;

fn connect(urls: &str) -> Streams {
    let link = Link::connect(LinkOptions {
        lease: LEASE,
        ..LinkOptions::new(urls, "storm")
    });
    Streams::open(&link.unwrap()).unwrap()
}

/// Not a test but a process of one: a ledger in the folder that the environment names.
#[test]
fn ledger_process() {
    let (Ok(dir), Ok(urls)) = (std::env::var("STORM_LEDGER"), std::env::var("STORM_URLS")) else {
        assert!(std::env::var("STORM_LEDGER").is_err());
        return;
    };
    let (streams, stop) = (connect(&urls), AtomicBool::new(false));
    let options = RoleOptions {
        serve: ServeOptions {
            is_open: true,
            local_games: Some(0),
            ..ServeOptions::default()
        },
        trains_elsewhere: false,
    };
    let beginning = Beginning::default();
    let role = LedgerRole::<Coins>::take(
        &streams,
        Path::new(&dir),
        &beginning,
        options,
        &stop,
        &mut |_| {},
    );
    let mut role = role.unwrap().unwrap();
    while !role.guard.is_lost() && role.run.step(&stop, &|_| {}).is_ok() {}
    // Overtaken, or without a broker for too long: whoever started it starts it again, as a standby.
    std::process::exit(0);
}

struct LedgerProcess {
    dir: String,
    urls: String,
    child: Child,
}

impl LedgerProcess {
    fn start(dir: &Path, urls: &str) -> LedgerProcess {
        let dir = dir.to_str().unwrap().to_owned();
        let child = LedgerProcess::spawn(&dir, urls);
        let urls = urls.to_owned();
        LedgerProcess { dir, urls, child }
    }

    fn spawn(dir: &str, urls: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ledger_process"])
            .env("STORM_LEDGER", dir)
            .env("STORM_URLS", urls)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// `kill -9`, and another one in its place.
    fn replace(&mut self) {
        self.kill();
        self.child = LedgerProcess::spawn(&self.dir, &self.urls);
    }

    fn tend(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            self.child = LedgerProcess::spawn(&self.dir, &self.urls);
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for LedgerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Default)]
struct Found {
    /// Numbers and hashes of games whose receipt says that they are kept.
    kept: Mutex<Vec<(u64, String)>>,
    forged: Mutex<HashSet<String>>,
    forged_taken: AtomicU64,
    refused: AtomicU64,
    twice: AtomicU64,
    /// Seconds from handing in to the receipt, and when it came.
    waits: Mutex<Vec<(f64, f64)>>,
}

/// A worker that never gives up a game without a receipt, while there is time.
fn work(
    service: &dyn Service,
    index: usize,
    seed: u64,
    found: &Found,
    stop: &AtomicBool,
    began: Instant,
) {
    let mut secret = [0; 32];
    secret[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
    let signer = Signer::from_secret(&secret).unwrap();
    let mut luck = base::mix(seed ^ (index as u64) << 20);
    let mut one_in = move |chances: u64| {
        luck = base::mix(luck);
        luck.is_multiple_of(chances)
    };
    let pause = || thread::sleep(Duration::from_millis(200));
    let is_over = || stop.load(Ordering::Relaxed);
    let token = loop {
        if is_over() {
            return;
        }
        match service.register(None, &format!("w{index}"), &signer.public_key()) {
            Ok((_, Some(token))) => break token,
            _ => pause(),
        }
    };
    let worker = Worker { token, signer };
    let mut bad_left = BAD_PER_WORKER;
    let request = TaskRequest {
        protocol: PROTOCOL,
        games: vec![Coins::NAME.into()],
        count: 4,
        ..TaskRequest::default()
    };
    while !is_over() {
        let Ok(batch) = service.tasks(&worker.token, &request) else {
            pause();
            continue;
        };
        if batch.tasks.is_empty() {
            pause();
        }
        for task in batch.tasks {
            let good = worker.play(service, &task);
            let mut packed = good.pack();
            if bad_left > 0 && one_in(FORGED) && task.kind == Kind::Selfplay {
                bad_left -= 1;
                let mut record: Record = serde_json::from_slice(&good.body).unwrap();
                record.heads += 1;
                let content = Coins::moves_and_result(&record);
                let forged = worker.envelope(&task, &content, Coins::encode(&record));
                found
                    .forged
                    .lock()
                    .unwrap()
                    .insert(sha256_hex(&forged.body));
                match service.hand_in(&worker.token, &forged.pack()) {
                    Ok(receipt) if receipt.verdict == Acceptance::Refused => {
                        found.refused.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(_) => {
                        found.forged_taken.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => {}
                }
            }
            if bad_left > 0 && one_in(CUT) {
                bad_left -= 1;
                let cut = service.hand_in(&worker.token, &packed[..packed.len() - 7]);
                assert!(cut.is_err() || cut.unwrap().verdict == Acceptance::Refused);
            }
            let times = if one_in(DOUBLED) { 2 } else { 1 };
            for _ in 0..times {
                let sent = Instant::now();
                let receipt = loop {
                    match service.hand_in(&worker.token, &packed) {
                        Ok(receipt) => break receipt,
                        Err(_) if is_over() => return,
                        Err(_) => pause(),
                    }
                };
                let wait = (sent.elapsed().as_secs_f64(), began.elapsed().as_secs_f64());
                found.waits.lock().unwrap().push(wait);
                match receipt.verdict {
                    Acceptance::Accepted | Acceptance::Duplicate if task.kind == Kind::Selfplay => {
                        let kept = (task.number, good.header.records.clone());
                        found.kept.lock().unwrap().push(kept);
                    }
                    Acceptance::Refused => panic!("an honest game was refused: {}", receipt.why),
                    _ => {}
                }
                if receipt.verdict == Acceptance::Duplicate {
                    found.twice.fetch_add(1, Ordering::Relaxed);
                }
            }
            packed.clear();
        }
    }
}

#[test]
fn no_acknowledged_game_is_lost_when_the_leader_and_the_ledger_are_killed() {
    if std::env::var("STORM_LEDGER").is_ok() {
        return;
    }
    let number = |name: &str, usual: u64| {
        let value = std::env::var(name).ok();
        value.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let workers = number("STORM_WORKERS", 40).min(1000) as usize;
    let time = Duration::from_secs(number("STORM_SECONDS", 30).min(150));
    let (seed, is_cut) = (number("STORM_SEED", 7), number("STORM_CUT", 0) == 1);
    let Some(mut nats) = Nats::start(3) else {
        return;
    };
    let urls = nats.urls();
    let folder = tempfile::tempdir().unwrap();
    let [first, second, gates, fresh] =
        ["first", "second", "gates", "fresh"].map(|name| folder.path().join(name));
    for dir in [&first, &second, &fresh] {
        fs::create_dir_all(dir.join("fleet")).unwrap();
    }
    fs::write(first.join("settings.toml"), "games = 500\n").unwrap();
    let streams = connect(&urls);
    let mut ledgers = vec![LedgerProcess::start(&first, &urls)];
    let stop = AtomicBool::new(false);
    let gateways: Vec<Remote> = (0..2)
        .map(|index| {
            let dir = gates.join(index.to_string());
            Remote::open(&connect(&urls), &dir, &stop, &mut |_| {})
                .unwrap()
                .unwrap()
        })
        .collect();
    fs::copy(
        first.join("fleet/server.key"),
        second.join("fleet/server.key"),
    )
    .unwrap();
    ledgers.push(LedgerProcess::start(&second, &urls));

    let (found, began) = (Found::default(), Instant::now());
    let mut faults: Vec<(String, f64)> = Vec::new();
    let failed = thread::scope(|scope| {
        let playing: Vec<_> = (0..workers)
            .map(|index| {
                let (gateway, found, stop) = (&gateways[index % 2], &found, &stop);
                scope.spawn(move || work(gateway, index, seed, found, stop, began))
            })
            .collect();
        let mut plan = vec![
            (0.2, "ledger"),
            (0.5, "leader"),
            (0.75, "back"),
            (0.8, "ledger"),
        ];
        if is_cut {
            plan = vec![(0.15, "leader"), (0.85, "back")];
        }
        let mut node = 0;
        for (at, fault) in plan {
            while began.elapsed() < time.mul_f64(at) {
                thread::sleep(Duration::from_millis(100));
                ledgers.iter_mut().for_each(LedgerProcess::tend);
            }
            let what = match fault {
                "ledger" => {
                    let holder = streams.holder("ledger").unwrap_or_default();
                    let is_active =
                        |ledger: &&mut LedgerProcess| ledger.child.id().to_string() == holder;
                    match ledgers.iter_mut().find(is_active) {
                        Some(active) => {
                            active.replace();
                            "active ledger killed".to_owned()
                        }
                        None => "no ledger was active".to_owned(),
                    }
                }
                "leader" => {
                    let leader = streams.leader().unwrap_or_default();
                    node = leader.trim_start_matches('n').parse().unwrap_or(0);
                    match is_cut {
                        true => nats.nodes[node].signal("STOP"),
                        false => nats.nodes[node].kill(),
                    }
                    format!(
                        "leading node {node} {}",
                        if is_cut { "stopped" } else { "killed" }
                    )
                }
                _ => {
                    match is_cut {
                        true => nats.nodes[node].signal("CONT"),
                        false => nats.nodes[node].start(),
                    }
                    format!("node {node} back")
                }
            };
            faults.push((what, began.elapsed().as_secs_f64()));
        }
        while began.elapsed() < time {
            thread::sleep(Duration::from_millis(100));
            ledgers.iter_mut().for_each(LedgerProcess::tend);
        }
        stop.store(true, Ordering::Relaxed);
        playing
            .into_iter()
            .filter_map(|worker| worker.join().err())
            .count()
    });
    drop((gateways, ledgers));
    // What counts is what any ledger goes on from: an empty folder, brought up to the history.
    broker::follow(&streams, &fresh).unwrap();
    let mut log: HashMap<u64, Vec<String>> = HashMap::new();
    base::Log::open(&fresh.join("games.log"), |record| {
        let game: Record = serde_json::from_slice(record).unwrap();
        log.entry(game.number).or_default().push(sha256_hex(record));
    })
    .unwrap();
    let kept = found.kept.into_inner().unwrap();
    let forged = found.forged.into_inner().unwrap();
    let is_in_log =
        |(number, hash): &(u64, String)| log.get(number).is_some_and(|all| all.contains(hash));
    let lost = kept.iter().filter(|game| !is_in_log(game)).count();
    let doubled = log.values().filter(|all| all.len() > 1).count();
    let forged_kept = log
        .values()
        .flatten()
        .filter(|hash| forged.contains(*hash))
        .count();
    let mut waits = found.waits.into_inner().unwrap();
    let mut times: Vec<f64> = waits.iter().map(|(_, at)| *at).collect();
    times.sort_by(f64::total_cmp);
    waits.sort_by(|one, other| one.0.total_cmp(&other.0));
    let wait = |share: f64| {
        waits
            .get((waits.len() as f64 * share) as usize)
            .map_or(0.0, |wait| wait.0)
    };
    println!(
        "{workers} workers, {} s, seed {seed}: {} games in the history, {} acknowledged, {} came twice, {} forged refused; \
         hand-in to receipt: median {:.2} s, 99 % {:.2} s; lost {lost}, doubled {doubled}, forged kept {forged_kept}",
        time.as_secs(),
        log.len(),
        kept.len(),
        found.twice.load(Ordering::Relaxed),
        found.refused.load(Ordering::Relaxed),
        wait(0.5),
        wait(0.99),
    );
    for (what, at) in faults {
        let after: Vec<f64> = times.iter().copied().filter(|time| *time > at).collect();
        let first = after.first().map_or(f64::INFINITY, |first| first - at);
        let gaps = after.windows(2).take_while(|pair| pair[0] < at + 10.0);
        let gap = gaps.map(|pair| pair[1] - pair[0]).fold(first, f64::max);
        println!("{what} at {at:.1} s: at most {gap:.1} s without a receipt after it");
    }
    assert_eq!((lost, doubled, forged_kept, failed), (0, 0, 0, 0));
    assert_eq!(found.forged_taken.load(Ordering::Relaxed), 0);
    assert!(!kept.is_empty());
}
