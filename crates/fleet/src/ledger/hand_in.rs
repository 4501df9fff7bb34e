//! Games come in: checked in order of cost, kept once, answered with a receipt.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Accepted, Ledger, Refusal, lock, unix_seconds};
use crate::{
    Account, Appended, Checked, Game, MatchGame, MatchRecord, check_game,
    wire::{Acceptance, Envelope, Kind, PROTOCOL, Receipt, Task, sha256_hex},
};

/// Games of the best network and of so many best networks before it are taken.
const KEEP_NETWORKS: usize = 3;

impl<G: Game> Ledger<G> {
    /// Takes a game in. A receipt is final: the game is in the log, or will never be.
    pub(crate) fn take_in(&self, token_hash: &str, bytes: &[u8]) -> Result<Receipt, Refusal> {
        let account = self.account_of_hash(token_hash)?;
        {
            let mut standings = lock(&self.standings);
            let standing = standings.entry(account.name.clone()).or_default();
            standing.last_seen_unix = unix_seconds();
            standing.check_failures()?;
            standing.check_bytes(bytes.len())?;
        }
        let (task, receipt) = match Envelope::unpack(bytes) {
            Ok(envelope) => {
                let receipt = self.judge(&account, &envelope)?;
                (Some(envelope.header.task), receipt)
            }
            Err(error) => (
                None,
                Receipt::new("", Acceptance::Refused, error.to_string()),
            ),
        };
        let mut standings = lock(&self.standings);
        let standing = standings.entry(account.name.clone()).or_default();
        standing.count(receipt.verdict);
        if let Some(task) = task {
            standing.put_back(&task.id());
        }
        drop(standings);
        if receipt.verdict == Acceptance::Refused {
            self.note(format!(
                "refused a game of {}: {}",
                account.name, receipt.why
            ));
        }
        Ok(Receipt {
            epoch: self.identity.epoch,
            ..receipt
        })
    }

    fn judge(&self, account: &Account, envelope: &Envelope) -> Result<Receipt, Refusal> {
        let (header, task) = (&envelope.header, &envelope.header.task);
        let receipt = |verdict, why: String| Ok(Receipt::new(&header.game, verdict, why));
        let refused = |why: String| receipt(Acceptance::Refused, why);
        if let Err(why) = self.check_origin(account, envelope) {
            return refused(why);
        }
        if task.kind == Kind::Selfplay && lock(&self.accepted).numbers.contains(&task.number) {
            return receipt(Acceptance::Duplicate, String::new());
        }
        if let Some(why) = self.too_late(task)? {
            return receipt(Acceptance::Stale, why);
        }
        // A game that breaks the check itself must not come again and again, nor hold up others.
        let check = || check_game::<G>(&self.settings, task, &header.game, &envelope.body);
        let checked = match catch_unwind(AssertUnwindSafe(check)) {
            Ok(Ok(checked)) => checked,
            Ok(Err(why)) => return refused(why),
            Err(_) => {
                self.store.set_apart(&envelope.pack())?;
                return refused("its check broke down; it is kept for the operator".into());
            }
        };
        if let Some(reason) = &account.quarantined {
            self.store.set_apart(&envelope.pack())?;
            let why = format!("games of {} are kept apart: {reason}", account.name);
            return receipt(Acceptance::Quarantined, why);
        }
        match checked {
            Checked::Selfplay(record) => self.keep_game(account, envelope, record),
            Checked::Match(record) => self.keep_slot(account, envelope, &record),
        }
    }

    /// Is it from this worker, for a task that this server gave it, and whole?
    fn check_origin(&self, account: &Account, envelope: &Envelope) -> Result<(), String> {
        let (header, task) = (&envelope.header, &envelope.header.task);
        if header.v > PROTOCOL {
            return Err(format!("this server does not know version {}", header.v));
        }
        let key = account.key.as_deref().unwrap_or_default();
        if !header.is_signed_by(key) {
            return Err(format!(
                "the upload is not signed with the key of {}",
                account.name
            ));
        }
        if sha256_hex(&envelope.body) != header.records {
            return Err("the game does not have the hash that its header names".into());
        }
        if task.run != self.identity.run {
            return Err("the task is of another run".into());
        }
        if task.worker != account.name {
            return Err(format!("the task was given to {}", task.worker));
        }
        if !task.is_issued_by(&self.signer.public_key()) {
            return Err("the task was never given out like this".into());
        }
        Ok(())
    }

    /// Why nobody needs this game any more, if so.
    fn too_late(&self, task: &Task) -> Result<Option<String>, Refusal> {
        if task.settings_hash != self.settings_hash {
            return Ok(Some("the run's settings were changed since".into()));
        }
        if task.kind == Kind::Match {
            return Ok(None);
        }
        let Some(state) = self.store.state()? else {
            return Ok(None);
        };
        let network = task.networks.first().map_or("", |network| &network.hash);
        let chain = state.best_chain();
        let is_recent = state.best == network
            || chain
                .iter()
                .rev()
                .take(KEEP_NETWORKS)
                .any(|name| *name == network)
            || (network.is_empty() && chain.len() < KEEP_NETWORKS);
        Ok((!is_recent)
            .then(|| format!("{network} is not among the last {KEEP_NETWORKS} best networks")))
    }

    fn keep_game(
        &self,
        account: &Account,
        envelope: &Envelope,
        record: G::Record,
    ) -> Result<Receipt, Refusal> {
        let header = &envelope.header;
        let mut accepted = lock(&self.accepted);
        let Accepted { numbers, seq, .. } = &mut *accepted;
        // Another copy may have come in while this one was checked.
        if numbers.contains(&header.task.number) {
            return Ok(Receipt::new(&header.game, Acceptance::Duplicate, ""));
        }
        let appended = self.store.append_game_by(&envelope.body, &account.name)?;
        numbers.insert(header.task.number);
        if appended == Appended::Duplicate {
            return Ok(Receipt::new(&header.game, Acceptance::Duplicate, ""));
        }
        *seq += 1;
        let seq = *seq;
        // While nobody else appends: games arrive in the order of the log.
        self.shared.arrived(record);
        drop(accepted);
        self.shared.desk.count_game(header.task.round);
        self.shared.desk.wake();
        self.consider_audit(account, envelope);
        Ok(Receipt {
            seq,
            ..Receipt::new(&header.game, Acceptance::Accepted, "")
        })
    }

    fn keep_slot(
        &self,
        account: &Account,
        envelope: &Envelope,
        record: &MatchRecord,
    ) -> Result<Receipt, Refusal> {
        let (header, task) = (&envelope.header, &envelope.header.task);
        let [first, second] = task.networks.as_slice() else {
            let why = "a match has two networks";
            return Ok(Receipt::new(&header.game, Acceptance::Refused, why));
        };
        let game = MatchGame {
            worker: account.name.clone(),
            ..MatchGame::new(&first.hash, &second.hash, task.number as u32, record.winner)
        };
        let filled = self.shared.desk.fill(&*self.store, &game)?;
        Ok(match filled {
            None => Receipt::new(&header.game, Acceptance::Stale, "the match is decided"),
            Some((Appended::Duplicate, _)) => Receipt::new(&header.game, Acceptance::Duplicate, ""),
            Some((Appended::New, _)) => {
                let mut accepted = lock(&self.accepted);
                accepted.match_seq += 1;
                Receipt {
                    seq: accepted.match_seq,
                    ..Receipt::new(&header.game, Acceptance::Accepted, "")
                }
            }
        })
    }
}
