//! A sample of games is played again: the number of a game fixes it bit for bit.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicBool},
};

use super::{Ledger, lock};
use crate::{Account, Game, PlayerFor, is_played_by, selfplay_task, wire::Envelope};

/// Of the first games of a worker, so many...
const NEW_WORKER_GAMES: u64 = 20;
/// ...one in this many is played again.
const NEW_WORKER_EVERY: u64 = 5;
/// Games that wait to be played again; more are let pass.
const MOST_WAITING: usize = 64;

/// Games to be played again.
pub(super) struct Audits<G: Game> {
    waiting: VecDeque<Envelope>,
    /// The network of the last one, ready to play.
    player: Option<(String, Arc<G::Player>)>,
}

impl<G: Game> Default for Audits<G> {
    fn default() -> Self {
        Audits {
            waiting: VecDeque::new(),
            player: None,
        }
    }
}

impl<G: Game> Ledger<G> {
    /// Sets a game aside to be played again, if it is its turn and it was played on an engine like ours.
    pub(super) fn consider_audit(&self, account: &Account, envelope: &Envelope) {
        if envelope.header.engine != self.options.engine {
            return;
        }
        let games = lock(&self.standings)
            .get(&account.name)
            .map_or(0, |standing| standing.counts.accepted);
        let every = if games < NEW_WORKER_GAMES {
            NEW_WORKER_EVERY.min(self.options.audit_every)
        } else {
            self.options.audit_every
        };
        // Which games are chosen must not be known beforehand; the signature of the server is not.
        let draw = base::mix(
            envelope
                .header
                .task
                .ticket
                .bytes()
                .fold(0, |sum, byte| base::mix(sum ^ u64::from(byte))),
        );
        let mut audits = lock(&self.audits);
        if every > 0 && draw.is_multiple_of(every) && audits.waiting.len() < MOST_WAITING {
            audits.waiting.push_back(envelope.clone());
        }
    }

    /// Plays one game again, if one waits; says whether one did. A worker whose game comes out differently is put in
    /// quarantine.
    pub(crate) fn audit_one(&self, stop: &AtomicBool) -> bool {
        let Some(envelope) = lock(&self.audits).waiting.pop_front() else {
            return false;
        };
        let task = selfplay_task(&envelope.header.task);
        let Some(player) = self.audit_player(task.network) else {
            return true;
        };
        let same = is_played_by::<G>(&self.settings, &player, &task, &envelope.body, stop);
        let is_same = match same {
            Ok(Some(is_same)) => is_same,
            Ok(None) => return true,
            // That says nothing about the worker.
            Err(error) => {
                let number = task.number;
                self.note(format!("game {number} cannot be played again: {error}"));
                return true;
            }
        };
        let task = &envelope.header.task;
        self.count_audit(&task.worker, task.number, is_same);
        true
    }

    /// A sampled game, packed, for somebody else to play again.
    pub(crate) fn next_sample(&self) -> Option<Vec<u8>> {
        let envelope = lock(&self.audits).waiting.pop_front()?;
        Some(envelope.pack())
    }

    /// A game was played again; a worker whose game came out differently is put in quarantine.
    pub(crate) fn count_audit(&self, name: &str, number: u64, is_same: bool) {
        let mut standings = lock(&self.standings);
        let counts = &mut standings.entry(name.to_owned()).or_default().counts;
        if is_same {
            counts.audits_passed += 1;
            return;
        }
        counts.audits_failed += 1;
        drop(standings);
        let reason = format!("game {number} came out differently when it was played again");
        self.note(format!("{name} is in quarantine: {reason}"));
        // An account that is gone has no games to keep apart.
        let _ = self.accounts.change(name, |account| {
            account.quarantined.get_or_insert(reason);
        });
    }

    fn audit_player(&self, network: &str) -> Option<Arc<G::Player>> {
        if let Some((name, player)) = &lock(&self.audits).player
            && name == network
        {
            return Some(player.clone());
        }
        let file = match network {
            "" => None,
            name => Some(self.store.network(name, G::NETWORK_EXTENSION).ok()??),
        };
        let player = G::player(&self.settings, PlayerFor::SelfPlay, file.as_deref()).ok()?;
        let player = Arc::new(player);
        lock(&self.audits).player = Some((network.to_owned(), player.clone()));
        Some(player)
    }
}
