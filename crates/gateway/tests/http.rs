//! Real workers play for a real run over HTTP, and everybody else is refused with a sentence.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use fleet::{Beginning, Learner, Run, ServeOptions, Service, wire::Acceptance};
use gateway::{Gateway, Running, Settings};
use worker::{Client, Options, Progress, WorkError, work};

const GO: &str = r#"
size = 5
blocks = 1
filters = 8
[selfplay]
at_once = 4
first_games = 12
games = 6
[selfplay.play]
simulations = 4
quick_simulations = 2
full_share = 0.5
considered = 4
[training]
window = 400
batch = 16
threads = 1
[gate]
simulations = 2
at_once = 4
min_games = 4
max_games = 8
[rating]
games = 2
anchors = ["random"]
"#;

const MARIO: &str = r#"
levels = [0, 1]
blocks = 1
filters = 8
[round0]
player = "round0"
playouts = 20
games = 8
passes = 1.0
[selfplay]
at_once = 4
games = 6
simulations = 4
quick_simulations = 2
considered = 4
[training]
window = 400
passes = 1.0
batch = 16
threads = 1
[gate]
simulations = 2
at_once = 4
min_deals = 2
max_deals = 4
[rating]
deals = 0
anchors = []
"#;

/// A free port that the server keeps across its restarts.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

fn serve<L: Learner>(dir: &Path, address: SocketAddr) -> (Run<L>, Running, Arc<dyn Service>) {
    let mut run = Run::<L>::open(dir, &Beginning::default()).unwrap();
    let ledger = run
        .serve(ServeOptions {
            is_open: true,
            local_games: Some(0),
            engine: worker::engine(),
            audit_every: 2,
            ..ServeOptions::default()
        })
        .unwrap();
    let service: Arc<dyn Service> = ledger;
    let settings = Settings {
        address,
        announce_in: None,
        autogtp: None,
        tls: None,
    };
    let running = Gateway::start(service.clone(), settings).unwrap();
    (run, running, service)
}

fn options(address: SocketAddr, dir: &Path) -> Options {
    Options {
        url: format!("http://{address}"),
        dir: dir.to_owned(),
        token: None,
        name: None,
        server_key: None,
        ca: None,
        at_once: 2,
        games: None,
    }
}

fn records(log: &Path) -> Vec<Vec<u8>> {
    let copy = log.with_extension("copy");
    std::fs::copy(log, &copy).unwrap();
    let mut all = Vec::new();
    base::Log::open(&copy, |record| all.push(record.to_vec())).unwrap();
    all
}

/// Two workers play a round; the server is ended and started again in the middle.
fn workers_play_a_round<L: Learner>(settings: &str) {
    let (dir, spools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(dir.path().join("settings.toml"), settings).unwrap();
    let address = free_address();
    let stop = AtomicBool::new(false);
    let receipts = Mutex::new(Vec::new());
    let seen = |progress: Progress| {
        if let Progress::Receipt(receipt) = progress {
            receipts.lock().unwrap().push(receipt);
        }
    };
    let status = thread::scope(|scope| {
        for name in ["one", "two"] {
            let options = options(address, &spools.path().join(name));
            let (stop, seen) = (&stop, &seen);
            scope.spawn(move || work(&options, stop, seen).unwrap());
        }
        // The first server ends after a few games.
        let (mut run, running, service) = serve::<L>(dir.path(), address);
        let is_over = AtomicBool::new(false);
        thread::scope(|inner| {
            inner.spawn(|| {
                while receipts.lock().unwrap().len() < 4 {
                    thread::sleep(Duration::from_millis(20));
                }
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                run.step(&is_over, &|_| {}).unwrap();
            }
        });
        drop((running, service, run));
        let (mut run, running, service) = serve::<L>(dir.path(), address);
        let go_on = AtomicBool::new(false);
        while run.state().rounds < 1 || run.state().candidate.is_some() {
            run.step(&go_on, &|_| {}).unwrap();
        }
        let status = service.status();
        stop.store(true, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(300));
        drop((running, service, run));
        status
    });
    let receipts = receipts.into_inner().unwrap();
    let accepted = receipts
        .iter()
        .filter(|receipt| receipt.verdict == Acceptance::Accepted);
    let refused: Vec<_> = receipts
        .iter()
        .filter(|receipt| receipt.verdict == Acceptance::Refused)
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
    let games = records(&dir.path().join("games.log"));
    let slots = records(&dir.path().join("matches.log"));
    assert!(accepted.count() <= games.len() + slots.len());
    // Whatever is kept was acknowledged, or its worker still has it and hands it in again.
    let is_settled = |verdict| matches!(verdict, Acceptance::Accepted | Acceptance::Duplicate);
    let settled = receipts
        .iter()
        .filter(|receipt| is_settled(receipt.verdict));
    let waiting: usize = ["one", "two"]
        .iter()
        .map(|name| {
            worker::Spool::open(&spools.path().join(name))
                .unwrap()
                .games()
                .unwrap()
                .len()
        })
        .sum();
    assert!(games.len() + slots.len() <= settled.count() + waiting);
    let mut numbers: Vec<u64> = games
        .iter()
        .map(|game| {
            let end = game.iter().position(|&byte| byte == b'\n').unwrap();
            let head: serde_json::Value = serde_json::from_slice(&game[..end]).unwrap();
            head["number"].as_u64().unwrap()
        })
        .collect();
    let all = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all, "a number has one game");
    let failed_audits: u64 = status["workers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|worker| worker["counts"]["audits_failed"].as_u64())
        .sum();
    assert_eq!(failed_audits, 0, "honest games come out the same");
    assert_eq!(status["epoch"], 2);
}

#[test]
fn workers_play_a_round_of_go_across_a_restart_of_the_server() {
    workers_play_a_round::<go_training::Go>(GO);
}

#[test]
fn workers_play_a_round_of_dr_mario_across_a_restart_of_the_server() {
    workers_play_a_round::<mario_training::DrMario>(MARIO);
}

/// Sends bytes as they are, and returns the whole answer.
fn raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // A server may answer, and close, before it has read everything.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn ask(address: SocketAddr, line: &str, headers: &str, body: &[u8]) -> String {
    let mut request = format!(
        "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    raw(address, &request)
}

#[test]
fn what_makes_no_sense_is_refused_and_the_page_always_answers() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("settings.toml"), GO).unwrap();
    let address = free_address();
    let (run, _running, service) = serve::<go_training::Go>(dir.path(), address);
    let status = |answer: &str| answer.get(9..12).unwrap_or("").to_owned();
    let bearer = "Authorization: Bearer tgn_0\r\n";
    let long = vec![b'x'; 3 << 20];
    for (line, headers, body, expected) in [
        ("GET /", "", &b""[..], "200"),
        ("GET /metrics", "", b"", "200"),
        ("GET /v1/status.json", "", b"", "200"),
        ("GET /v1/networks.json", "", b"", "200"),
        ("GET /v1/matches.json", "", b"", "200"),
        ("GET /v1/elo.json", "", b"", "200"),
        ("GET /v1/feed", "", b"", "200"),
        ("GET /v1/workers/nobody.json", "", b"", "404"),
        ("GET /elo.svg", "", b"", "200"),
        ("GET /nothing", "", b"", "404"),
        ("GET /v1/networks/..%2f..%2fstate", "", b"", "404"),
        ("GET /v1/networks/abc", "", b"", "404"),
        ("POST /v1/tasks", "", b"{}", "401"),
        ("POST /v1/tasks", bearer, b"{}", "401"),
        ("POST /v1/tasks", bearer, b"no json", "400"),
        (
            "POST /v1/register",
            "",
            br#"{"name":"a b","key":"00"}"#,
            "400",
        ),
        ("POST /v1/operate", bearer, br#"{"order":"pause"}"#, "403"),
        ("PUT /v1/games/abc", bearer, b"x", "401"),
        ("PUT /v1/games/abc", bearer, &long, "413"),
    ] {
        let answer = ask(address, line, headers, body);
        assert_eq!(
            status(&answer),
            expected,
            "{line}: {}",
            &answer[..answer.len().min(400)]
        );
    }
    // Without a length, and broken off.
    let broken = raw(address, b"PUT /v1/games/abc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n");
    assert!(["400", ""].contains(&status(&broken).as_str()), "{broken}");
    // Leela Zero's client crashes on JSON without a command, so a run that cannot serve it says `wait`.
    let task = ask(address, "GET /get-task/18/0.17", "", b"");
    assert!(task.ends_with(r#"{"cmd":"wait","minutes":"5"}"#), "{task}");

    // An answer is believed only with the signature of the key that was met first.
    let mut client = Client::new(&format!("http://{address}")).unwrap();
    client.hello().unwrap();
    client.trust(&"00".repeat(32));
    let error = client.hello().err().unwrap();
    assert!(matches!(error, WorkError::Untrusted(_)), "{error}");
    let status_error = client.status().err().unwrap();
    assert!(
        matches!(status_error, WorkError::Untrusted(_)),
        "{status_error}"
    );

    // A network with other bytes than the server signed for is never played with.
    let best = service.status()["best"].as_str().unwrap().to_owned();
    let spool = worker::Spool::open(&dir.path().join("spool")).unwrap();
    drop(spool);
    let file = service.network(&best).unwrap().unwrap();
    let stop = AtomicBool::new(false);
    let said = Mutex::new(String::new());
    // The hash is taken when the first task is given out; then the file is damaged.
    let mut asking = Client::new(&format!("http://{address}")).unwrap();
    let hello = asking.hello().unwrap();
    asking.trust(hello["key"].as_str().unwrap());
    let signer = fleet::wire::Signer::from_secret(&[5; 32]).unwrap();
    let (_, token) = asking.register("first", &signer.public_key()).unwrap();
    asking.set_token(&token.unwrap());
    let request = fleet::wire::TaskRequest {
        protocol: fleet::wire::PROTOCOL,
        games: vec!["go".into()],
        count: 1,
        ..Default::default()
    };
    assert_eq!(asking.tasks(&request).unwrap().tasks.len(), 1);
    std::fs::write(&file, b"another network").unwrap();
    let options = options(address, &dir.path().join("spool"));
    thread::scope(|scope| {
        scope.spawn(|| {
            work(&options, &stop, &|progress| {
                if let Progress::Say(say) = progress {
                    said.lock().unwrap().push_str(&say);
                    stop.store(true, Ordering::Relaxed);
                }
            })
            .unwrap()
        });
    });
    let said = said.into_inner().unwrap();
    assert!(
        said.contains("came in part") || said.contains("other bytes than the server signed"),
        "{said}"
    );
    assert_eq!(records(&dir.path().join("games.log")).len(), 0);
    drop(run);
}
