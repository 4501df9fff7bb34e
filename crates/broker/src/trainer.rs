//! Trainings on another machine: the ledger orders one, and whoever holds the role of the trainer does it.
//!
//! An order names how many games of the history are learned from, so any trainer makes the same network from it. One that
//! was killed is followed by another, which goes on from its checkpoint if it has the folder, or begins anew.

use std::{
    future::IntoFuture,
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use async_nats::jetstream::{AckKind, Message, message::PublishMessage};
use base::LockedFolder;
use fleet::{
    CHECKPOINT_EXTENSION, FolderStore, GameError, Games, Learner, Store, TrainedElsewhere,
    TrainingOrder, TrainingProgress, TrainingRequest, TrainsElsewhere, read_settings,
};

use crate::{BrokerError, Lease, Streams, follow, streams::network_file};

/// An order that nobody works on is given to the next trainer after this.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// How often a trainer says that it is at work.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// How often the ledger looks whether the training is done.
const GLANCE: Duration = Duration::from_millis(300);
/// An order that nobody has finished or works on is given again after this.
const REORDER: Duration = Duration::from_secs(600);
/// Trainings that fail so often are the operator's matter.
const MOST_TRIES: i64 = 5;

fn done_key(round: u64) -> String {
    format!("trained.{round}")
}

/// The ledger's side: orders trainings and waits for their networks.
pub struct TrainingPost {
    streams: Streams,
    epoch: u64,
}

impl TrainingPost {
    /// Orders of the ledger with this lease.
    pub fn new(streams: &Streams, lease: &Lease) -> TrainingPost {
        TrainingPost {
            streams: streams.clone(),
            epoch: lease.epoch(),
        }
    }

    /// Puts the order where a trainer finds it; earlier ones are withdrawn.
    fn order(&self, order: &TrainingOrder, attempt: u64) -> Result<(), BrokerError> {
        let link = &self.streams.link;
        let subject = link.subject("tasks.train");
        link.insist("the queue of trainings", || {
            self.streams
                .tasks
                .purge()
                .filter(subject.clone())
                .into_future()
        })?;
        // The window of message ids remembers messages that are gone, so an id is never used again.
        let id = format!("train/{}/{}/{attempt}", order.round, self.epoch);
        let bytes = serde_json::to_vec(order).unwrap_or_default();
        link.insist("the queue of trainings", || {
            let message = PublishMessage::build()
                .message_id(&id)
                .payload(bytes.clone().into());
            let subject = subject.clone();
            async move {
                let sent = link.jetstream.send_publish(subject, message).await?;
                sent.await
            }
        })?;
        Ok(())
    }

    fn trained(&self, round: u64) -> Result<Option<TrainedElsewhere>, BrokerError> {
        let found = self.streams.get(&done_key(round))?;
        Ok(found.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}

impl TrainsElsewhere for TrainingPost {
    fn train(
        &self,
        order: &TrainingOrder,
        on_progress: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<TrainedElsewhere>, GameError> {
        let mut attempt = 0;
        let mut ordered: Option<Instant> = None;
        let mut seen = TrainingProgress { step: 0, steps: 0 };
        loop {
            if let Some(trained) = self.trained(order.round)? {
                return Ok(Some(trained));
            }
            if ordered.is_none_or(|at| at.elapsed() > REORDER) {
                attempt += 1;
                self.order(order, attempt)?;
                ordered = Some(Instant::now());
            }
            let told = self.streams.get("training")?.unwrap_or_default();
            let told: (u64, u64, u64) = serde_json::from_slice(&told).unwrap_or_default();
            let progress = TrainingProgress {
                step: told.1,
                steps: told.2,
            };
            if told.0 == order.round && progress != seen {
                seen = progress;
                ordered = Some(Instant::now());
            }
            if !on_progress(seen) {
                return Ok(None);
            }
            thread::sleep(GLANCE);
        }
    }
}

/// The trainer of a run: waits for the role, then for orders.
pub struct Trainer<L: Learner> {
    streams: Streams,
    dir: PathBuf,
    _game: PhantomData<fn() -> L>,
}

impl<L: Learner> Trainer<L> {
    /// A trainer with its own folder: a copy of the games, and checkpoints of a training under way.
    pub fn new(streams: &Streams, dir: &Path) -> Trainer<L> {
        Trainer {
            streams: streams.clone(),
            dir: dir.to_owned(),
            _game: PhantomData,
        }
    }

    /// Trains whatever is ordered until `stop` is set or the role is lost.
    pub fn run(&self, stop: &AtomicBool, on_say: &mut dyn FnMut(&str)) -> Result<(), BrokerError> {
        let _lock = LockedFolder::take(&self.dir)?;
        let Some(lease) = Lease::take(&self.streams, "trainer", stop, on_say)? else {
            return Ok(());
        };
        on_say("waiting for a training");
        while !stop.load(Ordering::Relaxed) {
            lease.held().check()?;
            let message = self.streams.next_task("trainer", "train", ACK_WAIT)?;
            match message {
                Some(message) => self.obey(&message, &lease, stop, on_say)?,
                None => thread::sleep(GLANCE),
            }
        }
        Ok(())
    }

    fn obey(
        &self,
        message: &Message,
        lease: &Lease,
        stop: &AtomicBool,
        on_say: &mut dyn FnMut(&str),
    ) -> Result<(), BrokerError> {
        let link = &self.streams.link;
        let acknowledge = |kind: AckKind| {
            let _ = link.wait(message.ack_with(kind));
        };
        let Ok(order) = serde_json::from_slice::<TrainingOrder>(&message.payload) else {
            self.streams
                .bury("training", "the order cannot be read", &message.payload)?;
            acknowledge(AckKind::Term);
            return Ok(());
        };
        if self.streams.get(&done_key(order.round))?.is_some() {
            acknowledge(AckKind::Ack);
            return Ok(());
        }
        on_say(&format!("training {}: {} games", order.round, order.games));
        let mut last = Instant::now();
        let mut observe = |progress: TrainingProgress| {
            if last.elapsed() > SIGN_OF_LIFE || progress.step == 1 {
                last = Instant::now();
                acknowledge(AckKind::Progress);
            }
            let told = serde_json::json!([order.round, progress.step, progress.steps]);
            if progress.step == 1 || progress.step.is_multiple_of(16) {
                let _ = link.wait(self.streams.run.put("training", told.to_string().into()));
            }
            !stop.load(Ordering::Relaxed) && !lease.is_lost()
        };
        match self.train(&order, &mut observe) {
            Ok(Some(trained)) => {
                lease.held().check()?;
                let bytes = serde_json::to_vec(&trained).unwrap_or_default();
                self.streams.set(&done_key(order.round), &bytes)?;
                acknowledge(AckKind::Ack);
                on_say(&format!(
                    "training {}: made {}",
                    order.round, trained.network
                ));
            }
            // Stopped: whoever trains next goes on.
            Ok(None) => acknowledge(AckKind::Nak(None)),
            Err(error) => {
                let tries = message.info().map_or(1, |info| info.delivered);
                on_say(&format!("training {} failed: {error}", order.round));
                if tries < MOST_TRIES {
                    acknowledge(AckKind::Nak(Some(Duration::from_secs(5))));
                } else {
                    self.streams
                        .bury("training", &error.to_string(), &message.payload)?;
                    acknowledge(AckKind::Term);
                }
            }
        }
        Ok(())
    }

    fn train(
        &self,
        order: &TrainingOrder,
        observe: &mut dyn FnMut(TrainingProgress) -> bool,
    ) -> Result<Option<TrainedElsewhere>, BrokerError> {
        follow(&self.streams, &self.dir)?;
        let other = |error: String| BrokerError::Other(error);
        let settings = read_settings::<L>(&self.dir)
            .map_err(|error| other(error.to_string()))?
            .unwrap_or_default();
        let mut games = Games::<L>::new(L::schedule(&settings).window);
        let store = FolderStore::open(&self.dir, |record| {
            if games.count < order.games
                && let Ok(record) = L::decode(&settings, record)
            {
                games.add(record);
            }
        })?;
        if games.count < order.games {
            return Err(other(format!(
                "the order names {} games, and the history has {}",
                order.games, games.count
            )));
        }
        let file = |extension: &str| self.fetch(&store, &order.newest, extension);
        let request = TrainingRequest::<L> {
            settings: &settings,
            round: order.round,
            window: games.window(),
            new_positions: order.new_positions,
            checkpoint: file(CHECKPOINT_EXTENSION)?,
            network: file(L::NETWORK_EXTENSION)?,
            dir: store.training_dir(order.round),
        };
        let trained = L::train(&request, observe).map_err(|error| other(error.to_string()))?;
        let Some(trained) = trained else {
            return Ok(None);
        };
        store.put_network(&trained.network)?;
        for (extension, bytes) in &trained.network.files {
            let file = network_file(&trained.network.name, extension);
            self.streams.put_network(&file, bytes)?;
        }
        store.remove_training(order.round)?;
        Ok(Some(TrainedElsewhere {
            network: trained.network.name,
            policy_loss: trained.policy_loss,
            value_error: trained.value_error,
            positions: trained.positions,
        }))
    }

    /// A network's file in the trainer's own folder, fetched if it is missing.
    fn fetch(
        &self,
        store: &FolderStore,
        name: &str,
        extension: &str,
    ) -> Result<Option<PathBuf>, BrokerError> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(found) = store.network(name, extension)? {
            return Ok(Some(found));
        }
        let file = network_file(name, extension);
        let Some(bytes) = self.streams.network(&file)? else {
            return Ok(None);
        };
        let path = self.dir.join("networks").join(file);
        match base::write_whole(&path, &bytes) {
            Ok(()) => Ok(Some(path)),
            Err(source) => Err(BrokerError::File { path, source }),
        }
    }
}
