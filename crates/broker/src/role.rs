//! A whole ledger: waits for its role, brings its folder up to the history, and serves the run.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use base::LockedFolder;
use fleet::{Beginning, Learner, Ledger, Run, ServeOptions, Service, Store, wire::Signer};
use serde_json::Value;

use crate::{BrokerError, Lease, Mirror, Post, Streams, TrainingPost, follow};

/// How often a standby brings its folder up while it waits.
const FOLLOW_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked whether the role is lost.
const GLANCE: Duration = Duration::from_millis(200);

/// How a ledger serves its run.
#[derive(Clone, Debug, Default)]
pub struct RoleOptions {
    /// As for a run that is served without a broker.
    pub serve: ServeOptions,
    /// Whether trainings are left to a trainer elsewhere.
    pub trains_elsewhere: bool,
}

/// An active ledger.
pub struct LedgerRole<L: Learner> {
    /// The run; whoever has the role makes its steps.
    pub run: Run<L>,
    /// What is served.
    pub ledger: Arc<Ledger<L>>,
    /// Holds the role until it is dropped.
    pub guard: RoleGuard,
}

/// Holds the role of the ledger, and takes games and questions meanwhile.
pub struct RoleGuard {
    _post: Post,
    lease: Arc<Lease>,
    is_over: Arc<AtomicBool>,
    watcher: Option<thread::JoinHandle<()>>,
}

impl<L: Learner> LedgerRole<L>
where
    L::Settings: Send + Sync,
{
    /// Waits for the role and takes it; nothing if `stop` was set first.
    pub fn take(
        streams: &Streams,
        dir: &Path,
        beginning: &Beginning,
        options: RoleOptions,
        stop: &AtomicBool,
        on_say: &mut dyn FnMut(&str),
    ) -> Result<Option<LedgerRole<L>>, BrokerError> {
        let lock = LockedFolder::take(dir)?;
        let mut followed: Option<Instant> = None;
        let mut failure = None;
        let mut waiting = |why: &str| {
            if followed.is_none_or(|at| at.elapsed() > FOLLOW_EVERY) {
                followed = Some(Instant::now());
                // A standby that cannot follow says so at once, not when it is needed.
                failure = follow(streams, dir).err();
                on_say(why);
            }
            if let Some(error) = &failure {
                on_say(&error.to_string());
            }
        };
        let Some(lease) = Lease::take(streams, "ledger", stop, &mut waiting)? else {
            return Ok(None);
        };
        let lease = Arc::new(lease);
        follow(streams, dir)?;
        check_key(streams, dir)?;
        drop(lock);
        let other = |error: String| BrokerError::Other(error);
        let mut run = Run::<L>::open(dir, beginning).map_err(|error| other(error.to_string()))?;
        run.wrap_store(|store| {
            let mirror = Mirror::open(store, dir, streams, &lease)?;
            Ok(Arc::new(mirror) as Arc<dyn Store>)
        })?;
        streams.set("game", L::NAME.as_bytes())?;
        if options.trains_elsewhere {
            run.train_elsewhere(Box::new(TrainingPost::new(streams, &lease)));
        }
        let ledger = run
            .serve(ServeOptions {
                epoch: lease.epoch(),
                ..options.serve
            })
            .map_err(|error| other(error.to_string()))?;
        let service: Arc<dyn Service> = ledger.clone();
        let post = Post::start(streams, service, &lease)?;
        let guard = RoleGuard {
            _post: post,
            lease,
            is_over: Arc::default(),
            watcher: None,
        };
        Ok(Some(LedgerRole { run, ledger, guard }))
    }
}

impl RoleGuard {
    /// Whether another ledger may have taken over.
    pub fn is_lost(&self) -> bool {
        self.lease.is_lost()
    }

    /// Sets a flag as soon as the role is lost.
    pub fn watch(&mut self, stop: &'static AtomicBool) {
        let (lease, is_over) = (self.lease.clone(), self.is_over.clone());
        self.watcher = Some(thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                if lease.is_lost() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
                thread::sleep(GLANCE);
            }
        }));
    }
}

impl Drop for RoleGuard {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

/// A standby must sign with the run's own key: workers trust no other.
fn check_key(streams: &Streams, dir: &Path) -> Result<(), BrokerError> {
    let Some(hello) = streams.get("hello")? else {
        return Ok(());
    };
    let hello: Value = serde_json::from_slice(&hello).unwrap_or_default();
    let wanted = hello["key"].as_str().unwrap_or_default();
    let path: PathBuf = dir.join("fleet/server.key");
    let is_right = path.exists()
        && Signer::open(&path)
            .map_err(|error| BrokerError::Other(error.to_string()))?
            .public_key()
            == wanted;
    if is_right {
        return Ok(());
    }
    Err(BrokerError::Other(format!(
        "{} is not the key of this run ({wanted}); copy fleet/server.key from the folder of its first ledger, readable by its owner only",
        path.display()
    )))
}
