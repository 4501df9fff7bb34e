//! Workers register, and get tasks.

use std::fs;

use base::nth_seed;

use super::{Ledger, Refusal, RefusalKind, lock, standing::TASK_SECONDS, unix_seconds};
use crate::{
    Account, Game, StoreError,
    wire::{Kind, NetworkRef, PROTOCOL, Task, TaskBatch, TaskRequest, sha256_hex, unhex},
};

/// Bytes of a public key.
const KEY_BYTES: usize = 32;

impl<G: Game> Ledger<G> {
    /// Registers a worker's key. Without a token a new account is made, if the run is open; returns its name and token.
    pub(crate) fn register_worker(
        &self,
        token: Option<&str>,
        name: &str,
        key: &str,
    ) -> Result<(String, Option<String>), Refusal> {
        if unhex(key).is_none_or(|bytes| bytes.len() != KEY_BYTES) {
            let why = "a key is 64 hexadecimal digits";
            return Err(Refusal::new(RefusalKind::Bad, why));
        }
        let bad = |why| Refusal::new(RefusalKind::Bad, why);
        if let Some(token) = token {
            let account = self.account(token)?;
            match &account.key {
                Some(known) if known != key => {
                    let why = format!(
                        "{} plays with another key; use the folder it was first started with, or ask the operator for a new token",
                        account.name
                    );
                    return Err(Refusal::new(RefusalKind::Forbidden, why));
                }
                Some(_) => {}
                None => {
                    let set = |account: &mut Account| account.key = Some(key.to_owned());
                    self.accounts.change(&account.name, set).map_err(bad)?;
                }
            }
            return Ok((account.name, None));
        }
        if !self.options.is_open {
            let why = "this run takes workers with a token only; ask its operator for one, and give it with --token";
            return Err(Refusal::new(RefusalKind::Unknown, why));
        }
        let token = self.accounts.create(name, Some(key)).map_err(bad)?;
        self.note(format!("{name} registered"));
        Ok((name.to_owned(), Some(token)))
    }

    /// The account of a token, unless it is banned.
    pub(super) fn account(&self, token: &str) -> Result<Account, Refusal> {
        self.account_of_hash(&sha256_hex(token.as_bytes()))
    }

    /// The account of the token with this SHA-256, unless it is banned.
    pub(super) fn account_of_hash(&self, token_hash: &str) -> Result<Account, Refusal> {
        let account = self.accounts.of_token_hash(token_hash).ok_or_else(|| {
            let why = "nobody knows this token; ask the run's operator for another";
            Refusal::new(RefusalKind::Unknown, why)
        })?;
        match &account.banned {
            Some(reason) => {
                let why = format!("{} is banned from this run: {reason}", account.name);
                Err(Refusal::new(RefusalKind::Forbidden, why))
            }
            None => Ok(account),
        }
    }

    /// Tasks for a worker, as many as are wanted, allowed and asked for.
    pub(crate) fn hand_out(
        &self,
        token: &str,
        request: &TaskRequest,
    ) -> Result<TaskBatch, Refusal> {
        let account = self.account(token)?;
        if request.protocol < PROTOCOL {
            let why = format!(
                "{} speaks version {} of the protocol, and this server needs {PROTOCOL}; get the newest tengen",
                request.client, request.protocol
            );
            return Err(Refusal::new(RefusalKind::TooOld, why));
        }
        if account.key.is_none() {
            let why = "register a key first";
            return Err(Refusal::new(RefusalKind::Forbidden, why));
        }
        if !request.games.iter().any(|game| game == G::NAME) {
            let why = format!("this run plays {}, which the worker cannot", G::NAME);
            return Err(Refusal::new(RefusalKind::Bad, why));
        }
        let room = {
            let mut standings = lock(&self.standings);
            let standing = standings.entry(account.name.clone()).or_default();
            standing.last_seen_unix = unix_seconds();
            standing.client.clone_from(&request.client);
            standing.check_failures()?;
            standing.room()
        };
        let mut tasks = Vec::new();
        while tasks.len() < request.count.min(room) {
            match self.next_task(&account, &request.kinds)? {
                Some(task) => tasks.push(task.signed(&self.signer)),
                None => break,
            }
        }
        let mut standings = lock(&self.standings);
        let standing = standings.entry(account.name.clone()).or_default();
        tasks.iter().for_each(|task| standing.take(task.id()));
        Ok(TaskBatch {
            v: PROTOCOL,
            settings: self.settings_text.clone(),
            tasks,
            say: account.quarantined.map_or_else(String::new, |reason| {
                format!("games of {} are kept apart: {reason}", account.name)
            }),
        })
    }

    /// Slots of a match before self-play: everybody waits for a verdict.
    fn next_task(&self, account: &Account, kinds: &[Kind]) -> Result<Option<Task>, Refusal> {
        let desk = &self.shared.desk;
        let wants = |kind| kinds.is_empty() || kinds.contains(&kind);
        // Whoever is in quarantine decides no match.
        let slot = match account.quarantined {
            None if wants(Kind::Match) => desk.take_slot(true),
            _ => None,
        };
        if let Some(offer) = slot {
            let networks = vec![
                self.network_ref(&offer.first)?,
                self.network_ref(&offer.second)?,
            ];
            return Ok(Some(Task {
                kind: Kind::Match,
                number: u64::from(offer.slot),
                attempt: offer.attempt,
                networks,
                seed: offer.seed,
                ..self.blank_task(account, 0)
            }));
        }
        let offer = desk.selfplay().filter(|offer| offer.wanted > 0);
        let Some(offer) = offer.filter(|_| wants(Kind::Selfplay) && !desk.is_paused()) else {
            return Ok(None);
        };
        let networks = match offer.network.as_str() {
            "" => Vec::new(),
            name => vec![self.network_ref(name)?],
        };
        let number = desk.take_number()?;
        Ok(Some(Task {
            number,
            networks,
            seed: nth_seed(G::schedule(&self.settings).seed, number),
            ..self.blank_task(account, offer.round)
        }))
    }

    fn blank_task(&self, account: &Account, round: u64) -> Task {
        Task {
            v: PROTOCOL,
            run: self.identity.run.clone(),
            game: G::NAME.to_owned(),
            kind: Kind::Selfplay,
            number: 0,
            attempt: 1,
            epoch: self.identity.epoch,
            round,
            worker: account.name.clone(),
            networks: Vec::new(),
            seed: 0,
            settings_hash: self.settings_hash.clone(),
            deadline_seconds: TASK_SECONDS,
            ticket: String::new(),
        }
    }

    /// A network with the hash of the very bytes that are served.
    fn network_ref(&self, name: &str) -> Result<NetworkRef, Refusal> {
        if let Some(known) = lock(&self.networks).get(name) {
            return Ok(known.clone());
        }
        let gone = || {
            let why = format!("the network {name} is not in the run's folder");
            Refusal::new(RefusalKind::Later(60), why)
        };
        let path = self.store.network(name, G::NETWORK_EXTENSION)?;
        let path = path.ok_or_else(gone)?;
        let bytes = fs::read(&path).map_err(|source| StoreError::File { path, source })?;
        let found = NetworkRef {
            hash: name.to_owned(),
            file_hash: sha256_hex(&bytes),
            bytes: bytes.len() as u64,
        };
        lock(&self.networks).insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// Which of the tasks are not wanted any more, by id.
    pub(crate) fn not_wanted(&self, token: &str, tasks: &[Task]) -> Result<Vec<String>, Refusal> {
        let account = self.account(token)?;
        if let Some(standing) = lock(&self.standings).get_mut(&account.name) {
            standing.last_seen_unix = unix_seconds();
        }
        let is_wanted = |task: &Task| match (task.kind, task.networks.as_slice()) {
            (Kind::Match, [first, second]) => {
                self.shared.desk.is_playing(&first.hash, &second.hash)
            }
            _ => true,
        };
        let unwanted = tasks.iter().filter(|task| !is_wanted(task));
        Ok(unwanted.map(Task::id).collect())
    }

    /// Tasks come back unplayed.
    pub(crate) fn take_back(&self, token: &str, tasks: &[Task]) -> Result<(), Refusal> {
        let account = self.account(token)?;
        let public_key = self.signer.public_key();
        for task in tasks {
            if task.worker != account.name || !task.is_issued_by(&public_key) {
                continue;
            }
            if let (Kind::Match, [first, second]) = (task.kind, task.networks.as_slice()) {
                let slot = task.number as u32;
                self.shared.desk.give_back(&first.hash, &second.hash, slot);
            }
            if let Some(standing) = lock(&self.standings).get_mut(&account.name) {
                standing.put_back(&task.id());
            }
        }
        Ok(())
    }
}
