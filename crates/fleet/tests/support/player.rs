//! A worker that asks the service itself, without an engine and without a line.

use std::{path::Path, sync::atomic::AtomicBool};

use fleet::{
    Game, Service, id_of, selfplay_task,
    wire::{Envelope, Kind, MatchBody, PROTOCOL, Receipt, Signer, Task, TaskRequest},
};

use super::{Coins, Record, Settings};

/// A worker without a network line: it asks the service itself.
pub struct Worker {
    pub token: String,
    pub signer: Signer,
}

impl Worker {
    pub fn join(service: &dyn Service, name: &str) -> Worker {
        let signer = Signer::from_secret(&[name.len() as u8; 32]).unwrap();
        let (_, token) = service.register(None, name, &signer.public_key()).unwrap();
        Worker {
            token: token.unwrap(),
            signer,
        }
    }

    pub fn tasks(&self, service: &dyn Service, count: usize) -> Vec<Task> {
        let request = TaskRequest {
            protocol: PROTOCOL,
            games: vec!["coins".into()],
            count,
            ..TaskRequest::default()
        };
        service.tasks(&self.token, &request).unwrap().tasks
    }

    pub fn play(&self, service: &dyn Service, task: &Task) -> Envelope {
        let player = |index: usize| {
            let file = service
                .network(&task.networks[index].hash)
                .unwrap()
                .unwrap();
            let text = std::fs::read_to_string(file).unwrap();
            text.parse::<u64>().unwrap()
        };
        let (settings, stop) = (Settings::default(), AtomicBool::new(false));
        let (content, body) = match task.kind {
            Kind::Selfplay => {
                let played = Coins::play(&settings, &player(0), &selfplay_task(task), &stop);
                let record = played.unwrap().unwrap();
                (Coins::moves_and_result(&record), Coins::encode(&record))
            }
            Kind::Match => {
                let players = [&player(0), &player(1)];
                let slot = task.number as u32;
                let played = Coins::play_match_game(&settings, players, slot, task.seed, &stop);
                let record = played.unwrap().unwrap();
                let body = serde_json::to_vec(&MatchBody::from(&record)).unwrap();
                (record.moves, body)
            }
        };
        self.envelope(task, &content, body)
    }

    pub fn envelope(&self, task: &Task, content: &str, body: Vec<u8>) -> Envelope {
        let id = id_of(task, content);
        Envelope::new(task, id, body, ("test", "cpu", 0.1), &self.signer)
    }

    pub fn hand_in(&self, service: &dyn Service, envelope: &Envelope) -> Receipt {
        service.hand_in(&self.token, &envelope.pack()).unwrap()
    }
}

/// Every game in the log, by number.
pub fn games(dir: &Path) -> Vec<Vec<u8>> {
    let copy = dir.join("copy.part");
    std::fs::copy(dir.join("games.log"), &copy).unwrap();
    let mut all = Vec::new();
    base::Log::open(&copy, |record| all.push(record.to_vec())).unwrap();
    all.sort_by_key(|record| {
        let record: Record = serde_json::from_slice(record).unwrap();
        record.number
    });
    all
}
