//! Two gateways, two ledgers and a broker of three nodes, all processes of their own, all mortal.

use std::{
    fs,
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

use broker::{LedgerRole, Link, LinkOptions, Remote, RoleOptions, Streams};
use fleet::{Beginning, ServeOptions, Service};
use gateway::{Gateway, Settings};

use crate::{
    nats::{Nats, free_ports},
    report,
    simulated::{Found, Simulated},
    support::Coins,
};

/// A ledger that was killed is replaced after about this.
const LEASE: Duration = Duration::from_secs(15);
/// A node of the broker that was killed comes back after this.
const NODE_BACK: Duration = Duration::from_secs(8);
/// A node that is cut off comes back after this.
const CUT_OFF: Duration = Duration::from_secs(60);

fn connect(urls: &str) -> Streams {
    let link = Link::connect(LinkOptions {
        lease: LEASE,
        ..LinkOptions::new(urls, "load")
    });
    Streams::open(&link.expect("the broker answers")).expect("the streams")
}

/// A ledger that waits for its role and then serves.
pub fn ledger(dir: &Path, urls: &str) {
    let (streams, stop) = (connect(urls), AtomicBool::new(false));
    let options = RoleOptions {
        serve: ServeOptions {
            is_open: true,
            local_games: Some(0),
            ..ServeOptions::default()
        },
        trains_elsewhere: false,
    };
    let role = LedgerRole::<Coins>::take(
        &streams,
        dir,
        &Beginning::default(),
        options,
        &stop,
        &mut |_| {},
    );
    let mut role = role.expect("the role").expect("nobody stops it");
    loop {
        if let Err(error) = role.run.step(&stop, &|_| {}) {
            eprintln!("ledger {}: {error}", dir.display());
            std::process::exit(1);
        }
        if role.guard.is_lost() {
            eprintln!("ledger {}: another one has taken over", dir.display());
            std::process::exit(1);
        }
    }
}

/// A gateway.
pub fn gateway(dir: &Path, urls: &str, address: SocketAddr) {
    let (streams, stop) = (connect(urls), AtomicBool::new(false));
    let remote = Remote::open(&streams, dir, &stop, &mut |_| {});
    let service: Arc<dyn Service> = Arc::new(remote.expect("the run").expect("nobody stops it"));
    let settings = Settings {
        address,
        announce_in: None,
        autogtp: None,
        tls: None,
    };
    let _running = Gateway::start(service, settings).expect("the address is free");
    loop {
        thread::sleep(Duration::from_secs(60));
    }
}

/// A process that is started again whenever it ends.
struct Role {
    words: Vec<String>,
    child: Child,
}

impl Role {
    fn start(words: &[&str]) -> Role {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let child = Role::spawn(&words);
        Role { words, child }
    }

    fn spawn(words: &[String]) -> Child {
        let program = std::env::current_exe().expect("this program");
        Command::new(program)
            .args(words)
            .spawn()
            .expect("a process")
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// `kill -9`, and another one in its place.
    fn replace(&mut self) {
        self.kill();
        self.child = Role::spawn(&self.words);
    }

    /// Starts it again if it has ended by itself.
    fn tend(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            self.child = Role::spawn(&self.words);
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        self.kill();
    }
}

enum Fault {
    Gateway,
    Ledger,
    Leader,
    CutOff,
}

pub fn storm(workers: usize, time: Duration, seed: u64, is_cut: bool) {
    let Some(mut nats) = Nats::start(3) else {
        return;
    };
    let urls = nats.urls();
    let folder = tempfile::tempdir().expect("a folder");
    let dirs: [PathBuf; 4] = ["l1", "l2", "g1", "g2"].map(|name| folder.path().join(name));
    for dir in &dirs {
        fs::create_dir_all(dir.join("fleet")).expect("a folder");
    }
    fs::write(dirs[0].join("settings.toml"), "games = 500\n").expect("settings");
    let path = |index: usize| dirs[index].to_str().expect("a path");
    let addresses: Vec<SocketAddr> = free_ports(2)
        .into_iter()
        .map(|port| ([127, 0, 0, 1], port).into())
        .collect();
    let mut ledgers = vec![Role::start(&["ledger", path(0), &urls])];
    let mut gateways: Vec<Role> = (0..2)
        .map(|index| {
            let address = addresses[index].to_string();
            Role::start(&["gateway", path(2 + index), &urls, &address])
        })
        .collect();
    let streams = connect(&urls);
    while fs::copy(
        dirs[0].join("fleet/server.key"),
        dirs[1].join("fleet/server.key"),
    )
    .is_err()
    {
        thread::sleep(Duration::from_millis(100));
    }
    ledgers.push(Role::start(&["ledger", path(1), &urls]));
    while addresses
        .iter()
        .any(|address| std::net::TcpStream::connect(address).is_err())
    {
        thread::sleep(Duration::from_millis(100));
    }
    let mut faults = vec![
        (0.12, Fault::Gateway),
        (0.25, Fault::Ledger),
        (0.5, Fault::Leader),
        (0.72, Fault::Ledger),
        (0.85, Fault::Gateway),
    ];
    if is_cut {
        faults = vec![(0.15, Fault::CutOff), (0.8, Fault::Ledger)];
    }
    println!(
        "{workers} workers, {} s, seed {seed}, two gateways, two ledgers, three nodes",
        time.as_secs()
    );
    let (found, stop, began) = (Found::default(), AtomicBool::new(false), Instant::now());
    let mut log: Vec<(String, f64)> = Vec::new();
    thread::scope(|scope| {
        for index in 0..workers {
            let (found, stop, addresses) = (&found, &stop, &addresses);
            scope.spawn(move || Simulated::new(index, seed, addresses).work(found, stop, began));
        }
        let mut back: Option<(usize, Instant)> = None;
        let mut faults = faults.into_iter().peekable();
        while began.elapsed() < time {
            thread::sleep(Duration::from_millis(100));
            ledgers.iter_mut().chain(&mut gateways).for_each(Role::tend);
            if let Some((node, at)) = back
                && at.elapsed() > if is_cut { CUT_OFF } else { NODE_BACK }
            {
                back = None;
                match is_cut {
                    true => nats.nodes[node].signal("CONT"),
                    false => nats.nodes[node].start(),
                }
                log.push((format!("node {node} back"), began.elapsed().as_secs_f64()));
            }
            let Some((_, fault)) = faults.next_if(|(at, _)| began.elapsed() > time.mul_f64(*at))
            else {
                continue;
            };
            let what = match fault {
                Fault::Gateway => {
                    gateways[0].replace();
                    "gateway killed".to_owned()
                }
                Fault::Ledger => {
                    let holder = streams.holder("ledger").unwrap_or_default();
                    let active = ledgers
                        .iter_mut()
                        .find(|role| role.child.id().to_string() == holder);
                    match active {
                        Some(active) => {
                            active.replace();
                            "active ledger killed".to_owned()
                        }
                        None => "no active ledger found".to_owned(),
                    }
                }
                Fault::Leader | Fault::CutOff => {
                    let leader = streams.leader().unwrap_or_default();
                    let node = leader.trim_start_matches('n').parse().unwrap_or(0);
                    back = Some((node, Instant::now()));
                    match is_cut {
                        true => {
                            nats.nodes[node].signal("STOP");
                            format!("leader (node {node}) stopped for a minute")
                        }
                        false => {
                            nats.nodes[node].kill();
                            format!("leader (node {node}) killed")
                        }
                    }
                }
            };
            log.push((what, began.elapsed().as_secs_f64()));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let elapsed = began.elapsed().as_secs_f64();
    drop((gateways, ledgers));
    // What counts is what any ledger goes on from: an empty folder, brought up to the history.
    let fresh = folder.path().join("fresh");
    fs::create_dir_all(&fresh).expect("a folder");
    broker::follow(&streams, &fresh).expect("the history");
    report(&fresh, &found, elapsed, &log);
}
