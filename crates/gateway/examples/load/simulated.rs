//! Workers without an engine: honest for the most part, and over HTTP like real ones.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fleet::{
    Game, id_of, selfplay_task,
    wire::{
        Acceptance, Envelope, Kind, MatchBody, PROTOCOL, Signer, Task, TaskRequest, sha256_hex,
    },
};
use worker::{Client, WorkError};

use crate::support::{self, Coins, Record};

/// Of so many uploads one comes twice, is cut off, is forged; of so many tasks one is never played.
const DOUBLED: u64 = 20;
const CUT: u64 = 100;
const FORGED: u64 = 100;
const DYING: u64 = 100;
/// A worker is paused after five refused games, so it sends fewer.
const BAD_PER_WORKER: u32 = 3;

/// What all workers found.
#[derive(Default)]
pub struct Found {
    /// Numbers and hashes of games with a receipt that says they are kept.
    pub kept: Mutex<Vec<(u64, String)>>,
    /// Hashes of forged games.
    pub forged: Mutex<HashSet<String>>,
    pub forged_accepted: AtomicU64,
    pub duplicates: AtomicU64,
    pub refused: AtomicU64,
    pub match_games: AtomicU64,
    /// Seconds from handing in to the receipt.
    pub waits: Mutex<Vec<f64>>,
    /// When receipts came, in seconds since the start.
    pub times: Mutex<Vec<f64>>,
}

/// A worker without an engine.
pub struct Simulated {
    clients: Vec<Client>,
    /// Which server it asks; another one when this one does not answer.
    at: usize,
    name: String,
    signer: Signer,
    luck: u64,
    bad_left: u32,
}

impl Simulated {
    pub fn new(index: usize, seed: u64, servers: &[SocketAddr]) -> Simulated {
        let client =
            |server: &SocketAddr| Client::new(&format!("http://{server}")).expect("an address");
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&(index as u64 + 1).to_le_bytes());
        Simulated {
            clients: servers.iter().map(client).collect(),
            at: index,
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

    fn client(&self) -> &Client {
        &self.clients[self.at % self.clients.len()]
    }

    pub fn work(mut self, found: &Found, stop: &AtomicBool, began: Instant) {
        let key = self.signer.public_key();
        let mut is_known = false;
        while !stop.load(Ordering::Relaxed) {
            let done = if is_known {
                self.play_one(found, stop, began)
            } else {
                self.join(&key).map(|()| is_known = true)
            };
            if done.is_err() {
                self.at += 1;
                thread::sleep(Duration::from_millis(200));
            }
        }
    }

    fn join(&mut self, key: &str) -> Result<(), WorkError> {
        let hello = self.client().hello()?;
        for client in &mut self.clients {
            client.trust(hello["key"].as_str().unwrap_or_default());
        }
        if let (_, Some(token)) = self.client().register(&self.name, key)? {
            for client in &mut self.clients {
                client.set_token(&token);
            }
        }
        Ok(())
    }

    fn play_one(
        &mut self,
        found: &Found,
        stop: &AtomicBool,
        began: Instant,
    ) -> Result<(), WorkError> {
        let batch = self.client().tasks(&TaskRequest {
            protocol: PROTOCOL,
            client: "load".into(),
            games: vec![Coins::NAME.into()],
            count: 4,
            wait_seconds: 2,
            ..TaskRequest::default()
        })?;
        for task in batch.tasks {
            // A worker that dies forgets its task; nobody misses it.
            if self.one_in(DYING) {
                continue;
            }
            let good = self.play(&task)?;
            if self.bad_left > 0 && self.one_in(FORGED) && task.kind == Kind::Selfplay {
                self.bad_left -= 1;
                self.forge(&task, &good, found)?;
                continue;
            }
            if self.bad_left > 0 && self.one_in(CUT) {
                self.bad_left -= 1;
                let packed = good.pack();
                let receipt = self
                    .client()
                    .hand_in(&good.header.game, &packed[..packed.len() - 7])?;
                assert_eq!(
                    receipt.verdict,
                    Acceptance::Refused,
                    "a game that was cut off"
                );
                found.refused.fetch_add(1, Ordering::Relaxed);
            }
            let times = if self.one_in(DOUBLED) { 2 } else { 1 };
            for _ in 0..times {
                self.hand_in(&task, &good, found, stop, began)?;
            }
        }
        Ok(())
    }

    fn play(&self, task: &Task) -> Result<Envelope, WorkError> {
        let stop = AtomicBool::new(false);
        let settings = support::Settings { games: 500 };
        let network = |index: usize| -> Result<u64, WorkError> {
            let (_, bytes) = self.client().network(&task.networks[index].hash, 0)?;
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

    fn forge(&mut self, task: &Task, good: &Envelope, found: &Found) -> Result<(), WorkError> {
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
        let receipt = self.client().hand_in(&forged.header.game, &forged.pack())?;
        match receipt.verdict {
            Acceptance::Refused => found.refused.fetch_add(1, Ordering::Relaxed),
            _ => found.forged_accepted.fetch_add(1, Ordering::Relaxed),
        };
        Ok(())
    }

    /// Hands a game in until there is a receipt, as a worker does with what is in its spool.
    fn hand_in(
        &mut self,
        task: &Task,
        game: &Envelope,
        found: &Found,
        stop: &AtomicBool,
        began: Instant,
    ) -> Result<(), WorkError> {
        let packed = game.pack();
        let receipt = loop {
            let sent = Instant::now();
            match self.client().hand_in(&game.header.game, &packed) {
                Ok(receipt) => {
                    found
                        .waits
                        .lock()
                        .expect("no panic")
                        .push(sent.elapsed().as_secs_f64());
                    break receipt;
                }
                Err(WorkError::Later { .. }) if !stop.load(Ordering::Relaxed) => {
                    self.at += 1;
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
