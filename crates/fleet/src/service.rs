//! What a server of a run can be asked, whatever the game and whoever carries the question.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use serde_json::{Value, json};

use crate::{
    Game, Ledger, MatchRecord, Refusal, RefusalKind, SelfPlayTask, StoreError,
    wire::{Kind, PROTOCOL, Receipt, Task, TaskBatch, TaskRequest, Voice, sha256_hex},
};

/// A served run without the type of its game.
pub trait Service: Send + Sync {
    /// The server's public key.
    fn public_key(&self) -> String;

    /// The server's signature under an answer.
    fn sign(&self, bytes: &[u8]) -> String;

    /// If somebody else answers for the server: the key that signs, and the server's word for it.
    fn voice(&self) -> Option<Voice> {
        None
    }

    /// The server's word for a key that may sign answers in its place.
    fn appoint(&self, key: &str) -> Voice;

    /// What a client is told first.
    fn hello(&self) -> Value;

    /// Registers a worker's key. With a token it belongs to that account; without one an account is made if the run is
    /// open. Returns the name, and the token if it is new.
    fn register(
        &self,
        token: Option<&str>,
        name: &str,
        key: &str,
    ) -> Result<(String, Option<String>), Refusal>;

    /// Tasks for a worker; none if nothing is wanted now.
    fn tasks(&self, token: &str, request: &TaskRequest) -> Result<TaskBatch, Refusal>;

    /// Which of these tasks are not wanted any more, by id.
    fn renew(&self, token: &str, tasks: &[Task]) -> Result<Vec<String>, Refusal>;

    /// Takes back tasks that will not be played.
    fn give_back(&self, token: &str, tasks: &[Task]) -> Result<(), Refusal>;

    /// Takes a game in. The receipt is final.
    fn hand_in(&self, token: &str, envelope: &[u8]) -> Result<Receipt, Refusal> {
        self.hand_in_by(&sha256_hex(token.as_bytes()), envelope)
    }

    /// The same for the token with this SHA-256, which may lie in a queue where a token must not.
    fn hand_in_by(&self, token_hash: &str, envelope: &[u8]) -> Result<Receipt, Refusal>;

    /// The file of a network, if the run has it.
    fn network(&self, name: &str) -> Result<Option<PathBuf>, Refusal>;

    /// Where the run stands.
    fn status(&self) -> Value;

    /// Its networks, oldest first.
    fn networks(&self) -> Value;

    /// Its decided matches, newest first.
    fn matches(&self) -> Value;

    /// The report page, if there is one already.
    fn report(&self) -> Option<PathBuf>;

    /// Plays one sampled game again, if one waits; says whether one did.
    fn audit(&self, stop: &AtomicBool) -> bool;

    /// A sampled game, packed, for somebody else to play again.
    fn next_audit(&self) -> Option<Vec<u8>>;

    /// Somebody played a game of a worker again: whether it was the same.
    fn audited(&self, worker: &str, number: u64, is_same: bool);

    /// Does what the operator asks; returns a sentence.
    fn operate(&self, order: &Order) -> Result<String, Refusal>;
}

/// What a game brings so that Leela Zero's own client, autogtp, can play for a run of it.
pub trait StockGames: Send + Sync {
    /// What the client is told to play; or why it cannot play for this run.
    fn options(&self, kind: Kind) -> Result<StockOptions, String>;

    /// The record of a self-play game that the client sent: its SGF and its training data, unpacked.
    fn selfplay(
        &self,
        task: &SelfPlayTask<'_>,
        sgf: &[u8],
        training: &[u8],
    ) -> Result<Vec<u8>, String>;

    /// A match game that the client sent; the first player has Black in even slots.
    fn match_game(&self, slot: u32, sgf: &[u8]) -> Result<MatchRecord, String>;

    /// The moves and the result of a record.
    fn moves_and_result(&self, record: &[u8]) -> Result<String, String>;
}

/// Options for Leela Zero's engine. The client pastes them into a command line, so they are numbers and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockOptions {
    /// Visits of a move.
    pub visits: u64,
    /// Per cent below which a side resigns.
    pub resignation_percent: u32,
    /// Whether the root has noise.
    pub has_noise: bool,
    /// Moves at the start that are drawn.
    pub drawn_moves: u32,
}

/// What an operator can ask for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase", tag = "order")]
pub enum Order {
    /// Makes an account; the answer is its token.
    Token { name: String },
    /// Bans a worker and takes its games back.
    Ban {
        name: String,
        /// Why, as the worker is told.
        why: String,
    },
    /// Ends a ban or a quarantine; games that were taken back stay so.
    Release { name: String },
    /// Gives out no self-play for now.
    Pause,
    /// Gives out self-play again.
    Resume,
}

impl<G: Game> Service for Ledger<G>
where
    G::Settings: Send + Sync,
{
    fn public_key(&self) -> String {
        self.signer().public_key()
    }

    fn sign(&self, bytes: &[u8]) -> String {
        self.signer().sign(bytes)
    }

    fn appoint(&self, key: &str) -> Voice {
        Voice::appoint(key, self.signer())
    }

    fn hello(&self) -> Value {
        json!({
            "v": PROTOCOL, "oldest": PROTOCOL, "game": G::NAME, "extension": G::NETWORK_EXTENSION,
            "run": self.run_name(), "key": self.public_key(), "open": self.is_open(),
        })
    }

    fn register(
        &self,
        token: Option<&str>,
        name: &str,
        key: &str,
    ) -> Result<(String, Option<String>), Refusal> {
        self.register_worker(token, name, key)
    }

    fn tasks(&self, token: &str, request: &TaskRequest) -> Result<TaskBatch, Refusal> {
        self.hand_out(token, request)
    }

    fn renew(&self, token: &str, tasks: &[Task]) -> Result<Vec<String>, Refusal> {
        self.not_wanted(token, tasks)
    }

    fn give_back(&self, token: &str, tasks: &[Task]) -> Result<(), Refusal> {
        self.take_back(token, tasks)
    }

    fn hand_in_by(&self, token_hash: &str, envelope: &[u8]) -> Result<Receipt, Refusal> {
        self.take_in(token_hash, envelope)
    }

    fn network(&self, name: &str) -> Result<Option<PathBuf>, Refusal> {
        // A name becomes part of a path.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        self.network_file(name)
            .map_err(|error: StoreError| error.into())
    }

    fn status(&self) -> Value {
        self.status_json()
    }

    fn networks(&self) -> Value {
        self.networks_json()
    }

    fn matches(&self) -> Value {
        self.matches_json()
    }

    fn report(&self) -> Option<PathBuf> {
        self.report_file()
    }

    fn audit(&self, stop: &AtomicBool) -> bool {
        self.audit_one(stop)
    }

    fn next_audit(&self) -> Option<Vec<u8>> {
        self.next_sample()
    }

    fn audited(&self, worker: &str, number: u64, is_same: bool) {
        self.count_audit(worker, number, is_same);
    }

    fn operate(&self, order: &Order) -> Result<String, Refusal> {
        self.obey(order)
            .map_err(|why| Refusal::new(RefusalKind::Bad, why))
    }
}
