//! One process at a time holds a role. A lease runs out on the broker's clock unless it is renewed; whoever cannot renew
//! it stops before anybody else can have it, measured on its own clock. No two clocks are compared.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use async_nats::jetstream::kv;
use fleet::wire::{hex, random_bytes};

use crate::{BrokerError, Streams};

/// How often somebody who waits looks whether the role is free.
const GLANCE: Duration = Duration::from_millis(500);

/// A role that is held until this is dropped.
pub struct Lease {
    held: Arc<Held>,
    revision: u64,
    thread: Option<thread::JoinHandle<()>>,
}

/// Whether a role is still held; asked before anything is written.
pub(crate) struct Held {
    role: String,
    /// Held without doubt for so long after the last renewal.
    safe: Duration,
    renewed: Mutex<Instant>,
    is_lost: AtomicBool,
    is_given_up: AtomicBool,
}

impl Held {
    /// Refuses once another process may have the role.
    pub(crate) fn check(&self) -> Result<(), BrokerError> {
        let renewed = *self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        if renewed.elapsed() > self.safe {
            self.is_lost.store(true, Ordering::Relaxed);
        }
        if self.is_lost.load(Ordering::Relaxed) {
            let role = self.role.clone();
            return Err(BrokerError::Lost { role });
        }
        Ok(())
    }

    /// Another process wrote where only the holder may.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }
}

impl Lease {
    /// Waits until the role is free and takes it; nothing if `stop` was set first. `on_wait` is called while another
    /// process holds it.
    pub fn take(
        streams: &Streams,
        role: &str,
        stop: &AtomicBool,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Option<Lease>, BrokerError> {
        let name = random_bytes::<8>().map_err(|error| BrokerError::Other(error.to_string()))?;
        let name = format!("{} {}", std::process::id(), hex(&name));
        let period = streams.link.options.lease;
        let (revision, asked) = loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let asked = Instant::now();
            let leases = &streams.leases;
            match streams.link.wait(leases.create(role, name.clone().into())) {
                Ok(revision) => break (revision, asked),
                Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => {
                    on_wait("another process has this role; waiting as its standby");
                }
                // It may have been written all the same.
                Err(error) => match own_revision(streams, role, &name) {
                    Some(revision) => break (revision, asked),
                    None => on_wait(&format!("the broker gives no lease now: {error}")),
                },
            }
            thread::sleep(GLANCE);
        };
        let held = Arc::new(Held {
            role: role.to_owned(),
            safe: period * 2 / 3,
            renewed: Mutex::new(asked),
            is_lost: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
        });
        let thread = {
            let (held, streams) = (held.clone(), streams.clone());
            thread::spawn(move || keep(&held, &streams, &name, revision, period / 3))
        };
        Ok(Some(Lease {
            held,
            revision,
            thread: Some(thread),
        }))
    }

    /// Grows from holder to holder.
    pub fn epoch(&self) -> u64 {
        self.revision
    }

    /// Whether another process may have the role now.
    pub fn is_lost(&self) -> bool {
        self.held.check().is_err()
    }

    pub(crate) fn held(&self) -> Arc<Held> {
        self.held.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.held.is_given_up.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Renews the lease until it is given up or lost; gives it back, so that the next holder need not wait.
fn keep(held: &Held, streams: &Streams, name: &str, mut revision: u64, every: Duration) {
    let mut next = Instant::now() + every;
    while !held.is_given_up.load(Ordering::Relaxed) {
        thread::sleep(GLANCE.min(every / 4));
        if held.check().is_err() {
            return;
        }
        if Instant::now() < next {
            continue;
        }
        let asked = Instant::now();
        let leases = &streams.leases;
        let update = leases.update(&held.role, name.to_owned().into(), revision);
        let renewed = match streams.link.wait(update) {
            Ok(new) => Some(new),
            // An earlier renewal may have been written without an answer.
            Err(_) => match streams.link.wait(leases.entry(&held.role)) {
                Ok(Some(entry)) if entry.value == name.as_bytes() => {
                    revision = entry.revision;
                    None
                }
                Ok(Some(_)) => return held.lose(),
                // Gone: its time ran out, or the broker lost its data. Whoever comes next may have it.
                Ok(None) => return held.lose(),
                Err(_) => None,
            },
        };
        if let Some(new) = renewed {
            revision = new;
            *held.renewed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
            next = asked + every;
        }
    }
    let _ = streams.link.wait(
        streams
            .leases
            .delete_expect_revision(&held.role, Some(revision)),
    );
}

/// The revision of the lease if this name holds it.
fn own_revision(streams: &Streams, role: &str, name: &str) -> Option<u64> {
    let entry = streams.link.wait(streams.leases.entry(role)).ok()??;
    (entry.value == name.as_bytes()).then_some(entry.revision)
}
